"""The standings of runs and their flags: which count, where each is shown, and how it is marked.

Pages, files, charts, tests of significance and counts ask here; docs/adr/0029 has the reasons.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Standing:
    """A standing, named `key` in files and `word` in text; an official run needs no word.

    - counts: in ranks, best values, medians, tests and their corrections, correlations and
      certificates; only such runs are chosen by default.
    - is_scored: whether runs get scores.
    - takes_part: whether runs are in pools, on live boards and in the next release. A pool may take
      post-hoc runs too, or leave runs out.
    - uses_quota: whether runs count toward the quota of their team; post-hoc runs have their own.
    - has_team: whether the team of runs is named; the lab's own runs say so by their standing.
    - may_publish: whether the lab may publish the rankings of runs on a released leaderboard.
    - is_struck: whether a released leaderboard keeps runs, struck through and last in their team.
    - group: the heading under which boards list runs; without one they are listed with their team.
    - part: where boards list the group: 0 before the teams, 2 and up after them.
    - letter: the mark in its own column of files; without one there is no column.
    - field: the name of the field of a run that is set: a reason, a date, or yes for `is_...`.
    - help: the explanation for organizers who may set it; without one nobody is asked.
    """

    key: str
    word: str
    counts: bool = False
    is_scored: bool = True
    takes_part: bool = True
    uses_quota: bool = True
    has_team: bool = True
    may_publish: bool = True
    is_struck: bool = False
    group: str = ""
    part: int = 1
    letter: str = ""
    field: str = ""
    help: str = ""

    def marked(self, name: str) -> str:
        """Return the name of a run with its standing, such as `BM25 (withdrawn)`."""
        return f"{name} ({self.word})" if self.word else name

    def named(self, team: str, tag: str) -> str:
        """Return the name of a run among all teams, such as `Beta BM25 (withdrawn)`."""
        return self.marked(f"{team} {tag}" if self.has_team else tag)


OFFICIAL = Standing("official", "", counts=True)
BASELINE = Standing(
    "baseline",
    "baseline",
    counts=True,
    uses_quota=False,
    has_team=False,
    group="Baselines",
    part=0,
    letter="B",
    field="is_baseline",
    help="A run of the lab, without team, quota or deadline.",
)
OUT_OF_COMPETITION = Standing(
    "out-of-competition",
    "out of competition",
    group="Out of competition",
    part=2,
    letter="O",
    field="out_of_competition",
    help="The reason. The run is then scored and shown, but does not count. If it is on a released "
    "leaderboard, it counts there, and the reason becomes an erratum that everyone reads.",
)
POST_HOC = Standing(
    "post-hoc",
    "post-hoc",
    takes_part=False,
    may_publish=False,
    group="Post-hoc",
    part=3,
    field="is_post_hoc",
)
CHECKED = Standing(
    "checked",
    "checked",
    is_scored=False,
    takes_part=False,
    uses_quota=False,
    may_publish=False,
    field="check_only",
)
WITHDRAWN = Standing(
    "withdrawn",
    "withdrawn",
    is_scored=False,
    takes_part=False,
    uses_quota=False,
    may_publish=False,
    is_struck=True,
    letter="W",
    field="withdrawn_at",
)
STANDINGS = (OFFICIAL, BASELINE, OUT_OF_COMPETITION, POST_HOC, CHECKED, WITHDRAWN)


@dataclass(frozen=True, slots=True)
class Mark:
    """What organizers say of a run besides its standing; the fields are those of `Standing`."""

    key: str
    word: str
    field: str
    help: str
    has_team: bool = True

    def marked(self, name: str) -> str:
        """Return the name of a run with the mark, such as `random (control)`."""
        return f"{name} ({self.word})"


CONTROL = Mark(
    "control",
    "control",
    field="is_control",
    help="A control, such as a random order. It is scored, and no pool takes it unless you choose "
    "how.",
)
SET_BY_ORGANIZERS: tuple[Standing | Mark, ...] = (
    *(standing for standing in STANDINGS if standing.help),
    CONTROL,
)


def standing_of(standings: Collection[Standing]) -> Standing:
    """Return the standing of a run. If several apply, the last of them in `STANDINGS` counts."""
    return max(standings, key=STANDINGS.index, default=OFFICIAL)


def grouping_of(standings: Collection[Standing]) -> Standing:
    """Return the standing that decides where boards list a run; an official run's is its team."""
    return standing_of([standing for standing in standings if standing.group])


@dataclass(frozen=True, slots=True)
class Flag:
    """What a team declares of its run: `yes` or `no`, asked as `label`, stored as `is_key`.

    Files and boards mark runs with the `letter`, forms and commands offer both words.
    """

    key: str
    letter: str
    label: str
    yes: str
    no: str

    @property
    def field(self) -> str:
        """Return the name of the field of a run."""
        return f"is_{self.key}"

    @property
    def mark(self) -> str:
        """Return the meaning of the letter, such as `Primary run`."""
        return f"{self.yes} run"


PRIMARY = Flag("primary", "P", "Priority", yes="Primary", no="Alternate")
MANUAL = Flag("manual", "M", "Run type", yes="Manual", no="Automatic")
FLAGS = (PRIMARY, MANUAL)


class PublishedRuns(StrEnum):
    """Which runs of a released leaderboard a task publishes: their rankings and the certificate."""

    ALL = "all"
    PRIMARY = "primary"
    NONE = "none"

    def publishes(self, standing: Standing, *, is_primary: bool) -> bool:
        """Return whether a run on the leaderboard is published. Baselines go with primary runs."""
        is_chosen = self is PublishedRuns.ALL or is_primary or standing == BASELINE
        return self is not PublishedRuns.NONE and is_chosen and standing.may_publish

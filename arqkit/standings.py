"""The standings of runs: which count, where each is shown, and how it is marked.

Pages, files, charts, tests of significance and counts ask here; docs/adr/0029 has the reasons.
"""

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
    """

    key: str
    word: str
    counts: bool = False
    is_scored: bool = True
    takes_part: bool = True
    uses_quota: bool = True
    has_team: bool = True
    may_publish: bool = True

    def marked(self, name: str) -> str:
        """Return the name of a run with its standing, such as `BM25 (withdrawn)`."""
        return f"{name} ({self.word})" if self.word else name

    def named(self, team: str, tag: str) -> str:
        """Return the name of a run among all teams, such as `Beta BM25 (withdrawn)`."""
        return self.marked(f"{team} {tag}" if self.has_team else tag)


OFFICIAL = Standing("official", "", counts=True)
BASELINE = Standing("baseline", "baseline", counts=True, uses_quota=False, has_team=False)
OUT_OF_COMPETITION = Standing("out-of-competition", "out of competition")
POST_HOC = Standing("post-hoc", "post-hoc", takes_part=False, may_publish=False)
WITHDRAWN = Standing(
    "withdrawn",
    "withdrawn",
    is_scored=False,
    takes_part=False,
    uses_quota=False,
    may_publish=False,
)
STANDINGS = (OFFICIAL, BASELINE, OUT_OF_COMPETITION, POST_HOC, WITHDRAWN)


def standing_of(
    *, is_baseline: bool, is_out_of_competition: bool, is_post_hoc: bool, is_withdrawn: bool
) -> Standing:
    """Return the one standing of a run: the last in `STANDINGS` that applies."""
    applies = (True, is_baseline, is_out_of_competition, is_post_hoc, is_withdrawn)
    return max(zip(applies, range(len(STANDINGS)), STANDINGS, strict=True))[2]


class PublishedRuns(StrEnum):
    """Which runs of a released leaderboard a task publishes: their rankings and the certificate."""

    ALL = "all"
    PRIMARY = "primary"
    NONE = "none"

    def publishes(self, standing: Standing, *, is_primary: bool) -> bool:
        """Return whether a run on the leaderboard is published. Baselines go with primary runs."""
        is_chosen = self is PublishedRuns.ALL or is_primary or standing is BASELINE
        return self is not PublishedRuns.NONE and is_chosen and standing.may_publish

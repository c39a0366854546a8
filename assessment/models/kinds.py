"""The kinds of rounds as data: who judges which items, what is hidden until when, what it reports.

Everything else asks a round for its `rules`, or `kinds_that` for the kinds to search for; nothing
compares with a kind.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from arqkit.data_files import data_beside


class Judges(Enum):
    """Who judges in a round."""

    ASSESSORS = "assessors of the lab, whom organizers choose"
    APPLICANTS = "an expert, and whoever opens a link: they need no role, and see nothing else"


class ItemSource(Enum):
    """The items that may be chosen for a round, and so the form that makes it."""

    DRAWN = "items of the official pool, or of the qrels of an earlier lab"
    SAMPLES = "items of the official pool, for an expert and applicants"
    JUDGED = "officially judged items, for somebody who has not judged them"
    ASKED = "officially judged items with one text, with questions about them"
    DISPUTED = "official items, one by one, when organizers decide about them"


class Opening(Enum):
    """When organizers see the labels of a round."""

    AT_ONCE = "as they come"
    TOGETHER = "when all are in, or when an organizer reveals them, which ends judging"
    AFTER_EXPERT = "when the expert has judged all items"


class Comparison(Enum):
    """The labels of which a round reports the agreement."""

    NOTHING = "none"
    VOTES = "those of its assessors for the same items, and gold labels"
    OFFICIAL = "the official labels, and those of the round"


@dataclass(frozen=True, kw_only=True)
class RoundKind:
    """What a kind of round says about itself.

    - key: its name in addresses, files and the database; name: its name in titles and tables.
    - start, about: the heading and the summary of the page that makes a round.
    - verb: what happens to its items.
    - hidden, opened: what organizers read while labels are hidden, and then; told: what its
      assessors read, if the page of the round is theirs too.
    - tells_judges: its assessors see the votes too when they are revealed, without names.
    - decides: its label counts in the qrels in place of the official one; a task has one round.
    - asks: its labels are answers to special questions, and no labels of the items.
    - parts: the parts of its page (`analyses.views.rounds.PARTS`), if it has one.
    - file, contents: the file in which organizers get its judgments, and what it contains.
    """

    key: str
    name: str
    items: ItemSource
    opens: Opening
    judges: Judges = Judges.ASSESSORS
    compares: Comparison = Comparison.NOTHING
    tells_judges: bool = False
    decides: bool = False
    asks: bool = False
    start: str = ""
    about: str = ""
    verb: str = "judged"
    hidden: str = ""
    opened: str = ""
    told: str = ""
    parts: tuple[str, ...] = ()
    file: str = ""
    contents: str = ""

    @property
    def is_for_applicants(self) -> bool:
        """Return whether people without a role judge: they get no links into the lab, nor pay."""
        return self.judges is Judges.APPLICANTS

    @property
    def can_be_revealed(self) -> bool:
        """Return whether organizers may see the labels before all are in, which ends judging."""
        return self.opens is Opening.TOGETHER

    @property
    def shows_page_to_judges(self) -> bool:
        """Return whether those who judge in a round may open its page."""
        return self.tells_judges or self.is_for_applicants

    @property
    def has_votes(self) -> bool:
        """Return whether all get the same items, so that organizers download their votes."""
        return self.items in (ItemSource.DRAWN, ItemSource.SAMPLES)


_ENUMS = {"items": ItemSource, "opens": Opening, "judges": Judges, "compares": Comparison}


def _read(key: str, fields: dict[str, Any]) -> RoundKind:
    """Return a kind from its fields in `kinds.toml`, which names the members of enums."""
    for name, enum in _ENUMS.items():
        if name in fields and fields[name] not in enum.__members__:
            raise ImproperlyConfigured(
                f"kinds.toml, [{key}]: {name} is {fields[name]!r}. Expected one of: "
                f"{', '.join(enum.__members__)}."
            )
    members = {name: enum[fields[name]] for name, enum in _ENUMS.items() if name in fields}
    return RoundKind(key=key, **{**fields, **members, "parts": tuple(fields.get("parts", ()))})


KINDS = {key: _read(key, fields) for key, fields in data_beside(__file__).items()}


def kind_choices() -> list[tuple[str, str]]:
    """Return the kinds as choices of a field."""
    return [(kind.key, kind.name) for kind in KINDS.values()]


def kinds_that(**facts: object) -> list[str]:
    """Return the keys of the kinds with these facts, such as `decides=True`, to search for."""
    return [
        key
        for key, kind in KINDS.items()
        if all(getattr(kind, name) == value for name, value in facts.items())
    ]


def parts_of_key(key: str) -> tuple[str, int] | None:
    """Return the kind and the number in the key of a round, or None if it is no key."""
    kind, _, number = key.rpartition("-")
    is_number = number.isascii() and number.isdigit() and len(number) < 5
    return (kind, int(number)) if kind in KINDS and is_number else None

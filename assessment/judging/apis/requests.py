"""Parse the requests of the judging page, and collect all their problems."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from arqlab.formats.qrels.judgments import LONGEST_COMMENT
from assessment.errors import JudgingError, RequestProblem
from assessment.judging.services.stored_labels import Label, Submission
from assessment.models import Judgment

MOST_LABELS = 200
LARGEST_LABEL = max(Judgment.Label)
MOST_ITEMS = 200  # that a page may have at hand
LARGEST_ID = 2**63 - 1
LARGEST_TIME = 2**31 - 1
NEVER_MIND = "Reload the page. Stored labels are kept."


class ItemBody(NamedTuple):
    """An item, its lease, and the items that the page has loaded."""

    item: int
    lease: str
    have: tuple[int, ...]


class LabelsBody(NamedTuple):
    """Labels and their item."""

    place: ItemBody
    submission: Submission


class _Reader:
    """Read fields and collect problems, so that one response lists them all."""

    def __init__(self) -> None:
        self.problems: list[RequestProblem] = []

    def tell(
        self, instance: int | None, field: str, found: object, expected: str, todo: str = NEVER_MIND
    ) -> None:
        """Record a problem, with a short excerpt of the value found."""
        shown = found if isinstance(found, str) else repr(found)
        self.problems.append(RequestProblem(instance, field, text_of(shown)[:80], expected, todo))

    def number(
        self,
        data: dict[str, Any],
        field: str,
        *,
        least: int,
        most: int,
        instance: int | None = None,
    ) -> int:
        """Return a whole number, or 0 after recording a problem."""
        value = data.get(field)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        self.tell(instance, field, value, f"a whole number from {least} to {most}")
        return 0

    def optional(
        self, data: dict[str, Any], field: str, *, most: int, instance: int | None = None
    ) -> int | None:
        """Return a whole number, or None if it is null or missing."""
        return (
            None
            if data.get(field) is None
            else self.number(data, field, least=0, most=most, instance=instance)
        )

    def text(
        self,
        data: dict[str, Any],
        field: str,
        *,
        instance: int | None = None,
        most: int | None = None,
    ) -> str:
        """Return a text of at most `most` characters; blank if it is missing."""
        value = data.get(field, "")
        if not isinstance(value, str):
            self.tell(instance, field, value, "a text")
            return ""
        if most is not None and len(value) > most:
            todo = f"Shorten the {field}. It is still on the page."
            self.tell(
                instance, field, f"{len(value):,} characters", f"at most {most:,} characters", todo
            )
        return text_of(value)

    def done(self) -> None:
        """Raise `JudgingError` if there are problems."""
        fields = {problem.field for problem in self.problems}
        if not fields:
            return
        code = (
            "bad-label"
            if "label" in fields
            else "bad-comment"
            if fields & {"comment", "reason"}
            else "malformed"
        )
        raise JudgingError(
            f"Nothing was stored: {_MESSAGES[code]}", code=code, problems=self.problems
        )


_MESSAGES = {
    "bad-label": "a label is unknown. Use one of the labels on the page.",
    "bad-comment": f"a comment is not text or has more than {LONGEST_COMMENT:,} characters. "
    "Shorten the comment; it is still on the page.",
    "malformed": "the request is malformed. Reload the page; your input is kept in this browser.",
}


def text_of(value: str) -> str:
    """Return a text that databases accept: without NUL and lone surrogates."""
    return value.replace("\0", "").encode(errors="replace").decode()


def read_item(data: Any) -> ItemBody:
    """Read `item`, `lease` and `have`. Raises `JudgingError` with all problems."""
    reader = _Reader()
    body = _item(reader, _dict(reader, data))
    reader.done()
    return body


def read_labels(data: Any) -> LabelsBody:
    """Read labels for an item. Raises `JudgingError` with all problems."""
    reader = _Reader()
    known = _dict(reader, data)
    place = _item(reader, known)
    rows = known.get("judgments")
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_LABELS:
        reader.tell(None, "judgments", type(rows).__name__, f"a list of 1 to {MOST_LABELS} labels")
        rows = []
    labels = tuple(
        _label(reader, row) for row in rows if isinstance(row, dict) or _dict(reader, row)
    )
    for field in ("instance", "key"):
        if not reader.problems and len({getattr(label, field) for label in labels}) < len(labels):
            reader.tell(None, field, "the same twice", "each once")
    guideline = reader.optional(known, "guideline", most=32_767)
    reader.done()
    return LabelsBody(place, Submission(place.item, labels, guideline, place.have))


def _dict(reader: _Reader, data: Any) -> dict[str, Any]:
    if isinstance(data, dict):
        return data
    reader.tell(None, "", type(data).__name__, "an object")
    return {}


def _item(reader: _Reader, data: dict[str, Any]) -> ItemBody:
    have = data.get("have", [])
    if not isinstance(have, list) or len(have) > MOST_ITEMS or not all(_is_id(one) for one in have):
        reader.tell(None, "have", have, f"a list of at most {MOST_ITEMS} ids of items")
        have = []
    item = reader.number(data, "item", least=1, most=LARGEST_ID)
    return ItemBody(item, reader.text(data, "lease"), tuple(have))


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST_ID


def _label(reader: _Reader, data: dict[str, Any]) -> Label:
    instance = reader.number(data, "instance", least=1, most=LARGEST_ID)
    label = data.get("label")
    # Whether the task has this label is checked when the item is loaded.
    if isinstance(label, bool) or not isinstance(label, int) or not 0 <= label <= LARGEST_LABEL:
        expected = f"a whole number from 0 to {LARGEST_LABEL}"
        reader.tell(instance, "label", label, expected, "Choose one of the labels on the page.")
        label = 0
    return Label(
        instance=instance,
        label=label,
        key=_uuid(reader, data, "key", instance),
        comment=reader.text(data, "comment", instance=instance, most=LONGEST_COMMENT),
        reason=reader.text(data, "reason", instance=instance, most=LONGEST_COMMENT),
        active_ms=reader.optional(data, "active_ms", most=LARGEST_TIME, instance=instance),
        seen=reader.optional(data, "seen", most=LARGEST_ID, instance=instance),
        after=None if data.get("after") is None else _uuid(reader, data, "after", instance),
        shown=reader.text(data, "shown", instance=instance),
        given_at=_moment(data.get("at")),
    )


def _moment(value: object) -> datetime | None:
    """Return a time with its zone, or None: a wrong clock is no reason to reject a label."""
    try:
        moment = datetime.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _uuid(reader: _Reader, data: dict[str, Any], field: str, instance: int) -> UUID:
    value = data.get(field)
    try:
        return UUID(value if isinstance(value, str) else "")
    except ValueError:
        reader.tell(instance, field, value, "a UUID")
        return UUID(int=0)

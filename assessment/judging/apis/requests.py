"""The requests of the judging API: each body is declared once, for validation and for the schema.

A serializer collects all problems. They are reported as `RequestProblem`s, which say what was found
and what was expected.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, NoReturn
from uuid import UUID

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.fields import empty

from arqlab.formats.qrels.judgments import LONGEST_COMMENT
from arqlab.ir.labels import LARGEST_VALUE
from assessment.errors import RequestProblem
from assessment.judging.selectors.items import Submitted
from assessment.judging.services.request_problems import (
    OTHER_LABEL,
    RELOAD,
    item_problems,
    refusal,
)
from assessment.judging.services.stored_labels import Label, Submission

MOST_LABELS = 200
MOST_ITEMS = 200  # that a page may have loaded
LARGEST_ID = 2**63 - 1
LARGEST_TIME = 2**31 - 1
LARGEST_VERSION = 2**15 - 1
ID = {"min_value": 1, "max_value": LARGEST_ID}


class HeldItem(NamedTuple):
    """An item, its lease, and the items that the page has loaded."""

    item: int
    lease: str
    have: Collection[int] = ()


def _wrong(found: object, expected: str, todo: str = RELOAD) -> dict[str, str]:
    """Return the values of a `RequestProblem`, with a short excerpt of what was found."""
    shown = found if isinstance(found, str) else repr(found)
    return {"found": _storable(shown)[:80], "expected": expected, "todo": todo}


def _storable(value: str) -> str:
    """Return a text that databases accept: without NUL and lone surrogates."""
    return value.replace("\0", "").encode(errors="replace").decode()


class _Reported:
    """A field that reports its errors as the values of a `RequestProblem`."""

    expected = ""
    todo = RELOAD

    def fail(self, key: str, *, found: object = None, **_: Any) -> NoReturn:
        """Refuse a value, whatever is wrong with it."""
        raise ValidationError(_wrong(found, self.expected, self.todo), code=key)


class _Integer(_Reported, serializers.IntegerField):
    """A whole number. Texts and fractions are refused, which Django REST framework would accept."""

    def __init__(self, *, min_value: int, max_value: int, **options: Any) -> None:
        super().__init__(min_value=min_value, max_value=max_value, **options)
        self.values = range(min_value, max_value + 1)
        self.expected = f"a whole number from {min_value} to {max_value}"

    def to_internal_value(self, data: object) -> int:
        if type(data) is not int or data not in self.values:
            self.fail("invalid", found=data)
        return data


class _LabelValue(_Integer):
    todo = OTHER_LABEL


class _Text(_Reported, serializers.CharField):
    """A text, which may be blank and keeps its spaces."""

    expected = "a text"

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_blank=True, trim_whitespace=False, **options)

    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str):
            self.fail("invalid", found=data)
        if self.max_length is not None and len(data) > self.max_length:
            todo = f"Shorten the {self.field_name}. It is still on the page."
            raise ValidationError(
                _wrong(f"{len(data):,} characters", f"at most {self.max_length:,} characters", todo)
            )
        return _storable(data)


class _Key(_Reported, serializers.UUIDField):
    expected = "a UUID"

    def to_internal_value(self, data: object) -> UUID:
        try:
            return UUID(data if isinstance(data, str) else "")
        except ValueError:
            self.fail("invalid", found=data)


class _Moment(serializers.DateTimeField):
    """A time with its zone, or None: a wrong clock is no reason to reject a label."""

    def run_validation(self, data: object = empty) -> datetime | None:
        try:
            moment = datetime.fromisoformat(data if isinstance(data, str) else "")
        except ValueError:
            return None
        return moment if moment.tzinfo else None


class _ItemIds(_Reported, serializers.ListField):
    expected = f"a list of at most {MOST_ITEMS} ids of items"

    def to_internal_value(self, data: object) -> list[int]:
        if not isinstance(data, list) or len(data) > MOST_ITEMS:
            self.fail("invalid", found=data)
        try:
            return super().to_internal_value(data)
        except ValidationError:
            self.fail("invalid", found=data)


class _Body(serializers.Serializer[Any]):
    """A JSON object."""

    def run_validation(self, data: object = empty) -> Any:
        if not isinstance(data, Mapping):
            raise ValidationError({"": _wrong(type(data).__name__, "an object")})
        return super().run_validation(data)


class HeldItemSerializer(_Body):
    """An item that the page has leased."""

    item = _Integer(**ID)
    lease = _Text()
    have = _ItemIds(
        child=_Integer(**ID),
        max_length=MOST_ITEMS,
        required=False,
        help_text="The items that the page has loaded.",
    )


class _LabelList(_Reported, serializers.ListSerializer[Any]):
    expected = f"a list of 1 to {MOST_LABELS} labels"

    def to_internal_value(self, data: object) -> list[Any]:
        if not isinstance(data, list) or not 0 < len(data) <= MOST_LABELS:
            self.fail("invalid", found=type(data).__name__)
        labels: list[Any] = super().to_internal_value(data)
        return labels


class LabelSerializer(_Body):
    """A label for an instance."""

    instance = _Integer(**ID)
    label = _LabelValue(
        min_value=0, max_value=LARGEST_VALUE, help_text="A value of the pool's scale."
    )  # type: ignore[assignment]  # not the field's label
    key = _Key(help_text="Unique per label: a label that is sent twice is stored once.")
    comment = _Text(required=False, max_length=LONGEST_COMMENT)
    reason = _Text(
        required=False,
        max_length=LONGEST_COMMENT,
        help_text="Reason for changing the earlier label.",
    )
    active_ms = _Integer(min_value=0, max_value=LARGEST_TIME, required=False, allow_null=True)
    seen = _Integer(
        min_value=0,
        max_value=LARGEST_ID,
        required=False,
        allow_null=True,
        help_text="The current judgment that the page knew.",
    )
    after = _Key(
        required=False,
        allow_null=True,
        help_text="Key of the label that this one changes, if it was still being sent.",
    )
    at = _Moment(
        source="given_at",
        required=False,
        help_text="Time of the judgment by the browser's clock; impossible times are ignored.",
    )
    shown = _Text(
        required=False,
        help_text="The HTML shown to the assessor, sent with labels that are not judgments.",
    )

    class Meta:
        list_serializer_class = _LabelList

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._met = set[
            int | UUID
        ]()  # ids and keys; the same serializer reads all labels of a request

    def validate_instance(self, instance: int) -> int:
        """Refuse a second label for an instance."""
        self._check_once(instance)
        return instance

    def validate_key(self, key: UUID) -> UUID:
        """Refuse a second label with the same key."""
        self._check_once(key)
        return key

    def _check_once(self, value: int | UUID) -> None:
        if value in self._met:
            raise ValidationError(_wrong(f"{value} twice", "each once"))
        self._met.add(value)


class LabelsSerializer(HeldItemSerializer):
    """Labels for instances of one item."""

    judgments = LabelSerializer(many=True, min_length=1, max_length=MOST_LABELS)
    guideline = _Integer(
        min_value=0,
        max_value=LARGEST_VERSION,
        required=False,
        allow_null=True,
        help_text="The version of the guidelines that the assessor read.",
    )


def read_item(data: object) -> HeldItem:
    """Read an item and its lease. Raises `JudgingError` with all problems."""
    form = HeldItemSerializer(data=data)
    if not form.is_valid():
        raise refusal(_problems(form.errors))
    return HeldItem(**form.validated_data)


def read_labels(
    data: object, *, find: Callable[[HeldItem, int | None], Submitted | None]
) -> tuple[HeldItem, Submission]:
    """Read labels for an item. Raises `JudgingError` with all problems.

    Whether the labels suit the item is checked when they are stored and the item is locked. If the
    request is malformed, `find` returns its item by the guideline's version, so that these problems
    are reported too.
    """
    form = LabelsSerializer(data=data)
    if not form.is_valid():
        raise refusal(_all_problems(form, find))
    values = form.validated_data
    labels = tuple(Label(**row) for row in values.pop("judgments"))
    guideline = values.pop("guideline", None)
    held = HeldItem(**values)
    return held, Submission(held.item, labels, guideline, held.have)


def _all_problems(
    form: LabelsSerializer, find: Callable[[HeldItem, int | None], Submitted | None]
) -> list[RequestProblem]:
    """Return the problems of a malformed request, and those of its well-formed values."""
    problems, labels = _problems(form.errors), []
    for row, wrong in _rows(form):
        instance = _well_formed(row, "instance", wrong)
        labels.append((instance, _well_formed(row, "label", wrong)))
        problems += _problems(wrong, instance)
    body = form.initial_data
    if not form.errors.keys() & {"", "item", "lease"}:
        guideline = _well_formed(body, "guideline", form.errors)
        found = find(HeldItem(body["item"], body["lease"]), guideline)
        problems += item_problems(found, labels, guideline) if found else ()
    return problems


def _problems(errors: Mapping[str, Any], instance: int | None = None) -> list[RequestProblem]:
    """Return the problems of the fields of an object; labels have their own errors."""
    return [
        RequestProblem(instance, field, **wrong)
        for field, wrong in errors.items()
        if "expected" in wrong
    ]


def _rows(form: LabelsSerializer) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yield the labels of a malformed request, each with its errors."""
    wrong = form.errors.get("judgments", {})
    if "" not in form.errors and "expected" not in wrong:
        for number, row in enumerate(form.initial_data["judgments"]):
            yield row, wrong.get(number, {})


def _well_formed(values: Mapping[str, Any], field: str, wrong: Mapping[str, Any]) -> int | None:
    return None if wrong.keys() & {"", field} else values.get(field)

"""The requests of the judging API: each body is declared once, for validation and the schema."""

from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, Generic, NamedTuple, NoReturn, NotRequired, TypedDict, TypeVar, Unpack
from uuid import UUID

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.fields import empty

from arqkit.formats.qrels.judgments import LONGEST_COMMENT
from arqkit.labels import LARGEST_VALUE
from arqlab.core.errors import RequestProblem
from assessment.judging.selectors.items import Submitted
from assessment.judging.services.judged_list import FORMULA
from assessment.judging.services.request_problems import OTHER_LABEL, RELOAD, item_problems, refusal
from assessment.judging.services.stored_labels import Label, Submission

MAX_MARKS = 20  # of a label
LONGEST_QUOTE = 2_000  # characters, where a formula is one
LONGEST_CONTEXT = 100
MAX_FORMULAS = 100  # of a mark
LONGEST_LATEX = 5_000  # of all formulas of a mark together
LAST_FORMULA = 100_000
# A page sends the labels of an item; this only bounds what a program may send.
MAX_LABELS = 200
MAX_ITEMS = 200  # that a page may have loaded
# What the columns hold: a larger number is a fault of the request and not of the database.
LARGEST_ID = 2**63 - 1
LARGEST_TIME = 2**31 - 1
LARGEST_VERSION = 2**15 - 1
REMOVE = "Remove the mark and mark a shorter passage."
V = TypeVar("V")
Nested = dict[Any, Any]
"""A JSON object as it was sent, or the errors of one, which are nested as it is."""


class _Bounds(TypedDict):
    min_value: int
    max_value: int


class _Optional(TypedDict):
    required: bool
    allow_null: bool


class FieldOptions(TypedDict, total=False):
    """The options of a field that ours pass on."""

    required: bool
    allow_null: bool
    help_text: str
    source: str


class TextOptions(FieldOptions, total=False):
    """The options of a field of a text."""

    max_length: int


ID: _Bounds = {"min_value": 1, "max_value": LARGEST_ID}
OPTIONAL: _Optional = {"required": False, "allow_null": True}


class MarkBody(TypedDict):
    """A valid mark."""

    exact: str
    formulas: list[str]
    ordinal: NotRequired[int | None]
    prefix: NotRequired[str]
    suffix: NotRequired[str]


class LabelBody(TypedDict):
    """A valid label."""

    instance: int
    label: int
    key: UUID
    comment: NotRequired[str]
    reason: NotRequired[str]
    active_ms: NotRequired[int | None]
    seen: NotRequired[int | None]
    after: NotRequired[UUID | None]
    given_at: NotRequired[datetime | None]
    shown: NotRequired[str]
    marks: NotRequired[list[MarkBody]]


class ItemBody(TypedDict):
    """A valid item that the page has leased."""

    item: int
    lease: str
    have: NotRequired[list[int]]


class LabelsBody(ItemBody):
    """Valid labels for instances of one item."""

    judgments: list[LabelBody]
    guideline: NotRequired[int | None]


class ReportedField:
    """A field that reports its errors as the values of a `RequestProblem`."""

    expected = ""
    todo = RELOAD

    def fail(self, key: str, *, value: object = None, **_: object) -> NoReturn:
        """Refuse a value, whatever is wrong with it."""
        raise ValidationError(wrong_value(value, self.expected, self.todo), code=key)


class AnyTextField(ReportedField, serializers.CharField):
    """A text, which may be blank and keeps its spaces."""

    expected = "a text"

    def __init__(self, **options: Unpack[TextOptions]) -> None:
        super().__init__(allow_blank=True, trim_whitespace=False, **options)

    def to_internal_value(self, data: object) -> str:
        """Return the text without what databases refuse, or refuse the value."""
        if not isinstance(data, str):
            self.fail("invalid", value=data)
        if self.max_length is not None and len(data) > self.max_length:
            todo = f"Shorten the {self.field_name}. It is still on the page."
            raise ValidationError(
                wrong_value(
                    f"{len(data):,} characters", f"at most {self.max_length:,} characters", todo
                )
            )
        return _storable(data)


class _QuoteField(AnyTextField):
    todo = REMOVE

    def run_validation(self, data: object = empty) -> str:
        text: str = super().run_validation(data)
        if not text.strip():
            raise ValidationError(wrong_value("nothing", "the marked text", REMOVE))
        return text


class _ShortList(ReportedField, serializers.ListField, Generic[V]):
    """A list of at most some values, which is refused as a whole."""

    most = 0

    def to_internal_value(self, data: object) -> list[V]:
        if not isinstance(data, list) or len(data) > self.most:
            self.fail("invalid", value=data)
        try:
            values: list[V] = super().to_internal_value(data)
        except ValidationError:
            self.fail("invalid", value=data)
        return values


class _FormulasField(_ShortList[str]):
    most, todo = MAX_FORMULAS, REMOVE
    expected = f"a list of at most {most} formulas in LaTeX, {LONGEST_LATEX:,} characters together"

    def to_internal_value(self, data: object) -> list[str]:
        formulas = super().to_internal_value(data)
        if (length := sum(map(len, formulas))) > LONGEST_LATEX:
            self.fail("invalid", value=f"{length:,} characters")
        return formulas


class ObjectSerializer(serializers.Serializer[object], Generic[V]):
    """A JSON object, whose valid values are of the type `V`."""

    def run_validation(self, data: object = empty) -> V:
        """Return the values, or refuse what is not an object, null included."""
        if not isinstance(data, Mapping):
            raise ValidationError({"": wrong_value(type(data).__name__, "an object")})
        values: V = super().run_validation(data)
        return values


class WholeNumberField(ReportedField, serializers.IntegerField):
    """A whole number. Texts and fractions are refused, which Django REST framework would accept."""

    def __init__(self, *, min_value: int, max_value: int, **options: Unpack[FieldOptions]) -> None:
        super().__init__(min_value=min_value, max_value=max_value, **options)
        self.values = range(min_value, max_value + 1)
        self.expected = f"a whole number from {min_value} to {max_value}"

    def to_internal_value(self, data: object) -> int:
        """Return the number, or refuse the value."""
        if type(data) is not int or data not in self.values:
            self.fail("invalid", value=data)
        return data


class MarkSerializer(ObjectSerializer[MarkBody]):
    """A passage that decided a label, quoted so that it can be found again."""

    exact = _QuoteField(
        max_length=LONGEST_QUOTE,
        help_text="The marked text with single spaces; each formula is the character U+FFFC.",
    )
    formulas = _FormulasField(
        child=AnyTextField(), help_text="The LaTeX of each formula in the marked text."
    )
    ordinal = WholeNumberField(
        min_value=1,
        max_value=LAST_FORMULA,
        **OPTIONAL,
        help_text="Which formula of the post the first marked one is, counting from 1.",
    )
    prefix = AnyTextField(
        required=False, max_length=LONGEST_CONTEXT, help_text="The text before the marked text."
    )
    suffix = AnyTextField(
        required=False, max_length=LONGEST_CONTEXT, help_text="The text after the marked text."
    )

    def validate(self, attrs: MarkBody) -> MarkBody:
        """Refuse a mark without the LaTeX of each formula in its text."""
        count = attrs["exact"].count(FORMULA)
        if count != len(attrs["formulas"]):
            actual = f"{len(attrs['formulas'])} formulas"
            wrong = wrong_value(actual, f"{count}, one for each U+FFFC in `exact`")
            raise ValidationError({"formulas": wrong})
        return attrs


class MarkList(ReportedField, serializers.ListSerializer[object]):
    """The marks of a label."""

    expected = f"a list of at most {MAX_MARKS} marks"
    todo = "Remove some of the marks."

    def to_internal_value(self, data: object) -> list[MarkBody]:
        """Return the marks, or refuse the list."""
        if not isinstance(data, list):
            self.fail("invalid", value=data)
        if len(data) > MAX_MARKS:
            self.fail("invalid", value=f"{len(data)} marks")
        marks: list[MarkBody] = super().to_internal_value(data)
        return marks


def wrong_value(value: object, expected: str, todo: str = RELOAD) -> dict[str, str]:
    """Return the values of a `RequestProblem`, with a short excerpt of what was found."""
    text = value if isinstance(value, str) else repr(value)
    return {"found": _storable(text)[:80], "expected": expected, "todo": todo}


def _storable(value: str) -> str:
    """Return a text that databases accept: without NUL and lone surrogates."""
    return value.replace("\0", "").encode(errors="replace").decode()


class KeyField(ReportedField, serializers.UUIDField):
    """A UUID as text."""

    expected = "a UUID"

    def to_internal_value(self, data: object) -> UUID:
        """Return the UUID, or refuse the value."""
        try:
            return UUID(data if isinstance(data, str) else "")
        except ValueError:
            self.fail("invalid", value=data)


class MomentField(serializers.DateTimeField):
    """A time with its zone, or None: a wrong clock is no reason to reject a label."""

    def run_validation(self, data: object = empty) -> datetime | None:
        """Return the time, or None."""
        try:
            moment = datetime.fromisoformat(data if isinstance(data, str) else "")
        except ValueError:
            return None
        return moment if moment.tzinfo else None


class HeldItem(NamedTuple):
    """An item, its lease, and the items that the page has loaded."""

    item: int
    lease: str
    have: Collection[int] = ()


class _LabelValue(WholeNumberField):
    todo = OTHER_LABEL


class ItemIdsField(_ShortList[int]):
    """A list of ids of items."""

    most = MAX_ITEMS
    expected = f"a list of at most {most} ids of items"


class _ItemFields(ObjectSerializer[V]):
    item = WholeNumberField(**ID)
    lease = AnyTextField()
    have = ItemIdsField(
        child=WholeNumberField(**ID),
        max_length=MAX_ITEMS,
        required=False,
        help_text="The items that the page has loaded.",
    )


class HeldItemSerializer(_ItemFields[ItemBody]):
    """An item that the page has leased."""


class LabelSerializer(ObjectSerializer[LabelBody]):
    """A label for an instance."""

    instance = WholeNumberField(**ID)
    label = _LabelValue(
        min_value=0, max_value=LARGEST_VALUE, help_text="A value of the pool's scale."
    )  # type: ignore[assignment]  # not the field's label
    key = KeyField(help_text="Unique per label: a label that is sent twice is stored once.")
    comment = AnyTextField(required=False, max_length=LONGEST_COMMENT)
    reason = AnyTextField(
        required=False,
        max_length=LONGEST_COMMENT,
        help_text="Reason for changing the earlier label.",
    )
    active_ms = WholeNumberField(min_value=0, max_value=LARGEST_TIME, **OPTIONAL)
    seen = WholeNumberField(
        min_value=0,
        max_value=LARGEST_ID,
        **OPTIONAL,
        help_text="The current judgment that the page knew.",
    )
    after = KeyField(
        **OPTIONAL, help_text="Key of the label that this one changes, if it was still being sent."
    )
    at = MomentField(
        source="given_at",
        required=False,
        help_text="Time of the judgment by the browser's clock; impossible times are ignored.",
    )
    shown = AnyTextField(
        required=False,
        help_text="The HTML shown to the assessor, sent with labels that are not judgments.",
    )
    marks = MarkList(
        child=MarkSerializer(),
        max_length=MAX_MARKS,
        required=False,
        help_text="The passages that decided the label. Without them, it has none.",
    )


_LABEL = LabelSerializer()


class _LabelList(ReportedField, serializers.ListSerializer[object]):
    expected = f"a list of 1 to {MAX_LABELS} labels"

    def to_internal_value(self, data: object) -> list[LabelBody]:
        if not isinstance(data, list) or not 0 < len(data) <= MAX_LABELS:
            self.fail("invalid", value=type(data).__name__)
        labels: list[LabelBody] = []
        errors: Nested = {}
        try:
            labels = super().to_internal_value(data)
        except ValidationError as error:
            errors = _errors(error)
        if len(data) > 1:
            for field in ("instance", "key"):
                self._refuse_repeated(field, data, errors)
        if errors:
            raise ValidationError(errors)
        return labels

    def _refuse_repeated(self, field: str, data: list[Nested], errors: Nested) -> None:
        met = set[int | UUID]()
        for number, row in enumerate(data):
            if errors.get(number, {}).keys().isdisjoint(("", field)):
                value = _LABEL.fields[field].to_internal_value(row[field])
                if value in met:
                    wrong = wrong_value(f"{value} twice", "each once")
                    errors.setdefault(number, {})[field] = wrong
                met.add(value)


class LabelsSerializer(_ItemFields[LabelsBody]):
    """Labels for instances of one item."""

    judgments = _LabelList(child=_LABEL, max_length=MAX_LABELS)
    guideline = WholeNumberField(
        min_value=0,
        max_value=LARGEST_VERSION,
        **OPTIONAL,
        help_text="The version of the guidelines that the assessor read.",
    )


# Built once, because building them for each request takes 7% of a judgment. They keep no state.
_HELD_ITEM, _LABELS = HeldItemSerializer(), LabelsSerializer()


def read_body(serializer: ObjectSerializer[V], data: object) -> V:
    """Return the values of a body. Raises `JudgingError` with all problems."""
    try:
        return serializer.run_validation(data)
    except ValidationError as error:
        raise refusal(field_problems(_errors(error))) from error


def read_item(data: object) -> HeldItem:
    """Read an item and its lease. Raises `JudgingError` with all problems."""
    return HeldItem(**read_body(_HELD_ITEM, data))


def read_labels(
    data: object,
    *,
    find: Callable[[HeldItem, int | None], Submitted | None],
    leased_at: Callable[[HeldItem], datetime],
) -> Submission:
    """Read labels for an item. Raises `JudgingError` with all problems.

    `leased_at` returns when the lease was signed, or raises `JudgingError` if it never was. The
    labels are checked against the item when they are stored, while it is locked. If the request is
    malformed, `find` returns its item by the guideline's version, so that these problems are
    reported too.
    """
    try:
        values = _LABELS.run_validation(data)
    except ValidationError as error:
        sent = data if isinstance(data, dict) else {}
        raise refusal(_all_problems(sent, _errors(error), find)) from error
    labels = tuple(Label(**row) for row in values["judgments"])
    held_item = HeldItem(values["item"], values["lease"], values.get("have", ()))
    guideline = values.get("guideline")
    return Submission(held_item.item, labels, leased_at(held_item), guideline, held_item.have)


def _all_problems(
    data: Nested, errors: Nested, find: Callable[[HeldItem, int | None], Submitted | None]
) -> list[RequestProblem]:
    """Return the problems of a malformed request, and those of its well-formed values."""
    problems, labels = field_problems(errors), []
    for row, wrong in _rows(data, errors):
        instance = _well_formed(row, "instance", wrong)
        labels.append((instance, _well_formed(row, "label", wrong)))
        problems += field_problems(wrong, instance)
    if errors.keys().isdisjoint(("", "item", "lease")):
        guideline = _well_formed(data, "guideline", errors)
        item = find(HeldItem(data["item"], data["lease"]), guideline)
        problems += item_problems(item, labels, guideline) if item else ()
    return problems


def _errors(error: ValidationError) -> Nested:
    """Return the errors of an object or of a list, by field or by number."""
    if not isinstance(error.detail, dict):
        raise error
    return error.detail


def field_problems(errors: Nested, instance: int | None = None) -> list[RequestProblem]:
    """Return the problems of the fields of an object; labels have their own errors."""
    marks = {
        f"marks.{number}.{field}".removesuffix("."): wrong
        for number, fields in errors.get("marks", {}).items()
        if "expected" not in errors["marks"]
        for field, wrong in fields.items()
    }
    return [
        RequestProblem(instance, field, **wrong)
        for field, wrong in {**errors, **marks}.items()
        if "expected" in wrong
    ]


def _rows(data: Nested, errors: Nested) -> Iterator[tuple[Nested, Nested]]:
    """Yield the labels of a malformed request, each with its errors."""
    wrong = errors.get("judgments", {})
    if "" not in errors and "expected" not in wrong:
        for number, row in enumerate(data["judgments"]):
            yield row, wrong.get(number, {})


def _well_formed(values: Nested, field: str, wrong: Nested) -> int | None:
    return values.get(field) if wrong.keys().isdisjoint(("", field)) else None

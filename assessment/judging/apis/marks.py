"""Marks in requests: the passages of an item that decided a label."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.fields import empty

from assessment.judging.apis.fields import (
    AnyTextField,
    ObjectSerializer,
    ReportedField,
    WholeNumberField,
    wrong_value,
)

MAX_MARKS = 20  # of a label
LONGEST_QUOTE = 2_000  # characters, where a formula is one
LONGEST_CONTEXT = 100
MAX_FORMULAS = 100  # of a mark
LONGEST_LATEX = 5_000  # of all formulas of a mark together
LAST_FORMULA = 100_000
FORMULA = "\N{OBJECT REPLACEMENT CHARACTER}"
REMOVE = "Remove the mark and mark a shorter passage."


class _QuoteField(AnyTextField):
    todo = REMOVE

    def run_validation(self, data: object = empty) -> str:
        text: str = super().run_validation(data)
        if not text.strip():
            raise ValidationError(wrong_value("nothing", "the marked text", REMOVE))
        return text


class _FormulasField(ReportedField, serializers.ListField):
    expected = (
        f"a list of at most {MAX_FORMULAS} formulas in LaTeX, {LONGEST_LATEX:,} characters together"
    )
    todo = REMOVE

    def to_internal_value(self, data: object) -> list[str]:
        if not isinstance(data, list) or len(data) > MAX_FORMULAS:
            self.fail("invalid", found=data)
        try:
            formulas: list[str] = super().to_internal_value(data)
        except ValidationError:
            self.fail("invalid", found=data)
        if (length := sum(map(len, formulas))) > LONGEST_LATEX:
            self.fail("invalid", found=f"{length:,} characters")
        return formulas


class MarkSerializer(ObjectSerializer):
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
        required=False,
        allow_null=True,
        help_text="Which formula of the post the first marked one is, counting from 1.",
    )
    prefix = AnyTextField(
        required=False, max_length=LONGEST_CONTEXT, help_text="The text before the marked text."
    )
    suffix = AnyTextField(
        required=False, max_length=LONGEST_CONTEXT, help_text="The text after the marked text."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a mark without the LaTeX of each formula in its text."""
        count = attrs["exact"].count(FORMULA)
        if count != len(attrs["formulas"]):
            found = f"{len(attrs['formulas'])} formulas"
            wrong = wrong_value(found, f"{count}, one for each U+FFFC in `exact`")
            raise ValidationError({"formulas": wrong})
        return attrs


class MarkList(ReportedField, serializers.ListSerializer[Any]):
    """The marks of a label."""

    expected = f"a list of at most {MAX_MARKS} marks"
    todo = "Remove some of the marks."

    def to_internal_value(self, data: object) -> list[Any]:
        """Return the marks, or refuse the list."""
        if not isinstance(data, list):
            self.fail("invalid", found=data)
        if len(data) > MAX_MARKS:
            self.fail("invalid", found=f"{len(data)} marks")
        marks: list[Any] = super().to_internal_value(data)
        return marks

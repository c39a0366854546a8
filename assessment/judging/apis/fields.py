"""Strict fields of JSON bodies, which report what they found and what they expected."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NoReturn
from uuid import UUID

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.fields import empty

from assessment.judging.services.request_problems import RELOAD


def wrong_value(found: object, expected: str, todo: str = RELOAD) -> dict[str, str]:
    """Return the values of a `RequestProblem`, with a short excerpt of what was found."""
    shown = found if isinstance(found, str) else repr(found)
    return {"found": _storable(shown)[:80], "expected": expected, "todo": todo}


def _storable(value: str) -> str:
    """Return a text that databases accept: without NUL and lone surrogates."""
    return value.replace("\0", "").encode(errors="replace").decode()


class ReportedField:
    """A field that reports its errors as the values of a `RequestProblem`."""

    expected = ""
    todo = RELOAD

    def fail(self, key: str, *, found: object = None, **_: Any) -> NoReturn:
        """Refuse a value, whatever is wrong with it."""
        raise ValidationError(wrong_value(found, self.expected, self.todo), code=key)


class WholeNumberField(ReportedField, serializers.IntegerField):
    """A whole number. Texts and fractions are refused, which Django REST framework would accept."""

    def __init__(self, *, min_value: int, max_value: int, **options: Any) -> None:
        super().__init__(min_value=min_value, max_value=max_value, **options)
        self.values = range(min_value, max_value + 1)
        self.expected = f"a whole number from {min_value} to {max_value}"

    def to_internal_value(self, data: object) -> int:
        """Return the number, or refuse the value."""
        if type(data) is not int or data not in self.values:
            self.fail("invalid", found=data)
        return data


class AnyTextField(ReportedField, serializers.CharField):
    """A text, which may be blank and keeps its spaces."""

    expected = "a text"

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_blank=True, trim_whitespace=False, **options)

    def to_internal_value(self, data: object) -> str:
        """Return the text without what databases refuse, or refuse the value."""
        if not isinstance(data, str):
            self.fail("invalid", found=data)
        if self.max_length is not None and len(data) > self.max_length:
            todo = f"Shorten the {self.field_name}. It is still on the page."
            raise ValidationError(
                wrong_value(
                    f"{len(data):,} characters", f"at most {self.max_length:,} characters", todo
                )
            )
        return _storable(data)


class KeyField(ReportedField, serializers.UUIDField):
    """A UUID as text."""

    expected = "a UUID"

    def to_internal_value(self, data: object) -> UUID:
        """Return the UUID, or refuse the value."""
        try:
            return UUID(data if isinstance(data, str) else "")
        except ValueError:
            self.fail("invalid", found=data)


class MomentField(serializers.DateTimeField):
    """A time with its zone, or None: a wrong clock is no reason to reject a label."""

    def run_validation(self, data: object = empty) -> datetime | None:
        """Return the time, or None."""
        try:
            moment = datetime.fromisoformat(data if isinstance(data, str) else "")
        except ValueError:
            return None
        return moment if moment.tzinfo else None


class ObjectSerializer(serializers.Serializer[Any]):
    """A JSON object."""

    def run_validation(self, data: object = empty) -> Any:
        """Return the values, or refuse what is not an object, null included."""
        if not isinstance(data, Mapping):
            raise ValidationError({"": wrong_value(type(data).__name__, "an object")})
        return super().run_validation(data)

"""Types for forms: the arguments that they pass on to Django's, and their fields by class."""

from collections.abc import MutableMapping
from typing import Any, TypedDict, TypeVar

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict

Files = MultiValueDict[str, UploadedFile]
F = TypeVar("F", bound=forms.Field)


class FormOptions(TypedDict, total=False):
    """The arguments that a form with arguments of its own passes on."""

    initial: MutableMapping[str, Any]
    prefix: str
    auto_id: bool | str


def field_of(form: forms.BaseForm, name: str, kind: type[F]) -> F:
    """Return a field of a form, to set what only its class has, such as `queryset`."""
    field = form.fields[name]
    if not isinstance(field, kind):
        raise TypeError(f"{name} is not of the class {kind.__name__}")
    return field

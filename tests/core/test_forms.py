"""The fields of a form by their class."""

import pytest
from django import forms

from arqlab.core.forms.typed import field_of


class PlaceForm(forms.Form):
    """A form with a text and a choice."""

    name = forms.CharField()
    place = forms.ChoiceField()


def test_a_field_of_a_form_is_found_by_its_class():
    form = PlaceForm({"name": "Rome", "place": "here"})
    field_of(form, "place", forms.ChoiceField).choices = [("here", "Here")]
    assert form.is_valid()


def test_a_field_of_another_class_is_refused():
    with pytest.raises(TypeError, match="name is not of the class ChoiceField"):
        field_of(PlaceForm(), "name", forms.ChoiceField)

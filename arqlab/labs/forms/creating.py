"""Forms to create, copy and delete labs and tasks."""

from collections.abc import Mapping

from django import forms
from django.utils.text import slugify

from arqkit.formats.labs.tables import slug_text
from arqkit.protocols.presets import PROTOCOLS
from arqlab.core.models import Lab, Role, Task
from arqlab.core.models.roles import people_in_words
from arqlab.labs.forms.labs import LabForm, TaskDatesForm, name_field


class AddressField(forms.CharField):
    """The last part of a page's address. If it is empty, it is made from the name."""

    def __init__(self, *, beginning: str) -> None:
        super().__init__(
            label="Address",
            required=False,
            max_length=50,
            help_text=f"The page is at {beginning}ADDRESS/. If empty, it is made from the name. "
            "You cannot change it later.",
        )


class WithAddress(forms.Form):
    """A form with a name and an address."""

    def clean(self) -> dict[str, object]:
        """Check the address, or make it from the name."""
        cleaned = super().clean() or self.cleaned_data
        address = slugify(cleaned.get("name", ""))[:50].strip("-")
        try:
            cleaned["slug"] = slug_text(cleaned.get("slug") or address)
        except ValueError as error:
            if not self.errors:
                self.add_error("slug", f"Enter an address: {error}.")
        return cleaned


class NewLabForm(WithAddress, LabForm):
    """A new lab: its name, address, protocol and description."""

    slug = AddressField(beginning="/labs/")
    protocol = forms.ChoiceField(
        label="Protocol",
        choices=[(protocol.slug, protocol.name) for protocol in PROTOCOLS.values()],
        initial="arqmath-3",
        help_text="The preset of limits, labels, measures and pool depths. Tasks can change its "
        "values; the lab cannot change the preset.",
    )
    field_order = ["name", "slug", "protocol", "description", "is_public"]


class NewTaskForm(TaskDatesForm, WithAddress):
    """A new task of a lab; its rules are those of the preset, and can be edited afterwards."""

    slug = AddressField(beginning="")
    kind = forms.ChoiceField(label="Kind", help_text="You cannot change it later.")
    field_order = ("name", "slug", "kind", "description")

    def __init__(self, data: Mapping[str, object] | None = None, *, lab: Lab) -> None:
        """Offer the kinds of task that the lab's protocol has."""
        super().__init__(data)
        kinds = PROTOCOLS[lab.protocol].tasks
        choices = [(kind.value, Task.Kind(kind.value).label) for kind in kinds]
        self.fields["kind"].choices = choices  # type: ignore[attr-defined]
        self.fields["slug"] = AddressField(beginning=f"/labs/{lab.slug}/tasks/")


class CopyLabForm(WithAddress):
    """The name and address of a copy of a lab, and what it takes from the lab."""

    name = name_field("lab")
    slug = AddressField(beginning="/labs/")
    with_people = forms.BooleanField(
        label=f"Copy the {people_in_words(Role.granted())}", required=False
    )


class DeleteForm(forms.Form):
    """The typed name of the lab or task to delete."""

    typed = forms.CharField(
        label="Name",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": "Type the name to confirm."},
    )

"""Fields of days, and of times with a zone: anywhere on earth, UTC or the user's own zone."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django import forms
from django.forms.renderers import BaseRenderer
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

ANYWHERE = "Etc/GMT+12"
"""The time zone database's name of anywhere on earth (AoE), 12 hours behind UTC."""
ZONES = ((ANYWHERE, "anywhere on earth (AoE)"), ("UTC", "UTC"))


class DayField(forms.DateField):
    """An optional day, chosen with the browser's date picker."""

    def __init__(self, *, label: str, help_text: str = "") -> None:
        super().__init__(
            label=label,
            help_text=help_text,
            required=False,
            widget=forms.DateInput(attrs={"type": "date", "class": "short"}),
            error_messages={"invalid": "Enter a date such as 2026-11-23."},
        )


class ZonedTimeInput(forms.MultiWidget):
    """The browser's date and time picker, a choice of time zones, and the moment in other zones.

    `moments.js` adds the user's own zone and keeps the moment in other zones up to date.
    """

    use_fieldset = False

    def __init__(self) -> None:
        # With seconds, so that 23:59:59 stays 23:59:59.
        moment = forms.DateTimeInput(
            format="%Y-%m-%dT%H:%M:%S", attrs={"class": "short", "step": "1"}
        )
        moment.input_type = "datetime-local"
        zone = forms.Select(choices=ZONES, attrs={"aria-label": "Time zone", "data-zone": ""})
        super().__init__({"": moment, "zone": zone})

    def decompress(self, value: datetime | None) -> list[object]:
        """Return the date and time anywhere on earth, and that zone."""
        return [value and timezone.make_naive(value, ZoneInfo(ANYWHERE)), ANYWHERE]

    def id_for_label(self, id_: str) -> str:
        """Return the id of the date and time."""
        return f"{id_}_0" if id_ else id_

    def render(
        self,
        name: str,
        value: object,
        attrs: dict[str, object] | None = None,
        renderer: BaseRenderer | None = None,
    ) -> SafeString:
        """Render the inputs, and the moment in UTC."""
        self._offer(value)
        moment = value.astimezone(UTC) if isinstance(value, datetime) else None
        return format_html(
            '<div class="moment" data-moment>{}<output class="helptext">{}</output></div>',
            super().render(name, value, attrs, renderer),
            f"{moment:%Y-%m-%d %H:%M:%S} UTC" if moment else "",
        )

    def _offer(self, value: object) -> None:
        """Offer the zone that the user chose, which may be their own."""
        zone = value[1] if isinstance(value, list) else ""
        if zone and zone not in dict(ZONES) and _zone(zone):
            self.widgets[1].choices = [*ZONES, (zone, zone)]  # type: ignore[attr-defined]


class ZonedTimeField(forms.Field):
    """An optional moment. Without a zone, the value is UTC."""

    widget = ZonedTimeInput

    def __init__(self, *, label: str, help_text: str) -> None:
        super().__init__(label=label, help_text=help_text, required=False)

    def clean(self, value: list[str | None] | None) -> datetime | None:
        """Return the moment. Raise `ValidationError` for an unknown zone or an invalid time."""
        text, name = value or (None, None)
        zone = _zone(name or "UTC")
        if zone is None:
            raise forms.ValidationError("Unknown time zone. Choose one from the list.")
        with timezone.override(zone):
            moment: datetime | None = forms.DateTimeField(required=False).clean(text)
        return moment


def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None

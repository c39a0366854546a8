"""Filters for the pages of all apps; those that tables need too are in `arqlab/web/cells.py`."""

from __future__ import annotations

import re
from typing import Any

from django import template
from django.conf import settings
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from arqkit.measures.names import parse_measure
from arqkit.measures.providers import MeasureRefusedError
from arqlab.web import cells

register = template.Library()


@register.simple_tag
def sends_mail() -> bool:
    """Return whether this server sends email."""
    return bool(settings.SENDS_MAIL)


for name in (
    "chip",
    "day",
    "deadline",
    "duration",
    "label",
    "moment",
    "p_value",
    "run_name",
    "score",
    "signed",
    "standing_chip",
    "team_name",
):
    register.filter(name, getattr(cells, name))


@register.filter
def address(text: str) -> SafeString:
    """Format an email address so that lines may break before its @ and dots."""
    return format_html_join("", "<wbr>{}", ((part,) for part in re.split("(?=[@.])", text)))


@register.filter
def measure(name: str) -> str:
    """Format a measure as in papers: `nDCG(judged_only=True)@1000` becomes nDCG′.

    Unknown names are returned unchanged.
    """
    try:
        return parse_measure(name).heading
    except MeasureRefusedError:
        return name


@register.filter("words")
def words_of_field(slug: str) -> str:
    """Format a key as words: `multi_part` becomes Multi part."""
    return slug.replace("_", " ").replace("-", " ").strip().capitalize()


@register.filter
def value(facts: dict[str, object], name: str) -> object:
    """Return a value by its key, or an empty string."""
    return facts.get(name, "")


@register.filter
def details(detail: dict[str, Any]) -> list[str]:
    """Return the details of an audit event as lines, with old and new values of changed fields."""
    lines = [
        f"{name}: {_formatted(old)} → {_formatted(new)}"
        for name, (old, new) in detail.get("changes", {}).items()
    ]
    return lines + [
        f"{name}: {_formatted(value)}"
        for name, value in detail.items()
        if name != "changes" and value != []
    ]


def _formatted(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_formatted(part)}" for name, part in value.items()) or "–"
    if isinstance(value, list):
        return ", ".join(map(_formatted, value))
    return "–" if value in (None, "") else str(value)

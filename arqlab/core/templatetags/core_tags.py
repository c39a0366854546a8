"""Filters for the pages of all apps: states, measures, scores and durations."""

from __future__ import annotations

import re
from typing import Any

from django import template
from django.conf import settings
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString

from arqkit.measures.names import MeasureRefusedError, parse_measure
from arqkit.standings import Standing

register = template.Library()


@register.simple_tag
def sends_mail() -> bool:
    """Return whether this server sends email."""
    return bool(settings.SENDS_MAIL)


@register.filter
def chip(state: str, text: str = "") -> SafeString:
    """Return the chip of a state in `static/css/states.css`, labelled with `text` or the state."""
    return format_html('<span class="chip chip-{}">{}</span>', state, (text or state).capitalize())


@register.filter
def run_name(run: Any, url: str = "") -> SafeString:
    """Return the tag of a run, linked to `url`, with the chip of its standing.

    Pages name runs with this filter, or with `run.label` where there is only text.
    """
    link = format_html('<a href="{}">{}</a>', url, run.tag) if url else escape(run.tag)
    if not run.standing.word:
        return link
    key = run.standing.key
    return format_html('<span class="run-{}">{}</span> {}', key, link, standing_chip(run.standing))


@register.filter
def team_name(run: Any) -> str:
    """Return the team of a run for its column; empty for a baseline, which has a chip."""
    return str(run.team) if run.standing.has_team else ""


@register.filter
def standing_chip(standing: Standing | None) -> str:
    """Return the chip of a run's standing; an official run has none."""
    return chip(standing.key, standing.word) if standing and standing.word else ""


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


@register.filter
def score(value: float | str | None) -> str:
    """Format a score with four decimals; a missing score is a dash."""
    return f"{value:.4f}" if isinstance(value, float | int) else "–"


@register.filter
def duration(seconds: float) -> str:
    """Format a duration as in `judge/status.js`: 26 s, 50 min, 3 h 20 min, 1,234 h."""
    if seconds < 60:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    return (
        f"{minutes // 60} h {minutes % 60:02} min"
        if minutes < 600
        else f"{round(minutes / 60):,} h"
    )


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

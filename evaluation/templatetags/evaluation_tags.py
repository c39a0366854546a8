"""Filters of the pages of scores, and what the pages of labs, tasks and runs tell of scores."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def signed(value: float | None) -> str:
    """Write a difference of scores with its sign and four decimals, and a dash where there is none."""
    return "–" if value is None else f"{value:+.4f}".replace("-", "−")

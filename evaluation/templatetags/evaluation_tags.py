"""Template filters of the score pages."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def signed(value: float | None) -> str:
    """Format a score difference with sign and four decimals, or as a dash if it is missing."""
    return "–" if value is None else f"{value:+.4f}".replace("-", "−")

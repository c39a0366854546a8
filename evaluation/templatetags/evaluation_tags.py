"""Template filters of the score pages."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def signed(value: float | None) -> str:
    """Format a score difference with sign and four decimals, or as a dash if it is missing."""
    return "–" if value is None else f"{value:+.4f}".replace("-", "−")


@register.filter
def p_value(value: float | None) -> str:
    """Format a p-value with three decimals, or as a dash if it is missing."""
    return "–" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"

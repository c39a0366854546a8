"""Filters of the collection's pages."""

from __future__ import annotations

from django import template

from arqlab.texts.html.rendering import SafeHtml, render_formula

register = template.Library()


@register.filter
def formula(latex: str | None) -> SafeHtml:
    """Typeset LaTeX for a line of a page."""
    return render_formula(latex or "")

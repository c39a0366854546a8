"""Filters of the collection's pages."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from arqlab.core.html.posthtml import render_formula

register = template.Library()


@register.filter
def formula(latex: str | None) -> SafeString:
    """Typeset LaTeX for a line of a page."""
    return render_formula(latex or "")

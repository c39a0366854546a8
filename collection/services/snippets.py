"""Snippets of posts as safe HTML: escaped text, marked words and typeset formulas."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from arqkit.texts.html.rendering import render_formula
from arqkit.texts.posts.snippets import Part


def snippet_html(parts: Iterable[Part]) -> SafeString:
    """Return the HTML of a snippet. All formulas are inline, even displayed ones."""
    return format_html_join("", "{}", ((_html(part),) for part in parts))


def _html(part: Part) -> SafeString | str:
    if part.formula is not None:
        shown = render_formula(part.formula.latex)
        return (
            format_html('<span class="found-formula">{}</span>', shown) if part.is_found else shown
        )
    if part.kind == "mark":
        return format_html("<mark>{}</mark>", part.text)
    return mark_safe(' <span class="left-out">…</span> ') if part.kind == "gap" else part.text

"""Filters of the pages of runs, and what the pages of labs and tasks tell of runs."""

from __future__ import annotations

import re

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.filter("marked")
def backticks_as_code(sentence: str) -> SafeString:
    """Write what a report puts between backticks as code; everything else of it is escaped."""
    # Only the <code> tags are ours; the sentence was escaped before.
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(sentence)))  # noqa: S308

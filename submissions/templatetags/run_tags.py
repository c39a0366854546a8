"""Template filters of the run pages."""

from __future__ import annotations

import re

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.filter("marked")
def backticks_as_code(sentence: str) -> SafeString:
    """Format text between backticks as code, and escape everything else."""
    # Only the <code> tags are ours; the sentence was escaped before.
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(sentence)))  # noqa: S308

"""The marks that people write in comments as HTML: `code`, **strong**, *emphasis*, [a
link](address) and bare addresses.

The site lets a comment have these and no others, and its dump holds them as they were typed. They
are read in a text that is clean already; the tags written here are ones that the sanitizer allows,
so that the text stays clean.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape

from arqlab.texts.html.allowed_html import FORMULA, IN_LINES, is_clean
from arqlab.texts.html.formulas import TYPED_CODE
from arqlab.texts.html.tidying import address

# What is passed over: formulas, links and code that stand there as HTML already, and all other
# tags.
_PASSED = re.compile(
    r'(<span class="math-container"[^>]*>[^<]*</span>|<a\b.*?</a>|<code>.*?</code>|<[^>]*>)',
    re.DOTALL,
)
_MARK = re.compile(r"[`*_]|\]\(|https?:")
_HELD = re.compile("\0(\\d+)\1")
_CODE = re.compile(TYPED_CODE)
_URL = r"(?:https?://|/(?=[a-z]))[^\s<>\"'`\x00\x01()]{1,1000}(?:\([^\s<>\"'`\x00\x01()]{0,200}\)[^\s<>\"'`\x00\x01()]{0,1000})?"
_NAMED = re.compile(
    rf"\[([^\[\]]{{1,1000}})\]\(({_URL})(?: +&quot;[^()]{{0,200}}&quot;| +\"[^()]{{0,200}}\")?\)"
)
_BARE = re.compile(rf"(?<![\w/])(?=http){_URL}")
_AFTER = re.compile(r"(?:[.,;:!?*_]|&(?:gt|lt|quot|#x27);)+$")
_STRONG = re.compile(r"(?<![\w*])\*\*(?![\s*])([^*]{1,2000}?)(?<!\s)\*\*(?![\w*])")
_EMPHASIS = (
    re.compile(r"(?<![\w*\\])\*(?![\s*])([^*]{1,2000}?)(?<!\s)\*(?![\w*])"),
    re.compile(r"(?<![\w\\])_(?![\s_])([^_]{1,2000}?)(?<!\s)_(?!\w)"),
)


def with_markup(clean_html: str) -> str:
    """Return a clean comment with its marks as HTML. Formulas keep their place and order; text that
    only looks like a mark, such as the stars of `2*3*4`, stays."""
    if not _MARK.search(clean_html):
        return clean_html
    held: list[str] = []

    def hold(html: str) -> str:
        held.append(html)
        return f"\0{len(held) - 1}\1"

    text = _PASSED.sub(lambda match: hold(match[0]), clean_html)
    text = _CODE.sub(lambda match: hold(f"<code>{match['code'].strip()}</code>"), text)
    text = _NAMED.sub(lambda match: _link(match[2], match[1], hold), text)
    text = _BARE.sub(lambda match: _bare(match[0], hold), text)
    text = _STRONG.sub(r"<strong>\1</strong>", text)
    for mark in _EMPHASIS:
        text = mark.sub(r"<em>\1</em>", text)
    while _HELD.search(text):
        text = _HELD.sub(lambda match: held[int(match[1])], text)
    # Marks that cross each other, or a tag, are no marks.
    return text if is_clean(FORMULA.sub("\0", text), IN_LINES) else clean_html


def _link(target: str, words: str, hold: Callable[[str], str]) -> str:
    known = address(unescape(target))
    return hold(f'<a href="{escape(known)}">') + words + hold("</a>") if known else words


def _bare(target: str, hold: Callable[[str], str]) -> str:
    after = _AFTER.search(target)
    shown = target[: after.start()] if after else target
    return _link(shown, hold(shown), hold) + (after[0] if after else "")

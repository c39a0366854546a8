"""Markdown in comments: `code`, **strong**, *emphasis*, [links](address) and bare addresses.

The site supports only these in comments, and its data dump stores them as they were typed. They are
converted in text that is already clean, to tags that the sanitizer allows, so that the text stays
clean.
"""

import re
from collections.abc import Callable
from html import escape, unescape

from arqkit.texts.html.allowed_html import FORMULA, IN_LINES, is_clean
from arqkit.texts.html.formulas import TYPED_CODE
from arqkit.texts.html.tidying import web_address

# Skipped: formulas, links and code that are already HTML, and all other tags.
_SKIPPED = re.compile(
    r'(<span class="math-container"[^>]*>[^<]*</span>|<a\b.*?</a>|<code>.*?</code>|<[^>]*>)',
    re.DOTALL,
)
_MARK = re.compile(r"[`*_]|\]\(|https?:")
_PLACEHOLDER = re.compile("\0(\\d+)\1")
_CODE = re.compile(TYPED_CODE)
_SIGN = r"[^\s<>\"'`\x00\x01()]"
_URL = rf"(?:https?://|/(?=[a-z])){_SIGN}{{1,1000}}(?:\({_SIGN}{{0,200}}\){_SIGN}{{0,1000}})?"
_LABELLED_LINK = re.compile(
    rf"\[([^\[\]]{{1,1000}})\]\(({_URL})(?: +&quot;[^()]{{0,200}}&quot;| +\"[^()]{{0,200}}\")?\)"
)
_BARE_LINK = re.compile(rf"(?<![\w/])(?=http){_URL}")
_TRAILING = re.compile(r"(?:[.,;:!?*_]|&(?:gt|lt|quot|#x27);)+$")
_STRONG = re.compile(r"(?<![\w*])\*\*(?![\s*])([^*]{1,2000}?)(?<!\s)\*\*(?![\w*])")
_EMPHASIS = (
    re.compile(r"(?<![\w*\\])\*(?![\s*])([^*]{1,2000}?)(?<!\s)\*(?![\w*])"),
    re.compile(r"(?<![\w\\])_(?![\s_])([^_]{1,2000}?)(?<!\s)_(?!\w)"),
)


def with_markup(clean_html: str) -> str:
    """Return a clean comment with its Markdown converted to HTML.

    Formulas keep their place and order. Text that only looks like Markdown, such as `2*3*4`, is
    kept.
    """
    if not _MARK.search(clean_html):
        return clean_html
    fragments: list[str] = []

    def hold(html: str) -> str:
        fragments.append(html)
        return f"\0{len(fragments) - 1}\1"

    text = _SKIPPED.sub(lambda match: hold(match[0]), clean_html)
    text = _CODE.sub(lambda match: hold(f"<code>{match['code'].strip()}</code>"), text)
    text = _LABELLED_LINK.sub(lambda match: _link(match[2], match[1], hold), text)
    text = _BARE_LINK.sub(lambda match: _bare(match[0], hold), text)
    text = _STRONG.sub(r"<strong>\1</strong>", text)
    for mark in _EMPHASIS:
        text = mark.sub(r"<em>\1</em>", text)
    while _PLACEHOLDER.search(text):
        text = _PLACEHOLDER.sub(lambda match: fragments[int(match[1])], text)
    # Marks that overlap each other or a tag are left as text.
    return text if is_clean(FORMULA.sub("\0", text), IN_LINES) else clean_html


def _link(target: str, words: str, hold: Callable[[str], str]) -> str:
    address = web_address(unescape(target))
    return hold(f'<a href="{escape(address)}">') + words + hold("</a>") if address else words


def _bare(target: str, hold: Callable[[str], str]) -> str:
    after = _TRAILING.search(target)
    address = target[: after.start()] if after else target
    return _link(address, hold(address), hold) + (after[0] if after else "")

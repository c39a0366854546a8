"""The HTML that a page may hold: which tags, which attributes, nested how, and the proof that a
text is written so.

`is_clean` reads a text once, from left to right, and answers yes only when every `<` in it begins a
tag of the lists below, written with the attributes below in double quotes, closed in its own order,
in a place where an HTML parser leaves it. Such a text means the same to every parser and cannot
leave the element that holds it. Whatever cannot be proven is written anew
(`arqlab.texts.html.tidying`), and proven then: nothing else gets onto a page.
"""

from __future__ import annotations

import re

INLINE = frozenset(
    ["a", "em", "strong", "i", "b", "u", "s", "strike", "del", "ins", "code", "kbd", "sub", "sup"]
)
HOLDERS_OF_LINES = frozenset(["p", "pre", "h1", "h2", "h3", "h4", "h5", "h6"])
HOLDERS_OF_BLOCKS = frozenset(["blockquote", "ul", "ol", "dl", "li", "dt", "dd", "td", "th"])
TABLE_ROWS = frozenset(["table", "thead", "tbody", "tfoot", "tr"])
VOID = frozenset(("br", "hr", "img"))
PHRASING = INLINE | {"br", "img"}
_FLOW = PHRASING | HOLDERS_OF_LINES | {"blockquote", "ul", "ol", "dl", "hr", "table"}
LINE_TAGS = PHRASING - {"img"}
POST_TAGS = _FLOW | HOLDERS_OF_BLOCKS | TABLE_ROWS

DEEPEST = (
    100  # elements inside each other; parsers and browsers become slow or give up far beyond it
)
ID = r"[A-Za-z0-9_.:-]{1,80}"
_ADDRESS = r'https?://[^"<>\x00-\x1f\x7f]*+'
_WORDS = r'[^"<>\x00]*+'
# What an attribute may say, by element; the proof accepts them in any order.
ATTRIBUTES: dict[str, dict[str, str]] = {
    "a": {"href": _ADDRESS, "rel": r"(?:nofollow|noreferrer|noopener|ugc| )*+", "title": _WORDS},
    "img": {
        "src": _ADDRESS,
        "alt": _WORDS,
        "title": _WORDS,
        "width": r"\d{1,4}",
        "height": r"\d{1,4}",
    },
    "ol": {"start": r"-?\d{1,6}"},
    "td": {"colspan": r"\d{1,3}", "rowspan": r"\d{1,3}"},
    "th": {"colspan": r"\d{1,3}", "rowspan": r"\d{1,3}"},
}
# A formula is an element of its own kind: nothing but text in it, and the only one with a class or
# an id.
FORMULA = re.compile(rf'<span class="math-container"(?: id="({ID})")?>([^<]*+)</span>')

_TAG = re.compile(r"<[^<>]*+>")
_OPENED = {f"<{name}>": name for name in POST_TAGS}
_CLOSED = {f"</{name}>": name for name in POST_TAGS - VOID}


def _opening(name: str) -> str:
    written = "|".join(f'{attribute}="{value}"' for attribute, value in ATTRIBUTES[name].items())
    return rf"<{name}(?: (?:{written}))*+>"


def _plain_post() -> str:
    """Write what nineteen posts in twenty are made of: paragraphs, lists, quotes and headings,
    nothing deep in them.
    """
    inline = "|".join(f"<{name}>[^<]*+</{name}>" for name in ("em", "strong", "code"))
    line = rf"[^<]*+(?:(?:{inline}|{_opening('a')}[^<]*+</a>|<br>|{_opening('img')})[^<]*+)*+"
    paragraph = f"<p>{line}</p>"
    held = rf"[^<]*+(?:{paragraph}[^<]*+)*+"
    items = rf"[^<]*+(?:<li>{line}(?:{paragraph}[^<]*+)*+</li>[^<]*+)*+"
    headings = "|".join(f"<h{level}>{line}</h{level}>" for level in range(1, 7))
    lists = "|".join(f"<{name}>{items}</{name}>" for name in ("ol", "ul"))
    blocks = (
        rf"{lists}|<blockquote>{held}</blockquote>|<pre><code>[^<]*+</code></pre>|<hr>|{headings}"
    )
    return rf"[^<]*+(?:(?:{paragraph}|{blocks})[^<]*+)*+"


_WITH_ATTRIBUTES = {name: re.compile(_opening(name)) for name in ATTRIBUTES}
_PLAIN_POST = re.compile(_plain_post())
_TEXT_BETWEEN_CELLS = re.compile(
    r"(?:<(?:table|thead|tbody|tfoot|tr)>|</(?:thead|tbody|tfoot|tr|td|th)>)\s*[^<\s]"
)


def _children(flow: frozenset[str], phrasing: frozenset[str]) -> dict[str, frozenset[str]]:
    """Which elements may stand directly in which, so that no parser closes or moves one."""
    inside = {"post": flow} | dict.fromkeys(HOLDERS_OF_BLOCKS, flow)
    inside |= dict.fromkeys(INLINE | HOLDERS_OF_LINES, phrasing)
    inside |= {"ul": flow | {"li"}, "ol": flow | {"li"}, "dl": flow | {"dt", "dd"}}
    inside |= {"table": frozenset(("thead", "tbody", "tfoot")), "tr": frozenset(("td", "th"))}
    return inside | dict.fromkeys(("thead", "tbody", "tfoot"), frozenset(("tr",)))


IN_POSTS = _children(_FLOW, PHRASING)
IN_LINES = _children(LINE_TAGS, LINE_TAGS)


def is_clean(text: str, inside: dict[str, frozenset[str]]) -> bool:
    """Return whether HTML, its formulas taken out and a NUL put for each, is proven clean.

    `inside` says which elements may stand in which: IN_POSTS or IN_LINES. Takes time linear in the
    text.
    """
    if "<" not in text or (inside is IN_POSTS and _PLAIN_POST.fullmatch(text)):
        return True
    return _is_nested_well(text, inside)


def _is_nested_well(text: str, inside: dict[str, frozenset[str]]) -> bool:
    tags = _TAG.findall(text)
    if text.count("<") != len(tags):
        return False
    stack = ["post"]
    allowed = inside["post"]
    for tag in tags:
        if name := _CLOSED.get(tag):
            if stack.pop() != name:
                return False
            allowed = inside[stack[-1]]
            continue
        name = _OPENED.get(tag) or _name_with_attributes(tag)
        if name not in allowed or (name == "a" and "a" in stack):
            return False
        if name not in VOID:
            stack.append(name)
            allowed = inside[name]
            if len(stack) > DEEPEST:
                return False
    return len(stack) == 1 and not ("<table>" in text and _TEXT_BETWEEN_CELLS.search(text))


def _name_with_attributes(tag: str) -> str:
    name = tag[1 : tag.find(" ")]
    known = _WITH_ATTRIBUTES.get(name)
    return name if known and known.fullmatch(tag) else ""

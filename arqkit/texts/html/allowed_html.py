"""Allowed HTML: tags, attributes and nesting, and a proof that a text contains nothing else.

`is_clean` reads a text once, from left to right. It returns True only if every `<` begins an
allowed tag with allowed attributes in double quotes, tags are closed in order, and each element is
where an HTML parser leaves it. Such a text means the same to every parser and cannot break out of
the element that contains it. A text that fails the proof is rewritten (`arqkit.texts.html.tidying`)
and proven again. Nothing else reaches a page.
"""

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

DEEPEST = 100  # nested elements; parsers and browsers become slow or give up far beyond it
ID = r"[^\s\"<>&\x00-\x1f\x7f]{1,300}"
"""The ids of formulas: those that documents may have, such as `Duckworth–Lewis_method:0`."""
_ADDRESS = r'https?://[^"<>\x00-\x1f\x7f]*+'
_WORDS = r'[^"<>\x00]*+'
# The allowed values of attributes, by element; the proof accepts attributes in any order.
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
# A formula's element contains text only. No other element may have a class or an id.
FORMULA = re.compile(rf'<span class="math-container"(?: id="({ID})")?>([^<]*+)</span>')

_TAG = re.compile(r"<[^<>]*+>")
_OPENED = {f"<{name}>": name for name in POST_TAGS}
_CLOSED = {f"</{name}>": name for name in POST_TAGS - VOID}

_TEXT_BETWEEN_CELLS = re.compile(
    r"(?:<(?:table|thead|tbody|tfoot|tr)>|</(?:thead|tbody|tfoot|tr|td|th)>)\s*[^<\s]"
)


def _opening(name: str) -> str:
    written = "|".join(f'{attribute}="{value}"' for attribute, value in ATTRIBUTES[name].items())
    return rf"<{name}(?: (?:{written}))*+>"


_WITH_ATTRIBUTES = {name: re.compile(_opening(name)) for name in ATTRIBUTES}


def _children(flow: frozenset[str], phrasing: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return the elements allowed directly inside each element, which parsers leave in place."""
    inside = {"post": flow} | dict.fromkeys(HOLDERS_OF_BLOCKS, flow)
    inside |= dict.fromkeys(INLINE | HOLDERS_OF_LINES, phrasing)
    inside |= {"ul": flow | {"li"}, "ol": flow | {"li"}, "dl": flow | {"dt", "dd"}}
    inside |= {"table": frozenset(("thead", "tbody", "tfoot")), "tr": frozenset(("td", "th"))}
    return inside | dict.fromkeys(("thead", "tbody", "tfoot"), frozenset(("tr",)))


IN_POSTS = _children(_FLOW, PHRASING)
IN_LINES = _children(LINE_TAGS, LINE_TAGS)


def is_clean(text: str, inside: dict[str, frozenset[str]]) -> bool:
    """Return whether HTML is proven clean; each formula must have been replaced by a NUL.

    `inside` is the allowed nesting, IN_POSTS or IN_LINES. The check takes linear time.
    """
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
    pattern = _WITH_ATTRIBUTES.get(name)
    return name if pattern and pattern.fullmatch(tag) else ""

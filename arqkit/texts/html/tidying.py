"""Rewrite hostile or careless HTML with allowed tags only, properly nested, and all of its text.

A `<` that does not begin a tag is text, because people write `a<b`. Other tags are removed but
their contents kept, except for contents that are not text (scripts, styles, drawings). nh3 reads
what is left as a browser would and closes its elements, and `is_clean` proves the result.
"""

import re
from html import escape, unescape

import nh3

from arqkit.texts.html.allowed_html import (
    ATTRIBUTES,
    DEEPEST,
    FORMULA,
    ID,
    IN_LINES,
    INLINE,
    POST_TAGS,
    TABLE_ROWS,
    VOID,
    is_clean,
)
from arqkit.texts.html.formulas import LONGEST, NAMES, with_dollars
from arqkit.texts.posts.addresses import SITE

_ATTRIBUTE = re.compile(r"""([a-zA-Z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_SCHEME = re.compile(r"(?:(https?):)?//(?=[^/\\\s])", re.IGNORECASE)
_ON_SITE = re.compile(r"/(?![/\\])")

Inside = dict[str, frozenset[str]]

_DROPPED = NAMES["dropped"]
_NAMES = _DROPPED | NAMES["unwrapped"] | POST_TAGS
# The text between the name of a tag and its end. Quotes are short and few, so that reading takes
# linear time.
_REST = r"""(?:[^<>"'$\\^{}]++|"[^"]{0,3000}+"|'[^']{0,3000}+'){0,40}+"""
_LOOSE = r"[^<>$\\^{}]{0,3000}+"  # with a missing or surplus quote
_TOKEN = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))|<[!?][^>]*+(?:>|\Z)"
    rf"|<(?P<slash>/?)(?P<name>[a-zA-Z][a-zA-Z0-9-]{{0,20}})(?P<rest>(?:[\s/](?:{_REST}|{_LOOSE}))?)>",
    re.DOTALL,
)
_BEGINS_AS_ATTRIBUTE = re.compile(r"[\s/]*(?:[a-zA-Z-]+\s*=|$)")
_ENDS = {name: re.compile(rf"</{name}\b[^>]*+>", re.IGNORECASE) for name in _DROPPED}
_SPANS = re.compile(r"<(/?)span\b[^<>]*>", re.IGNORECASE)
_BREAKS_A_FORMULA = re.compile(
    r"</?(?:p|div|li|ul|ol|blockquote|pre|h[1-6]|table|tr|t[dh])\b", re.IGNORECASE
)
_LINE_BREAK = re.compile(r"<br\b[^<>]*>", re.IGNORECASE)
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_ENDED_BY_OTHERS = (TABLE_ROWS | {"p", "li", "dt", "dd", "td", "th"}) - {"table"}
"""The elements whose end tags may be missing: the next one, or the end of its list, ends each."""

# What is kept of HTML that a parser does not leave as it should be nested: less and less.
_ATTEMPTS = (POST_TAGS, POST_TAGS - INLINE, frozenset(("p", "br")), frozenset[str]())


def kept_value(element: str, name: str, value: str) -> str | None:
    """Return the allowed part of an attribute's value, or None to drop the attribute."""
    if element == "span":
        allowed = "math-container" if name == "class" else ID
        return value if re.fullmatch(allowed, value) else None
    if name in ("href", "src"):
        value = web_address(value)
    pattern = ATTRIBUTES.get(element, {}).get(name)
    # The proof reads the escaped value.
    return value if pattern and re.fullmatch(pattern, escape(value)) else None


def web_address(value: str) -> str:
    """Return a web address as https:// or http://, or ""; paths belong to the data dump's site."""
    value = re.sub(r"[\x00-\x1f\x7f]", "", value).strip()
    if _ON_SITE.match(value):
        return SITE + value
    scheme = _SCHEME.match(value)
    return f"{(scheme[1] or 'https').lower()}://{value[scheme.end() :]}" if scheme else ""


def element_id(tag: str) -> str:
    """Return the id of a tag, or "" if it has none that is allowed."""
    value = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(tag)}.get("id", "")
    return value if re.fullmatch(ID, value) else ""


def tidy(html: str, inside: Inside) -> str:
    """Return HTML rewritten so that `is_clean` proves it; formula elements contain only text.

    ammonia (nh3) reads it as browsers do. Elements that it leaves inside others where none may be,
    such as lists in emphasis, are unwrapped: first inline ones, then all but paragraphs.
    """
    written = _Writer(_UNSAFE.sub("", html)).written()
    allowed = inside["post"] if inside is IN_LINES else POST_TAGS
    cleaned = (_cleaned(written, tags & allowed) for tags in _ATTEMPTS)
    return next(text for text in cleaned if is_clean(FORMULA.sub("\0", text), inside))


def _cleaned(html: str, tags: frozenset[str]) -> str:
    return nh3.clean(
        html,
        tags=set(tags | {"span"}),
        attributes={"span": {"class", "id"}}
        | {name: set(attributes) for name, attributes in ATTRIBUTES.items()},
        attribute_filter=kept_value,
        url_schemes={"http", "https"},
        link_rel=None,
    )


class _Writer:
    """A writer of HTML with the allowed tags only, and all other signs as text.

    Formulas become elements of their own, and the contents of scripts and the like are left out.
    """

    def __init__(self, html: str) -> None:
        self.html = html
        self.out: list[str] = []
        self.depth = 0
        self.ends_of_spans = _ends_of_spans(html)
        self.never_ended: set[str] = set()

    def written(self) -> str:
        """Return the rewritten text."""
        place = 0
        while token := _TOKEN.search(self.html, place):
            self._text(self.html[place : token.start()])
            place = token.end()
            name = (token["name"] or "").lower()
            if name and (name not in _NAMES or not _is_tag(name, token)):
                self._text(token[0])
            elif name in _ENDS:
                place = self._end_of_dropped(token, name)
            elif name == "span":
                place = self._formula(token) or place
            elif name in POST_TAGS:
                self._tag(name, token)
        self._text(self.html[place:])
        return "".join(self.out)

    def _text(self, text: str) -> None:
        self.out.append(text.replace("<", "&lt;").replace(">", "&gt;"))

    def _tag(self, name: str, token: re.Match[str]) -> None:
        """Write a tag, unless elements are nested so deep that parsers become slow."""
        if name not in VOID | _ENDED_BY_OTHERS:
            self.depth += -1 if token["slash"] else 1
        if self.depth < DEEPEST:
            self.out.append(token[0])

    def _end_of_dropped(self, token: re.Match[str], name: str) -> int:
        if (
            token["slash"]
            or token["rest"].endswith("/")
            or name == "embed"
            or name in self.never_ended
        ):
            return token.end()
        if end := _ENDS[name].search(self.html, token.end()):
            return end.end()
        self.never_ended.add(name)
        return (
            len(self.html)
            if name in ("script", "style", "iframe", "noscript", "title")
            else token.end()
        )

    def _formula(self, token: re.Match[str]) -> int | None:
        """Write a formula's element and return its end, or None if it is not a formula."""
        end = self.ends_of_spans.get(token.start())
        if end is None or "math-container" not in token["rest"] or end[0] - token.end() > LONGEST:
            return None
        inner = self.html[token.end() : end[0]]
        nested = list(_SPANS.finditer(inner)) if "<" in inner else []
        ids = [
            formula_id
            for tag in (token[0], *(tag[0] for tag in nested))
            if (formula_id := element_id(tag))
        ]
        if (
            _BREAKS_A_FORMULA.search(inner)
            or sum("math-container" in tag[0] for tag in nested) > 1
            or len(ids) > 1
        ):
            return None
        text = _LINE_BREAK.sub(" ", _SPANS.sub("", inner))
        if not text:
            return end[1]
        id_attribute = f' id="{ids[0]}"' if ids else ""
        text = escape(with_dollars(unescape(text)), quote=False)
        self.out.append(f'<span class="math-container"{id_attribute}>{text}</span>')
        return end[1]


def _is_tag(name: str, token: re.Match[str]) -> bool:
    """Return whether a tag is meant, with an attribute or its end: `<b` may be a comparison."""
    return len(name) > 1 or bool(token["slash"]) or bool(_BEGINS_AS_ATTRIBUTE.match(token["rest"]))


def _ends_of_spans(html: str) -> dict[int, tuple[int, int]]:
    """Return the span of the closing tag of each opening span, by position."""
    ends: dict[int, tuple[int, int]] = {}
    opened: list[int] = []
    for tag in _SPANS.finditer(html):
        if not tag[1]:
            opened.append(tag.start())
        elif opened:
            ends[opened.pop()] = tag.span()
    return ends

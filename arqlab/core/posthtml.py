"""Posts and titles of a collection as safe HTML with their formulas typeset.

The HTML of a post is hostile until it went through here. Formulas are taken out first (`$a<b$` would lose text to an
HTML parser), then nh3 keeps the tags that Math Stack Exchange posts have and no attribute but plain numbers, then the
formulas come back as MathML of our own making. Nothing of a post loads from another host and no link leads out.
"""

import re
from collections.abc import Callable
from html import escape, unescape
from typing import NamedTuple

import nh3
from django.utils.safestring import SafeString, mark_safe

from arqlab.core.typesetting import typeset

_INLINE = "a em strong i b u s strike del ins code kbd sub sup br"
_BLOCKS = "p hr pre blockquote ul ol li dl dt dd h1 h2 h3 h4 h5 h6 table thead tbody tfoot tr th td"
INLINE_TAGS = set(_INLINE.split())
POST_TAGS = INLINE_TAGS | set(_BLOCKS.split())
_NUMBERED = {"ol": {"start"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}}
_DEAD_LINK = '<span class="dead-link" title="Links out of the collection are not followed here.">'

# A formula or an image is parked as an index between two characters that no text needs.
_OPEN, _CLOSE = "\ue000", "\ue001"
_PARKED = re.compile(f"{_OPEN}(\\d+){_CLOSE}")

# In this order: what is never maths, formulas in their spans, images, other tags, and maths marked by dollars,
# backslashed brackets or an environment. A dollar formula may hold "<" but no tag of a post.
_TAG = r"</?(?:p|br|hr|div|span|li|ul|ol|blockquote|pre|code|a|em|strong|img|table|tr|t[dh]|h[1-6])\b[^>]*>"
_ANY = rf"(?:[^<]|<(?!{_TAG[1:]}))"
_NO_DOLLAR = rf"(?:[^<$]|<(?!{_TAG[1:]}))"
_PIECES = re.compile(
    r"(?P<verbatim><(?P<name>pre|code|script|style|textarea)\b[^>]*>.*?</(?P=name)\s*>|<!--.*?-->)"
    r"|<span\b(?P<span>[^>]*\bmath-container\b[^>]*)>(?P<inner>.*?)</span\s*>"
    r"|<img\b(?P<image>[^>]*)>"
    r"|(?P<tag></?[a-zA-Z!](?:\"[^\"]*\"|'[^']*'|[^<>\"']){0,2000}>)"
    r"|(?P<escaped>\\\$)"
    rf"|\$\$(?P<block>{_NO_DOLLAR}{{1,5000}})\$\$"
    rf"|\$(?P<dollars>(?!\s)(?:\\\$|{_NO_DOLLAR}){{1,2000}}?)(?<!\s)\$(?!\d)"
    rf"|\\\((?P<round>{_ANY}{{1,2000}}?)\\\)"
    rf"|\\\[(?P<square>{_ANY}{{1,5000}}?)\\\]"
    r"|(?P<env>\\begin\{(?P<kind>[a-z]{3,16})(?P<star>\*?)\}"
    r".{1,5000}?\\end\{(?P=kind)(?P=star)\})",
    re.DOTALL | re.IGNORECASE,
)
# One real topic has a formula's span inside a span of the same class, with the dollars between them.
_NESTED = re.compile(
    r"<span[^>]*math-container[^>]*>\s*\$\s*(<span[^>]*math-container[^>]*>)([^$]*?)</span>\s*\$\s*</span>"
)
_ID = re.compile(r"""\bid\s*=\s*["']?([\w.:-]{1,80})""")
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_HEADING = re.compile(r"<(/?)h([1-6])>")


class Formula(NamedTuple):
    """A formula as it stands in a post: LaTeX without dollars, inline or display, its id or an empty string."""

    latex: str
    display: bool
    formula_id: str


def render_post(html: str) -> SafeString:
    """The body of a post as safe HTML: formulas typeset, images as their text, links dead, headings from h4 down."""
    return _rendered(html, POST_TAGS)


def render_title(html: str) -> SafeString:
    """A title, or another text of one line, as safe HTML without blocks; formulas are typeset."""
    return _rendered(html, INLINE_TAGS)


def plain_title(html: str) -> str:
    """A title as plain text, formulas as LaTeX between dollars: for <title>, file names and logs. Not escaped."""
    parked: list[str] = []
    text = _park(html, parked, formula=_as_dollars, image=lambda alt: alt)
    text = unescape(nh3.clean(text, tags=set(), attributes={}))
    return " ".join(_PARKED.sub(lambda match: parked[int(match[1])], text).split())


def render_formula(latex: str, *, display: bool = False, formula_id: str = "") -> SafeString:
    """One formula as safe HTML: MathML, or its LaTeX in <code class="latex"> where it cannot be typeset."""
    mathml, source = typeset(latex, display=display)
    unset = f'<code class="latex">{escape(source)}</code>' if source else ""
    inside = mathml if mathml is not None else unset
    block = display or inside.startswith('<math display="block"')
    known = f' data-formula-id="{escape(formula_id)}"' if formula_id else ""
    known += f' data-latex="{escape(source)}"'
    return mark_safe(f'<span class="math-container{" is-display" if block else ""}"{known}>{inside}</span>')  # noqa: S308  # built from escaped parts


def _rendered(html: str, tags: set[str]) -> SafeString:
    parked: list[str] = []
    text = _park(html, parked, formula=_as_mathml, image=_as_marker)
    text = nh3.clean(text, tags=tags, attributes=_NUMBERED, attribute_filter=_only_numbers, link_rel=None)
    highest = min((int(level) for _, level in _HEADING.findall(text)), default=1)
    text = _HEADING.sub(lambda match: f"<{match[1]}h{min(6, int(match[2]) - highest + 4)}>", text)
    text = text.replace("<a>", _DEAD_LINK).replace("</a>", "</span>")
    # No attribute that nh3 left can hold a parked piece: they are numbers.
    return mark_safe(_PARKED.sub(lambda match: parked[int(match[1])], text))  # noqa: S308  # nh3 cleaned it


def _park(html: str, parked: list[str], *, formula: Callable[[Formula], str], image: Callable[[str], str]) -> str:
    """The HTML with an index in place of each formula and image; what stands for them goes to `parked`."""

    def replaced(match: re.Match[str]) -> str:
        if match["verbatim"] or match["tag"]:
            return match[0]
        if match["escaped"]:
            return "$"
        found = _formula(match)
        if found is None:
            alt = _ALT.search(match["image"])
            parked.append(image(unescape(alt[1] or alt[2] or "") if alt else ""))
        else:
            parked.append(formula(found))
        return f"{_OPEN}{len(parked) - 1}{_CLOSE}"

    plain = _NESTED.sub(r"\1$\2$</span>", html.replace(_OPEN, "").replace(_CLOSE, ""))
    return _PIECES.sub(replaced, plain)


def _formula(match: re.Match[str]) -> Formula | None:
    if match["inner"] is not None:
        known = _ID.search(match["span"])
        latex, display = _without_dollars(match["inner"])
        return Formula(latex, display, known[1] if known else "")
    for group, display in (("dollars", False), ("round", False), ("block", True), ("square", True), ("env", True)):
        if match[group] is not None:
            return Formula(unescape(re.sub(_TAG, "", match[group])), display, "")
    return None


def _without_dollars(inner: str) -> tuple[str, bool]:
    """The LaTeX inside a formula span, and whether its marks say display."""
    latex = unescape(inner).strip()
    for opening, closing, display in (
        ("$$", "$$", True),
        (r"\[", r"\]", True),
        ("$", "$", False),
        (r"\(", r"\)", False),
    ):
        if latex.startswith(opening) and latex.endswith(closing) and len(latex) >= 2 * len(opening):
            return latex[len(opening) : -len(closing)], display
    return latex, False


def _as_mathml(formula: Formula) -> str:
    return render_formula(formula.latex, display=formula.display, formula_id=formula.formula_id)


def _as_dollars(formula: Formula) -> str:
    return f"${unescape(formula.latex).strip()}$"


def _as_marker(alt: str) -> str:
    return f'<span class="missing-image">image{": " + escape(alt) if alt else ""}</span>'


def _only_numbers(_element: str, _attribute: str, value: str) -> str | None:
    return value if value.isascii() and value.isdigit() and len(value) <= 4 else None

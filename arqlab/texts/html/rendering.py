"""Clean texts of a collection as the HTML of a page: formulas typeset, links followed only where
they lead somewhere here.

The sanitizer (`arqlab.texts.html.sanitizer`) says what may stand in a text. This composes the page
from what it left: a formula becomes MathML of our own making, an image a placeholder that names it,
and a link that does not open a page of ours is shown but dead. Nothing of a text loads from another
host.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from html import escape, unescape
from typing import NamedTuple
from urllib.parse import urlsplit

from arqlab.texts.html.sanitizer import clean_line
from arqlab.texts.maths.macros import Definitions
from arqlab.texts.maths.typesetting import Typeset, typeset
from arqlab.texts.posts import text as posttext

LONG = 40  # characters of LaTeX; an inline formula that is longer may be wider than a telephone
# A formula's LaTeX without dollars, and whether it is a block.
Key = tuple[str, bool]

_FORMULA = re.compile(r'<span class="math-container" id="([^"]*)">([^<]*)</span>')
_REST = r'(?:[^">]|"[^"]*")*'
_PIECES = re.compile(
    rf"{_FORMULA.pattern}(?P<mark>[,.;:!?]*)|<(?P<close>/?)(?P<tag>a|img|h[1-6])(?![a-z0-9])(?P<rest>{_REST})>|</?[a-zA-Z]{_REST}>"
)
# The start of a formula that is a whole paragraph.
_ALONE = re.compile(rf"<p>\s*(?={_FORMULA.pattern}\s*</p>)")
# What LaTeXML made of blocks, between single dollars.
_ALIGNED = (r"\begin{aligned}", r"\@@eqnarray")
_HREF = re.compile(rf'<a\s(?:{_REST}\s)?href="([^"]*)"')
_ATTRIBUTES = re.compile(r'([a-z]+)="([^"]*)"')
_HEADING = re.compile(r"<h([1-6])\b")
_DEFAULT_ALT = re.compile(
    r"!?\[?enter image description here\]?|image", re.IGNORECASE
)  # what the site's editor writes
_UNSET = (
    '<span class="visually-hidden">A formula that could not be typeset, in LaTeX: </span>'
    '<code class="latex" title="This formula could not be typeset. Its LaTeX is shown.">{}</code>'
)
_FORMULA_LINK = (
    '<a class="formula-link" href="{}"><span class="visually-hidden">Formula </span>{}</a>'
)


class SafeHtml(str):
    """HTML built from clean text and escaped parts; templates show it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the HTML itself: template engines call this and do not escape it."""
        return self


class Formula(NamedTuple):
    """A formula as it stands in a text: its id, its LaTeX without dollars, and what is typeset for
    it.
    """

    formula_id: str
    latex: str
    key: Key


class PostText(NamedTuple):
    """A clean text with its formulas in order."""

    html: str
    formulas: tuple[Formula, ...]


def read_text(clean_html: str, definitions: Definitions | None = None) -> PostText:
    """Take the formulas out of a clean text; macros that earlier formulas define stand before those
    that use them.

    A formula that is a whole paragraph is a block: the labs' collections have single dollars for
    nearly all double ones.
    """
    known = definitions or Definitions()
    alone = {match.end() for match in _ALONE.finditer(clean_html)}
    formulas = []
    for match in _FORMULA.finditer(clean_html):
        latex, is_block = posttext.without_marks(
            unescape(unescape(match[2]))
        )  # some topic files escape twice
        formulas.append(
            Formula(
                unescape(match[1]), latex, (known.before(latex), is_block or match.start() in alone)
            )
        )
    return PostText(clean_html, tuple(formulas))


def one_formula(latex: str, definitions: Definitions) -> PostText:
    """Return a text that is one inline formula, such as a topic's query formula; nothing for empty
    LaTeX.
    """
    return read_text(
        f'<span class="math-container" id="">${escape(latex)}$</span>' if latex else "", definitions
    )


def keys_of(texts: Iterable[PostText]) -> list[Key]:
    """Return what is to be typeset for texts, each once, in their order."""
    return list(dict.fromkeys(formula.key for text in texts for formula in text.formulas))


def addresses_of(texts: Iterable[PostText]) -> list[str]:
    """Return the addresses that the links of texts lead to, each once."""
    return list(
        dict.fromkeys(unescape(href) for text in texts for href in _HREF.findall(text.html))
    )


def compose(
    clean: str | PostText,
    *,
    formulas: Mapping[Key, Typeset],
    links: Callable[[str], str | None] = lambda _address: None,
    highlight: frozenset[str] = frozenset(),
    top: int = 4,
    pages: Mapping[str, str] | None = None,
) -> SafeHtml:
    """Compose the HTML of a page from a clean text.

    `formulas` are those typeset (`keys_of`); one that is missing is typeset here. `links` gives the
    local page that an address leads to, or None. Formulas whose ids are in `highlight` are marked.
    The highest heading is h`top`. A formula whose id is in `pages` leads to its page there, but for
    those inside a link.
    """
    text = read_text(clean) if isinstance(clean, str) else clean
    found = iter(text.formulas)
    shift = top - min(map(int, _HEADING.findall(text.html)), default=top)
    ends: list[str] = []

    def composed(match: re.Match[str]) -> str:
        if match[1] is not None:
            formula = next(found)
            done = formulas.get(formula.key) or typeset(formula.key[0], display=formula.key[1])
            shown = _formula(done, formula, is_highlighted=formula.formula_id in highlight)
            page = pages.get(formula.formula_id) if pages and not ends else None
            return _with_mark(
                _FORMULA_LINK.format(escape(page), shown) if page else shown, match["mark"]
            )
        if match["tag"] == "a":
            return _link(match, links, ends)
        if match["tag"] == "img":
            return _image(dict(_ATTRIBUTES.findall(match["rest"])))
        if match["tag"]:
            return f"<{match['close']}h{min(6, int(match['tag'][1]) + shift)}>"
        return match[0]

    return SafeHtml(_PIECES.sub(composed, text.html))


def title_text(html: str) -> str:
    """A title as plain text, formulas as LaTeX between dollars: for <title>, file names and logs.
    Not escaped.
    """
    return posttext.plain_title(clean_line(html, prefix="f").html)


def render_formula(latex: str, *, display: bool = False, formula_id: str = "") -> SafeHtml:
    """One formula as safe HTML: MathML, or its LaTeX in <code class="latex"> where it cannot be
    typeset.
    """
    formula = Formula(formula_id, latex, (latex, display))
    done = typeset(latex, display=display)
    return SafeHtml(_formula(done, formula._replace(latex=done.latex)))


def _with_mark(shown: str, mark: str) -> str:
    """Keep a comma or full stop on the line of its formula; a long one may have more lines than
    one, and fill them.
    """
    if not mark or " is-display" in shown or " is-long" in shown:
        return shown + mark
    return f'<span class="with-mark">{shown}{mark}</span>'


def _formula(done: Typeset, formula: Formula, *, is_highlighted: bool = False) -> str:
    inside = done.mathml
    if inside is None:
        inside = _UNSET.format(escape(formula.latex)) if formula.latex.strip() else ""
    classes = "math-container"
    if (
        formula.key[1]
        or inside.startswith('<math display="block"')
        or formula.latex.startswith(_ALIGNED)
    ):
        classes += " is-display"
    elif len(formula.latex) > LONG or "<mtable" in inside:
        classes += " is-long"
    known = f' data-formula-id="{escape(formula.formula_id)}"' if formula.formula_id else ""
    known += f' data-latex="{escape(formula.latex)}"'
    if is_highlighted:
        place = f' id="formula-{escape(formula.formula_id)}"' if formula.formula_id else ""
        return f'<mark class="{classes} is-highlighted"{known}{place}>{inside}</mark>'
    return f'<span class="{classes}"{known}>{inside}</span>'


def _link(match: re.Match[str], links: Callable[[str], str | None], ends: list[str]) -> str:
    if match["close"]:
        return ends.pop() if ends else ""
    address = unescape(dict(_ATTRIBUTES.findall(match["rest"])).get("href", ""))
    local = links(address) if address else None
    ends.append("</a>" if local else "</span>")
    if local:
        return f'<a href="{escape(local)}">'
    if not address:
        return '<span class="dead-link" title="This link has no address that could be shown.">'
    return (
        f'<span class="dead-link" role="link" aria-disabled="true" data-host="{escape(_host(address))}" '
        f'title="Leads to {escape(address)}. Links out of the collection are not followed here.">'
    )


def _image(attributes: dict[str, str]) -> str:
    """A placeholder that says what the image shows, its file and its host."""
    address = unescape(attributes.get("src", ""))
    shown = " ".join(unescape(attributes.get("alt", "")).split())
    shown = "" if _DEFAULT_ALT.fullmatch(shown) else shown
    file = address.partition("?")[0].rstrip("/").rpartition("/")[2]
    where = f'<span class="missing-image-file">{escape(file)} at {escape(_host(address))}, not loaded</span>'
    said = f"image: {escape(shown)}" if shown else "image"
    title = f' title="{escape(address)}"' if address else ""
    return f'<span class="missing-image"{title}>{said}{" " + where if address else ""}</span>'


def _host(address: str) -> str:
    try:
        host = urlsplit(address).hostname
    except ValueError:
        host = None
    return (host or "an unknown host").removeprefix("www.")

"""Clean texts of a collection as HTML of a page: formulas typeset, links kept within the lab.

The sanitizer (`arqkit.texts.html.sanitizer`) decides what a text may contain. This module renders
its output: formulas become our own MathML, images become placeholders with their names, and links
that do not lead to a page of the lab are shown but disabled. Nothing in a text loads from another
host.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping
from html import escape, unescape
from typing import NamedTuple
from urllib.parse import urlsplit

from arqkit.data_files import data_beside
from arqkit.formulas.layout import layout_string
from arqkit.texts.html.sanitizer import clean_line
from arqkit.texts.maths.macros import Definitions
from arqkit.texts.maths.typesetting import Typeset, presentation_mathml, typeset
from arqkit.texts.posts import text as posttext
from arqkit.texts.posts.text import TextFormula

LONG = 40  # characters of LaTeX; longer inline formulas may be wider than a phone screen
# A formula's LaTeX without dollars, and whether it is a block.
Key = tuple[str, bool]

RARE_SIGNS: str = data_beside(__file__, "rare_signs.toml")["signs"]
"""Signs that the first part of the math font cannot stretch."""
_RARE_SIGN = re.compile(f"[{RARE_SIGNS}]")
_FORMULA = re.compile(r'<span class="math-container" id="([^"]*)">([^<]*)</span>')
_REST = r'(?:[^">]|"[^"]*")*'
_PIECES = re.compile(
    rf"{_FORMULA.pattern}(?P<mark>[,.;:!?]*)"
    rf"|<(?P<close>/?)(?P<tag>a|img|h[1-6])(?![a-z0-9])(?P<rest>{_REST})>"
    rf"|<code(?![a-z]){_REST}>.*?</code>|</?[a-zA-Z]{_REST}>"
    r"|\\(?P<ref>(?:eq)?ref)\{(?P<label>[^{}<>]+)\}",
    re.DOTALL,
)
# The number and the label of an equation, in either order, on a line of a display.
_TAG, _LABEL = re.compile(r"\\tag\*?\{([^{}]*)\}"), re.compile(r"\\label\{([^{}]*)\}")
# The start of a formula that is a whole paragraph.
_ALONE = re.compile(rf"<p>\s*(?={_FORMULA.pattern}\s*</p>)")
# LaTeXML's output for display formulas, between single dollars.
_ALIGNED = (r"\begin{aligned}", r"\@@eqnarray")
_HREF = re.compile(rf'<a\s(?:{_REST}\s)?href="([^"]*)"')
_ANCHOR = re.compile(_HREF.pattern + rf"{_REST}>.*?</a>", re.DOTALL)
_ATTRIBUTES = re.compile(r'([a-z]+)="([^"]*)"')
_HEADING = re.compile(r"<h([1-6])\b")
# The default text of the site's editor.
_DEFAULT_ALT = re.compile(r"!?\[?enter image description here\]?|image", re.IGNORECASE)
_UNSET = (
    '<span class="visually-hidden">Formula that could not be typeset, in LaTeX: </span>'
    '<code class="latex" title="This formula could not be typeset. Its LaTeX is shown.">{}</code>'
)
_FORMULA_LINK = (
    '<a class="formula-link" href="{}"><span class="visually-hidden">Formula </span>{}</a>'
)


class SafeHtml(str):
    """HTML built from clean text and escaped parts; templates show it without escaping."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the HTML itself; template engines call this method instead of escaping."""
        return self


class Formula(NamedTuple):
    """A formula in a text: its id, its LaTeX without dollars, and the key of its typeset form."""

    formula_id: str
    latex: str
    key: Key


class PostText(NamedTuple):
    """A clean text and its formulas, in order."""

    html: str
    formulas: tuple[Formula, ...]


def read_text(clean_html: str, definitions: Definitions | None = None) -> PostText:
    """Return a clean text with its formulas, each preceded by the earlier macros that it uses.

    A formula that is a whole paragraph is a display: the labs' collections have single dollars for
    nearly all double ones.
    """
    macros = definitions or Definitions()
    alone = {match.end() for match in _ALONE.finditer(clean_html)}
    formulas = []
    for match in _FORMULA.finditer(clean_html):
        # Some topic files escape HTML twice.
        latex, is_block = posttext.without_marks(unescape(unescape(match[2])))
        formulas.append(
            Formula(
                unescape(match[1]),
                latex,
                (macros.before(latex), is_block or match.start() in alone),
            )
        )
    return PostText(clean_html, tuple(formulas))


def one_formula(latex: str, definitions: Definitions) -> PostText:
    """Return a text with a single inline formula, such as a topic's; empty for empty LaTeX."""
    return read_text(
        f'<span class="math-container" id="">${escape(latex)}$</span>' if latex else "", definitions
    )


def formula_alone(texts: Iterable[PostText], formula_id: str) -> PostText:
    """Return a text with only one formula of a post, or an empty text if the post lacks it."""
    matches = (one for text in texts for one in text.formulas if one.formula_id == formula_id)
    if (formula := next(matches, None)) is None:
        return PostText("", ())
    span = (
        f'<span class="math-container" id="{escape(formula_id)}">${escape(formula.latex)}$</span>'
    )
    return PostText(f"<p>{span}</p>", (formula,))


def keys_of(texts: Iterable[PostText]) -> list[Key]:
    """Return the keys of the formulas to typeset in texts, without duplicates, in order."""
    return list(dict.fromkeys(formula.key for text in texts for formula in text.formulas))


def addresses_of(texts: Iterable[PostText]) -> list[str]:
    """Return the addresses of the links in texts, without duplicates."""
    return list(
        dict.fromkeys(unescape(href) for text in texts for href in _HREF.findall(text.html))
    )


def without_links(clean_html: str, addresses: Container[str]) -> str:
    """Return a clean text without the links to these addresses, and without their texts."""
    return _ANCHOR.sub(lambda link: "" if unescape(link[1]) in addresses else link[0], clean_html)


def compose(
    clean: str | PostText,
    *,
    formulas: Mapping[Key, Typeset],
    links: Callable[[str], str | None] = lambda _address: None,
    highlight: frozenset[str] = frozenset(),
    top: int = 4,
    pages: Mapping[str, str] | None = None,
) -> SafeHtml:
    """Return the HTML of a page for a clean text.

    `formulas` holds typeset formulas (see `keys_of`); missing ones are typeset here. `links`
    returns the local page of an address, or None. Formulas with an id in `highlight` are marked.
    The highest heading becomes h`top`. A formula whose id is in `pages` links to its page unless it
    is already inside a link.
    """
    text = read_text(clean) if isinstance(clean, str) else clean
    remaining = iter(text.formulas)
    shift = top - min(map(int, _HEADING.findall(text.html)), default=top)
    ends: list[str] = []
    tags = _tags(text.formulas)

    def composed(match: re.Match[str]) -> str:
        if match[1] is not None:
            formula = next(remaining)
            done = formulas.get(formula.key) or typeset(formula.key[0], display=formula.key[1])
            typeset_html = _formula(done, formula, is_highlighted=formula.formula_id in highlight)
            page = pages.get(formula.formula_id) if pages and not ends else None
            return _with_mark(
                _FORMULA_LINK.format(escape(page), typeset_html) if page else typeset_html,
                match["mark"],
            )
        if match["ref"]:
            label = match["label"]
            number = escape(tags.get(unescape(label), unescape(label)))
            return f"({number})" if match["ref"] == "eqref" else number
        if match["tag"] == "a":
            return _link(match, links, ends)
        if match["tag"] == "img":
            return _image(dict(_ATTRIBUTES.findall(match["rest"])))
        if match["tag"]:
            return f"<{match['close']}h{min(6, int(match['tag'][1]) + shift)}>"
        return match[0]

    return SafeHtml(_PIECES.sub(composed, text.html))


def title_text(html: str) -> str:
    """Return a title as plain text for <title>, names and logs, with LaTeX between dollars."""
    return posttext.plain_title(clean_line(html, prefix="f").html)


def render_formula(latex: str, *, display: bool = False, formula_id: str = "") -> SafeHtml:
    """Return one formula as safe HTML: MathML, or <code class="latex"> if it cannot be typeset."""
    formula = Formula(formula_id, latex, (latex, display))
    done = typeset(latex, display=display)
    return SafeHtml(_formula(done, formula._replace(latex=done.latex)))


def formula_html(key: Key, done: Typeset) -> SafeHtml:
    """Return a typeset formula as safe HTML, or its LaTeX if it could not be typeset."""
    return SafeHtml(_formula(done, Formula("", done.latex, key)))


def _tags(formulas: Iterable[Formula]) -> dict[str, str]:
    lines = (line for formula in formulas for line in formula.latex.split(r"\\"))
    tagged = ((_LABEL.search(line), _TAG.search(line)) for line in lines if r"\label" in line)
    return {label[1]: tag[1] for label, tag in tagged if label and tag}


def _with_mark(formula: str, mark: str) -> str:
    """Keep punctuation on the line of its formula, unless the formula may span several lines."""
    if not mark or " is-display" in formula or " is-long" in formula:
        return formula + mark
    return f'<span class="with-mark">{formula}{mark}</span>'


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
    if _RARE_SIGN.search(inside):
        classes += " has-rare-signs"  # of which the first part of the math font has no sizes
    attributes = f' data-formula-id="{escape(formula.formula_id)}"' if formula.formula_id else ""
    attributes += f' data-latex="{escape(formula.latex)}"'
    if is_highlighted:
        place = f' id="formula-{escape(formula.formula_id)}"' if formula.formula_id else ""
        return f'<mark class="{classes} is-highlighted"{attributes}{place}>{inside}</mark>'
    return f'<span class="{classes}"{attributes}>{inside}</span>'


def _link(match: re.Match[str], links: Callable[[str], str | None], ends: list[str]) -> str:
    if match["close"]:
        return ends.pop() if ends else ""
    address = unescape(dict(_ATTRIBUTES.findall(match["rest"])).get("href", ""))
    local = links(address) if address else None
    ends.append("</a>" if local else "</span>")
    if local:
        return f'<a href="{escape(local)}">'
    if not address:
        return '<span class="dead-link" title="This link has no valid address.">'
    host, title = escape(_host(address)), f"Leads to {escape(address)}, outside the collection."
    return (
        f'<span class="dead-link" role="link" aria-disabled="true" data-host="{host}" '
        f'title="{title} Links to other sites are disabled.">'
    )


def _image(attributes: dict[str, str]) -> str:
    address = unescape(attributes.get("src", ""))
    description = " ".join(unescape(attributes.get("alt", "")).split())
    description = "" if _DEFAULT_ALT.fullmatch(description) else description
    file = address.partition("?")[0].rstrip("/").rpartition("/")[2]
    place = f"{escape(file)} at {escape(_host(address))}"
    where = f'<span class="missing-image-file">{place}, not loaded</span>'
    words = f"image: {escape(description)}" if description else "image"
    title = f' title="{escape(address)}"' if address else ""
    return f'<span class="missing-image"{title}>{words}{" " + where if address else ""}</span>'


def _host(address: str) -> str:
    try:
        host = urlsplit(address).hostname
    except ValueError:
        host = None
    return (host or "an unknown host").removeprefix("www.")


def matching_formulas(
    formulas: Iterable[TextFormula], *, formula_id: str, latex: str
) -> frozenset[str]:
    """Return the ids of the formulas in a post that match the query formula.

    The formula with the query's id matches; else formulas with the same LaTeX, ignoring white
    space; else formulas that look the same when typeset. The result is empty without a query
    formula.
    """
    candidates = list(formulas)
    if any(formula.formula_id == formula_id for formula in candidates if formula_id):
        return frozenset({formula_id})
    if not latex.strip():
        return frozenset()
    for kind in (_bare, _layout):
        query_form = kind(latex)
        if query_form and (
            same := frozenset(
                formula.formula_id for formula in candidates if kind(formula.latex) == query_form
            )
        ):
            return same
    return frozenset()


def _bare(latex: str) -> str:
    return "".join(latex.split())


def _layout(latex: str) -> str | None:
    mathml = presentation_mathml(latex)
    return layout_string(mathml) if mathml else None

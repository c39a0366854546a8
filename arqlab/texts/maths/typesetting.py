"""LaTeX to MathML, once on the server instead of in every browser for every page.

Temml runs in QuickJS, a JavaScript engine without network, files or processes, with limits of time
and memory. What it gives is parsed and rebuilt from an allow-list of MathML elements and
attributes: no link, no script and no style attribute gets through, so a page needs no exception
from its content security policy. What Temml says by style attributes becomes classes of
`static/css/maths.css` and the attribute mathcolor.

Inline formulas may break after relations and operators, so that a long one does not make a narrow
page scroll. For that the parts stand side by side in `<math>`, which `<semantics>` with an
`<annotation>` would not allow; the LaTeX stands in `data-latex` of the span around the formula
(`posthtml.render_formula`) instead, and `static/js/maths.js` puts it on the clipboard when a
selection is copied.
"""

import hashlib
import json
import re
import threading
from functools import lru_cache
from html import escape, unescape
from pathlib import Path
from typing import Any, NamedTuple

import quickjs
from lxml import etree

from arqlab.texts.maths import latex_repair
from arqlab.texts.maths.latex_repair import MACROS, mend, prepared

TEMML = Path(__file__).resolve().parents[3] / "static" / "vendor" / "temml" / "temml.min.js"
SECONDS = 0.5
MEMORY = 48 * 2**20
LONGEST = 20_000  # characters; the longest formula of the collection has fewer than 3,000
REPAIRS = 12  # how often a formula that failed is mended and tried again
_UNSETTABLE = re.compile("[\x00\ud800-\udfff]")
# Any change of the engine or of these rules is another version: what was kept is set again, when it
# is next shown.
_RULES = b"".join(Path(file).read_bytes() for file in (TEMML, __file__, latex_repair.__file__))
ENGINE = f"temml {hashlib.sha256(_RULES).hexdigest()[:16]}"

GLUE = """
function typeset(latex, display, macros) {
  return temml.renderToString(latex, {
    displayMode: display, macros: JSON.parse(macros), xml: true, annotate: false, throwOnError: true,
    wrap: display ? 'none' : 'tex', trust: false, maxExpand: 1000, maxSize: [40, 40],
  });
}
function convert(latex, display, macros) {
  return temml.renderToString(latex, {
    displayMode: display, macros: Object.assign({'\\\\iff': '\\\\Leftrightarrow'}, JSON.parse(macros)), xml: true, annotate: false, throwOnError: true,
    wrap: 'none', trust: false, maxExpand: 1000, maxSize: [40, 40],
  });
}
"""


class Typeset(NamedTuple):
    """A formula for a page: its MathML, or None where it cannot be typeset, and its LaTeX."""

    mathml: str | None
    latex: str


def typeset(latex: str, *, display: bool) -> Typeset:
    """Typeset one formula, without its dollars; `display` sets it as a block of its own.

    HTML escapes that some topic files hold (`a &lt; b`) are undone first. Nothing is raised: where
    no MathML can be made the page shows the LaTeX.
    """
    source = unescape(latex).strip()
    if not can_be_set(source):
        return Typeset(None, source)
    return _typeset(source, display)


def can_be_set(source: str) -> bool:
    """Return whether the engine should see a formula, and a database hold it: QuickJS crashes over
    half of a character.
    """
    return 0 < len(source) <= LONGEST and not _UNSETTABLE.search(source)


@lru_cache(maxsize=8192)
def _typeset(source: str, display: bool) -> Typeset:
    mathml = _converted(source, display, "typeset")
    try:
        return Typeset(_clean(mathml) if mathml else None, source)
    except etree.XMLSyntaxError:  # nested deeper than a parser should follow
        return Typeset(None, source)


def presentation_mathml(latex: str) -> str | None:
    """Convert one formula, without its dollars, to MathML for its layout string, not for a page;
    None where it fails.

    It is Temml's own, without the breaks in lines and the allow-list of `typeset`. Nothing is
    raised.
    """
    source = unescape(latex).strip()
    if not can_be_set(source):
        return None
    return _converted(on_one_line(source), False, "convert")


_LOOSE = re.compile(
    r"\\tag\*?\s*(?:\{(?:[^{}]|\{[^{}]*\})*\}|[^{\s\\])|\\(?:begin|end)\s*\{(?:equation|displaymath|math)\*?\}"
)
_GROUPS = re.compile(r"(\\(?:begin|end)\b|\\\\(?:\[[^\]]*\])?|\\cr\b|\\.|[{}])", re.DOTALL)


def on_one_line(latex: str) -> str:
    """Take out tags, and the line ends outside of groups and environments, which would make a table
    of the formula.
    """
    depth, parts = 0, []
    for part in _GROUPS.split(_LOOSE.sub(" ", latex)):
        depth += part.startswith((r"\begin", "{")) - part.startswith((r"\end", "}"))
        parts.append(" " if depth == 0 and part.startswith((r"\\", r"\cr")) else part)
    return "".join(parts)


def _converted(source: str, display: bool, function: str) -> str | None:
    """Return what a function of the engine makes of a formula, mended if need be."""
    attempt = prepared(source)
    macros = dict(MACROS)
    for _ in range(REPAIRS):
        try:
            return str(_engine().get(function)(attempt, display, json.dumps(macros)))
        except (quickjs.JSException, quickjs.StackOverflow) as error:
            mended = mend(attempt, display, macros, str(error))
        if mended is None:
            return None
        attempt, display = mended
    return None


# --- the engine

_threads = threading.local()


def _engine() -> Any:
    """The JavaScript context of this thread: QuickJS contexts must not be shared between threads."""
    context = getattr(_threads, "context", None)
    if context is None:
        context = quickjs.Context()
        context.set_memory_limit(MEMORY)
        context.set_time_limit(SECONDS)
        context.eval(TEMML.read_text(encoding="utf-8"))
        context.eval(GLUE)
        _threads.context = context
    return context


# --- the allow-list of MathML

_TOKEN = re.compile(r"mi|mn|mo|mtext|ms")  # they hold text only, so that no HTML can stand inside
_ELEMENT = re.compile(
    r"math|mspace|mrow|mfrac|msqrt|mroot|mstyle|mpadded|mphantom|menclose|msub|msup|msubsup|munder|mover|munderover"
    r"|mmultiscripts|mprescripts|none|mtable|mtr|mtd"
)
_CHILDREN = {"msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}
_ATTRIBUTE = re.compile(
    r"(?:displaystyle|stretchy|fence|separator|symmetric|movablelimits|largeop|accent|accentunder)=(?:true|false)"
    r"|(?:form|mathvariant|notation|columnalign|display)=[a-z][a-z -]{0,60}"
    r"|(?:width|height|depth|lspace|rspace|voffset|minsize|maxsize|mathsize|linethickness)"
    r"=[+-]?(?:[0-3]?\d(?:\.\d+)?|\.\d+)(?:em|ex|pt|px|mu|%)?"
    r"|scriptlevel=[+-]?\d|(?:columnspan|rowspan)=\d{1,2}"
    r"|(?:mathcolor|mathbackground)=(?:#[0-9A-Fa-f]{3,8}|[A-Za-z]{3,24})"
)
_CLASS = re.compile(
    r"(?:tml|chr|wbk|ff|longdiv|phasor)-[a-z0-9-]+|math(?:cal|scr)|(?:up|down)strike|menclose|sout|actuarial"
    r"|circle-pad|textcircle|special-fraction"
)
_BLACK = {
    "",
    "black",
    "#000",
    "#000000",
    "undefined",
}  # the page's own ink, which is light in a dark scheme

# Whole style attributes of Temml that mean one thing.
_STYLES = {
    "position:relative;": "tml-relative",
    "position:absolute;right:0;bottom:0;": "tml-llap",
    "display:flex;justify-content:center;": "tml-clap",
    "padding:3pt;border:1px solid;": "tml-fbox",
    "width:100%;": "tml-wide",
    "math-depth:0;": "tml-depth-0",
    "font-weight:bold;": "tml-bold",
}
_DECLARATION = re.compile(r"([a-z-]+):\s*([^;]*?)\s*;")
_AMOUNT = re.compile(r"-?([\d.]+)(em|pt)?")
_STEPS = (
    0.0,
    0.04,
    0.14,
    0.17,
    0.25,
    0.28,
    0.4,
    0.6,
    1.0,
    2.0,
)  # em; the widths that maths.css knows
_SIDES = {"padding-left": "tml-pl-", "padding-right": "tml-pr-", "margin-left": "tml-ml-"}


def _clean(mathml: str) -> str:
    """Rebuild Temml's MathML from what is allowed."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    return _rebuilt(etree.fromstring(mathml.encode(), parser))


def _rebuilt(element: Any) -> str:
    name = etree.QName(element).localname if isinstance(element.tag, str) else ""
    if _TOKEN.fullmatch(name):
        return f"<{name}{_attributes(element)}>{escape(''.join(element.itertext()))}</{name}>"
    children = [_rebuilt(child) for child in element]
    if not _ELEMENT.fullmatch(name):
        return f"<mrow>{''.join(children)}</mrow>"
    surplus = len(children) - _CHILDREN.get(name, len(children))
    if (
        surplus > 0
    ):  # Temml writes the parts of an \\operatorname side by side; together they are the base
        children[: surplus + 1] = [f"<mrow>{''.join(children[: surplus + 1])}</mrow>"]
    return f"<{name}{_attributes(element)}>{''.join(children)}</{name}>"


def _attributes(element: Any) -> str:
    classes, colour = _of_style(element.get("style", ""))
    classes = [
        name for name in element.get("class", "").split() if _CLASS.fullmatch(name)
    ] + classes
    pairs = (
        [*element.items(), ("mathcolor", colour)]
        if colour.lower() not in _BLACK
        else element.items()
    )
    kept = [
        f' {name}="{escape(value)}"'
        for name, value in pairs
        if _ATTRIBUTE.fullmatch(f"{name}={value}")
    ]
    return "".join(kept) + (f' class="{" ".join(classes)}"' if classes else "")


def _of_style(style: str) -> tuple[list[str], str]:
    """The classes that stand for a style attribute, and the colour it sets; what else it says is
    dropped.
    """
    if style in _STYLES:
        return [_STYLES[style]], ""
    classes, colour = [], ""
    for name, value in _DECLARATION.findall(style):
        if name == "color":
            colour = value
        elif name == "text-align":
            classes.append(f"tml-{value}")
        elif name in _SIDES:
            classes.append(_SIDES[name] + str(_step(value)))
        elif name.startswith("border-") and value:
            classes.append(f"tml-{name}{'-dashed' if 'dashed' in value else ''}")
        elif (name, value) == ("width", "50%"):
            classes.append("tml-fill")
    return [name for name in classes if _CLASS.fullmatch(name)], colour


def _step(length: str) -> int:
    """The number of the step that is nearest to a length in em or pt."""
    amount = _AMOUNT.match(length)
    em = float(amount[1]) / (10 if amount[2] == "pt" else 1) if amount else 0.0
    return min(range(len(_STEPS)), key=lambda step: abs(_STEPS[step] - em))

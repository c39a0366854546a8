"""LaTeX to MathML on the server, once, instead of in every browser for every page.

Temml runs in QuickJS, a JavaScript engine without network, files or processes, with limits on time
and memory. Its output is parsed and rebuilt from an allow-list of MathML elements and attributes.
No link, script or style attribute gets through, so pages need no exception from the content
security policy. Temml's style attributes become classes of `static/css/maths.css` and the attribute
mathcolor.

Browsers lay out MathML with fewer rules than TeX. `arqkit.texts.maths.layout` and `spacing` write
the rest into Temml's output, and the math font contains some of it (`bin/math-font`).

Inline formulas may break after relations and operators, so that a long formula does not make a
narrow page scroll. This requires the parts to be children of `<math>`, which `<semantics>` with an
`<annotation>` would not allow. The LaTeX is therefore in `data-latex` of the span around the
formula (`arqkit.texts.html.rendering.render_formula`), and `static/js/maths.js` copies it to the
clipboard with a selection.
"""

import json
import re
import threading
from collections.abc import Callable
from functools import lru_cache
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple

import quickjs
from lxml import etree

from arqkit.data_files import data_beside
from arqkit.texts.maths.colours import dark_class
from arqkit.texts.maths.layout import lay_out
from arqkit.texts.maths.mathjax import LONGEST, as_mathjax

_DATA = data_beside(__file__)
MACROS: dict[str, str] = _DATA["macros"]
SHOWN_MACROS = MACROS | _DATA["shown_macros"]
_WITHOUT_NUMBERS = re.compile(
    r"\\(begin|end)\s*\{(equation|align|gather|alignat|multline|flalign)\}"
)
_EQNARRAY = re.compile(r"\\begin\s*\{eqnarray\*?\}(.*?)\\end\s*\{eqnarray\*?\}", re.DOTALL)
_COMMAND = re.compile(r"\\[A-Za-z ]+")
_UNKNOWN = re.compile(r"Unsupported function name: (\\[A-Za-z@]+)")

# HTML escapes of & and <, cut at the & that LaTeXML read as the end of a cell.
_CUT_ESCAPE = re.compile(r"(?:\\hfil\s*)?&\s*(\$?)\s*(?:\\displaystyle\s*)?(amp|lt|gt|#39);")
_ESCAPED = {"amp": "&", "lt": "<", "gt": ">", "#39": "'"}

_GROUP = r"\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*\}"
_MATRIX = re.compile(rf"\\begin\{{(\w*matrix|cases)\}}(?={_GROUP})({_GROUP})")
_ENDS = re.compile(r"\\end\{(?:\w*matrix|cases)\}")

_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_SIDE = re.compile(r"\\(left|right)(?![A-Za-z])\s*\.?")
_ENVIRONMENT = re.compile(r"\\(begin|end)\{([a-z]+\*?)\}(?:\{[lcr| ]*\})?")

TEMML = Path(__file__).with_name("temml") / "temml.min.js"
# Limits of QuickJS for a formula: LaTeX comes from strangers, and macros can loop or grow.
SECONDS = 0.5
MEMORY = 48 * 2**20
ATTEMPTS = 12  # the most attempts to typeset a formula, with a repair before each retry
_NAMESPACE = re.compile(r' xmlns="[^"]*"')
_UNSETTABLE = re.compile("[\x00\ud800-\udfff]")
# The version of the typeset output. Raise it when the vendored Temml, the repairs, the layout or
# the allow-list change the output. Stored formulas of another version are typeset again, when next
# shown or in the background. The test of the version fails until it is raised and the new output
# recorded in tests/golden/typeset.toml.
VERSION = 5
ENGINE = f"temml, version {VERSION}"

_LOOSE = re.compile(
    r"\\tag\*?\s*(?:\{(?:[^{}]|\{[^{}]*\})*\}|[^{\s\\])"
    r"|\\(?:begin|end)\s*\{(?:equation|displaymath|math)\*?\}"
)
_GROUPS = re.compile(r"(\\(?:begin|end)\b|\\\\(?:\[[^\]]*\])?|\\cr\b|\\.|[{}])", re.DOTALL)

_threads = threading.local()

_TOKEN = re.compile(r"mi|mn|mo|mtext|ms")  # elements that contain only text
_ELEMENT = re.compile(
    r"math|mspace|mrow|mfrac|msqrt|mroot|mstyle|mpadded|mphantom|menclose|msub|msup|msubsup"
    r"|munder|mover|munderover|mmultiscripts|mprescripts|none|mtable|mtr|mtd"
)
_CHILDREN = {"msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}
_ATTRIBUTE = re.compile(
    r"(?:displaystyle|stretchy|fence|separator|symmetric|movablelimits|largeop|accent|accentunder)"
    r"=(?:true|false)"
    r"|(?:form|mathvariant|notation|columnalign|display)=[a-z][a-z -]{0,60}"
    r"|(?:width|height|depth|lspace|rspace|voffset|minsize|maxsize|mathsize|linethickness)"
    r"=[+-]?(?:[0-3]?\d(?:\.\d+)?|\.\d+)(?:em|ex|pt|px|mu|%)?"
    r"|scriptlevel=[+-]?\d|(?:columnspan|rowspan)=\d{1,2}"
    r"|(?:mathcolor|mathbackground)=(?:#[0-9A-Fa-f]{3,8}|[A-Za-z]{3,24})"
)
_CLASS = re.compile(
    r"(?:tml|chr|wbk|ff|longdiv|phasor)-[a-z0-9-]+|math(?:cal|scr)|(?:up|down)strike|menclose"
    r"|sout|actuarial|circle-pad|textcircle|special-fraction"
)
# The page's own text colour, which is light in a dark colour scheme.
_BLACK = {"", "black", "#000", "#000000", "undefined"}

_STYLES: dict[str, str] = _DATA["styles"]
_DECLARATION = re.compile(r"([a-z-]+):\s*([^;]*?)\s*;")
_AMOUNT = re.compile(r"-?([\d.]+)(em|pt)?")
_STEPS = (0.0, 0.04, 0.14, 0.17, 0.25, 0.28, 0.4, 0.6, 1.0, 2.0)  # em; the widths in maths.css
_SIDES = {"padding-left": "tml-pl-", "padding-right": "tml-pr-", "margin-left": "tml-ml-"}


def prepared(latex: str) -> str:
    """Return a formula without equation numbers and with damaged HTML escapes restored."""
    if ";" in latex:
        latex = _CUT_ESCAPE.sub(lambda cut: _ESCAPED[cut[2]] + cut[1], latex)
    latex = _WITHOUT_NUMBERS.sub(r"\\\1{\2*}", latex)
    return _EQNARRAY.sub(r"\\begin{darray}{rclrcl}\1\\end{darray}", latex)


def next_attempt(
    latex: str, display: bool, macros: dict[str, str], error: str
) -> tuple[str, bool] | None:
    """Return the next attempt after an error, or None.

    An unknown macro is shown by its name, with the class `tml-unknown`: it must not look typeset.
    """
    if "Error: " not in error:  # out of time, memory or stack: a retry would fail again
        return None
    if "display mode" in error and not display:
        return latex, True
    for pattern, replacement in _REPAIRS:
        repaired = pattern.sub(replacement, latex)
        if repaired != latex:
            return repaired, display
    if _named(latex, macros, error):
        return latex, display
    if "got '&'" in error and not latex.startswith(r"\begin{aligned}"):
        return rf"\begin{{aligned}}{latex}\end{{aligned}}", display
    repaired = _balanced(latex)
    return (repaired, display) if repaired and repaired != latex else None


def _named(latex: str, macros: dict[str, str], error: str) -> bool:
    """Define an unknown macro to show its name, followed by its argument if that has cells."""
    unknown = _UNKNOWN.search(error)
    if unknown is None or unknown[1] in macros:
        return False
    name = unknown[1]
    macros[name] = rf"\text{{\textbackslash {name[1:].replace('@', ' ')}}}"
    if re.search(rf"{re.escape(name)}\s*\{{(?:[^{{}}]|{_GROUP})*?(?:&|\\\\)", latex):
        macros[name] += r"\left\{\begin{matrix}#1\end{matrix}\right\}"
    return True


# --- repairs


def _regrouped(match: re.Match[str]) -> str:
    r"""Restore TeX's `\matrix{a&b}` from environments whose ends LaTeXML moved to the end."""
    latex = match[0]
    if not _MATRIX.search(latex) or len(_MATRIX.findall(latex)) != len(
        re.findall(r"\\begin\{(?:\w*matrix|cases)\}", latex)
    ):
        return latex
    return _MATRIX.sub(lambda matrix: rf"\{matrix[1]}{{{matrix[2][1:-1]}}}", _ENDS.sub("", latex))


def _character(match: re.Match[str]) -> str:
    r"""Return the character of `\unicode{x1D7D9}`.

    Signs with a meaning in TeX or HTML and invalid code points are left as they are.
    """
    number = int(match[1][1:], 16) if match[1][0] == "x" else int(match[1])
    is_sign = number < 0xA0 or 0xD800 <= number < 0xE000 or number > 0x10FFFF
    return match[0] if is_sign else f"{{{chr(number)}}}"


_FUNCTIONS: dict[str, Callable[[re.Match[str]], str]] = {
    "<character>": _character,
    "<enclosed>": lambda notation: _DATA["enclosed"].get(notation[1], ""),
    "<regrouped>": _regrouped,
}
_REPAIRS = [
    (re.compile(pattern), _FUNCTIONS.get(replacement, replacement))
    for pattern, replacement in _DATA["repairs"].items()
]


def _balanced(latex: str) -> str:
    r"""Balance a fragment cut at dollars inside \text; ends without a beginning are removed."""
    depth, pieces, place = 0, [], 0
    for brace in _BRACE.finditer(latex):
        is_surplus = brace[0] == "}" and depth == 0
        depth += (brace[0] == "{") - (brace[0] == "}" and not is_surplus)
        if is_surplus:
            pieces.append(latex[place : brace.start()])
            place = brace.end()
    whole = "".join([*pieces, latex[place:], "}" * depth])
    if not _is_paired(_SIDE.findall(whole), "left"):
        whole = _SIDE.sub("", whole)
    if not _is_paired([mark[1] for mark in _ENVIRONMENT.finditer(whole)], "begin"):
        whole = _ENVIRONMENT.sub("", whole)
    return whole.strip()


def _is_paired(marks: list[str], opening: str) -> bool:
    depth = 0
    for mark in marks:
        depth += 1 if mark == opening else -1
        if depth < 0:
            return False
    return depth == 0


class Typeset(NamedTuple):
    """A formula for a page: its MathML, or None if it cannot be typeset, and its LaTeX."""

    mathml: str | None
    latex: str


def typeset(latex: str, *, display: bool) -> Typeset:
    """Typeset one formula, without dollars; `display` sets it as a block.

    HTML escapes in some topic files (`a &lt; b`) are decoded first. Nothing is raised: if there is
    no MathML, the page shows the LaTeX.
    """
    source = unescape(latex).strip()
    if not can_be_set(source):
        return Typeset(None, source)
    return _typeset(source, display)


def can_be_set(source: str) -> bool:
    """Return whether the engine, which crashes on unpaired surrogates, and the database take it."""
    return 0 < len(source) <= LONGEST and not _UNSETTABLE.search(source)


def typeset_now(latex: str, *, display: bool) -> Typeset:
    """Typeset as `typeset` does, even if the process remembers that it failed before."""
    source = unescape(latex).strip()
    return _typeset.__wrapped__(source, display) if can_be_set(source) else Typeset(None, source)


# Pages and imports meet the same short formulas again and again; each takes milliseconds.
@lru_cache(maxsize=8192)
def _typeset(source: str, display: bool) -> Typeset:
    as_there = as_mathjax(source)
    mathml = _converted(as_there, display, "typeset")
    if mathml is None and as_there != source:
        mathml = _converted(source, display, "typeset")
    try:
        return Typeset(_clean(mathml, source) if mathml else None, source)
    except etree.XMLSyntaxError:  # nested too deeply for the parser
        return Typeset(None, source)


def presentation_mathml(latex: str) -> str | None:
    """Return the MathML of a formula, without dollars, for its layout string; None if it fails.

    This is Temml's own output, without the line breaks and the allow-list of `typeset`. Nothing is
    raised.
    """
    source = unescape(latex).strip()
    if not can_be_set(source):
        return None
    return _converted(on_one_line(source), False, "convert")


def on_one_line(latex: str) -> str:
    """Return LaTeX without tags and line ends, of which Temml would make a table."""
    depth, parts = 0, []
    for part in _GROUPS.split(_LOOSE.sub(" ", latex)):
        depth += part.startswith((r"\begin", "{")) - part.startswith((r"\end", "}"))
        parts.append(" " if depth == 0 and part.startswith((r"\\", r"\cr")) else part)
    return "".join(parts)


def _converted(source: str, display: bool, function: str) -> str | None:
    """Return the engine's output for a formula, repaired if necessary, or None."""
    attempt = prepared(source)
    macros = dict(SHOWN_MACROS if function == "typeset" else MACROS)
    for _ in range(ATTEMPTS):
        try:
            return str(_engine().get(function)(attempt, display, json.dumps(macros)))
        except (quickjs.JSException, quickjs.StackOverflow) as error:
            repaired = next_attempt(attempt, display, macros, str(error))
        if repaired is None:
            return None
        attempt, display = repaired
    return None


# --- the engine


def _engine() -> quickjs.Context:
    """Return the JavaScript context of this thread; threads must not share QuickJS contexts."""
    context = getattr(_threads, "context", None)
    if context is None:
        context = quickjs.Context()
        context.set_memory_limit(MEMORY)
        context.set_time_limit(SECONDS)
        context.eval(TEMML.read_text(encoding="utf-8"))
        context.eval(Path(__file__).with_name("glue.js").read_text(encoding="utf-8"))
        _threads.context = context
    return context


# --- the allow-list of MathML


def _clean(mathml: str, latex: str) -> str:
    """Return Temml's MathML, laid out, and rebuilt from the allow-list."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    math = etree.fromstring(_NAMESPACE.sub("", mathml, count=1).encode(), parser)
    lay_out(math, latex)
    return _rebuilt(math)


def _rebuilt(element: etree._Element) -> str:
    name = etree.QName(element).localname if isinstance(element.tag, str) else ""
    if _TOKEN.fullmatch(name):
        text = "".join(map(str, element.itertext()))
        return f"<{name}{_attributes(element)}>{escape(text)}</{name}>"
    children = [_rebuilt(child) for child in element]
    if not _ELEMENT.fullmatch(name):
        return f"<mrow>{''.join(children)}</mrow>"
    surplus = len(children) - _CHILDREN.get(name, len(children))
    # Temml writes the parts of an \\operatorname as siblings; together they are the base.
    if surplus > 0:
        children[: surplus + 1] = [f"<mrow>{''.join(children[: surplus + 1])}</mrow>"]
    return f"<{name}{_attributes(element)}>{''.join(children)}</{name}>"


def _attributes(element: etree._Element) -> str:
    classes, colour = _of_style(element.get("style", ""))
    if element.tag == "mtext" and _COMMAND.fullmatch(element.text or ""):
        classes.append("tml-unknown")
    names = element.get("class", "").split()
    classes = [*(name for name in names if _CLASS.fullmatch(name)), *classes]
    pairs = [(str(name), str(value)) for name, value in element.items()]
    if colour.lower() not in _BLACK:
        pairs.append(("mathcolor", colour))
        classes += filter(None, [dark_class(colour)])
    attributes = [
        f' {name}="{escape(value)}"'
        for name, value in pairs
        if _ATTRIBUTE.fullmatch(f"{name}={value}")
    ]
    return "".join(attributes) + (f' class="{" ".join(classes)}"' if classes else "")


def _of_style(style: str) -> tuple[list[str], str]:
    """Return the classes and the colour that replace a style attribute; the rest is dropped."""
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
    amount = _AMOUNT.match(length)
    em = float(amount[1]) / (10 if amount[2] == "pt" else 1) if amount else 0.0
    return min(range(len(_STEPS)), key=lambda step: abs(_STEPS[step] - em))

r"""MathML as LaTeX, for formulas that are pasted from a page: `<msup>…</msup>` becomes `x^{2}`.

The LaTeX that MathML brings with it, in an annotation or in `alttext`, is preferred: it is what the
author wrote.
"""

import re
from collections.abc import Callable, Sequence

from lxml import etree, html

from arqkit.texts.maths.unicode_signs import with_commands

_ENCODINGS = ("application/x-tex", "application/x-latex", "tex", "latex", "text/latex")
_FUNCTIONS = frozenset(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf "
    "limsup ln log max min Pr sec sin sinh sup tan tanh".split()
)
_SPECIAL = {sign: rf"\{sign}" for sign in "{}$%&#_"} | {
    "\\": r"\backslash ",
    "^": r"\hat{}",
    "~": r"\sim ",
    "∑": r"\sum ",
    "∏": r"\prod ",
    "∫": r"\int ",
    "⟨": r"\langle ",
    "⟩": r"\rangle ",
}
_ACCENTS = {
    "^": "hat", "ˆ": "hat", "~": "tilde", "˜": "tilde", "¯": "overline", "‾": "overline",
    "_": "underline", "→": "vec", "⃗": "vec", "˙": "dot", "¨": "ddot", "⏞": "overbrace",
    "⏟": "underbrace", "ˇ": "check", "˘": "breve",
}  # fmt: skip
_STYLE = re.compile(r"\{\\(?:display|text)style\b\s*(.*)\}", re.DOTALL)
_BARLESS = re.compile(r"0(?:\.0*)?[a-z%]*")
DEEPEST = 100
"""Of elements within each other, well below Python's limit of recursion."""

_ENCLOSED = {"top": r"\overline", "bottom": r"\underline", "box": r"\boxed", "radical": r"\sqrt"}
_NAMES = {"mod": r"\bmod", "lim sup": r"\limsup", "lim inf": r"\liminf"}
_LIMITS = frozenset("∑∏∫∮⋃⋂⨁⨂∐") | {"lim", "max", "min", "sup", "inf", "lim sup", "lim inf"}

_DROPPED = frozenset(["annotation", "annotation-xml", "mspace", "mprescripts", "none", "mphantom"])


def latex_of_mathml(mathml: str) -> str | None:
    """Return the LaTeX of one formula in MathML, or None if it cannot be read or shows nothing."""
    root = html.fragment_fromstring(mathml, create_parent="div")
    written = next(filter(None, map(_written, root.iter(etree.Element))), "")
    if written:
        return written
    latex = " ".join(_Writer().row(list(root)).split())
    return latex or None


def _written(element: etree._Element) -> str:
    """Return the LaTeX that an element brings with it; an `alttext` may be words instead."""
    latex, name = "", _name(element)
    if name == "annotation" and element.get("encoding", "").lower() in _ENCODINGS:
        latex = " ".join(str(element.text or "").split())
    elif name == "math" and re.search(r"[\\^_]", element.get("alttext", "")):
        latex = element.get("alttext", "").strip().strip("$").strip()
    style = _STYLE.fullmatch(latex)
    return style[1].strip() if style else latex


def _name(element: etree._Element) -> str:
    name = element.tag if isinstance(element.tag, str) else ""
    return name.rpartition(":")[2].lower()


def _text(element: etree._Element) -> str:
    return " ".join("".join(map(str, element.itertext())).split())


class _Writer:
    """Writes elements as LaTeX, and refuses a formula that is nested too deeply."""

    def __init__(self) -> None:
        self.depth = 0

    def row(self, elements: Sequence[etree._Element]) -> str:
        """Return elements side by side."""
        parts = map(self.write, elements)
        return " ".join(part for part in parts if part)

    def group(self, element: etree._Element) -> str:
        """Return an element as an argument in braces, or as a single sign."""
        latex = self.write(element)
        return latex if len(latex) == 1 else f"{{{latex}}}"

    def base(self, element: etree._Element) -> str:
        """Return an element that has scripts: in braces if it is more than a symbol."""
        latex = self.write(element)
        is_symbol = not len(element) or _name(element) in ("mfenced", "msqrt")
        return latex if latex and is_symbol else f"{{{latex}}}"

    def write(self, element: etree._Element) -> str:
        """Return an element as LaTeX, an empty text below `DEEPEST`."""
        name, children = _name(element), [child for child in element if _name(child)]
        if self.depth > DEEPEST:
            return ""
        self.depth += 1
        try:
            if name in _LEAVES:
                return _LEAVES[name](_text(element))
            if name in _DROPPED:
                return ""
            if name == "qvar":
                return rf"\qvar{{{element.get('name') or _text(element)}}}"
            if name == "semantics":
                return self.write(children[0]) if children else ""
            structure: Callable[[etree._Element, list[etree._Element]], str] | None
            structure = getattr(self, f"_{name}", None)
            return structure(element, children) if structure and children else self.row(children)
        finally:
            self.depth -= 1

    def _msup(self, _: etree._Element, children: list[etree._Element]) -> str:
        base, script = self.base(children[0]), self.group(children[-1])
        is_prime = script.strip("{}").replace(" ", "").strip("'") == "" and "'" in script
        return base + (script.strip("{}").replace(" ", "") if is_prime else f"^{script}")

    def _menclose(self, element: etree._Element, children: list[etree._Element]) -> str:
        command = _ENCLOSED.get(element.get("notation", ""), "")
        return f"{command}{{{self.row(children)}}}" if command else self.row(children)

    def _msub(self, _: etree._Element, children: list[etree._Element]) -> str:
        return f"{self.base(children[0])}_{self.group(children[-1])}"

    def _msubsup(self, _: etree._Element, children: list[etree._Element]) -> str:
        base, *scripts = children
        marked = zip("_^", map(self.group, scripts), strict=False)
        latex = self.base(base) + "".join(mark + script for mark, script in marked)
        return latex.replace("^'", r"^{\prime}")

    _munderover = _msubsup

    def _mover(self, element: etree._Element, children: list[etree._Element]) -> str:
        accent = _ACCENTS.get(_text(children[-1]))
        if accent and len(children) == 2:
            return rf"\{accent}{{{self.write(children[0])}}}"
        is_limit = _text(children[0]) in _LIMITS
        script = self.group(children[-1])
        return f"{self.base(children[0])}^{script}" if is_limit else self._stacked("over", children)

    def _munder(self, element: etree._Element, children: list[etree._Element]) -> str:
        accent = _ACCENTS.get(_text(children[-1]))
        if accent in ("underline", "underbrace"):
            return rf"\{accent}{{{self.write(children[0])}}}"
        is_limit = _text(children[0]) in _LIMITS
        script = self.group(children[-1])
        return (
            f"{self.base(children[0])}_{script}" if is_limit else self._stacked("under", children)
        )

    def _stacked(self, side: str, children: list[etree._Element]) -> str:
        return rf"\{side}set{{{self.write(children[-1])}}}{{{self.write(children[0])}}}"

    def _mfrac(self, element: etree._Element, children: list[etree._Element]) -> str:
        top, bottom = self.write(children[0]), self.write(children[-1])
        if _BARLESS.fullmatch(element.get("linethickness", "1")):
            return rf"{{{top} \atop {bottom}}}"
        return rf"\frac{{{top}}}{{{bottom}}}"

    def _msqrt(self, _: etree._Element, children: list[etree._Element]) -> str:
        return rf"\sqrt{{{self.row(children)}}}"

    def _mroot(self, _: etree._Element, children: list[etree._Element]) -> str:
        return rf"\sqrt[{self.write(children[-1])}]{{{self.write(children[0])}}}"

    def _mfenced(self, element: etree._Element, children: list[etree._Element]) -> str:
        opening, closing = element.get("open", "("), element.get("close", ")")
        inner = " , ".join(map(self.write, children))
        return f"{_operator(opening)} {inner} {_operator(closing)}"

    def _mtable(self, _: etree._Element, children: list[etree._Element]) -> str:
        rows = r" \\ ".join(" & ".join(map(self.write, row)) for row in children)
        return rf"\begin{{matrix}} {rows} \end{{matrix}}"


def _identifier(text: str) -> str:
    if text in _FUNCTIONS or text in _NAMES:
        return _NAMES.get(text, rf"\{text}")
    if len(text) > 1 and text.isascii() and text.isalpha():
        return rf"\mathrm{{{text}}}"
    return _operator(text)


def _operator(text: str) -> str:
    if text in _FUNCTIONS or text in _NAMES:
        return _NAMES.get(text, rf"\{text}")
    return with_commands("".join(_SPECIAL.get(sign, sign) for sign in text)).strip()


def _words(text: str) -> str:
    escaped = "".join(rf"\{sign}" if sign in "{}$%&#_" else sign for sign in text)
    return rf"\text{{{escaped}}}" if text.strip() else ""


_LEAVES = {"mi": _identifier, "mn": _operator, "mo": _operator, "mtext": _words, "ms": _words}

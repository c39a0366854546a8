r"""Repair LaTeX for the typesetter: missing macros, and damage from conversion and copying.

Every formula goes through `prepared`. After an error, `next_attempt` repairs it. The repairs are
those that the formulas of the collection's sample and of the labs' topics need.
"""

import re
from collections.abc import Callable

# Macros that MathJax on Math Stack Exchange supports and Temml does not. Equation numbers are
# removed.
MACROS = {
    r"\mbox": r"\text{#1}",
    r"\hbox": r"\text{#1}",
    r"\scr": r"\mathscr{#1}",
    r"\label": r"\@firstoftwo{}{#1}",
    r"\ref": r"\text{(#1)}",
    r"\eqref": r"\text{(#1)}",
    r"\eqalign": r"\begin{aligned}#1\end{aligned}",
    r"\eqalignno": r"\begin{aligned}#1\end{aligned}",
    r"\matrix": r"\begin{matrix}#1\end{matrix}",
    r"\pmatrix": r"\begin{pmatrix}#1\end{pmatrix}",
    r"\cases": r"\begin{cases}#1\end{cases}",
    r"\require": r"\@firstoftwo{}{#1}",
    r"\class": r"\@secondoftwo{#1}{#2}",
    r"\cssId": r"\@secondoftwo{#1}{#2}",
    r"\style": r"\@secondoftwo{#1}{#2}",
    r"\par": r"\,",
    r"\space": r"~",
}

_WITHOUT_NUMBERS = re.compile(
    r"\\(begin|end)\s*\{(equation|align|gather|alignat|multline|flalign)\}"
)
_EQNARRAY = re.compile(r"\\begin\s*\{eqnarray\*?\}(.*?)\\end\s*\{eqnarray\*?\}", re.DOTALL)
_UNKNOWN = re.compile(r"Unsupported function name: (\\[A-Za-z@]+)")

# HTML escapes of & and <, cut at the & that LaTeXML read as the end of a cell.
_CUT_ESCAPE = re.compile(r"(?:\\hfil\s*)?&\s*(\$?)\s*(?:\\displaystyle\s*)?(amp|lt|gt|#39);")
_ESCAPED = {"amp": "&", "lt": "<", "gt": ">", "#39": "'"}


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

    An unknown macro is shown by its name, as in MathJax.
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

_GROUP = r"\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*\}"
_MATRIX = re.compile(rf"\\begin\{{(\w*matrix|cases)\}}(?={_GROUP})({_GROUP})")
_ENDS = re.compile(r"\\end\{(?:\w*matrix|cases)\}")
_COLUMNS = "cccccccccccc"


def _regrouped(match: re.Match[str]) -> str:
    r"""Restore TeX's `\matrix{a&b}` from environments whose ends LaTeXML moved to the end."""
    latex = match[0]
    if not _MATRIX.search(latex) or len(_MATRIX.findall(latex)) != len(
        re.findall(r"\\begin\{(?:\w*matrix|cases)\}", latex)
    ):
        return latex
    return _MATRIX.sub(lambda matrix: rf"\{matrix[1]}{{{matrix[2][1:-1]}}}", _ENDS.sub("", latex))


_ENCLOSED = {
    "horizontalstrike": r"\sout",
    "updiagonalstrike": r"\cancel",
    "downdiagonalstrike": r"\bcancel",
    "box": r"\boxed",
    "longdiv": r"\longdiv",
}


def _character(match: re.Match[str]) -> str:
    r"""Return the character of `\unicode{x1D7D9}`.

    Signs with a meaning in TeX or HTML and invalid code points are left as they are.
    """
    number = int(match[1][1:], 16) if match[1][0] == "x" else int(match[1])
    is_sign = number < 0xA0 or 0xD800 <= number < 0xE000 or number > 0x10FFFF
    return match[0] if is_sign else f"{{{chr(number)}}}"


# Damage from LaTeXML and careless copying; repairs are tried in this order.
_REPAIRS: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (
        re.compile(r"\\unicode\s*(?:\[[^\]]*\])*\s*\{\s*(x[0-9A-Fa-f]{2,6}|\d{3,7})\s*\}"),
        _character,
    ),
    (
        re.compile(r"\\enclose\s*\{\s*(\w+)[^{}]*\}"),
        lambda notation: _ENCLOSED.get(notation[1], ""),
    ),
    (re.compile(r"\\buildrel\b\s*(.+?)\s*\\over\b"), r"\\overset{\1}"),
    (re.compile(r"(?<=[{|lcr ])@\{[^{}]*\}(?=[lcr| @}])"), ""),
    (re.compile(r"^\$+|\$+$|\\+$"), ""),
    (re.compile(r"\\begin\{array\}\s*\[[^\]]*\]"), r"\\begin{array}"),
    (
        re.compile(r"\\begin\{(\w*matrix|cases)\}\{(.*?)\\end\{\1\}\}", re.DOTALL),
        r"\\begin{\1}\2\\end{\1}",
    ),
    (re.compile(r"\\hfil\b"), ""),
    (re.compile(r"^.*\\begin\{(?:\w*matrix|cases)\}\{.*$", re.DOTALL), _regrouped),
    (re.compile(r"\{\\@@eqnarray(.*)\}$", re.DOTALL), r"{\\begin{aligned}\1\\end{aligned}}"),
    (
        re.compile(r"(\\left\S{1,2}\s*)\\@@eqnarray(.*)(\\right\s*\S*)$", re.DOTALL),
        r"\1\\begin{aligned}\2\\end{aligned}\3",
    ),
    (re.compile(r"\\@@eqnarray(.*)", re.DOTALL), r"\\begin{aligned}\1\\end{aligned}"),
    (re.compile(r"\\begin\{array\}\s*\{\s*\\\\\s*\}"), rf"\\begin{{array}}{{{_COLUMNS}}}"),
    (re.compile(r"\\begin\{array\}(?!\s*\{)"), rf"\\begin{{array}}{{{_COLUMNS}}}"),
    (re.compile(r"\$"), " "),
    (re.compile(r"\\color\s*\\([a-z]+)"), r"\\color{\1}"),
    (re.compile(r"\\color\s*\{\s*\}"), ""),
    (re.compile(r"\\qvar@construct\{\$?([^{}]*?)\$?\}"), r"\1"),
    (re.compile(r"\\bbox\s*\[[^\]]*\]"), ""),
    (re.compile(r"\\require\s*\\[a-z]+|\\par\b|\\end\{document\}|</?p>"), " "),
    (re.compile(r"_\{\\limits\}"), "_"),
    (re.compile(r"\\root\s*(.+?)\s*\\of\b"), r"\\sqrt[\1]"),
    (re.compile(r"\\not\s*\\implies\b"), r"\\;\\not\\Longrightarrow\\;"),
    (re.compile(r"\\lx@sectionsign\b"), "§"),
    (re.compile(r"\\lx@paragraphsign\b"), "¶"),
    (re.compile(r"(?<=[{,\[])\s*\.(?=\d)"), "0."),
    (re.compile(r"(?<!\\)#(?!\d|[0-9A-Fa-f]{3,8}[\]},])"), r"\\#"),
    (re.compile(r"(?<!\\)%"), " "),
    (re.compile(r"\*\{\d+\}\{([lcr])\}"), r"\1\1\1\1\1\1\1\1"),
    # The environment aligned takes more than two columns.
    (re.compile(r"(\\(?:begin|end)\{)(?:split|flalign\*|multlined)\}"), r"\1aligned}"),
]
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_SIDE = re.compile(r"\\(left|right)(?![A-Za-z])\s*\.?")
_ENVIRONMENT = re.compile(r"\\(begin|end)\{([a-z]+\*?)\}(?:\{[lcr| ]*\})?")


def _balanced(latex: str) -> str:
    r"""Balance a fragment of a formula that was cut at dollars inside \text.

    Ends without a beginning are removed.
    """
    depth, kept, place = 0, [], 0
    for brace in _BRACE.finditer(latex):
        is_surplus = brace[0] == "}" and depth == 0
        depth += (brace[0] == "{") - (brace[0] == "}" and not is_surplus)
        if is_surplus:
            kept.append(latex[place : brace.start()])
            place = brace.end()
    whole = "".join([*kept, latex[place:], "}" * depth])
    if not _is_paired(_SIDE.findall(whole), "left"):
        whole = _SIDE.sub("", whole)
    if not _is_paired([mark[1] for mark in _ENVIRONMENT.finditer(whole)], "begin"):
        whole = _ENVIRONMENT.sub("", whole)
    return whole.strip()


def _is_paired(marks: list[str], opening: str) -> bool:
    """Return whether every opening mark is closed, in this order."""
    depth = 0
    for mark in marks:
        depth += 1 if mark == opening else -1
        if depth < 0:
            return False
    return depth == 0

r"""What MathJax 2 on Math Stack Exchange reads otherwise than LaTeX, written as Temml reads it.

Authors looked at MathJax's picture when they wrote, so a formula has to look as it did there. The
layout strings of visual ids do not pass here: a formula keeps the id that it has.
"""

import re
from collections.abc import Callable

from arqkit.texts.maths.colours import css_colour
from arqkit.texts.maths.macros import end_of_group

_ENVIRONMENT = re.compile(
    r"\\(?:re)?newenvironment\s*\{(?P<name>[^{}]+)\}\s*(?:\[(?P<count>\d)\])?\s*(?=\{)"
)
_COLOUR = r"\{\s*(?:#[0-9A-Fa-f]{3,8}|[A-Za-z]+)\s*\}"
_SWITCH = re.compile(rf"\\color\s*{_COLOUR}\s*(?=\}}|\$|$)")
_COLOURED = re.compile(rf"\\color(?=\s*{_COLOUR})")
_NAMED = re.compile(r"(\\(?:text)?color(?:box)?)\s*\{\s*([A-Za-z]+)\s*\}")
_LATEX_COLOUR = re.compile(r"\\require\s*\{?\s*color")
_LINK = re.compile(r"\\href\s*(?=\{)")
_CASES = re.compile(r"\\cases\s*(?=\{)")
_STYLE = re.compile(r"\\style\s*(?=\{)")
_BOX = re.compile(r"\\bbox\s*(?:\[(?P<options>[^\]]*)\])?\s*(?=\{)")
_FRACTION = re.compile(
    r"\\(?P<how>atop|over)withdelims\s*(?P<left>\\[A-Za-z]+|\\.|\S)\s*(?P<right>\\[A-Za-z]+|\\.|\S)"
)
_TEXT_COLOUR = re.compile(r"(?:^|;)\s*color\s*:\s*(#[0-9A-Fa-f]{3,8}|[A-Za-z]+)")
_BACKGROUND = re.compile(r"(?:^|;)\s*background(?:-color)?\s*:\s*(#[0-9A-Fa-f]{3,8}|[A-Za-z]+)")
_BOX_COLOUR = re.compile(r"#[0-9A-Fa-f]{3,8}|[A-Za-z]+")
_CELL = re.compile(r"\\(?:cr(?![A-Za-z])|\\)|&|\\.|[{}]", re.DOTALL)
_MATHS = re.compile(r"[\\^_<>=+]")

LONGEST = 20_000
"""The characters of a formula that the engine takes; the longest of the collection has 3,000."""
MOST_USES = 200
"""The uses of a command that are replaced: each is searched for its end."""


def as_mathjax(latex: str) -> str:
    """Return a formula in which Temml finds what MathJax finds.

    What cannot be read so, such as an unclosed group, is returned as it is. So is a formula that
    would grow too long: formulas come from strangers.
    """
    read = latex
    for rule in _RULES:
        read = rule(read)
        if len(read) > LONGEST:
            return latex
    return read


def _with_environments(latex: str) -> str:
    r"""Replace the environments that a formula defines by their beginnings and ends."""
    while (
        len(latex) <= LONGEST
        and (defined := _ENVIRONMENT.search(latex))
        and (parts := _groups(latex, defined.end(), count=2))
    ):
        (begin, end), after = parts
        name = re.escape(defined["name"])
        head = ""
        if defined["count"]:
            command = rf"\arqlab{re.sub('[^A-Za-z]', '', defined['name'])}"
            places = "".join(f"#{place + 1}" for place in range(int(defined["count"])))
            head, begin = rf"\def{command}{places}{{{begin}}}", command
        rest = re.sub(rf"\\begin\s*\{{{name}\}}", _literally(begin), latex[after:])
        rest = re.sub(rf"\\end\s*\{{{name}\}}", _literally(end), rest)
        latex = latex[: defined.start()] + head + rest
    return latex


def _literally(text: str) -> str:
    """Return a text as a replacement of a regular expression."""
    return text.replace("\\", r"\\")


def _with_colours(latex: str) -> str:
    r"""Let \color colour its second argument, as MathJax's own does, and not all that follows.

    The names of colours are those of CSS: Temml has another green.
    """
    if not _LATEX_COLOUR.search(latex):
        latex = _COLOURED.sub(r"\\textcolor", _SWITCH.sub("", latex))
    return _NAMED.sub(lambda named: f"{named[1]}{{{css_colour(named[2])}}}", latex)


def _without_addresses(latex: str) -> str:
    """Show what a link is on, without its address: a page of ours leads to no other host."""
    return _replaced(latex, _LINK, 1, lambda _, groups: "")


def _with_cases(latex: str) -> str:
    r"""Write the second cells of \cases as text, in which mathematics is between dollars."""
    return _replaced(latex, _CASES, 1, lambda _, groups: rf"\cases{{{_cases(groups[0])}}}")


def _cases(rows: str) -> str:
    depth, cell, start, parts = 0, 0, 0, []
    for mark in _CELL.finditer(rows):
        depth += (mark[0] == "{") - (mark[0] == "}")
        is_end = mark[0] in (r"\cr", r"\\")
        if depth or not (is_end or mark[0] == "&"):
            continue
        parts += [_cell(rows[start : mark.start()], cell), mark[0]]
        cell, start = (0 if is_end else cell + 1), mark.end()
    return "".join([*parts, _cell(rows[start:], cell)])


def _cell(text: str, place: int) -> str:
    """Return a cell as text if it is the second, and has no mathematics outside of dollars."""
    words = "".join(text.split("$")[::2])
    is_text = place == 1 and bool(words.strip()) and not _MATHS.search(words)
    return rf"\text{{{text.strip()}}}" if is_text else text


def _with_styles(latex: str) -> str:
    """Keep the colours of styles; their other effects are lost."""
    return _replaced(
        latex,
        _STYLE,
        2,
        lambda _, groups: _painted(
            groups[1], _TEXT_COLOUR.search(groups[0]), _BACKGROUND.search(groups[0])
        ),
    )


def _painted(latex: str, colour: re.Match[str] | None, background: re.Match[str] | None) -> str:
    painted = rf"\textcolor{{{colour[1]}}}{{{latex}}}" if colour else f"{{{latex}}}"
    return rf"\colorbox{{{background[1]}}}{{${painted}$}}" if background else painted


def _with_boxes(latex: str) -> str:
    """Keep the colour and the border of boxes; their padding is ours."""

    def boxed(box: re.Match[str], groups: list[str]) -> str:
        options = [option.strip() for option in (box["options"] or "").split(",")]
        colour = next(filter(_BOX_COLOUR.fullmatch, options), "")
        inner = rf"\colorbox{{{colour}}}{{${groups[0]}$}}" if colour else f"{{{groups[0]}}}"
        return rf"\boxed{{{inner}}}" if any("border" in option for option in options) else inner

    return _replaced(latex, _BOX, 1, boxed)


def _with_fractions(latex: str) -> str:
    r"""Write fractions of TeX between brackets of their own, such as \atopwithdelims."""
    while match := _FRACTION.search(latex):
        start = _start_of_group(latex, match.start())
        end = end_of_group(latex, start - 1) if start else None
        stop = len(latex) if end is None else end - 1
        above, below = latex[start : match.start()], latex[match.end() : stop]
        inner = rf"\left{match['left']}{{{above}\{match['how']} {below}}}\right{match['right']}"
        latex = latex[:start] + inner + latex[stop:]
    return latex


def _start_of_group(latex: str, place: int) -> int:
    """Return the index after the brace that opens the innermost group, or 0 outside any group."""
    opened = [0]
    for mark in re.finditer(r"\\.|[{}]", latex[:place], re.DOTALL):
        if mark[0] == "{":
            opened.append(mark.end())
        elif mark[0] == "}" and len(opened) > 1:
            opened.pop()
    return opened[-1]


def _groups(latex: str, place: int, *, count: int) -> tuple[list[str], int] | None:
    """Return the texts of so many groups from a place on, and where they end, or None."""
    texts = []
    for _ in range(count):
        place += len(latex[place:]) - len(latex[place:].lstrip())
        end = end_of_group(latex, place) if latex[place : place + 1] == "{" else None
        if end is None:
            return None
        texts.append(latex[place + 1 : end - 1])
        place = end
    return texts, place


def _replaced(
    latex: str,
    command: re.Pattern[str],
    count: int,
    text: Callable[[re.Match[str], list[str]], str],
) -> str:
    """Replace each use of a command with so many groups by a text, the innermost first."""
    uses = list(command.finditer(latex))
    for match in reversed(uses if len(uses) <= MOST_USES else []):
        if parts := _groups(latex, match.end(), count=count):
            groups, end = parts
            latex = latex[: match.start()] + text(match, groups) + latex[end:]
    return latex


_RULES = (
    _with_environments,
    _without_addresses,
    _with_cases,
    _with_styles,
    _with_boxes,
    _with_fractions,
    _with_colours,
)

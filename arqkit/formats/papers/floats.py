"""Tables of papers in LaTeX: the float, the lines of a table, and the headings over columns."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

DECIMALS = 3
LONGEST = 56
"""The most lines of a table on a page; a longer one is continued."""


def floats(name: str, caption: str, parts: Sequence[Iterable[str]]) -> str:
    """Return the parts of a table, each as a float; all but the first continue on the next page."""
    lines = []
    for place, part in enumerate(parts):
        lines += [
            *([r"\addtocounter{table}{-1}"] if place else []),
            r"\begin{table}[p]" if len(parts) > 1 else r"\begin{table}[!htb]",
            r"\centering\footnotesize",
            r"\caption{\textit{Continued.}}" if place else rf"\caption{{{caption}}}",
            *([] if place else [rf"\label{{tab:{name}}}"]),
            *part,
            r"\end{table}",
        ]
    return "\n".join([*lines, ""])


def tabular(
    columns: str, heads: Iterable[str], rows: Iterable[str], foot: Iterable[str] = ()
) -> list[str]:
    """Return the lines of a table whose columns are declared as LaTeX does."""
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *heads,
        r"\midrule",
        *rows,
        r"\bottomrule",
        *foot,
        r"\end{tabular}",
    ]


def fitted(lines: Iterable[str]) -> list[str]:
    """Return lines that the preamble fits into the width of the page."""
    return [r"\kitfit{%", *lines, "}"]


def tex_row(cells: Iterable[str]) -> str:
    """Return a row of cells in LaTeX."""
    return " & ".join(cells) + r" \\"


def panels(headings: Iterable[str], first: int) -> Iterator[tuple[str, int, str]]:
    """Yield equal headings of neighbours once, with their width and the rule below them.

    `first` is the number of the first column.
    """
    for heading, same in groupby(headings):
        width = len(list(same))
        yield heading, width, rf"\cmidrule(lr){{{first}-{first + width - 1}}}"
        first += width

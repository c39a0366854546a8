"""Correlations of measures as 004 prints them (Table 6): two matrices, side by side if they fit."""

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path

import numpy as np

from arqkit.comparison.correlation import Correlations
from arqkit.formats.latex import latex_text
from arqkit.formats.papers.floats import DECIMALS, floats, tabular, tex_row
from arqkit.formats.tables import table_text
from arqkit.measures.columns import Reals

BEGINNING_OF_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of all files in an archive, so that the same files give the same archive."""

PREAMBLE = Path(__file__).with_name("preamble.tex").read_text(encoding="utf-8")

WIDEST = 6
"""The largest number of measures for two matrices side by side."""


def main_document(title: str, parts: Iterable[tuple[str, Iterable[str]]]) -> str:
    """Return the text of main.tex: a title, and sections with the paths of their parts."""
    lines = [
        r"% Compile with: pdflatex main.tex",
        r"\documentclass[a4paper]{article}",
        r"\usepackage[margin=2.5cm]{geometry}",
        r"\input{preamble}",
        r"\begin{document}",
        rf"\title{{{latex_text(title)}}}",
        r"\author{}\date{}\maketitle",
    ]
    for heading, paths in parts:
        lines.append(rf"\section{{{latex_text(heading)}}}")
        lines += [rf"\input{{{path}}}" for path in paths]
    return "\n".join([*lines, r"\end{document}", ""])


def kit_archive(folder: str, files: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive of files in a folder; the same files give the same bytes."""
    archived = io.BytesIO()
    with zipfile.ZipFile(archived, "w") as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(f"{folder}/{path}", BEGINNING_OF_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[path])
    return archived.getvalue()


@dataclass(frozen=True, slots=True)
class CorrelationTable:
    """A table of coefficients: its file name, its caption in LaTeX, and the measures' headings."""

    name: str
    caption: str
    headings: Sequence[str]
    matrices: Correlations

    def latex(self) -> str:
        """Return the table as a float of LaTeX."""
        both = (
            self._tabular(self.matrices.pearson, "(a) Pearson's $r$"),
            [r"\qquad" if len(self.headings) <= WIDEST else r"\\[2ex]"],
            self._tabular(self.matrices.kendall, r"(b) Kendall's $\tau$"),
        )
        return floats(self.name, self.caption, [[*chain.from_iterable(both)]])

    def tsv(self) -> str:
        """Return one row for each pair of measures, with the coefficients as they are computed."""
        matrices = self.matrices
        rows = [["measure", "other", "runs", "pearson", "kendall"]]
        for pair in combinations(range(len(self.headings)), 2):
            values = (matrices.pearson[pair], matrices.kendall[pair])
            names = [self.headings[place] for place in pair] + [str(matrices.runs[pair])]
            rows.append(names + ["" if np.isnan(value) else repr(float(value)) for value in values])
        return table_text(rows)

    def _tabular(self, matrix: Reals, title: str) -> list[str]:
        names = [latex_text(heading) for heading in self.headings]
        lines = zip(names, matrix.tolist(), strict=True)
        return tabular(
            f"l{'r' * len(names)}",
            [tex_row(["", *names])],
            [tex_row([name, *map(_cell, values)]) for name, values in lines],
            [r"\addlinespace", rf"\multicolumn{{{len(names) + 1}}}{{c}}{{{title}}} \\"],
        )


def _cell(value: float) -> str:
    return "--" if np.isnan(value) else f"${value:.{DECIMALS}f}$"

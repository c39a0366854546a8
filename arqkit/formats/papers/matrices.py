"""Correlations of measures as 004 prints them (Table 6): two matrices, side by side if they fit."""

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from arqkit.comparison.correlation import Correlations
from arqkit.formats.latex import latex_text
from arqkit.formats.papers.tables import DECIMALS
from arqkit.formats.tables import table_text
from arqkit.measures.columns import Reals

BEGINNING_OF_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of all files in an archive, so that the same files give the same archive."""

PREAMBLE = Path(__file__).with_name("preamble.tex").read_text(encoding="utf-8")


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


WIDEST = 6
"""The largest number of measures for two matrices side by side."""


@dataclass(frozen=True, slots=True)
class CorrelationTable:
    """A table of coefficients: its file name, its caption in LaTeX, and the measures' headings."""

    name: str
    caption: str
    headings: Sequence[str]
    matrices: Correlations

    def latex(self) -> str:
        """Return the table as a float of LaTeX."""
        matrices = self.matrices
        beside = r"\qquad" if len(self.headings) <= WIDEST else r"\\[2ex]"
        return "\n".join(
            [
                r"\begin{table}[!htb]",
                r"\centering\footnotesize",
                rf"\caption{{{self.caption}}}",
                rf"\label{{tab:{self.name}}}",
                *self._tabular(matrices.pearson, "(a) Pearson's $r$"),
                beside,
                *self._tabular(matrices.kendall, r"(b) Kendall's $\tau$"),
                r"\end{table}",
                "",
            ]
        )

    def tsv(self) -> str:
        """Return one row for each pair of measures, with the coefficients as they are computed."""
        rows = [["measure", "other", "runs", "pearson", "kendall"]]
        for first, second in combinations(range(len(self.headings)), 2):
            both = [
                self.headings[first],
                self.headings[second],
                str(self.matrices.runs[first, second]),
            ]
            values = (self.matrices.pearson[first, second], self.matrices.kendall[first, second])
            rows.append(
                [*both, *("" if np.isnan(value) else repr(float(value)) for value in values)]
            )
        return table_text(rows)

    def _tabular(self, matrix: Reals, title: str) -> list[str]:
        names = [latex_text(heading) for heading in self.headings]
        rows = [
            " & ".join([name, *map(_cell, values)]) + r" \\"
            for name, values in zip(names, matrix.tolist(), strict=True)
        ]
        width = len(names)
        return [
            rf"\begin{{tabular}}{{l{'r' * width}}}",
            r"\toprule",
            " & ".join(["", *names]) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\addlinespace",
            rf"\multicolumn{{{width + 1}}}{{c}}{{{title}}} \\",
            r"\end{tabular}",
        ]


def _cell(value: float) -> str:
    return "--" if np.isnan(value) else f"${value:.{DECIMALS}f}$"

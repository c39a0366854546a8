"""The LaTeX document of a paper kit, and its archive.

The document includes every part by its path. It needs article and packages of Debian's
texlive-latex-base and texlive-latex-recommended, and compiles with pdflatex.
"""

import io
import zipfile
from collections.abc import Iterable, Mapping

from arqkit.formats.latex import latex_text

BEGINNING_OF_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of all files in an archive, so that the same files give the same archive."""

PREAMBLE = r"""% Packages and commands of the tables, sentences and figures.
\usepackage[utf8]{inputenc}
\usepackage{amssymb,booktabs,graphicx}
\setlength{\belowcaptionskip}{6pt}
\newsavebox{\kitbox}
% Shrink a table to the page if it is too wide or too high.
\newcommand{\kitfit}[1]{%
  \sbox{\kitbox}{#1}%
  \ifdim\wd\kitbox>\linewidth\sbox{\kitbox}{\resizebox{\linewidth}{!}{\usebox{\kitbox}}}\fi
  \ifdim\dimexpr\ht\kitbox+\dp\kitbox>0.85\textheight
    \resizebox*{!}{0.85\textheight}{\usebox{\kitbox}}%
  \else\usebox{\kitbox}\fi}
"""


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

"""The separators of the columns of a run: tabs or spaces, or by mistake those of a CSV file."""

import re
from collections.abc import Collection, Iterator

import polars as pl

from arqkit.formats.runs.report import Finding, listed

SEPARATORS = {"\t": "tab", " ": "space", ",": "comma", ";": "semicolon"}
CSV = (",", ";")
ROW_END = r"\t[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?\t[+-]?[0-9.,]+(?:[eE][+-]?[0-9]+)?\t[^\t,;]*$"
"""Rank, score and run tag, which end every row of a ranked list."""
ANSWER_COMMAS = 4  # before the last two of the six columns of an answer, which may have commas too


def tabbed_lines(text: pl.Series, widths: Collection[int]) -> tuple[pl.Series, str] | None:
    """Return lines without tabs with tabs as separators, and their own separator.

    Spaces come first, if they make rows of most lines: an id may have commas, and so be mistaken
    for cells of a CSV file. Return None if no separator leads to one of these numbers of columns.
    """
    spaced = text.str.strip_chars(" \t").str.replace_all(_pattern(" "), "\t")
    is_wide = (spaced.str.count_matches("\t", literal=True) + 1).is_in(widths)
    if (is_wide & spaced.str.contains(ROW_END)).sum() * 2 > text.len():
        return spaced, " "
    for mark in CSV:
        width = text.str.count_matches(mark, literal=True) + 1
        if width.is_in(widths).sum() * 2 > text.len():
            return text.str.strip_chars('" ').str.replace_all(_pattern(mark), "\t"), mark
    return (spaced, " ") if is_wide.any() else None


def line_cells(line: str, separator: str) -> list[str]:
    """Return the cells of a line without the spaces and quotation marks around them."""
    if separator == "\t":
        return [cell.strip(" ") for cell in line.split("\t")]
    return re.split(_pattern(separator), line.strip(" \t" if separator == " " else '" '))


def separator_findings(separator: str, lines: pl.DataFrame) -> Iterator[Finding]:
    """Yield whether the columns are separated as in a CSV file.

    `lines` has text and width (`lines.Cells.frame`). Answers, which may contain commas, are not
    cut at commas.
    """
    is_uncut = separator == "\t" and (lines["width"] == 1).sum() * 2 > lines.height
    for mark in CSV:
        many = lines["text"].str.count_matches(mark, literal=True) >= ANSWER_COMMAS
        if separator == mark or (is_uncut and many.sum() * 2 > lines.height):
            place = (None, None, f"{SEPARATORS[mark]}s between the columns", "tabs or spaces")
            facts = {"mark": f"{SEPARATORS[mark]}s"}
            yield Finding("separator", listed([place]), facts, repairable=separator == mark)


def _pattern(separator: str) -> str:
    return "[ \t]+" if separator == " " else f'[" ]*{separator}[" ]*'

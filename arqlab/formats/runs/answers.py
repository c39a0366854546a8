"""Runs of written answers (Task 3), whose cells may be quoted, with doubled quotation marks and
line ends in them.
"""

import io
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import polars as pl

from arqlab.formats.runs.layouts import (
    EXCERPT,
    TASK3,
    TWO_COLUMNS,
    UNKNOWN,
    Layout,
    RunTable,
    header_names,
    wanted_formats,
)
from arqlab.formats.runs.report import Finding, RunRules, listed, occurrences
from arqlab.ir.records import TaskKind

# A quoted cell ends at the quotation mark that is not doubled; what follows must be the end of a
# cell.
QUOTED = re.compile(r'"((?:[^"]|"")*+)"(?=\t|\r?\n|\r?\Z)')
PLAIN_END = re.compile(r"[\t\n]|\Z")
INTEGER = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
SCORE_LIKE = re.compile(
    r"[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+|nan|inf(inity)?)([eE][+-]?[0-9]+)?", re.IGNORECASE
)
SAMPLE = 200  # lines that tell a run of answers from a ranked list
CHUNK = 20_000  # records that are held as Python values at a time


BEGINNING = pl.concat_str(
    [f"cell_{index}" for index in range(6)], separator=" ", ignore_nulls=True
).str.slice(0, EXCERPT)
BAD_WIDTH = pl.format("columns: {}; {}", "width", BEGINNING)
FILLED = {
    "rank": "1",
    "score": "1.0",
    "tag": "run",
    "sources": "",
}  # what the repair of a two-column file writes


class Record(NamedTuple):
    """One record: its first and last line, its cells unquoted (none in a blank line), whether a
    quote was left open.
    """

    line: int
    last_line: int
    cells: list[str]
    is_open: bool = False


def holds_answers(data: bytes, kind: TaskKind) -> bool:
    """Report a run of written answers from a ranked list by most of its first lines."""
    first = (
        line.decode(errors="replace").rstrip("\r\n") for line in islice(io.BytesIO(data), SAMPLE)
    )
    sample = [line.split("\t") for line in first if line.strip()]
    ranked = sum(len(cells) == 5 or _is_ranked(cells) for cells in sample)
    if kind is TaskKind.WRITTEN_ANSWERS:
        by_blanks = sum(len(cells) == 1 and _is_ranked(cells[0].split()) for cells in sample)
        return (ranked + by_blanks) * 2 <= len(sample)
    written = sum(
        len(cells) == 6 and not _is_ranked(cells) and _is_written(cells) for cells in sample
    )
    return written * 2 > len(sample)


def read_answers(data: bytes, rules: RunRules) -> RunTable:
    """Read a run of written answers.

    A file of two columns, topic and answer, is read too: an error that can be repaired.
    """
    frame = _frame(data.decode(errors="replace"))
    content = frame.filter(pl.col("width") > 0)
    layout = TWO_COLUMNS if (content["width"] == 2).sum() * 2 > content.height else TASK3
    is_header = pl.col("cell_0").is_in(header_names(content["cell_0"], rules.topics))
    is_good = pl.col("width") == len(layout.columns)
    headers, good = content.filter(is_header), content.filter(is_good & ~is_header)
    bad, opened = content.filter(~is_good & ~is_header), content.filter("is_open")
    findings = [
        Finding(kind, places)
        for kind, places in (
            ("blank-lines", _places(frame.filter(pl.col("width") == 0), "a row")),
            ("header-line", _places(headers, "a row")),
            ("open-quote", _places(opened, "a quotation mark at the end of the cell")),
        )
        if places.height
    ]
    if bad.height:
        places = _places(bad, f"{len(layout.columns)} columns", found=BAD_WIDTH)
        findings.append(Finding("columns", places, {"wanted": str(layout)}))
    if layout is TWO_COLUMNS:
        place = (None, None, "2 columns: topic, answer", str(TASK3))
        findings.append(
            Finding(
                "two-columns", listed([place]), {"wanted": wanted_formats(TaskKind.WRITTEN_ANSWERS)}
            )
        )
    shown = layout if good.height else UNKNOWN
    return RunTable(shown, "\t", _named(good, layout), findings, bad["line"])


def records(text: str) -> Iterator[Record]:
    """Return every record. A quoted cell may go over several lines if its quotation mark is closed."""
    position, line = 0, 1
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        if '"' not in text[position:end]:
            cells, is_open = text[position:end].removesuffix("\r").split("\t"), False
        else:
            cells, end, is_open = _quoted_cells(text, position)
        last_line = line + text.count("\n", position, end)
        yield Record(line, last_line, cells if any(cell.strip() for cell in cells) else [], is_open)
        position, line = end + 1, last_line + 1


def write_record(cells: list[str]) -> str:
    """Write a record so that `records` reads the same cells again; quotes only where they are
    needed.
    """
    return "\t".join(_quoted(cell) for cell in cells)


def _quoted(cell: str) -> str:
    if cell.startswith('"') or any(mark in cell for mark in "\t\n\r"):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _quoted_cells(text: str, position: int) -> tuple[list[str], int, bool]:
    """Read the cells of one record from a position: the cells, where the record ends, whether a
    quote was left open.
    """
    cells, is_open = [], False
    while True:
        if found := QUOTED.match(text, position):
            cells.append(found[1].replace('""', '"'))
        else:
            is_open |= text.startswith('"', position)
            end = _plain_end(text, position)
            cells.append(text[position:end])
        position = found.end() if found else end
        if not text.startswith("\t", position):
            break
        position += 1
    cells[-1] = cells[-1].removesuffix("\r")
    end = text.find("\n", position)
    return cells, len(text) if end < 0 else end, is_open


def _plain_end(text: str, position: int) -> int:
    found = PLAIN_END.search(text, position)
    return found.start() if found else len(text)


def _is_ranked(cells: list[str]) -> bool:
    """Report whether six cells are those of a ranked list: the rank is the fourth, the score the
    fifth, the tag one word.

    Of a written answer the tag (the run's number) and the sources may look like a rank and a score,
    its text does not look like a tag. A score may be a wrong one.
    """
    is_list = len(cells) == 6 and " " not in cells[5].strip()
    return is_list and bool(INTEGER.fullmatch(cells[3]) and SCORE_LIKE.fullmatch(cells[4]))


def _is_written(cells: list[str]) -> bool:
    return bool(INTEGER.fullmatch(cells[1]) and NUMBER.fullmatch(cells[2]))


def _frame(text: str) -> pl.DataFrame:
    """Hold all records as columns: line, last_line, width (0 for a blank line), is_open, cell_0 to
    cell_5.
    """
    every = records(text)
    parts = [_part(list(islice(every, CHUNK)))]
    while parts[-1].height == CHUNK:
        parts.append(_part(list(islice(every, CHUNK))))
    return pl.concat(parts)


def _part(part: list[Record]) -> pl.DataFrame:
    cells = {
        f"cell_{index}": pl.Series(
            [record.cells[index] if index < len(record.cells) else None for record in part],
            dtype=pl.String,
        )
        for index in range(len(TASK3.columns))
    }
    facts = {
        "line": pl.Series([record.line for record in part], dtype=pl.Int64),
        "last_line": pl.Series([record.last_line for record in part], dtype=pl.Int64),
        "width": pl.Series([len(record.cells) for record in part], dtype=pl.Int64),
        "is_open": pl.Series([record.is_open for record in part], dtype=pl.Boolean),
    }
    return pl.DataFrame(facts | cells)


def _places(rows: pl.DataFrame, expected: str, *, found: pl.Expr = BEGINNING) -> pl.DataFrame:
    return occurrences(rows, found=found, expected=pl.lit(expected), topic="cell_0")


def _named(good: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """Name the cells by what they are for us; two columns get the values that their repair writes."""
    names = {"rank": "rank_text", "score": "score_text"}
    cells = [
        pl.col(f"cell_{index}").alias(names.get(name, name))
        for index, name in enumerate(layout.columns)
    ]
    missing = [
        pl.lit(value).alias(names.get(name, name))
        for name, value in FILLED.items()
        if name not in layout.columns
    ]
    return good.select("line", "last_line", *cells, *missing).with_columns(
        item=pl.col("topic"), post=pl.lit(None, pl.String)
    )

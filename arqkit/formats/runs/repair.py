"""Repair a run file: what problems.toml promises as `repair`, and nothing else."""

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from arqkit.formats.runs.check import row_findings
from arqkit.formats.runs.formats import TASK3, RunTable, read_rows
from arqkit.formats.runs.lines import CSV, decode_run, line_cells, write_record
from arqkit.formats.runs.ranks import with_point, without_percent
from arqkit.formats.runs.report import KINDS, RunRules
from arqkit.polars_errors import panics_as_errors
from arqkit.ranking import OrderBy, with_order

# Without some rows, others repeat an item or exceed a limit, and ranks have gaps.
PASSES = 5
LEFT_OUT = ("blank-lines", "header-line")
DROPPED = ("duplicate-item", "over-limit", "two-answers")
UNORDERED = ("rank-not-integer", "rank-below-1", "rank-against-score")
REWRITTEN = ("two-columns", "separator")  # on every line
NUMBERS = {"rank": "rank_text", "score": "score_text"}
"""The columns of numbers, by their names in a format; some formats have no scores."""


@panics_as_errors()
def repaired_run(data: bytes, rules: RunRules) -> bytes | None:
    """Return the run with all safe repairs, or None if there is nothing to repair.

    The repaired file has no problem that `check_run` calls repairable, and the order of every list
    is that of the file. Lines are omitted or changed in place, never moved, and lines without a
    problem stay as they are. Raise EngineFailedError if polars panics.
    """
    rules = replace(rules, posts=None)  # no problem with a post has a repair
    repaired = data
    for _ in range(PASSES):  # pragma: no branch  # no known file needs them all
        before, repaired = repaired, _repaired_once(repaired, rules)
        if repaired == before:
            break
    return None if repaired == data else repaired


def _repaired_once(data: bytes, rules: RunRules) -> bytes:
    text = decode_run(data)
    table = read_rows(text.data, rules)
    if not (text.can_repair and table.can_rewrite):
        return data
    every = (*table.findings, *row_findings(table, rules, table.layout.items or rules.items))
    repairable = (it for it in every if it.repairable and "repair" in KINDS[it.kind])
    findings = {finding.kind: finding.occurrences for finding in repairable}
    rows = table.rows
    if "score-decimal-comma" in findings:
        rows = rows.with_columns(score_text=with_point(pl.col("score_text")))
    if "score-percent" in findings:
        rows = rows.with_columns(score_text=without_percent(pl.col("score_text")))
    repaired = _without_dropped(rows, findings)
    if repaired.height == rows.height:
        repaired = _renumbered(rows, findings)
    end = "\n" if text.data.endswith(b"\n") else ""
    lines = text.data.decode().removesuffix("\n").split("\n")
    if table.mended is not None:
        lines = table.mended.to_list()[: len(lines)]
    written = "\n".join(_written_lines(lines, table, repaired))
    return (written + end).encode() if written else b""


def _without_dropped(rows: pl.DataFrame, findings: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the rows but for those the report lists: formulas in other posts, else repeats."""
    kinds = ("wrong-post",) if "wrong-post" in findings else DROPPED
    lines = {line for kind in kinds if kind in findings for line in findings[kind]["line"]}
    return rows.filter(pl.col("line").is_in(list(lines)).not_()) if lines else rows


def _renumbered(rows: pl.DataFrame, findings: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Renumber topics with wrong ranks: by score where the ranks contradict it, else by rank."""
    topics = {
        kind: set(places["topic"]) for kind, places in findings.items() if kind.startswith("rank-")
    }
    by_score = set().union(*(topics.get(kind, set()) for kind in UNORDERED))
    by_rank = set().union(*topics.values()) - by_score
    parts: dict[OrderBy, set[str]] = {"score": by_score, "rank": by_rank}
    numbered = pl.concat(
        with_order(rows.filter(pl.col("topic").is_in(list(some))), by=by)
        for by, some in parts.items()
    )
    new = rows.join(numbered.select("line", "order"), on="line", how="left", maintain_order="left")
    rank = pl.coalesce(pl.col("order").cast(pl.String), "rank_text")
    return new.with_columns(rank_text=rank).drop("order")


def _written_lines(lines: list[str], table: RunTable, repaired: pl.DataFrame) -> list[str]:
    left_out = _lines_of(table, LEFT_OUT)
    gone = table.rows.join(repaired, on="line", how="anti")
    left_out |= _spanned(gone)
    changed = _changed_rows(table, repaired)
    columns = [text for text in NUMBERS.values() if text in changed.columns]  # of answers all
    if "answer" in changed.columns:
        columns = [name for name in changed.columns if name != "line"]
    # Tuples of the cells to write: dictionaries of all columns would take a kilobyte per line.
    new = {row[0]: row for row in changed.select("line", *columns).iter_rows()}
    left_out |= _spanned(changed) - set(new)
    written = []
    for number, line in enumerate(lines, start=1):
        if number in new:
            row = dict(zip(columns, new[number][1:], strict=True))
            end = "\r" if lines[int(row.get("last_line", number)) - 1].endswith("\r") else ""
            written.append(_rewritten(line, row, table) + end)
        elif number not in left_out:
            written.append(line)
    return written


def _changed_rows(table: RunTable, repaired: pl.DataFrame) -> pl.DataFrame:
    texts = [text for text in NUMBERS.values() if text in table.rows.columns]
    old = table.rows.select("line", *(pl.col(text).alias(f"old_{text}") for text in texts))
    both = repaired.join(old, on="line", maintain_order="left")
    is_new = pl.any_horizontal(pl.col(text) != pl.col(f"old_{text}") for text in texts)
    if any(finding.kind in REWRITTEN for finding in table.findings):
        return both
    return both.filter(is_new | pl.col("line").is_in(list(_lines_of(table, ("padded-cells",)))))


def _rewritten(line: str, row: dict[str, str], table: RunTable) -> str:
    if "answer" in row:
        return write_record([row[NUMBERS.get(name, name)] for name in TASK3.columns])
    cells = line_cells(line.removesuffix("\r"), table.separator)
    for name, text in NUMBERS.items():
        if text in row:
            cells[table.layout.columns.index(name)] = row[text]
    return ("\t" if table.separator in CSV else table.separator).join(cells)


def _lines_of(table: RunTable, kinds: tuple[str, ...]) -> set[int]:
    return {
        line
        for finding in table.findings
        if finding.kind in kinds
        for line in finding.occurrences["line"]
    }


def _spanned(rows: pl.DataFrame) -> set[int]:
    """Return every line of these rows; only an answer (Task 3) spans several."""
    if "last_line" not in rows.columns:
        return set(rows["line"].to_list())
    spans = rows.select("line", "last_line").iter_rows()
    return {line for begin, end in spans for line in range(begin, end + 1)}

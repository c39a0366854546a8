"""Leaderboards as files: TSV and CSV for spreadsheets, JSON for programs, LaTeX for papers. Four
decimals in all.
"""

import csv
import io
import json
from collections.abc import Callable

from arqlab.ir.leaderboard import DECIMALS, Board, BoardCell, BoardRow

CONTENT_TYPES: dict[str, str] = {
    "tsv": "text/tab-separated-values; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "latex": "application/x-tex; charset=utf-8",
}
"""The formats, each with its content type."""

FILE_ENDINGS: dict[str, str] = {"tsv": "tsv", "csv": "csv", "json": "json", "latex": "tex"}


def write_board(board: Board, format_: str) -> str:
    """Return a board as the text of a file in one of `CONTENT_TYPES`.

    TSV and CSV have a header: team, run, primary, manual (`P` and `M`, or nothing), then a column
    for each measure as the papers head it. A run that is not scored has nothing in these.
    """
    return _WRITERS[format_](board)


def _table(board: Board, delimiter: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(
        ["team", "run", "primary", "manual", *(measure.label for measure in board.measures)]
    )
    for row in board.rows:
        writer.writerow(
            [row.run.team, row.run.tag, *row.run.marks, *(_figure(cell) for cell in row.cells)]
        )
    return text.getvalue()


def _figure(cell: BoardCell) -> str:
    return "" if cell.value is None else f"{cell.value:.{DECIMALS}f}"


def _json(board: Board) -> str:
    return json.dumps(board_as_dict(board), ensure_ascii=False, indent=2) + "\n"


def board_as_dict(board: Board) -> dict[str, object]:
    """Return a board as plain values, for JSON: task, qrels, topics, measures with their ceilings,
    and runs in order.
    """
    return {
        "task": board.task,
        "qrels": board.qrels,
        "topics": board.topics,
        "measures": [
            {
                "label": measure.label,
                "name": measure.name,
                "ceiling": _rounded(board.ceilings.get(measure.name)),
            }
            for measure in board.measures
        ],
        "runs": [_run_as_dict(row) for row in board.rows],
    }


def _run_as_dict(row: BoardRow) -> dict[str, object]:
    return {
        "team": row.run.team,
        "run": row.run.tag,
        "primary": row.run.is_primary,
        "manual": row.run.is_manual,
        "baseline": row.run.is_baseline,
        "withdrawn": row.run.is_withdrawn,
        "scores": {cell.measure.label: _rounded(cell.value) for cell in row.cells},
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DECIMALS)


def _latex(board: Board) -> str:
    heads = " & ".join(rf"\textbf{{{_escaped(measure.label)}}}" for measure in board.measures)
    columns = 4 + len(board.measures)
    lines = [
        r"% Needs \usepackage{booktabs}.",
        r"\begin{table}",
        rf"\caption{{{_escaped(board.task)}: results averaged over {board.topics} topics, qrels {_escaped(board.qrels)}. "
        r"\textbf{P}: primary run, \textbf{M}: manual run. The best of each column is in bold; the last line is the "
        r"best possible value.}",
        rf"\begin{{tabular}}{{llcc{'r' * len(board.measures)}}}",
        r"\toprule",
        rf"\textbf{{Run}} & \textbf{{Data}} & \textbf{{P}} & \textbf{{M}} & {heads} \\",
    ]
    for row in board.rows:
        if row.opens_group:
            name = "Baselines" if row.run.is_baseline else row.run.team
            lines += [
                r"\midrule",
                rf"\multicolumn{{{columns}}}{{l}}{{\textbf{{{_escaped(name)}}}}} \\",
            ]
        lines.append(_latex_row(row))
    ceilings = " & ".join(
        _latex_figure(board.ceilings.get(measure.name)) for measure in board.measures
    )
    lines += [
        r"\midrule",
        rf"\textit{{Best possible}} & & & & {ceilings} \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join([*lines, r"\end{table}", ""])


def _latex_row(row: BoardRow) -> str:
    name = _escaped(row.run.tag)
    if row.run.is_baseline:
        name = rf"\textit{{{name}}}"
    marks = " & ".join(r"\checkmark" if mark else "" for mark in row.run.marks)
    figures = " & ".join(_latex_figure(cell.value, is_best=cell.is_best) for cell in row.cells)
    return rf"{name} & {_escaped(row.run.data)} & {marks} & {figures} \\"


def _latex_figure(value: float | None, *, is_best: bool = False) -> str:
    if value is None:
        return "--"
    return rf"\textbf{{{value:.{DECIMALS}f}}}" if is_best else f"{value:.{DECIMALS}f}"


_LATEX_SIGNS = str.maketrans(
    {sign: rf"\{sign}" for sign in "&%$#_{}"}
    | {
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "'": "$'$",
        "′": "$'$",
    }
)


def _escaped(text: str) -> str:
    return text.translate(_LATEX_SIGNS)


_WRITERS: dict[str, Callable[[Board], str]] = {
    "tsv": lambda board: _table(board, "\t"),
    "csv": lambda board: _table(board, ","),
    "json": _json,
    "latex": _latex,
}

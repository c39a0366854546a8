"""Leaderboards as TSV, CSV, JSON and LaTeX files.

Scores have four decimals, and all of them in JSON.
"""

import json
from collections.abc import Callable, Sequence

from arqkit.formats.latex import latex_text
from arqkit.formats.tables import table_text
from arqkit.leaderboard import DECIMALS, Board, BoardCell, BoardColumn, BoardRow, columns_in


def write_board(board: Board, format_: str) -> str:
    """Return a leaderboard as the text of a file in one of `FILE_ENDINGS`.

    TSV and CSV have a header: team, run, data, then a column for each flag and standing (its
    letter, or empty), then a column for each measure with its heading in papers. A column is empty
    for a run that is not scored. LaTeX says "(withdrawn)" after the run tag.
    """
    return _WRITERS[format_](board)


def _table(board: Board, delimiter: str) -> str:
    columns = columns_in("table")
    header = [*(column.key for column in columns), *(measure.label for measure in board.measures)]
    rows = (
        [*(column.text(row.run) for column in columns), *map(_figure, row.cells)]
        for row in board.rows
    )
    return table_text([header, *rows], delimiter=delimiter)


def _figure(cell: BoardCell) -> str:
    return "" if cell.value is None else f"{cell.value:.{DECIMALS}f}"


def board_as_dict(board: Board) -> dict[str, object]:
    """Return a leaderboard as JSON values.

    These are task, qrels, topics, measures with their ceilings, and runs in order, with the number
    of their page (`id`) and scores in full precision.
    """
    return {
        "task": board.task,
        "qrels": board.qrels,
        "topics": board.topics,
        "measures": [
            {
                "label": measure.label,
                "name": measure.name,
                "ceiling": board.ceilings.get(measure.name),
            }
            for measure in board.measures
        ],
        "runs": [_run_as_dict(row) for row in board.rows],
    }


def _run_as_dict(row: BoardRow) -> dict[str, object]:
    return {
        "id": row.run.key,
        **{column.key: column.value(row.run) for column in columns_in("json")},
        "scores": {cell.measure.label: cell.value for cell in row.cells},
    }


def _latex(board: Board) -> str:
    columns = columns_in("latex")
    headings = ["Run", *(c.heading for c in columns), *(m.heading for m in board.measures)]
    marks = ", ".join(rf"\textbf{{{c.heading}}}: {c.mark.lower()}" for c in columns if c.mark)
    alignment = "".join("c" if column.mark else "l" for column in columns)
    lines = [
        r"% Needs \usepackage{amssymb,booktabs}.",
        r"\begin{table}",
        rf"\caption{{{latex_text(board.task)}: results averaged over {board.topics} topics, "
        rf"qrels {latex_text(board.qrels)}. {marks}. The best value in each column is in bold; "
        r"the last line shows the best possible values.}",
        rf"\begin{{tabular}}{{l{alignment}{'r' * len(board.measures)}}}",
        r"\toprule",
        " & ".join(rf"\textbf{{{latex_text(heading)}}}" for heading in headings) + r" \\",
    ]
    for row in board.rows:
        if row.opens_group:
            group = rf"\textbf{{{latex_text(row.run.group[1])}}}"
            lines += [r"\midrule", rf"\multicolumn{{{len(headings)}}}{{l}}{{{group}}} \\"]
        lines.append(_latex_row(row, columns))
    ceilings = " & ".join(
        _latex_figure(board.ceilings.get(measure.name)) for measure in board.measures
    )
    lines += [
        r"\midrule",
        rf"\textit{{Best possible}}{' &' * len(columns)} & {ceilings} \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join([*lines, r"\end{table}", ""])


def _latex_row(row: BoardRow, columns: Sequence[BoardColumn]) -> str:
    name = latex_text(row.run.name_in_group)
    if row.run.is_baseline:
        name = rf"\textit{{{name}}}"
    if row.run.standing.is_struck:
        name = row.run.standing.marked(name)
    texts = [
        (r"\checkmark" if column.value(row.run) else "")
        if column.mark
        else latex_text(column.text(row.run))
        for column in columns
    ]
    figures = [_latex_figure(cell.value, is_best=cell.is_best) for cell in row.cells]
    return " & ".join([name, *texts, *figures]) + r" \\"


def _latex_figure(value: float | None, *, is_best: bool = False) -> str:
    if value is None:
        return "--"
    return rf"\textbf{{{value:.{DECIMALS}f}}}" if is_best else f"{value:.{DECIMALS}f}"


_WRITERS: dict[str, Callable[[Board], str]] = {
    "tsv": lambda board: _table(board, "\t"),
    "csv": lambda board: _table(board, ","),
    "json": lambda board: json.dumps(board_as_dict(board), ensure_ascii=False, indent=2) + "\n",
    "latex": _latex,
}

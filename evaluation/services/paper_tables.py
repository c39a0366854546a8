"""The tables of a paper kit: 000, Tables A1 and A2, and 004, Tables 3 to 7."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from arqkit.formats.papers.matrices import CorrelationTable
from arqkit.formats.papers.tables import PaperRun, PaperTable, ScoreColumn
from arqkit.formats.papers.words import caption, correlations_caption, measure_notes, question_note
from arqkit.leaderboard import Board
from arqkit.measures.names import Measure
from arqkit.records import ItemKind
from arqlab.core.models import Task, Visitor
from assessment.models import Pool, QrelSet
from assessment.pools.selectors.choices import WRITTEN
from assessment.qrels.selectors.drafts import host_of
from evaluation.permissions import VisibleBoard, visible_board
from evaluation.services.further_measures import (
    first_answers,
    first_answers_access,
    measure_correlations,
    question_columns,
    question_rounds,
)
from evaluation.services.progress import MEASURES, ProgressTask, system_progress
from submissions.models import Run

FEWEST = 3
"""The fewest runs whose measures are correlated in a paper."""
LOWER_IS_BETTER = ("MG", "UI")
"""The special questions of 004, whose best value is the lowest. Others have no best value."""
DEEP = ("baseline-primary", WRITTEN)
"""The kinds of baselines that are pooled like primary runs: all answers of Task 3 are."""
Values = dict[int, dict[str, float]]
Trained = Mapping[int, Iterable[str]]


def paper_tables(
    user: Visitor, visible: VisibleBoard, *, waits: bool
) -> list[PaperTable | CorrelationTable]:
    """Return the tables for which the board has data, as an organizer sees them.

    Scores that take long are complete if it `waits`.
    """
    if not visible.board.rows:
        return []
    by_lab = _by_lab(user, visible)
    # A lab whose systems have no runs in other labs gets the table of its results only.
    has_others = len({column.panel for column in by_lab.columns}) > 1
    tables: Iterable[PaperTable | CorrelationTable | None] = (_results(visible),)
    if visible.qrel_set.task.kind == Task.Kind.GENERATED_ANSWERS:
        first = _first_answers(user, visible, waits=waits)
        tables = (_generated(visible), _correlations(visible), first)
    return [table for table in (*tables, by_lab if has_others else None) if table]


def _results(visible: VisibleBoard) -> PaperTable:
    """Return the table of 000 (A1, A2)."""
    task, board = visible.qrel_set.task, visible.board
    rows, measures = _rows(task, board), board.measures[:MEASURES]
    title = f"{task.name} results, averaged over {_counted(board.topics)}"
    if visible.qrel_set.items == ItemKind.VISUAL_IDS:
        title += " and computed over deduplicated ranked lists of visually distinct formulae"
    text = caption(title, rows, notes=_notes(visible.qrel_set, measures))
    return PaperTable("results", text, tuple(_columns(measures, "Evaluation measures")), rows)


def _by_lab(user: Visitor, visible: VisibleBoard) -> PaperTable:
    """Return the table of 004 (3, 4): systems on the topics of each lab, those of this one last."""
    task, measures = visible.qrel_set.task, visible.board.measures[:MEASURES]
    progress = system_progress(user, task, visible)
    columns: list[ScoreColumn] = []
    values: Values = defaultdict(dict)
    trained: dict[int, set[str]] = defaultdict(set)
    for place, progress_task in enumerate(progress.tasks):
        cells = {row.run.key: row.cells[place] for row in progress.rows}
        if progress_task.task != task and not any(cell.run for cell in cells.values()):
            continue
        prefix = (
            ""
            if progress_task.task == task
            else f"{progress_task.task.lab.slug}/{progress_task.task.slug}:"
        )
        added = _columns(
            progress_task.measures, _panel(progress_task, progress.tasks), prefix=prefix
        )
        columns += added
        for key, cell in cells.items():
            both = zip(added, cell.values, strict=True)
            known = {column.key: value for column, value in both if value is not None}
            values[key].update(known)
            if cell.run and cell.run.is_trained:
                trained[key].update(known)
    rows = _rows(task, visible.board, values, trained)
    return _with_letters(
        "results-by-lab",
        f"{task.lab.name} {task.name} results",
        columns,
        rows,
        _notes(visible.qrel_set, measures),
    )


def _panel(progress_task: ProgressTask, tasks: Iterable[ProgressTask]) -> str:
    """Return the heading over a task's columns: its lab, and the task if the lab has another."""
    of_lab = [other for other in tasks if other.task.lab_id == progress_task.task.lab_id]
    name = (
        f"{progress_task.task.lab.name} {progress_task.task.name}"
        if of_lab[1:]
        else progress_task.task.lab.name
    )
    return f"{name}\n{_counted(progress_task.topics)}"


def _generated(visible: VisibleBoard) -> PaperTable:
    """Return the table of 004 (5): all measures of Task 3, and its special questions."""
    task, board = visible.qrel_set.task, visible.board
    columns = _columns(board.measures, _counted(board.topics))
    values: Values = defaultdict(dict)
    notes = {"": _notes(visible.qrel_set, board.measures)}
    for round_ in question_rounds(task):
        panel = _counted(round_.pool.items.values("topic").distinct().count())
        for question, column in zip(
            round_.questions, question_columns(task, [round_]), strict=True
        ):
            key, is_rated = f"question:{question.key}", question.key in LOWER_IS_BETTER
            columns = [earlier for earlier in columns if earlier.key != key]
            columns.append(ScoreColumn(key, question.key, panel, rises=False, is_rated=is_rated))
            answer = round_.pool.label_scale.of(question.counted).word
            notes[key] = question_note(question, answer)
            for run, share in column.values.items():
                values[run][key] = share
    rows = _rows(task, board, values)
    title = f"{task.lab.name} {task.name} results"
    return _with_letters("results", title, columns, rows, " ".join(notes.values()))


def _correlations(visible: VisibleBoard) -> CorrelationTable | None:
    """Return the table of 004 (6): measures of Task 3 against each other."""
    correlations = measure_correlations(visible.board)
    if correlations.runs < FEWEST or not correlations.columns[1:]:
        return None
    task = visible.qrel_set.task
    text = correlations_caption(f"{task.lab.name} {task.name}", correlations.runs)
    measures = [measure for measure in visible.board.measures if measure.is_rating]
    notes = _notes(visible.qrel_set, measures)
    headings = [column.heading for column in correlations.columns]
    return CorrelationTable(
        "correlations", f"{text} {notes}".strip(), headings, correlations.matrices
    )


def _first_answers(user: Visitor, board: VisibleBoard, *, waits: bool) -> PaperTable | None:
    """Return the table of 004 (7): Task 1's runs, cut to their first answers."""
    task = board.qrel_set.task
    access = first_answers_access(user, task)
    visible = visible_board(access) if access else None
    if access is None or visible is None or not visible.board.rows:
        return None
    first = first_answers(visible, waits=waits).visible
    measures = first.board.measures
    return _with_letters(
        "first-answers",
        f"{task.lab.name} {task.name} results for the first answers of {access.task.name} runs",
        _columns(measures, _counted(first.board.topics)),
        _rows(access.task, first.board),
        _notes(first.qrel_set, measures),
    )


def _with_letters(
    name: str, title: str, columns: Sequence[ScoreColumn], rows: tuple[PaperRun, ...], notes: str
) -> PaperTable:
    text = caption(title, rows, notes=notes, has_letters=True)
    return PaperTable(name, text, tuple(columns), rows, has_letters=True)


def _notes(qrel_set: QrelSet, measures: Sequence[Measure]) -> str:
    return measure_notes(measures, qrel_set.label_scale, qrel_set.relevant_from)


def _counted(topics: int) -> str:
    return f"{topics} topic{'s' * (topics != 1)}"


def _columns(measures: Sequence[Measure], panel: str, prefix: str = "") -> list[ScoreColumn]:
    return [
        ScoreColumn(f"{prefix}{measure.name}", measure.heading, panel, is_rated=measure.is_rating)
        for measure in measures
    ]


def _rows(
    task: Task, board: Board, values: Values | None = None, trained: Trained | None = None
) -> tuple[PaperRun, ...]:
    """Return the runs of a board with further values, and with their part in the pools."""
    pools = Pool.official.filter(task=host_of(task) or task)
    kinds = {row["run"]: row["kind"] for pool in pools for row in pool.runs}
    generated = Run.objects.filter(task=task, answer_kind=Run.AnswerKind.GENERATIVE)
    generative = set(generated.values_list("pk", flat=True))
    rows = []
    for run in (row.run for row in board.rows):
        kind, further = kinds.get(run.key), (values or {}).get(run.key, {})
        rows.append(
            PaperRun(
                replace(run, values={**run.values, **further}),
                is_deep=kind in DEEP if kinds else run.is_primary,
                is_pooled=kind is not None if kinds else None,
                is_generative=run.key in generative,
                trained=frozenset((trained or {}).get(run.key, ())),
            )
        )
    return tuple(rows)

"""Paper kits: what an overview paper prints about a version of the qrels, in one archive."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from analyses.services.certificates import certification_of
from analyses.services.correlations import measure_correlations, question_columns, question_rounds
from analyses.services.first_answers import first_answers, first_answers_access
from analyses.services.progress import ProgressTask, system_progress
from arqkit.formats.papers.figures import (
    PaperFigure,
    TopicScores,
    kappa_figure,
    labels_figure,
    levels_figure,
    scores_figure,
    topics_figure,
)
from arqkit.formats.papers.listings import (
    ListTable,
    certificate_table,
    groups_table,
    labels_table,
    submitted_runs,
    times_table,
    topic_listing,
)
from arqkit.formats.papers.matrices import PREAMBLE, CorrelationTable, kit_archive, main_document
from arqkit.formats.papers.tables import (
    PaperRun,
    PaperTable,
    ScoreColumn,
    binarization,
    caption,
    correlations_caption,
    measure_notes,
    question_note,
)
from arqkit.leaderboard import Board, BoardRun, family_of
from arqkit.measures.names import Measure
from arqkit.records import ItemKind, TaskKind
from arqkit.topics import info_fields, level_field
from arqlab.core.caches import DAY, cached_value, computed_values
from arqlab.core.models import Task, Visitor
from arqlab.jobs.services.jobs import RunningJob
from arqlab.web import counted
from assessment.models import Pool, QrelSet
from assessment.pools.selectors.choices import WRITTEN
from assessment.qrels.selectors.drafts import host_of
from assessment.qrels.selectors.versions import version_topics
from contrib.papers.services.paper_sentences import kappa_facts, paper_sentences
from evaluation.permissions import VisibleBoard, visible_board
from evaluation.selectors.boards import (
    board_run,
    certainties,
    live_board,
    release_of,
    released_board,
    topic_matrix,
    topic_rows,
)
from evaluation.selectors.records import board_topics, recorded_qrels
from submissions.models import Run

FEWEST = 3
"""The fewest runs whose measures are correlated in a paper."""
LOWER_IS_BETTER = ("MG", "UI")
"""The special questions of 004, whose best value is the lowest. Others have no best value."""
DEEP = ("baseline-primary", WRITTEN)
"""The kinds of baselines that are pooled like primary runs: all answers of Task 3 are."""
KitTable = PaperTable | CorrelationTable | ListTable
Values = dict[int, dict[str, float]]
Trained = Mapping[int, Iterable[str]]

DRAWING = 2.0
"""The seconds to draw a figure."""


def paper_tables(user: Visitor, visible: VisibleBoard) -> list[KitTable]:
    """Return the tables for which the board has data, as an organizer sees them."""
    if not visible.board.rows:
        return []
    submitted = submitted_runs(
        visible.qrel_set.task.lab.name,
        {task.name: paper_runs(task) for task in visible.qrel_set.task.lab.tasks.all()},
    )
    by_lab = _by_lab(user, visible)
    # A lab whose systems have no runs in other labs gets the table of its results only.
    has_others = len({column.panel for column in by_lab.columns}) > 1
    tables: Iterable[KitTable | None] = (_results(visible),)
    if visible.qrel_set.task.kind == Task.Kind.GENERATED_ANSWERS:
        first = _first_answers(user, visible)
        tables = (_generated(visible), _correlations(visible), first)
    timed = (
        visible.qrel_set.task.runs.competing().filter(is_control=False).exclude(retrieval_times="")
    )
    named_times = [(str(run), run.times) for run in timed.select_related("team").order_by("pk")]
    times = times_table((name, facts) for name, facts in named_times if facts)
    tables = (
        *_topic_tables(visible),
        submitted,
        times,
        *tables,
        by_lab if has_others else None,
        _certificate(visible.qrel_set),
    )
    return [table for table in tables if table]


def _topic_tables(visible: VisibleBoard) -> tuple[ListTable | None, ListTable | None]:
    """Return the topics of the qrels by their information, and the definitions of the labels."""
    qrel_set = visible.qrel_set
    task, kind = qrel_set.task, TaskKind(qrel_set.task.kind)
    scale, definitions = qrel_set.label_scale, task.protocol.definitions
    subject = f"{task.lab.name} {task.name}"
    groups = groups_table(list(_facts(visible).values()), info_fields(kind), level_field(kind))
    return groups, labels_table(subject, scale, definitions, qrel_set.relevant_from)


def _facts(visible: VisibleBoard) -> dict[str, Mapping[str, str]]:
    """Return the information of the topics of the qrels, as the board's version has it."""
    topics = board_topics(visible.qrel_set.task, visible.board.release)
    judged = (topic.topic for topic in version_topics(visible.qrel_set))
    return {name: topics[name].facts for name in judged if name in topics}


def topics_appendix(visible: VisibleBoard) -> ListTable:
    """Return the appendix: the topics with their labels, and the scores of the runs that count."""
    qrel_set, main = visible.qrel_set, visible.board.main_measures[:1]
    scores = {}
    for measure in main:
        rows = topic_rows(visible.board, run=0, qrel_set=qrel_set, measure=measure.name)
        scores = {row.query_id: (row.median, row.best) for row in rows}
    heading = main[0].heading if main else ""
    return topic_listing(version_topics(qrel_set), qrel_set.label_scale, scores, heading)


def _certificate(qrel_set: QrelSet) -> ListTable | None:
    certified = certification_of(qrel_set)
    if certified.certificate is None:
        return None
    return certificate_table(certified.certificate, certified.measures)


def _results(visible: VisibleBoard) -> PaperTable:
    """Return the table of 000 (A1, A2)."""
    task, board = visible.qrel_set.task, visible.board
    rows, measures = _with_tests(visible, _rows(task, board)), board.main_measures
    title = f"{task.name} results, averaged over {counted(board.topics, 'topic')}"
    if visible.qrel_set.items == ItemKind.VISUAL_IDS:
        title += " and computed over deduplicated ranked lists of visually distinct formulae"
    text = caption(title, rows, notes=_notes(visible.qrel_set, measures))
    return PaperTable("results", text, tuple(_columns(measures, "Evaluation measures")), rows)


def _by_lab(user: Visitor, visible: VisibleBoard) -> PaperTable:
    """Return the table of 004 (3, 4): systems on the topics of each lab, those of this one last."""
    task, measures = visible.qrel_set.task, visible.board.main_measures
    progress = system_progress(user, task, visible)
    columns: list[ScoreColumn] = []
    values: Values = defaultdict(dict)
    trained: dict[int, set[str]] = defaultdict(set)
    for place, other in enumerate(progress.tasks):
        cells = {row.run.key: row.cells[place] for row in progress.rows}
        is_own = other.task == task
        if not is_own and not any(cell.run for cell in cells.values()):
            continue
        prefix = "" if is_own else f"{other.task.lab.slug}/{other.task.slug}:"
        added = _columns(other.measures, _panel(other, progress.tasks), prefix)
        columns += added
        for key, cell in cells.items():
            both = zip(added, cell.values, strict=True)
            added_values = {column.key: value for column, value in both if value is not None}
            values[key].update(added_values)
            if cell.run and cell.run.is_trained:
                trained[key].update(added_values)
    rows = _with_tests(visible, _rows(task, visible.board, values, trained))
    return _with_letters(
        "results-by-lab",
        f"{task.lab.name} {task.name} results",
        columns,
        rows,
        _notes(visible.qrel_set, measures),
    )


def _panel(progress_task: ProgressTask, tasks: Iterable[ProgressTask]) -> str:
    """Return the heading over a task's columns: its lab, and the task if the lab has another."""
    task, lab = progress_task.task, progress_task.task.lab
    of_lab = [other for other in tasks if other.task.lab_id == lab.pk]
    name = f"{lab.name} {task.name}" if of_lab[1:] else lab.name
    return f"{name}\n{counted(progress_task.topics, 'topic')}"


def _generated(visible: VisibleBoard) -> PaperTable:
    """Return the table of 004 (5): all measures of Task 3, and its special questions."""
    task, board = visible.qrel_set.task, visible.board
    columns = _columns(board.measures, counted(board.topics, "topic"))
    values: Values = defaultdict(dict)
    notes = {"": _notes(visible.qrel_set, board.measures)}
    for round_ in question_rounds(task):
        panel = counted(round_.pool.items.values("topic").distinct().count(), "topic")
        pairs = zip(round_.questions, question_columns(task, [round_]), strict=True)
        for question, column in pairs:
            key, is_rated = f"question:{question.key}", question.key in LOWER_IS_BETTER
            columns = [earlier for earlier in columns if earlier.key != key]
            columns.append(ScoreColumn(key, question.key, panel, rises=False, is_rated=is_rated))
            answer = round_.pool.label_scale.of(question.counted).word
            notes[key] = question_note(question, answer)
            for run, share in column.values.items():
                values[run][key] = share
    rows = _with_tests(visible, _rows(task, board, values))
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


def _first_answers(user: Visitor, board: VisibleBoard) -> PaperTable | None:
    """Return the table of 004 (7): Task 1's runs, cut to their first answers."""
    task = board.qrel_set.task
    access = first_answers_access(user, task)
    visible = visible_board(access) if access else None
    if access is None or visible is None or not visible.board.rows:
        return None
    first = first_answers(visible).visible
    measures = first.board.measures
    return _with_letters(
        "first-answers",
        f"{task.lab.name} {task.name} results for the first answers of {access.task.name} runs",
        _columns(measures, counted(first.board.topics, "topic")),
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


def _columns(measures: Sequence[Measure], panel: str, prefix: str = "") -> list[ScoreColumn]:
    return [
        ScoreColumn(f"{prefix}{measure.name}", measure.heading, panel, is_rated=measure.is_rating)
        for measure in measures
    ]


def _rows(
    task: Task, board: Board, values: Values | None = None, trained: Trained | None = None
) -> tuple[PaperRun, ...]:
    """Return the runs of a board with further values, and with their part in the pools."""
    runs = [
        replace(row.run, values={**row.run.values, **(values or {}).get(row.run.key, {})})
        for row in board.rows
    ]
    return tuple(
        replace(row, trained=frozenset((trained or {}).get(row.run.key, ())))
        for row in paper_runs(task, runs)
    )


def _with_tests(visible: VisibleBoard, rows: Iterable[PaperRun]) -> tuple[PaperRun, ...]:
    """Return runs with the main measures in which they are significantly below the best run, and
    those in which they are not.
    """
    board = visible.board
    lower: dict[int, set[str]] = defaultdict(set)
    close: dict[int, set[str]] = defaultdict(set)
    for measure in filter(lambda measure: measure.is_rating, board.main_measures):
        tested = certainties(board, qrel_set=visible.qrel_set, measure=measure)
        for run in family_of((row.run for row in board.rows), measure.name)[1:]:
            if run.key in tested:
                side = lower if tested[run.key].is_lower else close
                side[run.key].add(measure.name)
    return tuple(
        replace(row, lower=frozenset(lower[row.run.key]), close=frozenset(close[row.run.key]))
        for row in rows
    )


def paper_runs(task: Task, runs: Iterable[BoardRun] | None = None) -> list[PaperRun]:
    """Return runs of a task, by default those that compete, with their part in the pools."""
    if runs is None:
        runs = [board_run(run, {}) for run in task.runs.competing().select_related("team")]
    pools = Pool.official.filter(task=host_of(task) or task)
    kinds = {row["run"]: row["kind"] for pool in pools for row in pool.runs}
    generated = Run.objects.filter(task=task, answer_kind=Run.AnswerKind.GENERATIVE)
    generative = set(generated.values_list("pk", flat=True))
    return [
        PaperRun(
            run,
            is_deep=kinds.get(run.key) in DEEP if kinds else run.is_primary,
            is_pooled=run.key in kinds if kinds else None,
            is_generative=run.key in generative,
        )
        for run in runs
    ]


class PaperKit(NamedTuple):
    """The texts of a kit by path, its figures, and the name of its archive without the ending.

    A name is such as arqmath-2022_task-1_qrels-v3_paper-kit.
    """

    name: str
    texts: Mapping[str, str]
    figures: tuple[PaperFigure, ...]
    is_certified: bool = True
    """Whether the certificate is in the cache, or the qrels cannot have one."""

    @property
    def is_drawn(self) -> bool:
        """Return whether the certificate and the images of all figures are in the cache."""
        return self.is_certified and all(
            computed_values.has_key(_key(figure)) for figure in self.figures
        )

    @property
    def parts(self) -> dict[str, list[str]]:
        """Return the names of the tables, sentences and figures by folder."""
        names: dict[str, list[str]] = {}
        for folder, _, name in (path.removesuffix(".tex").partition("/") for path in self.texts):
            if name and not name.endswith(".tsv"):
                names.setdefault(folder, []).append(name)
        return names

    def files(self) -> dict[str, str | bytes]:
        """Return all files by path. Figures that are not in the cache are drawn first."""
        files: dict[str, str | bytes] = dict(self.texts)
        for figure in self.figures:
            for ending, image in figure_images(figure).items():
                files[f"figures/{figure.name}.{ending}"] = image
        return files

    def archive(self) -> bytes:
        """Return the zip archive; the same files give the same bytes."""
        return kit_archive(self.name, self.files())


def paper_board(qrel_set: QrelSet, *, live: bool = False) -> VisibleBoard:
    """Return the board that papers print: the released one of these qrels, else the live one."""
    if (released := release_of(qrel_set)) and not live:
        return VisibleBoard("released", recorded_qrels(released), released_board(released))
    return VisibleBoard("live", qrel_set, live_board(qrel_set))


def draw_figures(job: RunningJob) -> list[str]:
    """Draw the figures of the paper kit of the version of the qrels that is the job's key.

    The certificate is computed too, if it is not in the cache.
    """
    drawn = 0
    for qrel_set in QrelSet.objects.select_related("task__lab").filter(pk=job.job.key):
        certification_of(qrel_set, computes=True)
        figures = paper_figures(paper_board(qrel_set))
        for drawn, figure in enumerate(figures, start=1):
            figure_images(figure)
            job.progress(drawn, len(figures))
    return [f"{drawn} figures drawn."]


def paper_kit(qrel_set: QrelSet, user: Visitor, *, live: bool = False) -> PaperKit:
    """Return the paper kit of a version of the qrels, as an organizer sees it.

    It is that of the released leaderboard of these qrels, unless the `live` one is wanted.
    """
    visible = paper_board(qrel_set, live=live)
    task = visible.qrel_set.task
    tables = paper_tables(user, visible)
    files = {"preamble.tex": PREAMBLE}
    topics = topics_appendix(visible)
    for table in (*tables, topics):
        files[f"tables/{table.name}.tex"] = table.latex()
        files[f"tables/{table.name}.tsv"] = table.tsv()
    sentences = paper_sentences(visible)
    files |= {f"sentences/{name}.tex": f"{text}\n" for name, text in sentences.items()}
    figures = paper_figures(visible)
    for figure in figures:
        files[f"figures/{figure.name}.tex"] = figure.latex()
        files[f"figures/{figure.name}.tsv"] = figure.tsv
    sections = {name.capitalize(): [f"sentences/{name}"] for name in sentences}
    results = sections.setdefault("Results", [])
    results += [f"tables/{table.name}" for table in tables]
    results += [f"figures/{figure.name}" for figure in figures]
    sections["Topics"] = [f"tables/{topics.name}"]
    title = f"{task.lab.name}, {task.name}, qrels {qrel_set.name}"
    files["main.tex"] = main_document(title, sections.items())
    name = f"{task.lab.slug}_{task.slug}_qrels-{qrel_set.name}_paper-kit"
    certified = certification_of(qrel_set)
    is_certified = bool(certified.obstacle or certified.certificate)
    return PaperKit(name, files, figures, is_certified)


def _key(figure: PaperFigure) -> str:
    return f"paper-figure:{figure.key}"


def paper_figures(visible: VisibleBoard) -> tuple[PaperFigure, ...]:
    """Return the figures of a board and of its qrels."""
    figures, qrel_set = [], visible.qrel_set
    main = next((measure for measure in visible.board.measures if measure.is_rating), None)
    runs = [row.run for row in visible.board.rows]
    if main and runs:
        keys = [run.key for run in runs]
        matrix = topic_matrix(visible.board, runs=keys, qrel_set=qrel_set, measure=main.name)
        if matrix.topics:
            scores = TopicScores(main.heading, runs, matrix.topics, matrix.scores)
            figures += [scores_figure(scores), topics_figure(scores)]
    scale = qrel_set.label_scale
    topics = version_topics(qrel_set)
    figures.append(labels_figure(topics, scale))
    if by_level := levels_figure(topics, scale, *_levels(visible)):
        figures.append(by_level)
    if rounds := kappa_facts(qrel_set.task):
        threshold = binarization(scale, qrel_set.relevant_from)
        figures.append(kappa_figure(rounds, ways=len(scale.judgments), binarization=threshold))
    return tuple(figures)


def _levels(visible: VisibleBoard) -> tuple[dict[str, str], str]:
    """Return the level of each topic, the easiest topics first, and the name of the field."""
    kind = TaskKind(visible.qrel_set.task.kind)
    field = level_field(kind)
    levels = {name: facts[field] for name, facts in _facts(visible).items() if facts.get(field)}
    usual = info_fields(kind)[field]
    ordered = sorted(levels.items(), key=lambda item: (*usual, item[1]).index(item[1]))
    return dict(ordered), field


def figure_images(figure: PaperFigure) -> dict[str, bytes]:
    """Return the images of a figure by ending, from the cache if it was drawn before.

    They are kept by everything that they show.
    """
    return cached_value(_key(figure), figure.images, work=DRAWING, seconds=30 * DAY)

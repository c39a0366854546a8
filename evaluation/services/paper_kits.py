"""Paper kits: what an overview paper prints about a version of the qrels, in one archive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from django.core.cache import cache

from arqlab.core.models import Task
from arqlab.formats.papers.document import PREAMBLE, kit_archive, main_document
from arqlab.formats.papers.figures import (
    PaperFigure,
    TopicScores,
    kappa_figure,
    labels_figure,
    scores_figure,
    topics_figure,
)
from arqlab.formats.papers.sentences import (
    agreement_sentence,
    assessment_sentences,
    pool_sentences,
    results_sentences,
    runs_sentence,
)
from arqlab.formats.papers.tables import PaperRun, PaperTable, ScoreColumn
from arqlab.formats.papers.words import PAPER_WORDS, binarization, caption, measure_notes
from arqlab.ir.leaderboard import Board
from arqlab.ir.measures.names import Measure
from arqlab.ir.records import ItemKind, TaskKind
from assessment.models import Pool, QrelSet
from assessment.pools.selectors.choices import POOL_KINDS
from assessment.qrels.selectors.versions import version_topics
from evaluation.selectors.boards import live_board, released_board, released_leaderboard
from evaluation.selectors.comparison import topic_matrix
from evaluation.selectors.paper_facts import assessment_facts, kappa_facts, pooling_facts
from submissions.models import Run

LONGEST_DRAWING = 120
"""Seconds after which figures that were not drawn, because a message was lost, can be asked for."""
KEPT = 30 * 24 * 60 * 60  # seconds
SHOWN = 3
"""The measures in the tables of the papers: nDCG′, MAP′ and P′@10."""


class PaperKit(NamedTuple):
    """The texts of a kit by path, its figures, and the name of its archive without the ending."""

    name: str
    texts: Mapping[str, str]
    figures: tuple[PaperFigure, ...]

    @property
    def is_drawn(self) -> bool:
        """Return whether the images of all figures are in the cache."""
        return all(cache.has_key(_key(figure)) for figure in self.figures)

    @property
    def is_being_drawn(self) -> bool:
        """Return whether a worker draws the figures, or will."""
        return not self.is_drawn and cache.has_key(self._claim)

    @property
    def _claim(self) -> str:
        keys = "".join(figure.key for figure in self.figures)
        return f"paper-kit:{self.name}:{sha256(keys.encode()).hexdigest()}"

    def claim_drawing(self) -> bool:
        """Return whether the figures must be drawn and nobody else was asked to."""
        return not self.is_drawn and cache.add(self._claim, 1, timeout=LONGEST_DRAWING)

    def files(self) -> dict[str, str | bytes]:
        """Return all files by path. Images that are not in the cache are drawn, which takes time.

        They are kept by everything that they show.
        """
        files: dict[str, str | bytes] = dict(self.texts)
        for figure in self.figures:
            images: dict[str, bytes] | None = cache.get(_key(figure))
            if images is None:
                images = figure.images()
                cache.set(_key(figure), images, timeout=KEPT)
            for ending, image in images.items():
                files[f"figures/{figure.name}.{ending}"] = image
        return files

    def archive(self) -> bytes:
        """Return the zip archive; the same files give the same bytes."""
        return kit_archive(self.name, self.files())


def paper_board(qrel_set: QrelSet) -> Board:
    """Return the board that papers print: the released one of these qrels, else the live one."""
    released = released_leaderboard(qrel_set.task)
    if released and released.qrel_set_id == qrel_set.pk:
        return released_board(released)
    return live_board(qrel_set)


def paper_kit(qrel_set: QrelSet) -> PaperKit:
    """Return the paper kit of a version of the qrels."""
    task = qrel_set.task
    board = paper_board(qrel_set)
    tables = _tables(qrel_set, board)
    files = {"preamble.tex": PREAMBLE}
    for table in tables:
        files[f"tables/{table.name}.tex"] = table.latex()
        files[f"tables/{table.name}.tsv"] = table.tsv()
    sentences = _sentences(qrel_set, board)
    files |= {f"sentences/{name}.tex": f"{text}\n" for name, text in sentences.items()}
    figures = _figures(qrel_set, board)
    for figure in figures:
        files[f"figures/{figure.name}.tex"] = figure.latex()
        files[f"figures/{figure.name}.tsv"] = figure.tsv
    sections = [
        *((name.capitalize(), [f"sentences/{name}"]) for name in sentences if name != "results"),
        (
            "Results",
            [
                *(f"sentences/{name}" for name in sentences if name == "results"),
                *(f"tables/{table.name}" for table in tables),
            ],
        ),
        ("Figures", [f"figures/{figure.name}" for figure in figures]),
    ]
    title = f"{task.lab.name}, {task.name}, qrels {qrel_set.name}"
    files["main.tex"] = main_document(title, sections)
    return PaperKit(kit_name(qrel_set), files, tuple(figures))


def _key(figure: PaperFigure) -> str:
    return f"paper-figure:{figure.key}"


def _sentences(qrel_set: QrelSet, board: Board) -> dict[str, str]:
    """Return the texts that have numbers, by name, in the order of a paper."""
    task, scale = qrel_set.task, qrel_set.label_scale
    words = PAPER_WORDS[ItemKind(qrel_set.items)]
    pooled = PAPER_WORDS[POOL_KINDS[TaskKind(task.kind)]]
    threshold = binarization(scale, qrel_set.relevant_from)
    kappas = [
        agreement_sentence(facts, ways=len(scale.judgments), binarization=threshold)
        for facts in kappa_facts(task)
    ]
    found = {
        "runs": runs_sentence([row.run for row in board.rows]),
        "pools": pool_sentences(pooling_facts(task), item=pooled.many),
        "assessment": assessment_sentences(
            assessment_facts(qrel_set), item=words.many, one=words.label
        ),
        "agreement": "\n\n".join(filter(None, kappas)),
        "results": results_sentences(board, board.measures[:SHOWN]),
    }
    return {name: text for name, text in found.items() if text}


def _figures(qrel_set: QrelSet, board: Board) -> list[PaperFigure]:
    figures = []
    main = next((measure for measure in board.measures if measure.is_rating), None)
    if main and board.rows:
        keys = [row.run.key for row in board.rows]
        found = topic_matrix(runs=keys, qrel_set=qrel_set, measure=main.name)
        if found.topics:
            runs = [row.run for row in board.rows]
            scores = TopicScores(main.heading, runs, found.topics, found.scores)
            figures += [scores_figure(scores), topics_figure(scores)]
    scale = qrel_set.label_scale
    figures.append(labels_figure(version_topics(qrel_set), scale))
    if rounds := kappa_facts(qrel_set.task):
        threshold = binarization(scale, qrel_set.relevant_from)
        figures.append(kappa_figure(rounds, ways=len(scale.judgments), binarization=threshold))
    return figures


def kit_name(qrel_set: QrelSet) -> str:
    """Return the name of a kit, such as arqmath-2022_task-1_qrels-v3_paper-kit."""
    task = qrel_set.task
    return f"{task.lab.slug}_{task.slug}_qrels-{qrel_set.name}_paper-kit"


def _tables(qrel_set: QrelSet, board: Board) -> list[PaperTable]:
    rows = _rows(qrel_set.task, board)
    if not rows:
        return []
    notes = measure_notes(board.measures[:SHOWN], qrel_set.label_scale, qrel_set.relevant_from)
    task, every = qrel_set.task, board.measures
    topics, lab = f"{board.topics} topics", task.lab.name
    return [
        PaperTable(
            "results",
            caption(task.name, rows, topics=board.topics, notes=notes),
            _columns(every[:SHOWN], "Evaluation measures"),
            rows,
        ),
        PaperTable(
            "results-by-letters",
            caption(f"{lab} {task.name}", rows, topics=None, notes=notes, has_letters=True),
            _columns(every[:SHOWN], f"{lab}, {topics}"),
            rows,
            has_letters=True,
        ),
        PaperTable(
            "all-measures",
            caption(task.name, rows, topics=board.topics, notes=""),
            _columns(every, "Evaluation measures"),
            rows,
        ),
    ]


def _columns(measures: Sequence[Measure], panel: str) -> tuple[ScoreColumn, ...]:
    return tuple(
        ScoreColumn(one.name, one.heading, panel, is_rated=one.is_rating) for one in measures
    )


def _rows(task: Task, board: Board) -> tuple[PaperRun, ...]:
    """Return the runs of a board with their part in the pools."""
    pools = list(Pool.official.filter(task=task))
    kinds = {row["run"]: row["kind"] for pool in pools for row in pool.runs}
    generative = set(
        Run.objects.filter(task=task, answer_kind=Run.AnswerKind.GENERATIVE).values_list(
            "pk", flat=True
        )
    )
    return tuple(
        PaperRun(
            row.run,
            is_deep=kinds.get(row.run.key) == "baseline-primary" if kinds else row.run.is_primary,
            is_pooled=row.run.key in kinds if kinds else None,
            is_generative=row.run.key in generative,
        )
        for row in board.rows
    )

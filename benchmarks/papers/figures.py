"""Our figures for those that the papers print, computed by the services of a lab."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from django.core.management import call_command

from arqkit.comparison.correlation import correlations
from arqkit.judgments.qrels import LabelledTopics, Range
from arqkit.leaderboard import Board
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import topic_judgments, version_topics
from benchmarks.papers.published import (
    ANSWERS,
    CEILINGS,
    CORRELATIONS,
    GROUPS,
    JUDGED,
    MEASURES_OF_TASK_3,
    PRIMES,
    SCORES,
    Judged,
)
from evaluation.selectors.boards import live_board
from evaluation.selectors.records import topic_attributes
from submissions.models import Run

LABS = ("arqmath-1", "arqmath-2", "arqmath-3", "ntcir-12-wfb")


class Figure(NamedTuple):
    """A printed figure beside ours. `differs` is the reason why they cannot agree, if known."""

    table: str
    what: str
    printed: str
    ours: float
    differs: str = ""

    @property
    def agrees(self) -> bool:
        """Return whether ours has the printed digits; a half may be rounded either way."""
        decimals = len(self.printed.partition(".")[2])
        return abs(self.ours - float(self.printed)) <= 0.5 * 10**-decimals + 1e-9

    @property
    def is_wrong(self) -> bool:
        """Return whether ours should agree and does not."""
        return not (self.agrees or self.differs)


def lab_figures(lab: str, data: Path) -> Iterator[Figure]:
    """Yield the figures of a lab, which is loaded, after submitting its runs from `data`."""
    submitted: dict[tuple[str, str], Board] = {}
    for one in (one for one in SCORES if one.lab == lab):
        if (one.task, one.run) not in submitted:
            submitted[one.task, one.run] = _submitted(one.lab, one.task, one.qrels, one.run, data)
        values = _values(submitted[one.task, one.run])
        for measure, printed, differs in zip(PRIMES, one.printed, one.differs, strict=True):
            if printed:
                what = f"{one.run}, {measure}"
                yield Figure(one.table, what, printed, values[measure], differs)
    for counted in (one for one in JUDGED if one.lab == lab):
        yield from _counted(counted)
    for best in (one for one in CEILINGS if one.lab == lab):
        ours = live_board(_qrels(lab, best.task, best.qrels)).ceilings[best.measure]
        yield Figure(best.table, f"{best.task}, highest P'@10", best.printed, ours)
    yield from _grouped(lab)


def table_6() -> Iterator[Figure]:
    """Yield the correlations of 004 Table 6 from the printed scores of Table 5."""
    found = correlations(np.array(list(ANSWERS.values()), dtype=float))
    for pair, printed in CORRELATIONS.items():
        place = tuple(map(MEASURES_OF_TASK_3.index, pair))
        names = " and ".join(pair)
        yield Figure("004 Table 6", f"r of {names}", printed[0], float(found.pearson[place]))
        yield Figure("004 Table 6", f"tau of {names}", printed[1], float(found.kendall[place]))


def _qrels(lab: str, task: str, name: str) -> QrelSet:
    versions = QrelSet.objects.select_related("task__lab")
    return versions.get(task__lab__slug=lab, task__slug=task, name=name)


def _submitted(lab: str, task: str, qrels: str, run: str, data: Path) -> Board:
    """Submit a run and return the board with it alone, scored."""
    [path] = (data / lab / "runs").rglob(f"{run}*.gz")
    name = f"{lab}/{task}"
    team = [] if "-task" in path.name else ["--team", "Team"]
    out = {"stdout": StringIO(), "stderr": StringIO()}
    call_command("submit_run", str(path), "--task", name, *team, "--new-team", **out)
    call_command("leaderboard", name, "--qrels", qrels, **out)
    chosen = _qrels(lab, task, qrels)
    newest = Run.objects.filter(task=chosen.task).latest("pk")
    return live_board(chosen, Run.objects.filter(pk=newest.pk))


def _values(board: Board) -> dict[str, float]:
    [row] = board.rows
    return {measure.label: row.run.values[measure.name] for measure in board.measures}


def _counted(one: Judged) -> Iterator[Figure]:
    chosen = _qrels(one.lab, one.task, one.qrels)
    topics = version_topics(chosen)
    if one.topics_of:
        named = _qrels(one.lab, one.task, one.topics_of.removeprefix("-"))
        others = set(topic_judgments(named))
        is_without = one.topics_of.startswith("-")
        topics = [topic for topic in topics if (topic.topic in others) != is_without]
    yield Figure(one.table, f"{one.what}, topics", one.topics, len(topics))
    labelled = LabelledTopics.of(topics, chosen.label_scale)
    both = (("judged", one.judged, labelled.judged), ("relevant", one.relevant, labelled.positive))
    for name, printed, counts in both:
        ours = Range.of(list(counts.values()))
        for word, figure, value in zip(Range._fields, printed, ours, strict=True):
            if figure:
                differs = one.differs if (name, word) == ("judged", "mean") else ""
                yield Figure(one.table, f"{one.what}, {name}, {word}", figure, value, differs)


def _grouped(lab: str) -> Iterator[Figure]:
    for one in (one for one in GROUPS if one.lab == lab):
        chosen = _qrels(lab, "task1", "official")
        judged = set(topic_judgments(chosen))
        values = topic_attributes(chosen.task)[one.attribute]
        for value, printed in one.printed.items():
            ours = sum(values.get(topic) == value for topic in judged)
            yield Figure(one.table, f"topics, {one.attribute} {value}", printed, ours)

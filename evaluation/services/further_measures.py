"""Further measures of a board, which are computed when somebody asks for them.

The values of runs are cached.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from arqkit.leaderboard import with_runs
from arqkit.measures.names import (
    Measure,
    MeasureFailedError,
    MeasureRefusedError,
    parse_measure,
    parse_measures,
)
from arqkit.measures.scoring import Scorer, means
from arqlab.core.caches import DAY, computed_values, key_of, require_time
from arqlab.core.models import Visitor
from assessment.qrels.selectors.versions import judged_frame
from evaluation.permissions import VISITOR_CUTOFFS, VISITOR_KINDS, VisibleBoard, may_ask_for
from evaluation.selectors.boards import qrels_facts
from evaluation.selectors.pending_scores import item_facts, qrels_rules
from evaluation.selectors.records import with_recorded_answers
from evaluation.services.scoring import comparable_indexes, scorer_of, scoring_work
from submissions.models import Run

log = logging.getLogger(__name__)
KEPT_FAILURES = 5 * 60  # seconds
SLOWER = 5
"""How many times as long a further measure may take as those of a task."""
MOST = 5
"""The most further measures of one request."""
_CUT = ("ERR", "P", "R", "RR", "nDCG", "AP", "Success", "Judged")
"""The kinds of measures that read nothing below their cutoff."""
_BETWEEN = re.compile(r"[\s,;]+(?![^()]*\))")


class FurtherMeasures(NamedTuple):
    """What a user asked for, and the board with it.

    - text: as it was written.
    - columns: the number of columns that were added.
    - error: what is wrong with it; the board is then unchanged.
    """

    visible: VisibleBoard
    text: str
    error: str = ""
    columns: int = 0


def with_further_measures(visible: VisibleBoard, text: str, *, user: Visitor) -> FurtherMeasures:
    """Return a board with the measures in a text, separated by spaces or commas.

    Which measures a visitor may ask for is said by `may_ask_for`.
    """
    text = " ".join(text.split())
    if not text:
        return FurtherMeasures(visible, "")
    try:
        measures = _read(visible, text, user)
    except MeasureRefusedError as error:
        return FurtherMeasures(visible, text, str(error))
    return with_measures(visible, text, measures)


def _read(visible: VisibleBoard, text: str, user: Visitor) -> tuple[Measure, ...]:
    """Return the measures of a text that the board lacks; raise MeasureRefusedError."""
    board_measures, relevant_from = visible.board.measures, visible.qrel_set.relevant_from
    parts = [part for part in _BETWEEN.split(text) if part]
    parsed = [parse_measure(part, relevant_from=relevant_from) for part in parts]
    names = [measure.name for measure in board_measures]
    if any(measure.needs_texts and measure.name not in names for measure in parsed):
        raise MeasureRefusedError("LO compares texts of answers. Add it to the measures of Task 3.")
    new = [name for name in dict.fromkeys(measure.name for measure in parsed) if name not in names]
    if len(new) > MOST:
        raise MeasureRefusedError(f"You asked for {len(new)} measures. Ask for at most {MOST}.")
    further = parse_measures([*names, *new], relevant_from=relevant_from)[len(names) :]
    if refused := [one for one in further if not may_ask_for(user, one, visible.qrel_set)]:
        cutoffs = ", ".join(map(str, VISITOR_CUTOFFS))
        raise MeasureRefusedError(
            f"Sign in to ask for {refused[0].label}. Without an account, you may ask for "
            f"{', '.join(VISITOR_KINDS)}, also of judged items only, with one of the cutoffs "
            f"{cutoffs} or without."
        )
    return further


def with_measures(
    visible: VisibleBoard,
    text: str,
    measures: Sequence[Measure],
    *,
    answered_only: bool | None = None,
) -> FurtherMeasures:
    """Return a board with further columns and their ceilings; None is as the task says."""
    board, qrel_set = visible.board, visible.qrel_set
    if not measures:
        return FurtherMeasures(visible, text)
    rules = qrels_rules(qrel_set), answered_only, [measure.name for measure in measures]
    keys = [row.run.key for row in board.rows]
    known_runs = Run.objects.filter(pk__in=keys).select_related("team", "task__lab").order_by("pk")
    runs = with_recorded_answers(known_runs, qrel_set, board.release)
    facts = zip(runs, item_facts(runs, qrel_set), strict=True)
    cached = {run: key_of("further-measures", *rules, items) for run, items in facts}
    stored = computed_values.get_many(list(cached.values()))
    values = {run.pk: stored[key] for run, key in cached.items() if key in stored}
    if lacking := [run for run, key in cached.items() if key not in stored]:
        whole = key_of("further-measures", *rules, [cached[run] for run in lacking])
        require_time(whole, scoring_work(lacking, times=SLOWER))
        judged = judged_frame(qrel_set)
        scorer = scorer_of(qrel_set, judged, measures, answered_only=answered_only)
        computed = _computed(lacking, comparable_indexes(lacking, qrel_set, judged), scorer)
        for run, run_means in computed.items():
            is_failed = None in run_means.values()
            computed_values.set(cached[run], run_means, KEPT_FAILURES if is_failed else DAY)
            values[run.pk] = run_means
    extended = []
    for row in board.rows:
        added = {k: v for k, v in values.get(row.run.key, {}).items() if v is not None}
        extended.append(replace(row.run, values={**row.run.values, **added}))
    best = {**board.ceilings, **qrels_facts(qrel_set, measures).ceilings}
    wider = replace(board, measures=(*board.measures, *measures), ceilings=best)
    visible = replace(visible, board=with_runs(wider, extended))
    return FurtherMeasures(visible, text, "", len(measures))


def _computed(
    runs: Sequence[Run], indexes: Iterator[tuple[Run, pl.DataFrame]], scorer: Scorer
) -> dict[Run, dict[str, float | None]]:
    """Return the means of runs. Unreadable runs have none."""
    nothing: dict[str, float | None] = {measure.name: None for measure in scorer.measures}
    computed: dict[Run, dict[str, float | None]] = {}
    deepest = _deepest(scorer.measures)
    for run, index in indexes:
        try:
            mean_of = means(scorer.score(index.filter(pl.col("order") <= deepest)))
            # A run that answers no topic of the qrels has no mean; its score is 0.
            computed[run] = {name: float(mean_of.get(name) or 0.0) for name in nothing}
        except MeasureFailedError:
            log.exception("A measure of run %s (%s) fails.", run.pk, run.tag)
            computed[run] = nothing
    return dict.fromkeys(runs, nothing) | computed


def _deepest(measures: Iterable[Measure]) -> int:
    """Return the last rank that measures read: a short ranking is scored much faster."""
    cutoffs = [
        0 if measure.judged_only or measure.kind not in _CUT else measure.cutoff or 0
        for measure in measures
    ]
    return max(cutoffs) if all(cutoffs) else 2**31 - 1

"""The similarity of the rankings of two runs. Nothing is stored; results are cached by contents."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from statistics import fmean
from typing import NamedTuple

from arqkit.comparison.correlation import jaccard, rank_biased_overlap
from arqkit.measures.scoring import Scorer
from arqkit.records import ItemKind
from arqlab.core.caches import computed_values
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import judged_frame
from evaluation.selectors.pending_scores import formulas_index_of, item_identity
from evaluation.services.effects import comparable_indexes
from submissions.models import Run

KEPT = 24 * 60 * 60  # seconds
CUTOFF = 10


class RunSimilarity(NamedTuple):
    """Means over the topics of the qrels that both runs answered; `judged` is of each run's top."""

    overlap: float
    jaccard: float
    judged: tuple[float, float]
    cutoff: int = CUTOFF


def run_similarity(qrel_set: QrelSet, first: int, second: int) -> RunSimilarity | None:
    """Return the similarity of two runs (keys), with the items that the qrels have.

    It is None if an index cannot be read, if the runs have no topic in common, and for answers
    (Task 3), because no two runs have the same.
    """
    if qrel_set.items == ItemKind.ANSWERS:
        return None
    runs = Run.objects.select_related("team", "task__lab").in_bulk([first, second])
    both, index_name = [runs[first], runs[second]], formulas_index_of(qrel_set)
    facts = [
        (run.pk, run.index.name, item_identity(run, qrel_set, formulas_index=index_name))
        for run in both
    ]
    rules = (qrel_set.pk, qrel_set.sha256, qrel_set.task.protocol.order, facts)
    key = f"run-similarity:{sha256(repr(rules).encode()).hexdigest()}"
    found: RunSimilarity | None = computed_values.get(key)
    if found is None and (found := _similarity(qrel_set, both)):
        computed_values.set(key, found, timeout=KEPT)
    return found


def _similarity(qrel_set: QrelSet, runs: list[Run]) -> RunSimilarity | None:
    judged = judged_frame(qrel_set)
    indexes = [
        index.join(judged, on="topic", how="semi", maintain_order="left")
        for _, index in comparable_indexes(runs, qrel_set, judged)
    ]
    if len(indexes) < 2:
        return None
    first, second = indexes
    overlap = rank_biased_overlap(first, second)
    if not overlap:
        return None
    scorer = Scorer(judged, [f"Judged@{CUTOFF}"], answered_only=True)
    shares = [dict(scorer.score(index).select("topic", "value").iter_rows()) for index in indexes]
    both = shares[0].keys() & shares[1].keys()
    one, other = (_mean({topic: share[topic] for topic in both}) for share in shares)
    return RunSimilarity(_mean(overlap), _mean(jaccard(first, second, cutoff=CUTOFF)), (one, other))


def _mean(values: Mapping[str, float]) -> float:
    return fmean(values.values())

"""The numbers that overview papers print about pools, assessment and agreement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from arqkit.agreement.estimates import Agreement
from arqkit.formats.papers.sentences import AssessmentFacts, KappaFacts, PoolFacts
from arqkit.formats.papers.words import binarization
from arqkit.protocols.presets import PoolProtocol
from arqlab.core.models import Task
from assessment.models import Pool, QrelSet, Round
from assessment.pools.selectors.frozen import pool_sizes, topic_sizes
from assessment.qrels.selectors.drafts import host_of, task_scale
from assessment.qrels.selectors.versions import version_topics
from assessment.rounds.selectors.rounds import RoundRow, round_rows
from assessment.rounds.selectors.second_agreement import IMPORTED, pair_agreement
from assessment.rounds.selectors.second_items import only_judged_pairs, second_pairs
from assessment.rounds.selectors.training_votes import GOLD, training_agreement
from assessment.timesheets.selectors.figures import OFFICIAL, SheetPart, time_sheet_of

UNNUMBERED = {GOLD: "Gold", IMPORTED: "Imported"}


def pooling_facts(task: Task) -> PoolFacts:
    """Return the numbers of a task's official pools; answers of Task 3 may be in Task 1's."""
    pools = list(Pool.official.filter(task=host_of(task) or task).order_by("number"))
    if not pools:
        return PoolFacts(0, 0, 0, {})
    sizes = pool_sizes(pools[0].task).values()
    topics = {size.query_id for pool in pools for size in topic_sizes(pool) if size.items}
    runs = [row for pool in pools for row in pool.runs]
    kinds = {
        kind: sorted({str(row["tag"]) for row in runs if row["kind"] == kind})
        for kind in ("baseline-primary", "baseline-alternate")
    }
    return PoolFacts(
        topics=len(topics),
        items=sum(size.items for size in sizes),
        labels=sum(size.labels for size in sizes),
        depths=_depths(pools[0], {row["kind"] for row in runs}),
        deep=kinds["baseline-primary"],
        shallow=kinds["baseline-alternate"],
        supplements=len(pools) - 1,
    )


def _depths(pool: Pool, kinds: Iterable[str]) -> dict[str, int]:
    """Return the depth of each kind of run in a pool of the top of every run."""
    protocol = PoolProtocol(**pool.settings)
    if protocol.method != "depth":
        return {}
    depths = {"primary": protocol.primary, "alternate": protocol.alternate}
    if protocol.manual is not None:
        depths["manual"] = protocol.manual
    return {kind: depth for kind, depth in depths.items() if kind in set(kinds)}


def assessment_facts(qrel_set: QrelSet) -> AssessmentFacts:
    """Return the numbers of the judged items of qrels, and the time of the official judging."""
    topics, scale = version_topics(qrel_set), qrel_set.label_scale
    lowest = min(one.value for one in scale.judgments)
    values = [one.value for one in scale.judgments]
    task = host_of(qrel_set.task) or qrel_set.task
    sheet = time_sheet_of(task.lab).part(SheetPart(task=task, kinds={OFFICIAL}))
    work = sheet.total
    timed = work.labels - work.untimed
    return AssessmentFacts(
        judged={one.topic: sum(one.labels[value] for value in values) for one in topics},
        positive={
            one.topic: sum(one.labels[value] for value in values if value > lowest)
            for one in topics
        },
        dropped=[row["topic"] for row in qrel_set.dropped if not row.get("by_hand")],
        binarization=binarization(scale, qrel_set.relevant_from),
        any_relevance=binarization(scale, lowest + 1),
        seconds=work.active_ms / 1000 / timed if timed else None,
        hours=work.active_hours,
        assessors=len(sheet.people),
    )


def kappa_facts(task: Task) -> list[KappaFacts]:
    """Return the agreement in the training rounds and the open rounds of second judgments."""
    return [
        _kappas(row.round, found)
        for row in round_rows(task)
        if row.done and (found := _agreement(row)) is not None and found.items
    ]


def _agreement(row: RoundRow) -> Agreement | None:
    """Return the agreement in a round as its page shows it, or None if it is not to be seen."""
    found = row.round
    if found.archived_at:
        return None
    if found.kind == Round.Kind.TRAINING:
        return training_agreement(found, resamples=0)
    if found.kind != Round.Kind.SECOND or not row.shows_labels:
        return None
    scale = task_scale(found.task)
    pairs = only_judged_pairs(second_pairs(found), scale)
    from_ = found.task.protocol.relevant_from
    return pair_agreement(pairs, scale, relevant_from=from_, resamples=0)


def _kappas(found: Round, agreement: Agreement) -> KappaFacts:
    graded, binary = agreement.graded, agreement.binary
    return KappaFacts(
        title=str(found),
        is_training=found.kind == Round.Kind.TRAINING,
        items=agreement.items,
        assessors={
            name: (graded.assessors[key].value, binary.assessors[key].value)
            for key, name in _numbered(graded.assessors).items()
        },
        total=(graded.total.value, binary.total.value),
        fleiss=(graded.fleiss.value, binary.fleiss.value),
    )


def _numbered(assessors: Mapping[str, object]) -> dict[str, str]:
    """Return numbers for the keys of assessors: a paper names nobody."""
    people = sorted((key for key in assessors if key not in UNNUMBERED), key=int)
    names = {key: str(number) for number, key in enumerate(people, start=1)}
    return names | {key: name for key, name in UNNUMBERED.items() if key in assessors}

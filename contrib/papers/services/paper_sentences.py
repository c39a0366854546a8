"""The sentences of a paper kit, and the facts about pools, judging and agreement behind them."""

from collections import Counter
from collections.abc import Iterable, Mapping

from arqkit.formats.papers.sentences import (
    AssessmentFacts,
    KappaFacts,
    PoolFacts,
    agreement_sentence,
    assessment_sentences,
    hosted_sentence,
    pool_sentences,
    results_sentences,
    runs_sentence,
)
from arqkit.formats.papers.tables import PAPER_WORDS, binarization
from arqkit.judgments.qrels import LabelledTopics
from arqkit.protocols.presets import PoolProtocol, RunKind
from arqkit.records import ItemKind, TaskKind
from arqlab.core.models import Task
from assessment.hours.selectors import OFFICIAL, SheetPart, time_sheet_of
from assessment.models import Pool, QrelSet
from assessment.models.kinds import Comparison
from assessment.pools.selectors.choices import POOL_KINDS
from assessment.pools.selectors.frozen import pool_sizes, topic_sizes
from assessment.qrels.selectors.drafts import host_of
from assessment.qrels.selectors.versions import version_topics
from assessment.rounds.selectors.rounds import round_rows
from assessment.rounds.selectors.second import IMPORTED
from assessment.rounds.selectors.votes import GOLD, round_agreement
from evaluation.permissions import VisibleBoard

UNNUMBERED = {GOLD: "Gold", IMPORTED: "Imported"}
"""What a paper calls labels that are no assessor's."""

_RUN_KINDS: Mapping[RunKind, str] = {
    "primary": "primary run",
    "manual": "manual run",
    "baseline-primary": "baseline",
    "alternate": "alternate run",
    "baseline-alternate": "baseline",
}
"""What a paper calls the kinds of pooled runs, in its order (000 §4.4)."""


def pooling_facts(task: Task) -> PoolFacts:
    """Return the numbers of a task's own official pools."""
    pools = list(Pool.official.filter(task=task).order_by("number"))
    if not pools:
        return PoolFacts(0, 0, 0, {})
    sizes = pool_sizes(pools).values()
    topics = {size.query_id for pool in pools for size in topic_sizes(pool) if size.items}
    runs = [row for pool in pools for row in pool.runs]
    deep, shallow = (
        sorted({str(row["tag"]) for row in runs if row["kind"] == kind})
        for kind in ("baseline-primary", "baseline-alternate")
    )
    return PoolFacts(
        topics=len(topics),
        items=sum(size.items for size in sizes),
        labels=sum(size.labels for size in sizes),
        depths=_depths(pools[0]),
        deep=deep,
        shallow=shallow,
        supplements=len(pools) - 1,
        crowded=_crowded(pools),
        most=PoolProtocol(**pools[0].settings).instances,
    )


def _depths(pool: Pool) -> dict[int, dict[str, int]]:
    """Return how many runs of each kind a pool took, by their depth."""
    protocol = PoolProtocol(**pool.settings)
    depths: dict[int, dict[str, int]] = {}
    if protocol.method == "depth":
        runs = Counter(row["kind"] for row in pool.runs)
        for kind, name in _RUN_KINDS.items():
            if runs[kind]:
                at_depth = depths.setdefault(protocol.depth_of(kind), {})
                at_depth[name] = at_depth.get(name, 0) + runs[kind]
    return depths


def _crowded(pools: Iterable[Pool]) -> int | None:
    """Return the number of items with more instances than are judged; None if a pool has none."""
    counts = [pool.crowded_items for pool in pools]
    return None if None in counts else sum(filter(None, counts))


def assessment_facts(qrel_set: QrelSet) -> AssessmentFacts:
    """Return the numbers of the judged items of qrels, and the time of the official judging.

    The time of judging in the pools of another task is not known apart, so it is left out.
    """
    scale = qrel_set.label_scale
    lowest = min(label.value for label in scale.judgments)
    labelled = LabelledTopics.of(version_topics(qrel_set), scale)
    task = qrel_set.task
    sheet = time_sheet_of(task.lab).part(SheetPart(task=task, kinds={OFFICIAL}))
    work = sheet.total
    timed = work.labels - work.untimed
    return AssessmentFacts(
        judged=labelled.judged,
        positive=labelled.positive,
        dropped=[row["topic"] for row in qrel_set.dropped if not row.get("by_hand")],
        binarization=binarization(scale, qrel_set.relevant_from),
        any_relevance=binarization(scale, lowest + 1),
        seconds=work.active_ms / 1000 / timed if timed else None,
        hours=work.active_hours,
        assessors=len(sheet.people),
    )


def kappa_facts(task: Task) -> list[KappaFacts]:
    """Return the agreement in the rounds that compare labels, when organizers see them."""
    return [
        KappaFacts(
            title=str(row.round),
            is_training=row.round.rules.compares is Comparison.VOTES,
            items=agreement.items,
            assessors={
                name: (graded.assessors[key].value, binary.assessors[key].value)
                for key, name in _numbered(graded.assessors).items()
            },
            total=(graded.total.value, binary.total.value),
            fleiss=(graded.fleiss.value, binary.fleiss.value),
        )
        for row in round_rows(task)
        if row.done and row.shows_labels and not row.round.archived_at
        if (agreement := round_agreement(row.round, resamples=0)) is not None and agreement.items
        for graded, binary in [(agreement.graded, agreement.binary)]
    ]


def _numbered(assessors: Mapping[str, object]) -> dict[str, str]:
    """Return numbers for the keys of assessors: a paper names nobody."""
    people = sorted((key for key in assessors if key not in UNNUMBERED), key=int)
    names = {key: str(number) for number, key in enumerate(people, start=1)}
    return names | {key: name for key, name in UNNUMBERED.items() if key in assessors}


def paper_sentences(visible: VisibleBoard) -> dict[str, str]:
    """Return the texts that have numbers, by name, in the order of a paper."""
    qrel_set, board = visible.qrel_set, visible.board
    task, scale = qrel_set.task, qrel_set.label_scale
    words = PAPER_WORDS[ItemKind(qrel_set.items)]
    pooled = PAPER_WORDS[POOL_KINDS[TaskKind(task.kind)]]
    threshold = binarization(scale, qrel_set.relevant_from)
    kappas = [
        agreement_sentence(facts, ways=len(scale.judgments), binarization=threshold)
        for facts in kappa_facts(task)
    ]
    texts = {
        "runs": runs_sentence([row.run for row in board.rows]),
        "pools": hosted_sentence(task.name, host.name)
        if (host := host_of(task))
        else pool_sentences(pooling_facts(task), item=pooled.many),
        "assessment": assessment_sentences(
            assessment_facts(qrel_set), item=words.many, labelled=words.label
        ),
        "agreement": "\n\n".join(filter(None, kappas)),
        "results": results_sentences(board, board.main_measures),
    }
    return {name: text for name, text in texts.items() if text}

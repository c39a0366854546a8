"""The reusability certificate of a version of the qrels.

It is computed on demand and cached by everything it is computed from. Nothing is stored.
"""

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from arqkit.formulas.visual_ids import as_formulas
from arqkit.measures.names import Measure
from arqkit.records import ItemKind
from arqkit.reusability.certificate import Certificate, Rescorer, certified_measures, certify
from arqlab.core.caches import DAY, cached_value, key_of
from arqlab.core.models import Task
from arqlab.jobs.services.jobs import Each, RunningJob
from assessment.models import QrelSet
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.selectors.frozen import PooledTops, contributions_of, pooled_tops
from assessment.qrels.selectors.versions import judged_frame
from collection.selectors.collections import visual_ids
from evaluation.permissions import ScoreAccess, visible_board
from evaluation.selectors.boards import release_of, released_board, released_leaderboard
from evaluation.selectors.pending_scores import formulas_index_of, measures_of, qrels_rules
from evaluation.selectors.records import recorded_qrels
from evaluation.services.scoring import comparable_indexes
from submissions.models import Run

MINUTE = 60.0
"""A certificate takes seconds to minutes, so only jobs compute it."""


class Certification(NamedTuple):
    """A certificate, if it has been computed, and what it is computed from.

    - obstacle: the reason why there cannot be one, or an empty string.
    - measures: those of the certificate, the main one first.
    - names: team and tag of the scored runs by their keys.
    - tops: the pools, with their runs.
    """

    obstacle: str
    measures: tuple[Measure, ...]
    names: dict[str, tuple[str, str]]
    tops: list[PooledTops]
    certificate: Certificate | None = None


def certification_of(
    qrel_set: QrelSet, *, computes: bool = False, each: Each[Run] = iter
) -> Certification:
    """Return the certificate of qrels from the cache; compute a missing one only if asked.

    `each` yields the runs as they are read.
    """
    qrel_set, runs, names = _listed_runs(qrel_set)
    valid = list(runs)
    measures = certified_measures(measures_of(qrel_set))
    tops = _pooled_tops(qrel_set, valid)
    certification = Certification(_obstacle(qrel_set, measures, valid), measures, names, tops)
    if certification.obstacle:
        return certification
    key = _key(qrel_set, certification, valid)
    compute = (lambda: _certificate(qrel_set, certification, each(valid))) if computes else None
    return certification._replace(
        certificate=cached_value(key, compute, work=MINUTE, seconds=30 * DAY)
    )


def _listed_runs(qrel_set: QrelSet) -> tuple[QrelSet, list[Run], dict[str, tuple[str, str]]]:
    """Return qrels with the runs that count, and their teams and tags by key.

    They are those of the record of the released leaderboard, if these are its qrels.
    """
    runs = Run.objects.select_related("team", "task__lab")
    if leaderboard := release_of(qrel_set):
        board = released_board(leaderboard)
        listed = {
            row.run.key: (row.run.team, row.run.label) for row in board.rows if row.run.counts
        }
        runs_by_key = runs.in_bulk(list(listed))
        names = {
            str(key): listed[key]
            for key in sorted(runs_by_key, key=lambda key: (*listed[key], key))
        }
        return recorded_qrels(leaderboard), [runs_by_key[int(key)] for key in names], names
    live = list(runs.competing().filter(task=qrel_set.task_id).order_by("team__name", "tag", "pk"))
    return qrel_set, live, {str(run.pk): (run.team.name, run.label) for run in live}


def _pooled_tops(qrel_set: QrelSet, runs: list[Run]) -> list[PooledTops]:
    """Return the runs of the pools that qrels may rest on: of a release, those of its record."""
    tops, leaderboard = pooled_tops(qrel_set.task), release_of(qrel_set)
    if leaderboard is None or not leaderboard.record:
        return tops
    count = leaderboard.record["pools"].get(qrel_set.task.slug, 0)
    frozen = [top for top in tops if top.pool and top.pool.number <= count]
    choice = PoolChoice(qrel_set.task.protocol.pool, seed=0)
    return frozen or [PooledTops(None, choice, tuple(runs))]


def opened_certification(certified: Certification, access: ScoreAccess) -> Certification:
    """Return a certificate with the runs that a user may open: organizers, all."""
    if access.organizes or certified.certificate is None:
        return certified
    visible = visible_board(access)
    rows = visible.board.rows if visible else ()
    runs = {str(row.run.key) for row in rows if access.may_open(row.run)}
    names = {key: name for key, name in certified.names.items() if key in runs}
    teams = {team for team, _ in names.values()}
    part = certified.certificate.of_runs(runs=names, teams=teams)
    return certified._replace(names=names, certificate=part)


def certificate_frames(certified: Certification) -> dict[str, pl.DataFrame]:
    """Return the files of a certificate by their part: its teams, runs and depths."""
    if (certificate := certified.certificate) is None:
        return {}
    run, name = pl.col("run"), certified.names
    names = {
        "team": run.replace_strict({key: team for key, (team, _) in name.items()}),
        "run": run.replace_strict({key: tag for key, (_, tag) in name.items()}),
    }
    frames = {
        part: left_out.changes.drop("party")
        .with_columns(**names)
        .select("team", pl.exclude("team"))
        for part, left_out in (("teams", certificate.teams), ("runs", certificate.each_run))
    }
    return {**frames, "depths": certificate.depths}


def compute_certificate(job: RunningJob) -> list[str]:
    """Compute the certificate of the version of the qrels that is the job's key."""
    for qrel_set in QrelSet.objects.select_related("task__lab").filter(pk=job.job.key):
        certification_of(qrel_set, computes=True, each=job.each)
    return []


def certify_released() -> None:
    """Compute the certificates that everyone may open, as far as they are not in the cache."""
    released = Task.objects.filter(leaderboards__hidden_at=None, leaderboards__isnull=False)
    for task in released.exclude(published_runs=Task.Published.NONE).distinct():
        if leaderboard := released_leaderboard(task):
            certification_of(leaderboard.qrel_set, computes=True)


def _obstacle(qrel_set: QrelSet, measures: tuple[Measure, ...], runs: list[Run]) -> str:
    if qrel_set.items == ItemKind.ANSWERS:
        return (
            "Each answer of Task 3 belongs to one run. Without the run, nobody would have judged "
            "it, so these qrels cannot score other runs."
        )
    if not runs:
        return "The task has no valid run to score. Come back when it has."
    if not measures:
        return (
            "None of the task's measures can be certified. Choose nDCG, AP, P@k, RR or bpref, with "
            "or without judged_only, in the task's settings."
        )
    return ""


def _key(qrel_set: QrelSet, certification: Certification, runs: list[Run]) -> str:
    pools = [
        (top.pool and top.pool.sha256, top.choice, _files(top.runs, certification))
        for top in certification.tops
    ]
    rules = qrels_rules(qrel_set), qrel_set.label_scale, qrel_set.task.protocol.pooling_order
    source = formulas_index_of(qrel_set)
    return key_of(
        "certificate", rules, certification.measures, _files(runs, certification), pools, source
    )


def _files(runs: Iterable[Run], certification: Certification) -> list[tuple[object, ...]]:
    teams = {key: team for key, (team, _) in certification.names.items()}
    return [(run.pk, run.index.name, teams.get(str(run.pk), run.team.name)) for run in runs]


def _certificate(
    qrel_set: QrelSet, certification: Certification, runs: Iterable[Run]
) -> Certificate:
    judged = judged_frame(qrel_set)
    rescorer = Rescorer(judged, certification.measures)
    for run, index in comparable_indexes(runs, qrel_set, judged):
        rescorer.add(str(run.pk), index)
    teams = {str(run.pk): run.team.name for top in certification.tops for run in top.runs}
    teams |= {key: team for key, (team, _) in certification.names.items()}
    brought = contributions_of(qrel_set.task, certification.tops).with_columns(item="doc_id")
    is_visual = qrel_set.items == ItemKind.VISUAL_IDS
    mapping = visual_ids(qrel_set.task.lab, qrel_set.visual_version) if is_visual else None
    if mapping is not None:
        brought = as_formulas(brought, mapping)
    needs = brought.group_by("topic", "item", "run").agg(pl.col("needs").min())
    return certify(rescorer, needs, teams, relevant_from=qrel_set.relevant_from)

"""The effect of a version of the qrels on the board."""

from typing import NamedTuple
from urllib.parse import urlencode

import polars as pl
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from arqkit.comparison.correlation import RankingEffect, ranking_effects
from arqkit.measures.names import Measure
from arqlab.core.models import Task
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Column, Pages, Table, answer, cells, task_url
from assessment.models import QrelSet
from evaluation.selectors.boards import live_board, live_scores
from evaluation.selectors.pending_scores import measures_of
from evaluation.views.tables import file_words

pages = Pages(f"{TASK}qrels/", organized_task_or_404, section="qrels")


class RunEffect(NamedTuple):
    """A run with its means by two versions; equal means have the same rank, a rise is positive."""

    key: int
    team: str
    tag: str
    before: float
    after: float
    change: float
    rank_before: int
    rank_after: int
    rise: int


class VersionEffect(NamedTuple):
    """How the rankings of the competing runs by two versions compare in a measure.

    `rows` has the best runs of `after` first. Runs that lack a score in one of the versions are
    left out.
    """

    measure: Measure
    ranking: RankingEffect
    rows: list[RunEffect]


def shared_measures(before: QrelSet, after: QrelSet) -> dict[Measure, Measure]:
    """Return the measures by which both versions rate runs: of `after`, with those of `before`.

    They differ in the lowest relevant label if the versions do.
    """
    by_label = {measure.label: measure for measure in measures_of(before)}
    return {measure: by_label[measure.label] for measure in measures_of(after) if measure.is_rating}


def version_effect(before: QrelSet, after: QrelSet, measure: Measure) -> VersionEffect:
    """Return the effect of two versions on the ranking of the runs in a measure of `after`."""
    name = shared_measures(before, after)[measure].name
    earlier = {run: values.get(name) for run, values in live_scores(before).items()}
    runs = [row.run for row in live_board(after).rows if row.run.counts]
    rows = {
        "key": [run.key for run in runs],
        "team": [run.team for run in runs],
        "tag": [run.label for run in runs],
        "before": [earlier.get(run.key) for run in runs],
        "after": [run.values.get(measure.name) for run in runs],
    }
    types = {"team": pl.String, "tag": pl.String, "before": pl.Float64, "after": pl.Float64}
    frame = pl.DataFrame(rows, schema_overrides=types).drop_nulls()
    frame = frame.with_columns(
        change=pl.col("after") - pl.col("before"),
        rank_before=pl.col("before").rank("min", descending=True),
        rank_after=pl.col("after").rank("min", descending=True),
    ).with_columns(rise=pl.col("rank_before").cast(pl.Int64) - pl.col("rank_after").cast(pl.Int64))
    first, second = (
        frame.select(run=pl.col("key").cast(pl.String), measure=pl.lit(""), value=side)
        for side in ("before", "after")
    )
    ranking = ranking_effects(first, second).get("", RankingEffect(0, None, None, ()))
    ranked = frame.sort("rank_after", "team", "tag").select(RunEffect._fields)
    return VersionEffect(measure, ranking, [RunEffect(*row) for row in ranked.iter_rows()])


@pages.read("effect/", "qrels-effect", shows="qrels-effect")
def qrels_effect(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the ranks and scores of all runs by two versions, by default the two newest."""
    qrel_sets = QrelSet.objects.filter(task=task).select_related("task__lab").order_by("-version")
    versions = {str(qrel_set.version): qrel_set for qrel_set in qrel_sets}
    context: dict[str, object] = {"versions": versions.values()}
    if not versions:
        return render(request, "analyses/qrels_effect.html", context)
    newest = list(versions)
    before = versions.get(request.GET.get("before") or newest[min(1, len(newest) - 1)])
    after = versions.get(request.GET.get("after") or newest[0])
    if before is None or after is None:
        raise Http404
    context |= {"before": before, "after": after}
    label, shared = request.GET.get("measure", ""), list(shared_measures(before, after))
    matching = [measure for measure in shared if label in ("", measure.label)]
    if label and not matching:
        raise Http404
    tables = []
    if matching:
        effect = version_effect(before, after, matching[0])
        context |= {"effect": effect, "measures": shared}
        context["moved"] = sum(row.rise != 0 for row in effect.rows)
        tables.append(_effect_table(effect, before, after))
    return answer(request, "analyses/qrels_effect.html", context, *tables)


def _effect_table(effect: VersionEffect, before: QrelSet, after: QrelSet) -> Table[RunEffect]:
    task, query = after.task, {"measure": effect.measure.label, "qrels": after.name}

    def page(row: RunEffect) -> str:
        return f"{task_url('evaluation:run-scores', task, row.key)}?{urlencode(query)}"

    heading = effect.measure.heading
    return Table[RunEffect](
        "ranks",
        [
            Column("Run", lambda row: row.tag, is_head=True, link=page),
            Column("Team", lambda row: row.team),
            Column(before.name, lambda row: row.before, cells.SCORE),
            Column(after.name, lambda row: row.after, cells.SCORE),
            Column("Change", lambda row: row.change, cells.SIGNED),
            Column("Rank before", lambda row: row.rank_before, cells.COUNT),
            Column("Rank after", lambda row: row.rank_after, cells.COUNT),
            Column("Places gained", lambda row: row.rise, cells.RANKS),
        ],
        effect.rows,
        caption=f"{heading} by {before.name} and {after.name}. Equal scores have the same rank.",
        file=f"{task.lab.slug}-{task.slug}-{before.name}-{after.name}-{file_words(effect.measure)}",
    )

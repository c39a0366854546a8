"""What follows from qrels: their effect on the board, their certificate and the paper kit."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

import polars as pl
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render

from arqkit.comparison.correlation import RankingEffect, ranking_effects
from arqkit.measures.names import Measure
from arqkit.reusability.certificate import Certificate, LeftOut
from arqlab.core.models import Task
from arqlab.core.permissions import organized_task_or_404, task_or_404
from arqlab.core.views.jobs import page_of_job, requested
from arqlab.web.cells import COUNT, MEASURE, RANKS, SCORE, SIGNED, TAU, TENTHS
from arqlab.web.downloads import table_response
from arqlab.web.pages import TASK, Pages
from arqlab.web.tables import Chart, Column, Table, answer, to
from assessment.models import QrelSet
from evaluation.permissions import score_access_of
from evaluation.selectors.boards import live_board, live_scores, release_of
from evaluation.selectors.pending_scores import measures_of
from evaluation.services.certificates import (
    Certification,
    certificate_frames,
    certification_of,
    opened_certification,
)
from evaluation.services.kept_kits import kept_archive, kit_of
from evaluation.services.paper_kits import paper_kit
from evaluation.views.tables import FEW_BARS, file_words

pages = Pages(f"{TASK}qrels/", organized_task_or_404, section="qrels")

TEAM_LEFT_OUT = "Team left out"
RUN_LEFT_OUT = "Run left out"


@pages.form(
    "<number:version>/certificate/",
    "certificate-detail",
    shows="certificate",
    access=task_or_404,
    in_archive=True,
)
def certificate_detail(request: HttpRequest, task: Task, version: int) -> HttpResponseBase:
    """Show the certificate of a version by one measure, or compute it in the background.

    With `format=tsv`, return the table of a `part` by all measures: teams, runs or depths. Those
    who do not organize see the runs that they may open, and nothing that is not computed yet.
    """
    sight = score_access_of(request.user, task)
    versions = QrelSet.objects.select_related("task__lab")
    qrel_set = get_object_or_404(versions, task=task, version=version)
    if not sight.may_open_certificate(qrel_set):
        raise Http404
    if request.method == "POST" and sight.organizes:
        return requested(request, "certificate", qrel_set.pk, task)
    certified = opened_certification(certification_of(qrel_set), sight)
    context: dict[str, Any] = {"qrel_set": qrel_set, "sight": sight}
    context |= {"certified": certified, "measures": certified.measures}
    if certificate := certified.certificate:
        if request.GET.get("format") == "tsv":
            part, names = request.GET.get("part", ""), (task.lab.slug, task.slug, qrel_set.name)
            if (frame := certificate_frames(certified).get(part)) is None:
                raise Http404
            return table_response(frame, f"certificate-{'-'.join(names)}-{part}.tsv")
        name = request.GET.get("measure", "")
        measures = [measure for measure in certified.measures if name in (measure.name, "")]
        if not measures:
            raise Http404
        context |= _tables(certified, certificate, measures[0])
    template = "evaluation/certificate_detail.html"
    return page_of_job(request, template, context, "certificate", qrel_set.pk)


def _tables(certified: Certification, certificate: Certificate, measure: Measure) -> dict[str, Any]:
    teams = _named(certified, _only(certificate.teams.changes, measure))
    counts = _parties(certificate.each_run, measure)
    own = _named(
        certified,
        _only(certificate.each_run.changes, measure).join(
            counts, on="party", maintain_order="left"
        ),
    )
    depths = _only(certificate.depths, measure).to_dicts()
    parties = _parties(certificate.teams, measure)
    parties = parties.sort("relevant", "items", descending=True, maintain_order=True)
    return {
        "measure": measure,
        "certificate": certificate,
        "teams": parties.to_dicts(),
        "depths": depths,
        "primes": certificate.primes.to_dicts(),
        "tables": {
            "findings": _findings_table(certified, certificate, measure),
            "primes": _primes_table(certificate.primes),
            "teams": _teams_table(parties),
            "runs": _runs_table(teams, own, measure),
            "depths": _depths_table(depths, measure),
        },
    }


def _findings_table(certified: Certification, certificate: Certificate, measure: Measure) -> Table:
    def other(row: dict[str, Any]) -> str:
        known = row["measure"]
        return "" if known == measure else f"?{urlencode({'measure': known.name})}"

    rows = [
        {
            "measure": known,
            "teams": certificate.teams.harm(known),
            "runs": certificate.each_run.harm(known),
        }
        for known in certified.measures
    ]
    return Table(
        "findings",
        [
            Column("Measure", "measure.heading", is_head=True, link=other),
            Column("Mean change", "teams.mean", SCORE, over=TEAM_LEFT_OUT),
            Column("Largest", "teams.largest", SCORE, over=TEAM_LEFT_OUT),
            Column("Ranks", "teams.ranks", COUNT, over=TEAM_LEFT_OUT),
            Column("Tau", "teams.tau", TAU, over=TEAM_LEFT_OUT),
            Column("Mean change", "runs.mean", SCORE, over=RUN_LEFT_OUT),
            Column("Largest", "runs.largest", SCORE, over=RUN_LEFT_OUT),
            Column("Ranks", "runs.ranks", COUNT, over=RUN_LEFT_OUT),
            Column("Tau", "runs.tau", TAU, over=RUN_LEFT_OUT),
        ],
        rows,
        caption="Changes in scores and ranks of the runs when their team, or the run itself, is "
        "left out. Tau is the lowest Kendall’s tau-b between the rankings of all runs with and "
        "without the judgments.",
    )


def _primes_table(primes: pl.DataFrame) -> Table:
    return Table(
        "primes",
        [
            Column("Measure", "measure", MEASURE, is_head=True),
            Column("Prime", "prime", MEASURE),
            Column("Kendall’s tau", "tau", TAU),
        ],
        primes,
        caption="The prime measure removes unjudged items before it scores a ranking. Tau compares "
        "the two rankings of the runs.",
    )


def _teams_table(parties: pl.DataFrame) -> Table:
    return Table(
        "teams",
        [
            Column("Team", "party", is_head=True),
            Column("Items", "items", COUNT),
            Column("Relevant", "relevant", COUNT),
            Column("Kendall’s tau", "tau", TAU),
        ],
        parties,
        caption="The judged items that only the runs of this team contributed, and Kendall’s tau "
        "between the rankings of all runs with and without them.",
    )


def _runs_table(teams: list[dict[str, Any]], own: list[dict[str, Any]], measure: Measure) -> Table:
    """Return the runs with all judgments, and without those of their team (0) or their own (1)."""
    return Table(
        "runs",
        [
            Column("Team", "0.team"),
            Column("Run", "0.tag", is_head=True),
            Column("Score", "0.value", SCORE, over="All judgments"),
            Column("Rank", "0.rank", COUNT, over="All judgments"),
            Column("Unjudged", "0.unjudged", TENTHS, over="All judgments"),
            Column("Score", "0.value_without", SCORE, over=TEAM_LEFT_OUT),
            Column("Change", "0.change", SIGNED, over=TEAM_LEFT_OUT),
            Column("Ranks", "0.rank_change", RANKS, over=TEAM_LEFT_OUT),
            Column("Unjudged", "0.unjudged_without", TENTHS, over=TEAM_LEFT_OUT),
            Column("Items", "1.items", COUNT, over=RUN_LEFT_OUT),
            Column("Change", "1.change", SIGNED, over=RUN_LEFT_OUT),
            Column("Ranks", "1.rank_change", RANKS, over=RUN_LEFT_OUT),
            Column("Unjudged", "1.unjudged_without", TENTHS, over=RUN_LEFT_OUT),
        ],
        list(zip(teams, own, strict=True)),
        caption="With all judgments, and without the items that only the team, or only the run, "
        "contributed. Ranks are among all runs, scored in the same way. “Ranks” is the change in "
        "rank; + means further down. “Unjudged” is the % of unjudged items among the first ten.",
        chart=_left_out_chart(teams, measure),
    )


def _left_out_chart(teams: list[dict[str, Any]], measure: Measure) -> Chart:
    runs = [
        {
            "name": f"{row['tag']}, {row['team']}",
            "with": row["value"],
            "without": row["value_without"],
        }
        for row in teams
    ]
    return Chart(
        "left-out",
        {"measure": measure.heading, "runs": runs},
        f"{measure.heading} of each run with all judgments and without those of its team. The "
        "table below lists the values.",
        css="chart-middle" if len(runs) <= FEW_BARS else "",
        caption=f"{measure.heading} of each run with all judgments, and without the items that "
        "only its team contributed.",
    )


def _depths_table(depths: list[dict[str, Any]], measure: Measure) -> Table:
    taus = [{"depth": row["depth"], "tau": row["tau"]} for row in depths]
    return Table(
        "depths",
        [
            Column("Depth", "depth", COUNT, is_head=True),
            Column("Items", "items", COUNT),
            Column("Relevant", "relevant", COUNT),
            Column("Kendall’s tau", "tau", TAU),
            Column("Largest change", "change", SCORE),
        ],
        depths,
        caption="The judged items of the runs down to this depth, including those that no run "
        "contributed. A run that was pooled to a smaller depth keeps that depth.",
        chart=Chart(
            "pool-depths",
            {"measure": measure.heading, "depths": taus},
            "Kendall’s tau between the ranking by all judgments and the rankings by pools of "
            "several depths. The table below lists the values.",
            css="chart-middle",
            caption="Kendall’s tau between the rankings of the runs by a pool of this depth and by "
            "all judgments.",
        ),
    )


def _only(frame: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    return frame.filter(pl.col("measure") == measure.name)


def _parties(left: LeftOut, measure: Measure) -> pl.DataFrame:
    return left.parties.select("party", "items", "relevant", tau=measure.name)


def _named(certified: Certification, changes: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        row | dict(zip(("team", "tag"), certified.names[row["run"]], strict=True))
        for row in changes.sort("rank", "run").to_dicts()
    ]


@pages.form("<number:version>/paper-kit/", "paper-kit-detail", shows="paper-kit", in_archive=True)
def paper_kit_detail(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Show what the kit has; draw its figures in the background when asked to.

    With `format=zip`, return the archive: of a released leaderboard, the kept one. With `live`, the
    kit is made from the current runs, scores and agreement.
    """
    versions = QrelSet.objects.select_related("task__lab")
    qrel_set = get_object_or_404(versions, task=task, version=version)
    if request.method == "POST":
        return requested(request, "paper-kit", qrel_set.pk, task)
    released = None if "live" in request.GET else release_of(qrel_set)
    kept = kit_of(qrel_set) if released else None
    kit = kept or paper_kit(qrel_set, request.user, live=released is None)
    if request.GET.get("format") == "zip":
        content = kept_archive(released) if released else kit.archive()
        response = HttpResponse(content, content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="{kit.name}.zip"'
        return response
    context = {"qrel_set": qrel_set, "kit": kit, "kept": kept, "released": released}
    template = "evaluation/paper_kit_detail.html"
    return page_of_job(request, template, context, "paper-kit", qrel_set.pk)


class VersionEffect(NamedTuple):
    """How the rankings of the competing runs by two versions compare in a measure.

    `rows` has team, tag, key, before, after and change (the means of the run and their difference),
    rank_before, rank_after and rise (a better rank is positive), the best runs of `after` first.
    Equal means have the same rank. Runs that lack a score in one of the versions are left out.
    """

    measure: Measure
    ranking: RankingEffect
    rows: list[dict[str, Any]]


def shared_measures(before: QrelSet, after: QrelSet) -> dict[Measure, Measure]:
    """Return the measures by which both versions rate runs: of `after`, with those of `before`.

    They differ in the lowest relevant label if the versions do.
    """
    known = {measure.label: measure for measure in measures_of(before)}
    return {measure: known[measure.label] for measure in measures_of(after) if measure.is_rating}


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
    return VersionEffect(measure, ranking, frame.sort("rank_after", "team", "tag").to_dicts())


@pages.read("effect/", "qrels-effect", shows="qrels-effect")
def qrels_effect(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the ranks and scores of all runs by two versions, by default the two newest."""
    qrel_sets = QrelSet.objects.filter(task=task).select_related("task__lab").order_by("-version")
    versions = {str(qrel_set.version): qrel_set for qrel_set in qrel_sets}
    context: dict[str, Any] = {"versions": versions.values()}
    if not versions:
        return render(request, "evaluation/qrels_effect.html", context)
    newest = list(versions)
    before = versions.get(request.GET.get("before") or newest[min(1, len(newest) - 1)])
    after = versions.get(request.GET.get("after") or newest[0])
    if before is None or after is None:
        raise Http404
    context |= {"before": before, "after": after}
    label, shared = request.GET.get("measure", ""), list(shared_measures(before, after))
    chosen = [measure for measure in shared if label in ("", measure.label)]
    if label and not chosen:
        raise Http404
    tables = []
    if chosen:
        effect = version_effect(before, after, chosen[0])
        context |= {"effect": effect, "measures": shared}
        context["moved"] = sum(row["rise"] != 0 for row in effect.rows)
        tables.append(_effect_table(effect, before, after))
    return answer(request, "evaluation/qrels_effect.html", context, *tables)


def _effect_table(effect: VersionEffect, before: QrelSet, after: QrelSet) -> Table:
    task, query = after.task, {"measure": effect.measure.label, "qrels": after.name}
    page = to("evaluation:run-scores", task.lab.slug, task.slug, of="key", query=urlencode(query))
    heading = effect.measure.heading
    return Table(
        "ranks",
        [
            Column("Run", "tag", is_head=True, link=page),
            Column("Team", "team"),
            Column(before.name, "before", SCORE),
            Column(after.name, "after", SCORE),
            Column("Change", "change", SIGNED),
            Column("Rank before", "rank_before", COUNT),
            Column("Rank after", "rank_after", COUNT),
            Column("Places gained", "rise", RANKS),
        ],
        effect.rows,
        caption=f"{heading} by {before.name} and {after.name}. Equal scores have the same rank.",
        file=f"{task.lab.slug}-{task.slug}-{before.name}-{after.name}-{file_words(effect.measure)}",
    )

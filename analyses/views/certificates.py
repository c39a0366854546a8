"""The certificate of a version of the qrels: what they are worth to runs outside of the pool."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

import polars as pl
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404

from analyses.services.certificates import (
    Certification,
    certificate_frames,
    certification_of,
    opened_certification,
)
from arqkit.measures.names import Measure
from arqkit.reusability.certificate import Certificate, LeftOut
from arqlab.core.models import Task
from arqlab.jobs.views import page_of_job, requested
from arqlab.labs.permissions import task_or_404
from arqlab.web.cells import COUNT, MEASURE, RANKS, SCORE, SIGNED, TAU, TENTHS
from arqlab.web.downloads import table_response
from arqlab.web.pages import TASK, Pages
from arqlab.web.tables import Chart, Column, Table
from assessment.models import QrelSet
from evaluation.permissions import score_access_of
from evaluation.views.tables import FEW_BARS

pages = Pages(f"{TASK}qrels/", task_or_404, section="qrels")

TEAM_LEFT_OUT = "Team left out"
RUN_LEFT_OUT = "Run left out"


@pages.form(
    "<number:version>/certificate/", "certificate-detail", shows="certificate", in_archive=True
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
    template = "analyses/certificate_detail.html"
    return page_of_job(request, template, context, "certificate", qrel_set.pk)


def _tables(certified: Certification, certificate: Certificate, measure: Measure) -> dict[str, Any]:
    teams = _named(certified, _only(certificate.teams.changes, measure))
    counts = _parties(certificate.each_run, measure)
    runs_alone = _named(
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
            "runs": _runs_table(teams, runs_alone, measure),
            "depths": _depths_table(depths, measure),
        },
    }


def _findings_table(certified: Certification, certificate: Certificate, measure: Measure) -> Table:
    def other(row: dict[str, Any]) -> str:
        row_measure = row["measure"]
        return "" if row_measure == measure else f"?{urlencode({'measure': row_measure.name})}"

    rows = [
        {
            "measure": row_measure,
            "teams": certificate.teams.harm(row_measure),
            "runs": certificate.each_run.harm(row_measure),
        }
        for row_measure in certified.measures
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


class _RunRow(NamedTuple):
    """A run with its figures without the judgments of its team, and without its own."""

    without_team: dict[str, Any]
    without_run: dict[str, Any]


def _runs_table(
    teams: list[dict[str, Any]], runs_alone: list[dict[str, Any]], measure: Measure
) -> Table:
    """Return the runs with all judgments, and without those of their team or their own."""
    return Table(
        "runs",
        [
            Column("Team", "without_team.team"),
            Column("Run", "without_team.tag", is_head=True),
            Column("Score", "without_team.value", SCORE, over="All judgments"),
            Column("Rank", "without_team.rank", COUNT, over="All judgments"),
            Column("Unjudged", "without_team.unjudged", TENTHS, over="All judgments"),
            Column("Score", "without_team.value_without", SCORE, over=TEAM_LEFT_OUT),
            Column("Change", "without_team.change", SIGNED, over=TEAM_LEFT_OUT),
            Column("Ranks", "without_team.rank_change", RANKS, over=TEAM_LEFT_OUT),
            Column("Unjudged", "without_team.unjudged_without", TENTHS, over=TEAM_LEFT_OUT),
            Column("Items", "without_run.items", COUNT, over=RUN_LEFT_OUT),
            Column("Change", "without_run.change", SIGNED, over=RUN_LEFT_OUT),
            Column("Ranks", "without_run.rank_change", RANKS, over=RUN_LEFT_OUT),
            Column("Unjudged", "without_run.unjudged_without", TENTHS, over=RUN_LEFT_OUT),
        ],
        [_RunRow(*pair) for pair in zip(teams, runs_alone, strict=True)],
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


def _parties(left_out: LeftOut, measure: Measure) -> pl.DataFrame:
    return left_out.parties.select("party", "items", "relevant", tau=measure.name)


def _named(certified: Certification, changes: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        row | dict(zip(("team", "tag"), certified.names[row["run"]], strict=True))
        for row in changes.sort("rank", "run").to_dicts()
    ]

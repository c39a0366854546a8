"""The certificate of a version of the qrels: what they are worth to runs outside of the pool."""

from typing import NamedTuple
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
from arqkit.reusability.certificate import Certificate, Harm, LeftOut
from arqlab.core.models import Task
from arqlab.jobs.views import page_of_job, requested
from arqlab.labs.permissions import task_or_404
from arqlab.web import TASK, Chart, Column, Pages, Table, cells, table_response
from assessment.models import QrelSet
from evaluation.permissions import score_access_of
from evaluation.views.charts import FEW_BARS

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
    context: dict[str, object] = {"qrel_set": qrel_set, "sight": sight}
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


def _tables(
    certified: Certification, certificate: Certificate, measure: Measure
) -> dict[str, object]:
    items = _parties(certificate.each_run, measure).select("party", "items")
    of_runs = _only(certificate.each_run.changes, measure).join(
        items, on="party", maintain_order="left"
    )
    of_teams = _only(certificate.teams.changes, measure).with_columns(items=None)
    return {
        "measure": measure,
        "certificate": certificate,
        "tables": {
            "findings": _findings_table(certified, certificate, measure),
            "primes": _primes_table(certificate.primes),
            "teams": _teams_table(_parties(certificate.teams, measure)),
            "runs": _runs_table(_named(certified, of_teams), _named(certified, of_runs), measure),
            "depths": _depths_table(_only(certificate.depths, measure), measure),
        },
    }


class _Harms(NamedTuple):
    measure: Measure
    teams: Harm
    runs: Harm


def _findings_table(
    certified: Certification, certificate: Certificate, measure: Measure
) -> Table[_Harms]:
    def other(row: _Harms) -> str:
        is_other = row.measure != measure
        return f"?{urlencode({'measure': row.measure.name})}" if is_other else ""

    rows = [
        _Harms(each, certificate.teams.harm(each), certificate.each_run.harm(each))
        for each in certified.measures
    ]
    return Table[_Harms](
        "findings",
        [
            Column("Measure", lambda row: row.measure.heading, is_head=True, link=other),
            Column("Mean change", lambda row: row.teams.mean, cells.SCORE, over=TEAM_LEFT_OUT),
            Column("Largest", lambda row: row.teams.largest, cells.SCORE, over=TEAM_LEFT_OUT),
            Column("Ranks", lambda row: row.teams.ranks, cells.COUNT, over=TEAM_LEFT_OUT),
            Column("Tau", lambda row: row.teams.tau, cells.TAU, over=TEAM_LEFT_OUT),
            Column("Mean change", lambda row: row.runs.mean, cells.SCORE, over=RUN_LEFT_OUT),
            Column("Largest", lambda row: row.runs.largest, cells.SCORE, over=RUN_LEFT_OUT),
            Column("Ranks", lambda row: row.runs.ranks, cells.COUNT, over=RUN_LEFT_OUT),
            Column("Tau", lambda row: row.runs.tau, cells.TAU, over=RUN_LEFT_OUT),
        ],
        rows,
        caption="Changes in scores and ranks of the runs when their team, or the run itself, is "
        "left out. Tau is the lowest Kendall’s tau-b between the rankings of all runs with and "
        "without the judgments.",
    )


class _PrimeRow(NamedTuple):
    measure: str
    prime: str
    tau: float | None


def _primes_table(primes: pl.DataFrame) -> Table[_PrimeRow]:
    return Table[_PrimeRow](
        "primes",
        [
            Column("Measure", lambda row: row.measure, cells.MEASURE, is_head=True),
            Column("Prime", lambda row: row.prime, cells.MEASURE),
            Column("Kendall’s tau", lambda row: row.tau, cells.TAU),
        ],
        [_PrimeRow(*row) for row in primes.select(_PrimeRow._fields).iter_rows()],
        caption="The prime measure removes unjudged items before it scores a ranking. Tau compares "
        "the two rankings of the runs.",
    )


class _PartyRow(NamedTuple):
    party: str
    items: int
    relevant: int
    tau: float | None


def _teams_table(parties: pl.DataFrame) -> Table[_PartyRow]:
    rows = parties.sort("relevant", "items", descending=True, maintain_order=True)
    return Table[_PartyRow](
        "teams",
        [
            Column("Team", lambda row: row.party, is_head=True),
            Column("Items", lambda row: row.items, cells.COUNT),
            Column("Relevant", lambda row: row.relevant, cells.COUNT),
            Column("Kendall’s tau", lambda row: row.tau, cells.TAU),
        ],
        [_PartyRow(*row) for row in rows.select(_PartyRow._fields).iter_rows()],
        caption="The judged items that only the runs of this team contributed, and Kendall’s tau "
        "between the rankings of all runs with and without them.",
    )


class _Change(NamedTuple):
    """A run with its figures with and without some items; the number of them, if only it has them.

    The fields after the names are columns of `LeftOut.changes`.
    """

    team: str
    tag: str
    value: float
    rank: int
    unjudged: float | None
    value_without: float
    change: float
    rank_change: int
    unjudged_without: float | None
    items: int | None


class _RunRow(NamedTuple):
    """A run with its figures without the judgments of its team, and without its own."""

    without_team: _Change
    without_run: _Change


def _runs_table(
    teams: list[_Change], runs_alone: list[_Change], measure: Measure
) -> Table[_RunRow]:
    """Return the runs with all judgments, and without those of their team or their own."""
    return Table[_RunRow](
        "runs",
        [
            Column("Team", lambda row: row.without_team.team),
            Column("Run", lambda row: row.without_team.tag, is_head=True),
            Column("Score", lambda row: row.without_team.value, cells.SCORE, over="All judgments"),
            Column("Rank", lambda row: row.without_team.rank, cells.COUNT, over="All judgments"),
            Column(
                "Unjudged",
                lambda row: row.without_team.unjudged,
                cells.TENTHS,
                over="All judgments",
            ),
            Column(
                "Score", lambda row: row.without_team.value_without, cells.SCORE, over=TEAM_LEFT_OUT
            ),
            Column("Change", lambda row: row.without_team.change, cells.SIGNED, over=TEAM_LEFT_OUT),
            Column(
                "Ranks", lambda row: row.without_team.rank_change, cells.RANKS, over=TEAM_LEFT_OUT
            ),
            Column(
                "Unjudged",
                lambda row: row.without_team.unjudged_without,
                cells.TENTHS,
                over=TEAM_LEFT_OUT,
            ),
            Column("Items", lambda row: row.without_run.items, cells.COUNT, over=RUN_LEFT_OUT),
            Column("Change", lambda row: row.without_run.change, cells.SIGNED, over=RUN_LEFT_OUT),
            Column(
                "Ranks", lambda row: row.without_run.rank_change, cells.RANKS, over=RUN_LEFT_OUT
            ),
            Column(
                "Unjudged",
                lambda row: row.without_run.unjudged_without,
                cells.TENTHS,
                over=RUN_LEFT_OUT,
            ),
        ],
        [_RunRow(*pair) for pair in zip(teams, runs_alone, strict=True)],
        caption="With all judgments, and without the items that only the team, or only the run, "
        "contributed. Ranks are among all runs, scored in the same way. “Ranks” is the change in "
        "rank; + means further down. “Unjudged” is the % of unjudged items among the first ten.",
        chart=_left_out_chart(teams, measure),
    )


def _left_out_chart(teams: list[_Change], measure: Measure) -> Chart:
    runs = [
        {"name": f"{row.tag}, {row.team}", "with": row.value, "without": row.value_without}
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


class _DepthRow(NamedTuple):
    depth: int
    items: int
    relevant: int
    tau: float | None
    change: float | None


def _depths_table(depths: pl.DataFrame, measure: Measure) -> Table[_DepthRow]:
    return Table[_DepthRow](
        "depths",
        [
            Column("Depth", lambda row: row.depth, cells.COUNT, is_head=True),
            Column("Items", lambda row: row.items, cells.COUNT),
            Column("Relevant", lambda row: row.relevant, cells.COUNT),
            Column("Kendall’s tau", lambda row: row.tau, cells.TAU),
            Column("Largest change", lambda row: row.change, cells.SCORE),
        ],
        [_DepthRow(*row) for row in depths.select(_DepthRow._fields).iter_rows()],
        caption="The judged items of the runs down to this depth, including those that no run "
        "contributed. A run that was pooled to a smaller depth keeps that depth.",
        chart=Chart(
            "pool-depths",
            {"measure": measure.heading, "depths": depths.select("depth", "tau").to_dicts()},
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


def _named(certified: Certification, changes: pl.DataFrame) -> list[_Change]:
    """Return the changes of runs with the names of their teams and runs, the best runs first."""
    rows = changes.sort("rank", "run").select("run", *_Change._fields[2:]).iter_rows()
    return [_Change(*certified.names[run], *figures) for run, *figures in rows]

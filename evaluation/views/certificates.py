"""The page of the reusability certificate of a version of the qrels, and its files."""

from __future__ import annotations

from typing import Any

import polars as pl
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from arqkit.formats.tables import tsv_lines
from arqkit.measures.names import Measure
from arqkit.reusability.certificate import Certificate, LeftOut
from arqlab.core.permissions import task_or_404
from arqlab.core.views.downloads import file_response
from assessment.models import QrelSet
from evaluation.permissions import ScoreAccess, score_access_of, visible_board
from evaluation.services.certificates import Certification, certification_of

PARTS = ("teams", "runs", "depths")


@require_safe
def certificate_detail(request: HttpRequest, lab: str, task: str, version: int) -> HttpResponseBase:
    """Show the certificate of a version by one measure; with `compute=yes`, compute it first.

    With `format=tsv`, return the table of a `part` by all measures: teams, runs or depths. Those
    who do not organize see the runs that they may open, and nothing that is not computed yet.
    """
    found = task_or_404(request.user, lab, task)
    sight = score_access_of(request.user, found)
    versions = QrelSet.objects.select_related("task__lab")
    shown = get_object_or_404(versions, task=found, version=version)
    if not sight.may_open_certificate(shown):
        raise Http404
    computes = sight.organizes and request.GET.get("compute") == "yes"
    certified = _opened(certification_of(shown, computes=computes), sight)
    context: dict[str, Any] = {"task": found, "lab": found.lab, "shown": shown, "sight": sight}
    context |= {"certified": certified, "measures": certified.measures}
    if certificate := certified.certificate:
        if request.GET.get("format") == "tsv":
            return _file(certified, certificate, request.GET.get("part", ""), shown)
        measure = _chosen(certified, request.GET.get("measure", ""))
        context |= _tables(certified, certificate, measure)
    return render(request, "evaluation/certificate_detail.html", context)


def _opened(certified: Certification, sight: ScoreAccess) -> Certification:
    """Return a certification with the runs that the user may open, and their teams."""
    if sight.organizes or certified.certificate is None:
        return certified
    shown = visible_board(sight)
    rows = shown.board.rows if shown else ()
    runs = {str(row.run.key) for row in rows if sight.may_open(row.run)}
    names = {key: name for key, name in certified.names.items() if key in runs}
    teams = {team for team, _ in names.values()}
    part = certified.certificate.of_runs(runs=names, teams=teams)
    return certified._replace(names=names, certificate=part)


def _chosen(certified: Certification, name: str) -> Measure:
    """Return the measure named in the query, or the main one."""
    for measure in certified.measures:
        if name in (measure.name, ""):
            return measure
    raise Http404


def _tables(certified: Certification, found: Certificate, measure: Measure) -> dict[str, Any]:
    teams = _named(certified, _only(found.teams.changes, measure))
    own = _named(certified, _with_items(found.each_run, measure))
    depths = _only(found.depths, measure).to_dicts()
    return {
        "measure": measure,
        "certificate": found,
        "findings": [_finding(found, one) for one in certified.measures],
        "teams": _parties(found.teams, measure),
        "runs": list(zip(teams, own, strict=True)),
        "depths": depths,
        "primes": found.primes.to_dicts(),
        "scores_chart": {
            "measure": measure.heading,
            "runs": [{"name": f"{row['tag']}, {row['team']}", **_pair(row)} for row in teams],
        },
        "depths_chart": {
            "measure": measure.heading,
            "depths": [{"depth": row["depth"], "tau": row["tau"]} for row in depths],
        },
    }


def _pair(row: dict[str, Any]) -> dict[str, float]:
    return {"with": row["value"], "without": row["value_without"]}


def _only(frame: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    return frame.filter(pl.col("measure") == measure.name)


def _parties(left: LeftOut, measure: Measure) -> list[dict[str, Any]]:
    """Return party, items, relevant and tau, with the most relevant items first."""
    rows = left.parties.select("party", "items", "relevant", tau=measure.name)
    return rows.sort("relevant", "items", descending=True, maintain_order=True).to_dicts()


def _with_items(left: LeftOut, measure: Measure) -> pl.DataFrame:
    """Return the changes of each run with the items that only it contributed."""
    counts = left.parties.select("party", "items", "relevant", tau=measure.name)
    return _only(left.changes, measure).join(counts, on="party", maintain_order="left")


def _named(certified: Certification, changes: pl.DataFrame) -> list[dict[str, Any]]:
    """Return changes with team and tag, best runs first."""
    rank_change = pl.col("rank_change").map_elements(_ranks, pl.String)
    return [
        row | dict(zip(("team", "tag"), certified.names[row["run"]], strict=True))
        for row in changes.with_columns(rank_change).sort("rank", "run").to_dicts()
    ]


def _ranks(change: int) -> str:
    """Return a change of rank with its sign; a fall has a plus, because rank 1 is the best."""
    return f"{change:+d}".replace("-", "−") if change else "0"


def _finding(found: Certificate, measure: Measure) -> dict[str, Any]:
    """Return how much leaving out teams and runs changes a measure."""
    finding: dict[str, Any] = {"measure": measure}
    for name, left in (("teams", found.teams), ("runs", found.each_run)):
        changes = _only(left.changes, measure)
        size = changes["change"].abs()
        finding[name] = {
            "mean": size.mean(),
            "largest": size.max(),
            "ranks": changes["rank_change"].abs().max(),
            "tau": left.parties[measure.name].min(),
        }
    return finding


def _file(
    certified: Certification, found: Certificate, part: str, shown: QrelSet
) -> HttpResponseBase:
    if part not in PARTS:
        raise Http404
    left = {"teams": found.teams.changes, "runs": found.each_run.changes}
    if part == "depths":
        frame = found.depths
    else:
        names = certified.names
        frame = (
            left[part]
            .drop("party")
            .with_columns(
                team=pl.col("run").replace_strict({key: team for key, (team, _) in names.items()}),
                run=pl.col("run").replace_strict({key: tag for key, (_, tag) in names.items()}),
            )
        )
        frame = frame.select("team", pl.exclude("team"))
    columns = {name: _column(name) for name in frame.columns}
    name = f"certificate-{shown.task.lab.slug}-{shown.task.slug}-{shown.name}-{part}.tsv"
    return file_response(tsv_lines(columns, frame.to_dicts()), name)


def _column(name: str) -> Any:
    return lambda row: row[name]

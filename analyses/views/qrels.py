"""The effect of a version of the qrels on the board."""

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from analyses.services.qrels_effects import (
    RunEffect,
    VersionEffect,
    shared_measures,
    version_effect,
)
from arqlab.core.models import Task
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Column, Pages, Table, answer, cells, task_url
from assessment.models import QrelSet
from evaluation.views.tables import file_words

pages = Pages(f"{TASK}qrels/", organized_task_or_404, section="qrels")


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

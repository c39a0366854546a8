"""The judgments whose formulas a version of the visual ids merged or split."""

from collections.abc import Callable
from functools import partial
from typing import TypedDict

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html_join

from arqkit.texts.html.rendering import render_formula
from arqlab.core.models import Lab
from arqlab.labs.permissions import organized_lab_or_404
from arqlab.web import LAB, Column, Empty, Filter, Pages, Table, answer, cells, context_of
from assessment.qrels.selectors.rejudging import AffectedJudgments, changes_of_version
from collection.models import VisualMap
from collection.selectors.collections import collection_of

pages = Pages(LAB, organized_lab_or_404, section="collection")


@pages.read(
    "visual-ids/<number:version>/judged/", "affected-judgment-list", shows="affected-judgments"
)
def affected_judgment_list(request: HttpRequest, lab: Lab, version: int) -> HttpResponse:
    """Show the judgments whose formulas a version of the visual ids merged or split."""
    versions = VisualMap.objects.select_related("collection")
    visual_map = get_object_or_404(versions, collection=collection_of(lab), version=version)
    affected = changes_of_version(lab, visual_map)
    table = _affected_table(request, lab, affected)
    return answer(request, "assessment/affected_judgment_list.html", context_of(affected), table)


class AffectedJudgment(TypedDict):
    """A row of `AffectedJudgments`."""

    task: str
    qrels: str
    topic: str
    formula_id: str
    visual_id_before: str
    visual_id_after: str
    label: int
    why: str
    latex: str
    version: str


def _formula_links(lab: Lab, ids: str) -> str:
    """Return links to the formulas with these visual ids, which are separated by commas."""
    pairs = ((reverse("collection:formula-detail", args=[lab.slug, i]), i) for i in ids.split(", "))
    return format_html_join(" ", '<a href="{}">{}</a>', pairs)


def _affected_table(
    request: HttpRequest, lab: Lab, affected: AffectedJudgments
) -> Table[AffectedJudgment]:
    def visual_ids(
        when: str, value: Callable[[AffectedJudgment], str], name: str
    ) -> Column[AffectedJudgment]:
        kind = cells.CellKind(partial(_formula_links, lab), "id")
        return Column(f"Visual id {when}", value, kind, name=name, order=when, by=name)

    return Table[AffectedJudgment](
        "judgments",
        [
            Column("", lambda row: row["task"], name="task"),
            Column("", lambda row: row["qrels"], name="qrels"),
            Column("Topic", lambda row: row["topic"], cells.ID, name="topic", order="topic"),
            Column("Formula", lambda row: row["latex"], cells.CellKind(render_formula), name=None),
            Column(
                "Formula id",
                lambda row: row["formula_id"],
                cells.ID,
                name="formula_id",
                order="formula",
                by="formula_id",
            ),
            visual_ids("before", lambda row: row["visual_id_before"], "visual_id_before"),
            visual_ids("now", lambda row: row["visual_id_after"], "visual_id_after"),
            Column("Label", lambda row: row["label"], cells.COUNT, name="label", order="label"),
            Column("Reason", lambda row: row["why"], name="why"),
            Column("Qrels", lambda row: row["version"], name=None, order="qrels", by="place"),
        ],
        affected.rows,
        asked=request.GET,
        order="qrels",
        searched=("topic", "formula_id", "visual_id_before", "visual_id_after", "latex", "why"),
        filters=[Filter(name, name.capitalize(), name) for name in ("topic", "label")]
        + [Filter("qrels", "Qrels", "version")],
        file=f"{lab.slug}-visual-ids-{affected.version.version}-judged",
        empty=Empty(
            "No judged formulas changed",
            "This page lists judgments of formulas that a version of the visual ids merged or "
            "split. This version affects none.",
            reverse("collection:visual-map-detail", args=[lab.slug, affected.version.version]),
            "View version",
        ),
    )

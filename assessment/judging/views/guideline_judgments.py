"""The labels of a task with the guidelines that the assessors followed, to judge them again."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from arqlab.core.models import Task
from arqlab.core.views import signed_in
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import (
    LAB,
    Column,
    Empty,
    Filter,
    Pages,
    Prepared,
    Table,
    answer,
    cells,
    choice_column,
    counted,
    number_of,
)
from assessment.guidelines.selectors.versions import current_guideline, labels_of, version_of
from assessment.judging.services.judged_list import JudgedRow, judged_list
from assessment.judging.services.judgments import return_for_judging
from assessment.models import PoolItem
from assessment.qrels.selectors.drafts import task_scale

pages = Pages(LAB, organized_task_or_404, section="judging")
RELATED = ("instance__item__topic", "assessor", "guideline")
USERNAME = "assessor__username"

POSITION = "instance__item__topic__position"


@pages.form("tasks/<slug:task>/guidelines/judgments/", "guideline-judgment-list")
def guideline_judgment_list(request: HttpRequest, task: Task) -> HttpResponse:
    """List the current labels of a task with the versions that the assessors followed.

    `before` keeps those given before a version. A POST request returns the items of `judgments` to
    be judged again.
    """
    if request.method != "POST":
        table = _labels_table(request, task)
        return answer(request, "assessment/guideline_judgment_list.html", {}, table)
    sent = map(number_of, request.POST.getlist("judgments"))
    selected = {number for number in sent if number is not None}
    count, refused = return_for_judging(task=task, judgments=selected, by=signed_in(request))
    if count:
        words = "1 label no longer counts" if count == 1 else f"{count} labels no longer count"
        messages.success(request, f"{words}. The items are back in their topics.")
    elif not selected:
        messages.error(request, "Select the labels to judge again.")
    if refused:
        messages.error(
            request,
            f"{counted(refused, 'label')} not returned: the pool is closed, the label has an open "
            "ticket or no longer counts.",
        )
    return redirect(request.get_full_path())


def _topic(row: JudgedRow) -> str:
    return row.item.topic.query_id


def _assessor(row: JudgedRow) -> str:
    return row.judgment.assessor.name if row.judgment.assessor else ""


def _post_url(row: JudgedRow, task: Task) -> str:
    """Return the address of a row's post, with its formula marked."""
    instance = row.judgment.instance
    if not instance.post_id:
        return ""
    address = reverse("collection:post-detail", args=[task.lab.slug, instance.post_id])
    is_formula = row.item.kind == PoolItem.Kind.VISUAL_IDS
    return f"{address}?{urlencode({'formula': instance.doc_id})}" if is_formula else address


def _labels_table(request: HttpRequest, task: Task) -> Table[JudgedRow]:
    versions = [(str(n), str(n)) for n in range(version_of(current_guideline(task)) + 1)]
    topics = task.topics.order_by("position").values_list("query_id", "query_id")
    labels = [(str(label.value), label.word) for label in task_scale(task)]
    return Table[JudgedRow](
        "labels",
        [
            Column("Topic", _topic, cells.ID, is_head=True, order="topic", by=POSITION),
            choice_column(
                *("labels", "judgments"),
                lambda row: row.judgment.pk,
                spoken=lambda row: f"{_topic(row)}, {row.judgment.instance.doc_id}",
            ),
            Column(
                "Item",
                lambda row: row.judgment.instance.doc_id,
                cells.ID,
                link=lambda row: _post_url(row, task),
            ),
            Column("Text", lambda row: row.html, css="wrap"),
            Column("Label", lambda row: row.label, cells.LABEL, order="label"),
            Column("Guidelines", lambda row: row.judgment.guidelines, cells.COUNT, order="version"),
            Column("Assessor", _assessor, order="assessor", by=USERNAME),
            Column(
                "Judged",
                lambda row: row.judgment.judged_at,
                cells.TIME,
                order="judged",
                by="judged_at",
            ),
            Column("Comment", lambda row: row.judgment.comment, cells.EXCERPT),
        ],
        Prepared(
            labels_of(task).select_related(*RELATED).defer("guideline__text"),
            lambda page: judged_list(page, lab=task.lab, scale=task_scale(task)),
        ),
        asked=request.GET,
        order="-judged",
        searched=("comment", "reason", "instance__doc_id", "instance__item__item"),
        filters=[
            Filter("before", "Before version", "version__lt", versions[1:]),
            Filter("version", "Version", "version", versions),
            Filter("label", "Label", "label", labels),
            Filter("topic", "Topic", "instance__item__topic__query_id", topics),
            Filter("assessor", "Assessor", USERNAME),
        ],
        has_tools=True,
        empty=Empty("No labels yet", "Labels appear here as soon as assessors judge items."),
    )

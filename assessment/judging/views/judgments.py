"""The judgments of an item with their comments and history, for organizers."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.defaultfilters import linebreaksbr
from django.urls import reverse
from django.utils.html import format_html

from arqlab.core.models import Lab, Task
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import LAB, Column, Empty, Pages, Table, answer, cells, task_url
from assessment.judging.selectors.related import judgments_of_item
from assessment.judging.services.judged_list import JudgedRow
from assessment.models import Judgment, PoolInstance, PoolItem
from assessment.pools.services.texts import thread_url
from collection.selectors.threads import posts_of

pages = Pages(LAB, organized_task_or_404, section="judging")


@pages.read("tasks/<slug:task>/topics/<str:query_id>/judgments/<path:doc_id>/", "item-judgments")
def item_judgments(request: HttpRequest, task: Task, query_id: str, doc_id: str) -> HttpResponse:
    """Show the judgments of an item with their comments and history, for organizers."""
    topic = get_object_or_404(task.topics, query_id=query_id)
    items = PoolItem.official.filter(pool__task=task, topic=topic)
    if not items.filter(Q(item=doc_id) | Q(instances__doc_id=doc_id)).exists():
        raise Http404
    judgments = list(judgments_of_item(task, query_id, doc_id))
    context = {
        "topic": topic,
        "doc_id": doc_id,
        "count": len(judgments),
        "people": len({judgment.assessor_id for judgment in judgments if judgment.assessor_id}),
    }
    table = _item_table(task, judgments)
    return answer(request, "assessment/item_judgments.html", context, table)


class JudgmentRow(NamedTuple):
    """A judgment with the address of its post in a thread, if there is one."""

    judgment: Judgment
    url: str


def with_threads(lab: Lab, judgments: Sequence[Judgment]) -> list[JudgmentRow]:
    """Return judgments with the addresses of their posts in threads, if any, in one query."""
    posts = posts_of(lab, {judgment.instance.post_id for judgment in judgments})

    def url(instance: PoolInstance) -> str:
        if instance.post_id not in posts:
            return ""
        return thread_url(instance.item, instance.doc_id, instance.post_id, lab.slug)

    return [JudgmentRow(judgment, url(judgment.instance)) for judgment in judgments]


def _assessor(row: JudgmentRow | JudgedRow) -> str:
    return row.judgment.assessor.name if row.judgment.assessor else ""


class _Threaded(Protocol):
    """A row with a judgment, and the address of its post in a thread."""

    @property
    def judgment(self) -> Judgment: ...

    @property
    def url(self) -> str: ...


def _of_formula(row: _Threaded) -> str:
    instance = row.judgment.instance
    if instance.item.item == instance.doc_id:
        return ""
    return f"formula {instance.item.item}, post {instance.post_id}"


ITEM = Column[_Threaded](
    "Item",
    lambda row: row.judgment.instance.doc_id,
    cells.ID,
    link=lambda row: row.url,
    note=_of_formula,
    is_head=True,
)
"""The item of a row of `with_threads`."""


def _item_table(task: Task, judgments: Sequence[Judgment]) -> Table[JudgmentRow]:
    address = [task.lab.slug, task.slug]

    def version_url(row: JudgmentRow) -> str:
        version = row.judgment.guidelines
        return "" if version is None else task_url("assessment:guideline-detail", task, version)

    return Table[JudgmentRow](
        "judgments",
        [
            ITEM,
            Column("Label", lambda row: row.judgment.scale_label, cells.LABEL),
            Column("State", _state, note=lambda row: row.judgment.instance.item.pool.round),
            Column("Assessor", lambda row: _assessor(row) or "An import"),
            Column(
                "Comment", lambda row: row.judgment.comment, cells.EXCERPT, note=_changed(task.lab)
            ),
            Column("Seconds", lambda row: row.judgment.active_ms, cells.SECONDS),
            Column("Judged", lambda row: row.judgment.judged_at, cells.TIME),
            Column(
                "Guidelines",
                lambda row: row.judgment.guidelines,
                cells.COUNT,
                link=version_url,
                spoken=lambda row: f"Guidelines, version {row.judgment.guidelines}",
            ),
        ],
        with_threads(task.lab, judgments),
        empty=Empty(
            "Not judged yet",
            "This item is in the pool. Its judgments appear here when an assessor has judged it.",
            reverse("assessment:pool-list", args=address),
            "View pools",
        ),
    )


def _state(row: JudgmentRow) -> str:
    judgment = row.judgment
    if judgment.is_current:
        return "current"
    late = getattr(judgment, "late", None)
    return f"late, {late.get_decision_display().lower()}" if late else "replaced"


def _changed(lab: Lab) -> Callable[[JudgmentRow], str]:
    def note(row: JudgmentRow) -> str:
        judgment, ticket = row.judgment, getattr(row.judgment, "ticket", None)
        reason = (
            format_html("Changed: {}", linebreaksbr(judgment.reason)) if judgment.reason else ""
        )
        if ticket is None:
            return reason
        url = reverse("assessment:ticket-detail", args=[lab.slug, ticket.pk])
        return format_html('{} <a href="{}">{}</a>', reason, url, ticket)

    return note

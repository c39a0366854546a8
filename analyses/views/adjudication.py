"""The list of labels on which official and second judgments differ, for adjudication."""

from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html_join

from analyses.services.label_effects import AdjudicationQueue, adjudication_queue
from arqkit.labels import ScaleLabel
from arqlab.core.models import Task
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Column, Filter, Pages, Table, answer, cells, context_of, task_url
from assessment.models import PoolInstance
from assessment.rounds.selectors.adjudication import Proposal, QueuedInstance, open_proposals

pages = Pages(TASK, organized_task_or_404, section="rounds")
SIZES = (
    Column[QueuedInstance](
        "Difference",
        lambda row: row["spread"],
        cells.COUNT,
        order="size",
        by="spread",
        name="spread",
    ),
    Column[QueuedInstance](
        "Effect", lambda row: row["effect"], cells.SCORE, by="effect", name="effect"
    ),
)
"""How large a disagreement is: in labels, and in the mean of the runs."""


@pages.read("adjudication/", "adjudication-list", shows="adjudications")
def adjudication_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the labels on which official and second judgments differ, or return them as a file."""
    queue = adjudication_queue(task, by_effect="effect" in request.GET.get("sort", ""))
    tables = _disagreements_table(request, task, queue), _proposals_table(task)
    return answer(request, "analyses/adjudication_list.html", context_of(queue), *tables)


def _proposals_table(task: Task) -> Table[Proposal]:
    def instance(row: Proposal) -> PoolInstance:
        return row.ticket.judgment.instance

    def page(row: Proposal) -> str:
        return task_url("assessment:adjudication-detail", task, instance(row).pk)

    return Table[Proposal](
        "proposals",
        [
            Column("Topic", lambda row: instance(row).item.topic.query_id, cells.ID, css="nowrap"),
            Column("Item", lambda row: instance(row).doc_id, cells.ID, is_head=True, link=page),
            Column("Official", lambda row: row.official, cells.LABEL),
            Column("Proposed", lambda row: row.label, cells.LABEL),
            Column("Opinion", lambda row: row.ticket.opinion, cells.PROSE),
        ],
        open_proposals(task),
        caption="Labels that experts propose for reported items. A proposed label counts only if "
        "you decide so.",
    )


def _disagreements_table(
    request: HttpRequest, task: Task, queue: AdjudicationQueue
) -> Table[QueuedInstance]:
    scale = queue.scale

    def decision(row: QueuedInstance) -> ScaleLabel | None:
        return None if row["decision"] is None else scale.of(row["decision"])

    def seconds(row: QueuedInstance) -> str:
        labels = ((cells.label(scale.of(second)),) for second in row["seconds"])
        return format_html_join(" ", "{}", labels)

    return Table[QueuedInstance](
        "disagreements",
        [
            Column(
                "Topic", lambda row: row["topic"], cells.ID, by="topic", name="topic", css="nowrap"
            ),
            Column(
                "Item",
                lambda row: row["doc_id"],
                cells.ID,
                is_head=True,
                name="doc_id",
                link=lambda row: task_url("assessment:adjudication-detail", task, row["instance"]),
            ),
            Column("Official", lambda row: scale.of(row["first"]), cells.LABEL, name="first"),
            Column("Second", seconds, name=None),
            Column("", lambda row: " ".join(map(str, row["seconds"])), name="seconds"),
            *SIZES[: 2 if queue.by_effect else 1],
            Column("State", lambda row: row["state"], name=None),
            Column("Decision", decision, cells.LABEL, name="decision"),
            Column("", lambda row: row["state"], name="state"),
        ],
        queue.rows,
        asked=request.GET,
        order="-size",
        searched=("topic", "doc_id"),
        filters=[
            Filter("topic", "Topic", "topic"),
            Filter("state", "State", "state"),
            Filter("size", "Difference", "spread"),
        ],
        file=f"{task.lab.slug}-{task.slug}-disagreements",
    )

"""The pages of a task's topics."""

from operator import itemgetter
from typing import TypedDict

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from arqkit.records import TaskKind
from arqkit.topics import heading
from arqlab.core.models import Task
from arqlab.labs.permissions import may_organize, may_see_thread, organized_lab_or_404, task_or_404
from arqlab.labs.selectors import TOPIC_FILTERS, listed_topics, neighbours, topic_info
from arqlab.web import TASK, Column, Empty, Filter, Pages, Tab, Table, answer, cells, to

pages = Pages(access=organized_lab_or_404)


@pages.read(
    f"{TASK}topics/",
    "topic-list",
    tabs=(Tab("task", "Topics", 20),),
    access=task_or_404,
    section="topics",
)
def topic_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the topics of a task, filtered by words and topic information."""
    organizes = may_organize(request.user, task.lab)
    context = {"organizes": organizes}
    return answer(
        request, "labs/topic_list.html", context, _topics_table(request, task, organizes=organizes)
    )


class ListedTopic(TypedDict):
    """A row of `listed_topics`, without the information of `TOPIC_FILTERS`."""

    query_id: str
    title_html: str
    formula_html: str
    tags: str


def _topics_table(request: HttpRequest, task: Task, *, organizes: bool) -> Table[ListedTopic]:
    topics = listed_topics(task)
    names = [name for name in TOPIC_FILTERS if topics[name].count()]
    formula = Column[ListedTopic]("Formula", lambda row: row["formula_html"], cells.SAFE)
    return Table[ListedTopic](
        "topics",
        [
            Column(
                "Topic",
                lambda row: row["query_id"],
                cells.ID,
                link=to(
                    "labs:topic-detail", task.lab.slug, task.slug, of=lambda row: row["query_id"]
                ),
                by="place",
                is_head=True,
                css="nowrap",
            ),
            *([formula] if task.kind == TaskKind.FORMULAS else []),
            Column("Title", lambda row: row["title_html"], cells.SAFE),
            Column("Tags", lambda row: row["tags"], by="tags"),
            *(Column(heading(name), itemgetter(name), order=name) for name in names),
        ],
        topics,
        asked=request.GET,
        order="topic",
        searched=("text",),
        filters=[Filter(name, heading(name), name) for name in names],
        empty=Empty(
            "No topics yet",
            "Load a topic file, or choose questions of the collection as topics."
            if organizes
            else "Topics appear when the organizers load them.",
        ),
    )


@pages.read(f"{TASK}topics/<str:query_id>/", "topic-detail", access=task_or_404, section="topics")
def topic_detail(request: HttpRequest, task: Task, query_id: str) -> HttpResponse:
    """Show a topic with its information and links to the previous and next topic."""
    topic = get_object_or_404(task.topics, query_id=query_id)
    before, after = neighbours(topic)
    organizes = may_organize(request.user, task.lab)
    facts, notes = topic_info(topic, organizes=organizes)
    context = {
        "topic": topic,
        "state": task.state(timezone.now()),
        "place": task.topics.filter(position__lte=topic.position).count(),
        "total": task.topics.count(),
        "before": before,
        "after": after,
        "facts": facts,
        "notes": notes,
        "has_thread": topic.is_question and may_see_thread(request.user, topic),
    }
    return render(request, "labs/topic_detail.html", context)

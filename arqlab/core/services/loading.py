"""A lab, its tasks and topics as a folder describes them, put into the database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import ProtectedError

from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Membership, Task, Topic, User
from arqlab.core.services.audit import record_event
from arqlab.core.services.people import grant_role
from arqlab.core.services.topic_pages import TopicPage, topic_pages
from arqlab.formats.labs.folder import LabFile, TaskFile
from arqlab.ir import records

TOPIC_FIELDS = (
    "position",
    "title",
    "body",
    "tags",
    "formula_id",
    "latex",
    "thread_id",
    "info",
    "title_html",
    "body_html",
    "formula_html",
)


@transaction.atomic
def load_lab_file(lab_file: LabFile, *, by: User | None) -> Lab:
    """Make the lab, its tasks and topics what the folder says, and typeset the topics; loading
    twice changes nothing.

    What the folder does not say stays as it is: description, dates and rules that organizers set on
    the pages, and tasks that the folder no longer names (they may have runs). Topics that it no
    longer names are deleted; raises `UserError` when judging needs one of them. Who loads a new lab
    organizes it.
    """
    lab, is_new = Lab.objects.get_or_create(
        slug=lab_file.slug, defaults={"name": lab_file.name, "protocol": lab_file.protocol.slug}
    )
    changed = _update(lab, {"name": lab_file.name, "protocol": lab_file.protocol.slug})
    if is_new and by is not None:
        grant_role(lab=lab, user=by, role=Membership.Role.ORGANIZER, by=by)
    tasks = [
        task.slug
        for position, task in enumerate(lab_file.tasks, start=1)
        if _load_task(lab, task, position=position)
    ]
    if is_new or changed or tasks:
        record_event(verb="lab.load", target=lab, lab=lab, actor=by, changed=changed, tasks=tasks)
    return lab


def _load_task(lab: Lab, task_file: TaskFile, *, position: int) -> bool:
    """Make a task what the folder says; tell whether anything was new."""
    said: dict[str, Any] = {
        "name": task_file.name,
        "kind": task_file.kind.value,
        "position": position,
        "trec_items": _trec_items(task_file),
    }
    said |= {"opens_at": task_file.opens} if task_file.opens else {}
    said |= {"deadline": task_file.deadline} if task_file.deadline else {}
    task, is_new = Task.objects.get_or_create(lab=lab, slug=task_file.slug, defaults=said)
    changed = _update(task, said | {"overrides": task.overrides | dict(task_file.overrides)})
    return bool(_load_topics(task, task_file) or changed or is_new)


def _trec_items(task_file: TaskFile) -> str:
    """Return what a six-column file names: what the folder says, else what its first qrels name, as
    trec_eval needs it.
    """
    if "items" in task_file.overrides or not task_file.qrels:
        return task_file.protocol.items.value
    return task_file.qrels[0].items.value


def _load_topics(task: Task, file: TaskFile) -> int:
    """Make the task's topics those of the file; give how many are new, changed or gone.

    What organizers edited of their information (`info_edits`) stays.
    """
    known = {topic.query_id: topic for topic in task.topics.all()}
    new: list[Topic] = []
    changed: list[Topic] = []
    for position, (source, page) in enumerate(
        zip(file.topics, topic_pages(file.topics), strict=True), start=1
    ):
        fields = _topic_fields(source, file, page, position=position)
        topic = known.pop(source.query_id, None)
        if topic is None:
            new.append(Topic(task=task, query_id=source.query_id, **fields))
        elif any(getattr(topic, name) != value for name, value in fields.items()):
            for name, value in fields.items():
                setattr(topic, name, value)
            changed.append(topic)
    _delete_topics(task, known.values())
    Topic.objects.bulk_create(new, batch_size=200)
    Topic.objects.bulk_update(changed, TOPIC_FIELDS, batch_size=50)
    return len(new) + len(changed) + len(known)


def _delete_topics(task: Task, gone: Iterable[Topic]) -> None:
    """Delete topics; raises `UserError` that names those which judging needs (code
    `topics-in-use`).
    """
    held = []
    for topic in gone:
        try:
            topic.delete()
        except ProtectedError:
            held.append(topic.query_id)
    if held:
        raise UserError(
            f"The folder lacks topics of {task} that judging needs, as a pool holds their items or somebody was assigned "
            f"to them: {', '.join(held)}. Nothing was loaded. Put them back into the file of topics and load it again.",
            code="topics-in-use",
        )


def _topic_fields(
    topic: records.TopicRecord, file: TaskFile, page: TopicPage, *, position: int
) -> dict[str, Any]:
    """Return the fields of a topic's row."""
    return {
        "position": position,
        "title": topic.title,
        "body": topic.body,
        "tags": list(topic.tags),
        "formula_id": topic.formula_id or "",
        "latex": topic.latex or "",
        "thread_id": file.threads.get(topic.query_id, ""),
        "info": dict(file.topic_info.get(topic.query_id, {})),
        "title_html": page.title,
        "body_html": page.body,
        "formula_html": page.formula,
    }


def _update(record: Lab | Task, fields: dict[str, Any]) -> list[str]:
    """Save the fields that differ; give their names."""
    changed = [name for name, value in fields.items() if getattr(record, name) != value]
    for name in changed:
        setattr(record, name, fields[name])
    record.save(update_fields=changed)
    return changed

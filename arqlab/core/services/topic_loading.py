"""Loading of topics. Only this module writes their text; the earlier text is kept as a version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from arqkit import records
from arqkit.formats.labs.folder import TaskFile
from arqkit.loads import NO_CHOICE, Change, Fate, LoadChanges, LoadChoice
from arqkit.texts.maths.typesetting import ENGINE
from arqlab.core.errors import UserError, require_confirmed
from arqlab.core.models import Task, Topic, TopicVersion, User
from arqlab.core.selectors import corrections_of
from arqlab.core.services.audit import record_event
from arqlab.core.services.topic_pages import TopicPage, topic_pages

TEXT_FIELDS = ("title", "body", "tags", "formula_id", "latex")
"""What assessors and teams read of a topic."""
SOURCE_FIELDS = (*TEXT_FIELDS, "thread_id", "info")
TOPIC_FIELDS = (*SOURCE_FIELDS, "position", "title_html", "body_html", "formula_html", "engine")


@transaction.atomic
def load_topics(
    *, task: Task, file: TaskFile, by: User | None, choice: LoadChoice = NO_CHOICE
) -> LoadChanges:
    """Create, update and delete the topics of one task, and return what changed.

    Raises `UnconfirmedLoadError` if a stored topic would change, and `UserError`
    (`topics-in-use`) with the missing topics that judging needs.
    """
    found = TopicChanges(LoadChanges())
    if store_topics(task, file, found):
        record_event(
            verb="topics.load",
            target=task,
            lab=task.lab,
            actor=by,
            **found.load.counts,
            changes=found.texts,
        )
    require_confirmed(found.load, choice.confirmed)
    return found.load


@dataclass(frozen=True)
class TopicChanges:
    """What changes of topics: for the organizer, who confirms the load, and for the audit log.

    `texts` has the old and new values by topic and field.
    """

    load: LoadChanges
    texts: dict[str, list[Any]] = field(default_factory=dict)

    def note(self, name: str, old: dict[str, Any], new: dict[str, Any]) -> None:
        """Add a topic that is stored, with its old and new values."""
        fields = [one for one in SOURCE_FIELDS if old[one] != new[one]]
        if not fields:
            self.load.add("topics", Fate.UNCHANGED, Change(name))
            return
        words = ", ".join(fields).replace("_", " ")
        before, after = (" | ".join(str(each[one]) for one in fields) for each in (old, new))
        self.load.add("topics", Fate.CHANGED, Change(f"{name} ({words})", before, after))
        self.texts.update(
            {f"{name} {one.replace('_', ' ')}": [old[one], new[one]] for one in fields}
        )


def store_topics(task: Task, file: TaskFile, found: TopicChanges) -> int:
    """Create, update and delete the task's topics as in the file; return how many differ.

    The caller asks about the changes that this adds to `found`, and records them. The organizers'
    edits of topic information (`info_edits`) are kept. Nothing changes without a file.
    """
    if file.topics is None:
        return 0
    known = {topic.query_id: topic for topic in task.topics.all()}
    new: list[Topic] = []
    changed: list[Topic] = []
    versions: list[TopicVersion] = []
    pages = topic_pages(file.topics, corrections_of(task.lab).formulas)
    for position, (source, page) in enumerate(zip(file.topics, pages, strict=True), start=1):
        fields = _topic_fields(source, file, page, position=position)
        topic = known.pop(source.query_id, None)
        if topic is None:
            new.append(Topic(task=task, query_id=source.query_id, **fields))
            continue
        old = {name: getattr(topic, name) for name in fields}
        found.note(f"{task.slug} {topic.query_id}", old, fields)
        if old != fields:
            versions += _version(topic, old, fields)
            vars(topic).update(fields)
            changed.append(topic)
    _delete_topics(task, known.values())
    changes = found.load
    changes.add("topics", Fate.DELETED, *(Change(f"{task.slug} {name}") for name in known))
    changes.add("topics", Fate.NEW, *(Change(f"{task.slug} {one.query_id}") for one in new))
    found.texts.update(
        {f"{task.slug} {name}": [one.body or one.latex, ""] for name, one in known.items()}
    )
    others = file.topic_info.keys() - {topic.query_id for topic in file.topics}
    changes.add("topic information", Fate.OUTSIDE, *map(Change, sorted(others)))
    Topic.objects.bulk_create(new, batch_size=200)
    Topic.objects.bulk_update(changed, [*TOPIC_FIELDS, "thread_since"], batch_size=50)
    TopicVersion.objects.bulk_create(versions, batch_size=50)
    return len(new) + len(changed) + len(known)


def _version(topic: Topic, old: dict[str, Any], new: dict[str, Any]) -> Iterator[TopicVersion]:
    """Yield the earlier text of a topic if it changes; note the time if its thread does."""
    if old["thread_id"] != new["thread_id"]:
        topic.thread_since = timezone.now()
    if any(old[name] != new[name] for name in TEXT_FIELDS):
        yield TopicVersion(topic=topic, **{name: old[name] for name in TEXT_FIELDS})


def _delete_topics(task: Task, gone: Iterable[Topic]) -> None:
    """Delete topics; raise `UserError` (`topics-in-use`) with the topics that judging needs."""
    held = []
    for topic in gone:
        try:
            topic.delete()
        except ProtectedError:
            held.append(topic.query_id)
    if held:
        raise UserError(
            f"Topics of {task} are missing from the folder but in use: {', '.join(held)}. These "
            "topics have pool items or an assigned assessor, so nothing was loaded. Add them to "
            "the topic file and load the folder again.",
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
        "engine": ENGINE,
    }

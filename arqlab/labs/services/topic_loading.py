"""Loading of topics. Only this module writes their text; the earlier text is kept as a version."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from arqkit import records
from arqkit.formats.labs.folder import TaskFile
from arqkit.loads import NO_CHOICE, Change, Fate, LoadChanges, LoadChoice
from arqkit.records import TaskKind
from arqkit.texts.html.rendering import title_text
from arqkit.texts.maths.typesetting import ENGINE
from arqkit.topics import (
    LONGEST_VALUE,
    QUERY_TEXTS,
    InfoChange,
    info_fields,
    normalized_value,
    updated_edits,
)
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError, require_confirmed
from arqlab.core.models import Lab, Task, Topic, TopicVersion, User
from arqlab.labs.selectors import corrections_of
from arqlab.labs.services.topic_pages import TopicPage, topic_pages

MAX_NAMED = 10

TEXT_FIELDS = ("title", "body", "tags", "formula_id", "latex")
"""What assessors and teams read of a topic."""
SOURCE_FIELDS = (*TEXT_FIELDS, "thread_id", "info")
TOPIC_FIELDS = (*SOURCE_FIELDS, "position", "title_html", "body_html", "formula_html", "engine")


@transaction.atomic
def change_topic_information(*, task: Task, changes: Sequence[InfoChange], by: User | None) -> int:
    """Change values of the task's topics, all or none; return the number of changed topics.

    A value equal to the folder's is not stored as an edit. Raises `UserError` with the topics if
    another user changed a value in the meantime (`changed-meanwhile`), a topic no longer exists, or
    a value is too long.
    """
    # Lock the task, so that of two organizers who save at the same time, one sees the other's edit.
    Task.objects.select_for_update().get(pk=task.pk)
    topics = {
        topic.query_id: topic
        for topic in task.topics.filter(query_id__in={change.query_id for change in changes})
    }
    normalized = [
        change._replace(value=normalized_value(change.field, change.value)) for change in changes
    ]
    _refuse(normalized, topics, fields=set(info_fields(TaskKind(task.kind))))
    done: dict[str, list[str]] = {}
    changed: dict[str, Topic] = {}
    for change in normalized:
        topic = topics[change.query_id]
        before = topic.facts.get(change.field, "")
        if before != change.value:
            topic.info_edits = updated_edits(
                topic.info, topic.info_edits, {change.field: change.value}
            )
            done[f"{change.query_id} {change.field.replace('_', ' ')}"] = [before, change.value]
            changed[change.query_id] = topic
    Topic.objects.bulk_update(changed.values(), ["info_edits"], batch_size=200)
    if done:
        record_event("topics.change-information", task, by, changes=done)
    return len(changed)


def _refuse(changes: Sequence[InfoChange], topics: dict[str, Topic], *, fields: set[str]) -> None:
    if unknown := {change.field for change in changes} - fields:
        raise ValueError(f"fields that cannot be changed here: {sorted(unknown)}")
    if gone := [change.query_id for change in changes if change.query_id not in topics]:
        raise UserError(
            f"{_named(gone)} removed from this task. Reload the page.", code="topic-gone"
        )
    if long := [change.query_id for change in changes if len(change.value) > LONGEST_VALUE]:
        raise UserError(
            f"A value of {', '.join(long)} has more than {LONGEST_VALUE} characters. Shorten it.",
            code="long-value",
        )
    stale = [
        change.query_id
        for change in changes
        if topics[change.query_id].facts.get(change.field, "") not in change[2:]
    ]
    if stale:
        raise UserError(
            f"{_named(stale)} changed by another user after you opened this page. Nothing was "
            "saved. Compare the current values with yours, then save again.",
            code="changed-meanwhile",
        )


def _named(topics: Sequence[str]) -> str:
    """Return topics as the subject of a sentence with its verb, without duplicates."""
    names = list(dict.fromkeys(topics))
    verb = "was" if len(names) == 1 else "were"
    if len(names) > MAX_NAMED:
        names = [*names[:MAX_NAMED], f"{len(names) - MAX_NAMED} more topics"]
    return f"{' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))} {verb}"


def load_topics(
    *, task: Task, file: TaskFile, by: User | None, choice: LoadChoice = NO_CHOICE
) -> LoadChanges:
    """Create, update and delete the topics of one task, and return what changed.

    Raises `UnconfirmedLoadError` if a stored topic would change, and `UserError`
    (`topics-in-use`) with the missing topics that judging needs.
    """
    pages = prepare_pages([file], task.lab)
    with transaction.atomic():
        changes = TopicChanges(LoadChanges(), pages)
        if store_topics(task, file, changes):
            record_event("topics.load", task, by, **changes.load.counts, changes=changes.texts)
        require_confirmed(changes.load, choice.confirmed)
    return changes.load


@dataclass(frozen=True)
class PreparedPages:
    """The HTML of the topics of files by task, and the corrections of the lab that it has."""

    corrected: Mapping[str, str] = field(default_factory=dict)
    by_task: Mapping[str, list[TopicPage]] = field(default_factory=dict)


def prepare_pages(files: Iterable[TaskFile], lab: Lab | None) -> PreparedPages:
    """Return the HTML of the topics that files load into a lab, which may be a new one.

    It takes most of the time of a load. It is made before the transaction of the load begins: on
    SQLite, nobody else writes during that one.
    """
    corrected = corrections_of(lab).formulas if lab else {}
    by_task = {
        file.slug: topic_pages(_sources(file), corrected)
        for file in files
        if file.topics is not None
    }
    return PreparedPages(corrected, by_task)


@dataclass(frozen=True)
class TopicChanges:
    """The changes of topics: for the organizer, who confirms the load, and for the audit log.

    `pages` was prepared for the load; `texts` has the old and new values by topic and field.
    """

    load: LoadChanges
    pages: PreparedPages = PreparedPages()
    texts: dict[str, list[Any]] = field(default_factory=dict)

    def pages_of(self, task: Task, file: TaskFile) -> list[TopicPage]:
        """Return the HTML of the topics of a file, with the present corrections of the lab."""
        corrected = corrections_of(task.lab).formulas
        if file.slug in self.pages.by_task and self.pages.corrected == corrected:
            return self.pages.by_task[file.slug]
        return topic_pages(_sources(file), corrected)

    def note(self, name: str, old: dict[str, Any], new: dict[str, Any]) -> None:
        """Add a topic that is stored, with its old and new values."""
        # Version 0.1 stored empty cells too.
        stored = {**old, "info": _filled(old["info"])}
        fields = [field for field in SOURCE_FIELDS if stored[field] != new[field]]
        if not fields:
            self.load.add("topics", Fate.UNCHANGED, Change(name))
            return
        words = ", ".join(fields).replace("_", " ")
        before, after = (
            " | ".join(_text(field, values[field]) for field in fields) for values in (old, new)
        )
        if before == after:  # only markup changed
            before, after = (
                " | ".join(str(values[field]) for field in fields) for values in (old, new)
            )
        self.load.add("topics", Fate.CHANGED, Change(f"{name} ({words})", before, after))
        self.texts.update(
            {f"{name} {field.replace('_', ' ')}": [old[field], new[field]] for field in fields}
        )


def _filled(info: Mapping[str, str]) -> dict[str, str]:
    """Return information without empty values: a table has a cell for every topic, JSON has not."""
    return {name: value for name, value in info.items() if value}


def _text(name: str, value: object) -> str:
    """Return the value of a field; of HTML only the text, with formulas as LaTeX."""
    return title_text(str(value)) if name in ("title", "body") else str(value)


def store_topics(task: Task, file: TaskFile, topic_changes: TopicChanges) -> int:
    """Create, update and delete the task's topics as in the file; return how many differ.

    The changes are added to `topic_changes`; the caller confirms and records them. The organizers'
    edits of topic information (`info_edits`) are kept. Nothing changes without a file.
    """
    if file.topics is None:
        return 0
    stored = {topic.query_id: topic for topic in task.topics.all()}
    new: list[Topic] = []
    changed: list[Topic] = []
    versions: list[TopicVersion] = []
    sources, pages = _sources(file), topic_changes.pages_of(task, file)
    for position, (source, page) in enumerate(zip(sources, pages, strict=True), start=1):
        topic = stored.pop(source.query_id, None)
        fields = _topic_fields(source, file, page, position=position, topic=topic)
        if topic is None:
            new.append(Topic(task=task, query_id=source.query_id, **fields))
            continue
        old = {name: getattr(topic, name) for name in fields}
        topic_changes.note(f"{task.slug} {topic.query_id}", old, fields)
        if old != fields:
            versions += _version(topic, old, fields)
            vars(topic).update(fields)
            changed.append(topic)
    _delete_topics(task, stored.values())
    changes = topic_changes.load
    changes.add("topics", Fate.DELETED, *(Change(f"{task.slug} {name}") for name in stored))
    changes.add("topics", Fate.NEW, *(Change(f"{task.slug} {topic.query_id}") for topic in new))
    topic_changes.texts.update(
        {f"{task.slug} {name}": [topic.body or topic.latex, ""] for name, topic in stored.items()}
    )
    others = file.topic_info.keys() - {topic.query_id for topic in file.topics}
    changes.add("topic information", Fate.OUTSIDE, *map(Change, sorted(others)))
    Topic.objects.bulk_create(new, batch_size=200)
    Topic.objects.bulk_update(changed, [*TOPIC_FIELDS, "thread_since"], batch_size=50)
    TopicVersion.objects.bulk_create(versions, batch_size=50)
    return len(new) + len(changed) + len(stored)


def _version(topic: Topic, old: dict[str, Any], new: dict[str, Any]) -> Iterator[TopicVersion]:
    """Yield the earlier text of a topic if it changes; note the time if its thread does."""
    if old["thread_id"] != new["thread_id"]:
        topic.thread_since = timezone.now()
    if any(old[name] != new[name] for name in TEXT_FIELDS):
        yield TopicVersion(topic=topic, **{name: old[name] for name in TEXT_FIELDS})


def _delete_topics(task: Task, gone: Iterable[Topic]) -> None:
    """Delete topics; raise `UserError` (`topics-in-use`) with the topics that judging needs."""
    protected = []
    for topic in gone:
        try:
            topic.delete()
        except ProtectedError:
            protected.append(topic.query_id)
    if protected:
        raise UserError(
            f"Topics of {task} are missing from the folder but in use: {', '.join(protected)}. "
            "These topics have pool items or an assigned assessor, so nothing was loaded. Add them "
            "to the topic file and load the folder again.",
            code="topics-in-use",
        )


def _sources(file: TaskFile) -> list[records.TopicRecord]:
    return [_with_texts(topic, file) for topic in file.topics or ()]


def _with_texts(topic: records.TopicRecord, file: TaskFile) -> records.TopicRecord:
    """Return a topic with the texts of its query, from the topic file or the information."""
    info = file.topic_info.get(topic.query_id, {})
    return topic._replace(
        scenario=topic.scenario or info.get("scenario", ""),
        criteria=topic.criteria or info.get("criteria", ""),
    )


def _topic_fields(
    source: records.TopicRecord,
    file: TaskFile,
    page: TopicPage,
    *,
    position: int,
    topic: Topic | None,
) -> dict[str, object]:
    """Return the fields of a topic's row. Without a file of threads, a topic keeps its thread."""
    thread = topic.thread_id if topic and not file.threads else ""
    return {
        "position": position,
        "title": source.title,
        "body": source.body,
        "tags": list(source.tags),
        "formula_id": source.formula_id or "",
        "latex": source.latex or "",
        "thread_id": file.threads.get(source.query_id, thread),
        "info": {
            **_filled(file.topic_info.get(source.query_id, {})),
            **{name: text for name in QUERY_TEXTS if (text := getattr(source, name))},
        },
        "title_html": page.title,
        "body_html": page.body,
        "formula_html": page.formula,
        "engine": ENGINE,
    }

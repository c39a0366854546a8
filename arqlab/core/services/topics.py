"""Edits of topic information by organizers, which override the lab folder's values."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from arqkit.records import TaskKind
from arqkit.topics import LONGEST_VALUE, InfoChange, info_fields, normalized_value, updated_edits
from arqlab.core.errors import UserError
from arqlab.core.models import Task, Topic, User
from arqlab.core.services.audit import record_event

MAX_NAMED = 10


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
        for topic in task.topics.filter(query_id__in={one.query_id for one in changes})
    }
    wanted = [one._replace(value=normalized_value(one.field, one.value)) for one in changes]
    _refuse(wanted, topics, fields=set(info_fields(TaskKind(task.kind))))
    done: dict[str, list[str]] = {}
    changed: dict[str, Topic] = {}
    for one in wanted:
        topic = topics[one.query_id]
        before = topic.facts.get(one.field, "")
        if before != one.value:
            topic.info_edits = updated_edits(topic.info, topic.info_edits, {one.field: one.value})
            done[f"{one.query_id} {one.field.replace('_', ' ')}"] = [before, one.value]
            changed[one.query_id] = topic
    Topic.objects.bulk_update(changed.values(), ["info_edits"], batch_size=200)
    if done:
        record_event(
            verb="topics.change-information", target=task, lab=task.lab, actor=by, changes=done
        )
    return len(changed)


def _refuse(changes: Sequence[InfoChange], topics: dict[str, Topic], *, fields: set[str]) -> None:
    if unknown := {one.field for one in changes} - fields:
        raise ValueError(f"fields that cannot be changed here: {sorted(unknown)}")
    if gone := [one.query_id for one in changes if one.query_id not in topics]:
        raise UserError(
            f"{_named(gone)} removed from this task. Reload the page.", code="topic-gone"
        )
    if long := [one.query_id for one in changes if len(one.value) > LONGEST_VALUE]:
        raise UserError(
            f"A value of {', '.join(long)} has more than {LONGEST_VALUE} characters. Shorten it.",
            code="long-value",
        )
    stale = [
        one.query_id
        for one in changes
        if topics[one.query_id].facts.get(one.field, "") not in one[2:]
    ]
    if stale:
        raise UserError(
            f"{_named(stale)} changed by another user after you opened this page. Nothing was"
            " saved. Compare the current values with yours, then save again.",
            code="changed-meanwhile",
        )


def _named(topics: Sequence[str]) -> str:
    """Return topics as the subject of a sentence with its verb, without duplicates."""
    names = list(dict.fromkeys(topics))
    verb = "was" if len(names) == 1 else "were"
    if len(names) > MAX_NAMED:
        names = [*names[:MAX_NAMED], f"{len(names) - MAX_NAMED} more topics"]
    return f"{' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))} {verb}"

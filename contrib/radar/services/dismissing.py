"""Dismissing findings with a note, and reopening them."""

from collections.abc import Iterator
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F, Max, Q, QuerySet

from arqkit.judgments.radar import RadarFinding
from arqkit.texts.posts.topic_making import duplicate_groups
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError, require_text
from arqlab.core.models import Task, User
from arqlab.core.models.reading import values_in_chunks
from assessment.models import DismissedFinding, DuplicatePosts, PoolInstance, PoolItem
from assessment.pools.services.texts import last_import
from assessment.qrels.selectors.drafts import task_scale
from collection.models import Post
from collection.selectors.collections import collection_of
from contrib.radar.selectors.findings import summary_of

POSTS_AT_ONCE = 1_000
KINDS = (PoolItem.Kind.POSTS, PoolItem.Kind.DOCUMENTS)

LONGEST_NOTE = 2_000  # characters


def find_waiting_duplicates(*, at: datetime) -> None:
    """Find the duplicates of tasks with a pool or an import that is newer than the last search."""
    for task in _waiting():
        groups = _with_instances(task, duplicate_groups(_texts(task)))
        DuplicatePosts.objects.update_or_create(
            task=task, defaults={"groups": groups, "found_at": at}
        )


def _waiting() -> QuerySet[Task]:
    tasks = Task.objects.filter(pools__isnull=False).annotate(
        frozen=Max("pools__frozen_at"), imported=last_import("lab")
    )
    searched = F("duplicate_posts__found_at")
    waiting = Q(duplicate_posts=None) | Q(frozen__gt=searched) | Q(imported__gt=searched)
    return tasks.filter(waiting).select_related("lab")


def _with_instances(task: Task, groups: list[list[str]]) -> list[tuple[str, list[int]]]:
    """Return the first post of each group, and the instances; SQLite is fast if it reads all."""
    first = {name: group[0] for group in groups for name in group}
    instances: dict[str, list[int]] = {group[0]: [] for group in groups}
    pooled = PoolInstance.official.filter(item__pool__task=task).order_by("pk")
    for instance, name in pooled.values_list("pk", "doc_id"):
        if name in first:
            instances[first[name]].append(instance)
    return list(instances.items())


def _texts(task: Task) -> Iterator[tuple[str, str]]:
    written = PoolItem.official.filter(pool__task=task, kind=PoolItem.Kind.ANSWERS)
    yield from values_in_chunks(written, "item", "text", size=POSTS_AT_ONCE)
    collection = collection_of(task.lab)
    pooled = PoolInstance.official.filter(item__pool__task=task, item__kind__in=KINDS)
    if collection is not None:
        posts = Post.objects.filter(collection=collection, post_id__in=pooled.values("post_id"))
        yield from values_in_chunks(posts, "post_id", "body", size=POSTS_AT_ONCE)


def dismiss_finding(
    *, task: Task, finding: RadarFinding, note: str, at: datetime, by: User
) -> DismissedFinding:
    """Dismiss a finding. Raise `UserError` for a bad note, or if someone else dismissed it."""
    todo = "Write what you found out or agreed on."
    require_text(note, "The note", most=LONGEST_NOTE, todo=todo)
    try:
        with transaction.atomic():
            dismissed = DismissedFinding.objects.create(
                task=task,
                key=finding.key,
                kind=finding.kind.value,
                assessor_id=finding.assessor,
                topic=finding.topic or "",
                summary=summary_of(finding, scale=task_scale(task)),
                note=note.strip(),
                dismissed_by=by,
                dismissed_at=at,
            )
            _record("radar.dismiss", dismissed, by, note=dismissed.note)
    except IntegrityError as error:
        raise UserError(
            "Someone else has already dismissed this finding. Their note is below.",
            code="dismissed-meanwhile",
        ) from error
    return dismissed


@transaction.atomic
def reopen_finding(*, task: Task, key: str, at: datetime, by: User) -> bool:
    """Reopen a dismissed finding; its note is kept. Return False if it was not dismissed."""
    dismissed = DismissedFinding.objects.filter(task=task, key=key, reopened_at=None)
    finding = dismissed.select_related("task__lab", "assessor").first()
    if finding is None or not dismissed.update(reopened_at=at):
        return False
    _record("radar.reopen", finding, by)
    return True


def _record(verb: str, finding: DismissedFinding, by: User, **detail: str) -> None:
    record_event(
        verb,
        finding.task,
        by,
        kind=finding.kind,
        assessor=finding.assessor.get_username(),
        finding=finding.summary,
        **detail,
    )

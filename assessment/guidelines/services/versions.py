"""Writing versions of the guidelines for assessors."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from html import escape
from typing import NamedTuple

from django.db import transaction
from django.db.models import Q

from arqkit.formats.labs.files import LONGEST_GUIDELINES
from arqkit.records import TaskKind
from arqkit.texts.html.foreign import answer_html
from arqkit.texts.html.sanitizer import clean_title_and_body
from arqkit.texts.posts.text import TextFormula, text_formulas
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError, require_text
from arqlab.core.models import Lab, Task, Topic, User
from arqlab.labs.selectors import corrections_of
from assessment.guidelines.selectors.versions import (
    current_guideline,
    entries_of,
    guideline_text,
    version_of,
)
from assessment.models import Guideline, GuidelineEntry, PoolInstance, PoolItem
from assessment.qrels.selectors.drafts import LabelSource, task_scale
from collection.models import Post
from collection.selectors.collections import collection_of
from collection.selectors.formulas import post_of_formula
from collection.selectors.threads import corrected_post, posts_of

LONGEST_ENTRY = 10_000  # characters of each text


class EntryItem(NamedTuple):
    """The topic and the item of an entry, as it stores them. Either may be empty."""

    topic: str = ""
    topic_html: str = ""
    item: str = ""
    item_html: str = ""
    post_id: str = ""
    formula_id: str = ""


def item_of_instance(instance: PoolInstance) -> EntryItem:
    """Return a judged instance with its topic."""
    item = instance.item
    post = _post(item.topic.task.lab, instance.post_id, instance.post_id or instance.doc_id)
    is_formula = item.kind == PoolItem.Kind.VISUAL_IDS
    return EntryItem(
        item=instance.doc_id,
        item_html=_post_html(post) if post else answer_html(item.text, prefix="item"),
        post_id=instance.post_id,
        formula_id=instance.doc_id if is_formula else "",
        **_topic_fields(item.topic),
    )


def find_entry_item(task: Task, *, topic: Topic | None, item: str) -> EntryItem:
    """Return an item of the pools or the collection by its id. Raise `UserError` without one."""
    fields = _topic_fields(topic) if topic else {}
    if not item:
        return EntryItem(**fields)
    pooled = LabelSource(task).pooled().filter(doc_id=item).select_related("item__topic__task__lab")
    if instance := pooled.order_by("pk").first():
        return item_of_instance(instance)._replace(**{"topic": "", "topic_html": ""} | fields)
    is_formula = task.kind == TaskKind.FORMULAS
    collection = collection_of(task.lab)
    post_id = post_of_formula(collection, item) if is_formula and collection else item
    post = _post(task.lab, post_id)
    if post is None:
        what = "formula" if is_formula else "item"
        raise UserError(
            f"No {what} with the id {item} is in a pool or in the collection. Search for it, or "
            "correct the id.",
            code="unknown-item",
        )
    formula_id = item if is_formula else ""
    return EntryItem(
        item=item, item_html=_post_html(post), post_id=post_id, formula_id=formula_id, **fields
    )


def formulas_of_post(task: Task, post_id: str) -> list[TextFormula]:
    """Return the formulas of a post of the lab's collection, or an empty list."""
    post = _post(task.lab, post_id)
    return text_formulas(_post_html(post)) if post else []


def _post(lab: Lab, post_id: str, key: str = "") -> Post | None:
    """Return a post with the lab's corrections; `key` is the key of the corrections."""
    post = posts_of(lab, [post_id]).get(post_id)
    return corrected_post(post, key or post_id, corrections_of(lab))


def _post_html(post: Post) -> str:
    title = post.safe_title if post.kind != Post.Kind.ANSWER else ""
    return f"<h1>{title}</h1>{post.safe_body}" if title else post.safe_body


def _topic_fields(topic: Topic) -> dict[str, str]:
    """Return the id of a topic and its query formula, title and body as clean HTML."""
    title, body = clean_title_and_body(topic.title, topic.body, post_id=topic.query_id)
    query = f'<span class="math-container" id="query">${escape(topic.latex)}$</span>'
    formula = f"<p>{query}</p>" if topic.latex else ""
    head = f"<h1>{title.html}</h1>" if title.html else ""
    return {"topic": topic.query_id, "topic_html": formula + head + body.html}


NO_ITEM = EntryItem()


class Decision(NamedTuple):
    """The decision of a case: its text, the label if one was decided, the reason, and where.

    `place` describes the meeting, adjudication or ticket, such as "Training round 2".
    """

    text: str
    label: int | None = None
    reason: str = ""
    origin: str = GuidelineEntry.Origin.GUIDELINES
    place: str = ""


def record_case(
    *,
    task: Task,
    question: str,
    decision: Decision,
    item: EntryItem = NO_ITEM,
    at: datetime,
    by: User | None,
) -> GuidelineEntry:
    """Collect a decided case for the next version of a task's guidelines.

    `question` is the question of interpretation; for the item of a pool, use `item_of_instance`.
    Assessors see the case when organizers publish the version. Raise `UserError` for an empty or
    too long text (`empty`, `too-long`), and for a label that the task does not have (`bad-label`).
    """
    if not question.strip() or not decision.text.strip():
        raise UserError("Write the question that was decided, and the decision.", code="empty")
    entry = GuidelineEntry(
        task=task,
        kind=GuidelineEntry.Kind.CASE,
        question=question,
        decision=decision.text,
        label=decision.label,
        reason=decision.reason,
        origin=decision.origin,
        place=decision.place[:200],
        decided_at=at,
        decided_by=by,
        **item._asdict(),
    )
    return _collect(entry)


def add_example(
    *, task: Task, item: EntryItem, label: int, reason: str, at: datetime, by: User | None
) -> GuidelineEntry:
    """Collect an example of a label. Raise `UserError` as `record_case`, and without an item."""
    if not item.item or not reason.strip():
        raise UserError("Choose an item, and write the reason for its label.", code="empty")
    entry = GuidelineEntry(
        task=task,
        kind=GuidelineEntry.Kind.EXAMPLE,
        label=label,
        reason=reason,
        decided_at=at,
        decided_by=by,
        **item._asdict(),
    )
    return _collect(entry)


@transaction.atomic
def remove_entry(*, entry: GuidelineEntry, by: User | None) -> None:
    """Leave an entry out of the next version, or delete it if no version has it yet."""
    newest = _locked_version(entry.task)
    if entry.since > newest:
        entry.delete()
    else:
        GuidelineEntry.objects.filter(pk=entry.pk, until=None).update(until=newest + 1)
    _record(entry, "guideline.remove-entry", by)


@transaction.atomic
def keep_entry(*, entry: GuidelineEntry, by: User | None) -> None:
    """Keep an entry that the next version would leave out."""
    newest = _locked_version(entry.task)
    if GuidelineEntry.objects.filter(pk=entry.pk, until__gt=newest).update(until=None):
        _record(entry, "guideline.keep-entry", by)


@transaction.atomic
def _collect(entry: GuidelineEntry) -> GuidelineEntry:
    task, label = entry.task, entry.label
    if label is not None and label not in task_scale(task).values:
        raise UserError(f"Unknown label {label}. Choose a label of the task.", code="bad-label")
    if any(len(text) > LONGEST_ENTRY for text in (entry.question, entry.decision, entry.reason)):
        raise UserError(
            f"Shorten each text to at most {LONGEST_ENTRY:,} characters.", code="too-long"
        )
    entry.since = _locked_version(task) + 1
    entry.save(force_insert=True)
    _record(entry, f"guideline.add-{entry.kind}", entry.decided_by)
    return entry


def _locked_version(task: Task) -> int:
    """Return the newest version. No version is published until the transaction ends."""
    # `write_guideline` locks the task too.
    Task.objects.select_for_update().get(pk=task.pk)
    return version_of(current_guideline(task))


def _record(entry: GuidelineEntry, verb: str, by: User | None) -> None:
    names = ("kind", "topic", "item", "label", "question", "decision", "reason", "place")
    record_event(verb, entry.task, by, **{name: getattr(entry, name) for name in names})


@transaction.atomic
def copy_guidelines(*, source: Task, to: Task, at: datetime, by: User | None) -> None:
    """Make the current guidelines of a task, with examples and cases, the first of another task."""
    guideline = current_guideline(source)
    if guideline is None:
        return
    entries = list(entries_of(source, guideline.version))
    for entry in entries:
        entry.pk, entry.task, entry.since, entry.until = None, to, 1, None
    GuidelineEntry.objects.bulk_create(entries)
    definitions = guideline.definitions
    write_guideline(task=to, text=guideline.text, definitions=definitions, at=at, by=by)


def guidelines_json(task: Task) -> Iterator[bytes]:
    """Yield all versions of a task's guidelines, with examples and cases, as JSON.

    A task without its own has the protocol's, as version 0.
    """
    entries = task.guideline_entries.order_by("pk").values_list("pk", flat=True)
    numbers = {key: number for number, key in enumerate(entries, 1)}
    default: list[dict[str, object]] = [
        {"version": 0, "saved": None, "text": guideline_text(task, None), "definitions": {}}
    ]
    texts = ("question", "decision", "reason", "origin", "place")
    names = ("kind", "topic", "item", "label", *texts)
    versions = [
        {
            "version": guideline.version,
            "saved": guideline.written_at.isoformat(),
            "text": guideline.text,
            "definitions": guideline.definitions,
            "entries": [
                {
                    "entry": numbers[entry.pk],
                    **{name: getattr(entry, name) for name in names},
                    "at": entry.decided_at.isoformat(),
                }
                for entry in entries_of(task, guideline.version)
            ],
        }
        for guideline in task.guidelines.order_by("version")
    ]
    yield (json.dumps(versions or default, indent=2, ensure_ascii=False) + "\n").encode()


@transaction.atomic
def write_guideline(
    *,
    task: Task,
    text: str,
    at: datetime,
    by: User | None,
    definitions: Mapping[str, str] | None = None,
    after: int | None = None,
) -> Guideline:
    """Store a new version of a task's guidelines. Earlier versions do not change.

    `definitions` has the meanings of labels by value (None to keep those of the newest version),
    `after` is the version that the writer edited (0 for the default text, None to skip the check).
    The version has the examples and cases collected for it; with these, its text may be the same.
    Raise `UserError` for a text that is empty, too long or unchanged, and if someone else wrote a
    version since (code `changed-meanwhile`).
    """
    # Lock the task: of two organizers who save at once, the second must see the first's version.
    Task.objects.select_for_update().get(pk=task.pk)
    newest = current_guideline(task)
    number = newest.version if newest else 0
    if after is not None and after != number:
        raise UserError(
            f"Someone else wrote version {number} since you opened this page. Nothing was saved. "
            "Compare it with yours below, then save again.",
            code="changed-meanwhile",
        )
    text = text.replace("\r\n", "\n").strip() + "\n"
    todo = "Write guidelines for assessors."
    require_text(text, "The text of the guidelines", most=LONGEST_GUIDELINES, todo=todo)
    current = newest.definitions if newest else {}
    definitions = current if definitions is None else dict(definitions)
    is_same = text == guideline_text(task, newest) and definitions == current
    waiting = Q(since=number + 1) | Q(until=number + 1)
    if is_same and not task.guideline_entries.filter(waiting).exists():
        raise UserError(
            "Nothing was changed: these are the current guidelines. Edit the text, or leave the "
            "page.",
            code="same",
        )
    guideline = Guideline.objects.create(
        task=task,
        version=number + 1,
        text=text,
        definitions=definitions,
        written_by=by,
        written_at=at,
    )
    record_event("guideline.write", task, by, version=guideline.version)
    return guideline

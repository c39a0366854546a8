"""Judgments as tables for people and programs: the files of a task, and its API."""

import json
from collections.abc import Callable, Container, Iterable
from operator import attrgetter

from django.db.models import QuerySet

from arqkit.formats.tables import tsv_lines
from arqlab.core.models import Lab, Task
from arqlab.core.models.reading import rows_in_chunks
from arqlab.labs.selectors import pseudonym
from assessment.assignments.selectors.grid import TOPIC_TEXTS
from assessment.models import Judgment

JUDGMENT_COLUMNS: dict[str, Callable[[Judgment], object]] = {
    "pool": attrgetter("instance.item.pool.number"),
    "topic": attrgetter("instance.item.topic.query_id"),
    "item": attrgetter("instance.item.item"),
    "doc_id": attrgetter("instance.doc_id"),
    "label": attrgetter("label"),
    "word": attrgetter("scale_label.word"),
    "current": attrgetter("is_current"),
    "judged": attrgetter("judged_at"),
    "given": attrgetter("given_at"),
    "active_ms": attrgetter("active_ms"),
    "guidelines": attrgetter("guidelines"),
    "imported": attrgetter("is_imported"),
    "comment": attrgetter("comment"),
    "reason": attrgetter("reason"),
    "marks": lambda one: json.dumps(one.marks, ensure_ascii=False) if one.marks else "",
}
RELATED = ("instance__item__pool", "instance__item__topic", "guideline", "assessor")
# Long fields that would be read again with each judgment.
UNREAD = (
    "guideline__text",
    "instance__item__text",
    *(f"instance__item__pool__{name}" for name in ("settings", "inputs", "runs")),
    *(f"instance__item__topic__{name}" for name in TOPIC_TEXTS),
)


def official_table(
    task: Task, *, with_names: bool = False, without: Container[str] = ()
) -> Iterable[bytes]:
    """Yield the official judgments of a task with their history, without some columns."""
    return judgment_table(
        task,
        Judgment.official.filter(instance__item__pool__task=task),
        columns={name: of for name, of in JUDGMENT_COLUMNS.items() if name not in without},
        with_names=with_names,
    )


def judgment_table(
    task: Task,
    judgments: QuerySet[Judgment],
    *,
    columns: dict[str, Callable[[Judgment], object]],
    with_names: bool,
) -> Iterable[bytes]:
    """Yield judgments of a task as a table that programs read again."""
    # Numbers in the file instead of keys, which the lab has on this server only.
    numbers: dict[int, int] = {}
    cells = {
        "judgment": lambda judgment: numbers.setdefault(judgment.pk, len(numbers) + 1),
        **columns,
        "supersedes": lambda judgment: numbers.get(judgment.supersedes_id or 0),
        "assessor": _assessor(task.lab, with_names=with_names),
    }
    rows = judgments.select_related(*RELATED).defer(*UNREAD)
    return tsv_lines(cells, rows_in_chunks(rows), exact=True)


def _assessor(lab: Lab, *, with_names: bool) -> Callable[[Judgment], str]:
    """Return what reads the user name or the pseudonym of the assessor of a judgment."""

    def name(judgment: Judgment) -> str:
        if judgment.assessor is None:
            return ""
        user = judgment.assessor
        return str(user.username) if with_names else pseudonym(lab, user.pk)

    return name


def judgments_with_columns(task: Task) -> QuerySet[Judgment]:
    """Return the official judgments of a task with what their columns read."""
    official = Judgment.official.filter(instance__item__pool__task=task)
    return official.select_related(*RELATED).defer(*UNREAD)


def judgment_columns(task: Task) -> dict[str, Callable[[Judgment], object]]:
    """Return the columns of judgments in the API, which names them by their keys."""
    return {
        **JUDGMENT_COLUMNS,
        "supersedes": attrgetter("supersedes_id"),
        "assessor": _assessor(task.lab, with_names=False),
        "marks": attrgetter("marks"),
    }

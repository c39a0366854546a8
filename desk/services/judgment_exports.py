"""The tables of judgments that a lab hands out: official ones, and those of rounds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from operator import attrgetter

from django.db.models import QuerySet
from django.utils.crypto import salted_hmac

from arqkit.formats.tables import tsv_lines
from arqlab.core.models import Lab, Task
from assessment.assignments.selectors.grid import TOPIC_TEXTS
from assessment.models import Judgment
from assessment.models.kinds import RoundKind
from assessment.rounds.selectors.votes import round_judgments

JUDGMENT_COLUMNS: dict[str, Callable[[Judgment], object]] = {
    "judgment": attrgetter("pk"),
    "pool": attrgetter("instance.item.pool.number"),
    "topic": attrgetter("instance.item.topic.query_id"),
    "item": attrgetter("instance.item.item"),
    "doc_id": attrgetter("instance.doc_id"),
    "label": attrgetter("label"),
    "word": attrgetter("scale_label.word"),
    "current": attrgetter("is_current"),
    "supersedes": attrgetter("supersedes_id"),
    "judged": attrgetter("judged_at"),
    "given": attrgetter("given_at"),
    "active_ms": attrgetter("active_ms"),
    "guidelines": attrgetter("guidelines"),
    "imported": attrgetter("is_imported"),
    "comment": attrgetter("comment"),
    "reason": attrgetter("reason"),
    "marks": lambda one: json.dumps(one.marks, ensure_ascii=False) if one.marks else "",
}
# Long fields that would be read again with each judgment.
UNREAD = (
    "guideline__text",
    "instance__item__text",
    *(f"instance__item__pool__{name}" for name in ("settings", "inputs", "runs")),
    *(f"instance__item__topic__{name}" for name in TOPIC_TEXTS),
)


def pseudonym(lab: Lab, user_id: int) -> str:
    """Return the name of an assessor in exports: the same throughout a lab, and nowhere else."""
    return f"assessor-{salted_hmac('arqlab.exports', f'{lab.pk}/{user_id}').hexdigest()[:8]}"


def official_table(task: Task, *, with_names: bool = False) -> Iterable[bytes]:
    """Yield the official judgments of a task with their history."""
    return _table(
        task,
        Judgment.official.filter(instance__item__pool__task=task),
        columns=JUDGMENT_COLUMNS,
        with_names=with_names,
    )


def round_table(task: Task, *, kind: RoundKind, with_names: bool = False) -> Iterable[bytes]:
    """Yield the judgments of a task's rounds of a kind, when organizers see their labels."""
    round_of: Callable[[Judgment], object] = attrgetter("instance.item.pool.round.key")
    columns = {"round" if name == "pool" else name: of for name, of in JUDGMENT_COLUMNS.items()}
    judgments = round_judgments(task, kind).select_related("instance__item__pool__round")
    return _table(task, judgments, columns=columns | {"round": round_of}, with_names=with_names)


def _table(
    task: Task,
    judgments: QuerySet[Judgment],
    *,
    columns: dict[str, Callable[[Judgment], object]],
    with_names: bool,
) -> Iterable[bytes]:
    def assessor(judgment: Judgment) -> str:
        if judgment.assessor is None:
            return ""
        return (
            judgment.assessor.username if with_names else pseudonym(task.lab, judgment.assessor.pk)
        )

    related = ("instance__item__pool", "instance__item__topic", "guideline", "assessor")
    rows = judgments.order_by("pk").select_related(*related).defer(*UNREAD).iterator()
    return tsv_lines({**columns, "assessor": assessor}, rows, exact=True)

"""The ids of published answers (Task 3), and the runs that they belong to."""

from collections import defaultdict

import polars as pl
from django.db import transaction

from arqkit.formats.runs.filename import file_stem
from arqkit.loads import Change, Fate, LoadChanges
from arqlab.audit.services.recording import record_event
from arqlab.core.models import Task, User
from arqlab.labs.services.archiving import require_unarchived
from submissions.models import AnswerId, Run
from submissions.services.rules import set_warning

FIELDS = ("run_file", "query_id", "answer_id")


@transaction.atomic
def load_answer_ids(
    *, task: Task, ids: pl.DataFrame, by: User | None, changes: LoadChanges
) -> None:
    """Store the ids of a task's answers (run, topic, answer) in place of earlier ones.

    Runs that now have other ids are scored again. The caller asks about the `changes` that this
    adds. Raises `UserError` if the task is archived.
    """
    stored = AnswerId.objects.filter(task=task)
    before = set(stored.values_list(*FIELDS))
    after = set(ids.select("run", "topic", "answer").rows())
    if before == after:
        return
    for fate, rows in ((Fate.DELETED, before - after), (Fate.NEW, after - before)):
        changes.add("answer ids", fate, *(Change(" ".join(row)) for row in sorted(rows)))
    require_unarchived(task)
    stored.delete()
    AnswerId.objects.bulk_create(
        (
            AnswerId(task=task, run_file=run, query_id=topic, answer_id=answer)
            for run, topic, answer in ids.select("run", "topic", "answer").iter_rows()
        ),
        batch_size=1000,
    )
    record_event("task.answer-ids", task, by, task=task.slug, ids=ids.height)
    join_answer_ids(task)


def join_answer_ids(task: Task) -> None:
    """Store the ids of the answers of each valid run, which is found by the name of its file.

    Of several runs with the same file name, the one that already has the ids keeps them, else the
    first gets them. The reports of the others say so. Call this in the transaction that changes
    which runs are valid.
    """
    if task.kind != Task.Kind.GENERATED_ANSWERS:
        return
    # Lock the task's row: of two runs with the same file name, the second then sees the first.
    Task.objects.select_for_update(no_key=True).get(pk=task.pk)
    ids: dict[str, dict[str, str]] = defaultdict(dict)
    for file, topic, answer in AnswerId.objects.filter(task=task).values_list(*FIELDS):
        ids[file][topic] = answer
    files = set(ids)
    runs = Run.objects.valid().filter(task=task).select_related("upload") if ids else []
    for run in sorted(runs, key=lambda run: (not run.answer_ids, run.pk)):
        stem = file_stem(run.file_name)
        ids_of_run = ids.pop(stem, {})
        if ids_of_run != run.answer_ids:
            Run.objects.filter(pk=run.pk).update(answer_ids=ids_of_run)
        reason = (
            f"The answer ids of the file name {stem} belong to another run of the task."
            if stem in files
            else f"The lab's answer ids do not name the file {stem}."
        )
        text = f"{reason} The answers of this run have no labels in the published qrels."
        todo = "If it is a published run, submit it under the file name of the lab's answer ids."
        set_warning(run, "no-answer-ids", "" if ids_of_run else text, todo)

"""Loading of labs and their qrels. Loaded qrels never change."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.labs.folder import LabFile, QrelsFile, TaskFile, read_lab
from arqkit.loads import NO_CHOICE, LoadChanges, LoadChoice
from arqkit.records import FileRefusedError, Problem
from arqlab.core.errors import require_confirmed
from arqlab.core.models import Lab, Task, User
from arqlab.core.oddities import name_list
from arqlab.core.services.archiving import require_unarchived
from arqlab.core.services.audit import record_event
from arqlab.core.services.loading import load_lab_file
from arqlab.core.services.topic_loading import PreparedPages, TopicChanges, prepare_pages
from assessment.models import QrelSet
from assessment.qrels.selectors.joining import lab_join_warnings
from assessment.qrels.selectors.rejudging import judged_formulas
from assessment.qrels.selectors.versions import lab_fingerprint
from assessment.qrels.services.versions import qrels_hash, store_qrels
from collection.services.importing.import_records import Progress
from collection.services.loading import collection_changes, load_collection, require_loadable
from submissions.services.answer_ids import load_answer_ids


@dataclass(frozen=True)
class LoadedLab:
    """The result of loading a folder: the lab, whether anything is new or different, and warnings.

    The warnings are about qrels whose topics or items join nothing of the lab.
    """

    lab: Lab
    is_changed: bool
    warnings: tuple[str, ...] = ()


def load_lab(
    *,
    folder: SourceFolder,
    at: datetime,
    by: User | None,
    progress: Progress | None = None,
    choice: LoadChoice = NO_CHOICE,
    also: Callable[..., None] | None = None,
) -> LoadedLab:
    """Load a lab from its folder, with topics, qrels and collection.

    Loading the same folder again changes nothing. Raises `FileRefusedError` with every problem of
    the folder, `UnconfirmedLoadError` if what is stored would change, or `UserError`, and then
    loads nothing; `choice.keeps_edits` decides about values that were edited in the browser
    (`load_lab_file`), and `also` loads what upper packages have. The readable part of a collection
    is loaded in steps; after an interruption, a second call continues.
    """
    file = read_lab(folder)
    lab_before = Lab.objects.filter(slug=file.slug).first()
    before = lab_fingerprint(lab_before) if lab_before else ""
    pages = prepare_pages(file.tasks, lab_before)
    with transaction.atomic():
        lab = _load_but_collection(file, at=at, by=by, choice=choice, pages=pages)
        if also is not None:
            also(lab, file, at=at, by=by)
    if file.collection is not None:
        judged = judged_formulas(file.collection.slug, lab)
        load_collection(
            lab=lab,
            file=file.collection,
            at=at,
            judged=judged,
            progress=progress,
            choice=LoadChoice(confirmed=True),  # with the rest of the folder
        )
    is_changed = lab_fingerprint(lab) != before
    return LoadedLab(lab, is_changed=is_changed, warnings=tuple(lab_join_warnings(lab)))


@transaction.atomic
def _load_but_collection(
    file: LabFile, *, at: datetime, by: User | None, choice: LoadChoice, pages: PreparedPages
) -> Lab:
    """Load the lab's tasks, topics and qrels, or nothing if its collection would be refused."""
    changes = LoadChanges()
    lab = load_lab_file(file, by=by, at=at, choice=choice, changes=TopicChanges(changes, pages))
    tasks = {task.slug: task for task in Task.objects.filter(lab=lab).select_related("lab")}
    problems: list[Problem] = []
    for task_file in file.tasks:
        task = tasks[task_file.slug]
        problems += _load_task_qrels(task, task_file, at=at, by=by)
        if task_file.answer_ids is not None:
            load_answer_ids(task=task, ids=task_file.answer_ids, by=by, changes=changes)
    try:
        if file.collection is not None:
            require_loadable(lab_slug=file.slug, file=file.collection)
    except FileRefusedError as refused:
        problems += refused.problems
    if problems:
        raise FileRefusedError(problems)
    if file.collection is not None:
        changes.extend(collection_changes(file.collection, is_whole=True))
    require_confirmed(changes, choice.confirmed)
    return lab


@transaction.atomic
def load_qrels(*, task: Task, file: QrelsFile, at: datetime, by: User | None) -> QrelSet:
    """Load one version of a task's qrels, or return the stored version if it is the same.

    Raises `FileRefusedError` if the task has other qrels with that name, and `UserError` if it is
    archived.
    """
    sha256 = qrels_hash(file.frame)
    stored = QrelSet.objects.filter(task=task, name=file.name).first()
    if stored is not None:
        if (stored.sha256, stored.items, stored.relevant_from) != (
            sha256,
            file.items.value,
            file.relevant_from,
        ):
            actual = f"other judgments than those loaded as {stored.name} of {stored.task}"
            expected = "the same judgments, because qrels never change"
            todo = "Use a new name for the new version."
            raise FileRefusedError([Problem(str(file.path), None, actual, expected, todo)])
        return stored
    require_unarchived(task)
    new = QrelSet(
        task=task,
        name=file.name,
        items=file.items.value,
        relevant_from=file.relevant_from,
        scale=file.labels.rows(),
        created_at=at,
    )
    qrel_set = store_qrels(new, file.frame)
    record_event("qrels.load", qrel_set, by, version=qrel_set.version, sha256=sha256)
    return qrel_set


def _load_task_qrels(task: Task, file: TaskFile, *, at: datetime, by: User | None) -> list[Problem]:
    problems: list[Problem] = []
    topics = set(task.topics.values_list("query_id", flat=True))
    for qrels in file.qrels:
        if unknown := sorted(set(qrels.frame["topic"]) - topics):
            actual = f"topics that {task} does not have: {name_list(unknown)}"
            todo = "Load its topics first, or name their file with the key topics."
            problems.append(Problem(str(qrels.path), None, actual, "topics of the task", todo))
            continue
        try:
            load_qrels(task=task, file=qrels, at=at, by=by)
        except FileRefusedError as error:
            problems += error.problems
    return problems

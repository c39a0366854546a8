"""Loading of labs and their qrels. Loaded qrels never change."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.labs.folder import LabFile, QrelsFile, TaskFile, read_lab
from arqkit.formats.qrels.read import find_unknown_topics
from arqkit.loads import NO_CHOICE, LoadChoice
from arqkit.records import FileProblems, FileRefusedError, Problem
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import require_confirmed
from arqlab.core.folder_loads import FolderLoad, folder_loads
from arqlab.core.models import Lab, Task, User
from arqlab.labs.services.archiving import require_unarchived
from arqlab.labs.services.loading import load_lab_file
from arqlab.labs.services.topic_loading import PreparedPages, TopicChanges, prepare_pages
from assessment.models import QrelSet
from assessment.qrels.selectors.joining import lab_join_warnings
from assessment.qrels.selectors.rejudging import judged_formulas
from assessment.qrels.selectors.versions import lab_fingerprint
from assessment.qrels.services.versions import qrels_hash, store_qrels
from collection.services.importing.import_records import Progress
from collection.services.loading import collection_changes, load_collection, require_loadable


@dataclass(frozen=True)
class LoadedLab:
    """The result of loading a folder: the lab, whether anything is new or different, and warnings.

    The warnings are about qrels whose topics or items join nothing of the lab, the lines about what
    was loaded after the rest.
    """

    lab: Lab
    is_changed: bool
    warnings: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def load_lab(
    *,
    folder: SourceFolder,
    at: datetime,
    by: User | None,
    progress: Progress | None = None,
    choice: LoadChoice = NO_CHOICE,
) -> LoadedLab:
    """Load a lab from its folder: its tasks with their files, and its collection.

    Loading the same folder again changes nothing. Raises `FileRefusedError` with every problem of
    the folder, `UnconfirmedLoadError` if what is stored would change, or `UserError`, and then
    loads nothing; `choice.keeps_edits` decides about values that were edited in the browser
    (`load_lab_file`). The readable part of a collection and runs are loaded in steps; after an
    interruption, a second call continues.
    """
    file = read_lab(folder)
    lab_before = Lab.objects.filter(slug=file.slug).first()
    before = lab_fingerprint(lab_before) if lab_before else ""
    pages = prepare_pages(file.tasks, lab_before)
    load = FolderLoad(at, by)
    lab = _load_but_collection(file, load, choice=choice, pages=pages)
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
    lines = [line for loads in load.afterwards for line in loads()]
    is_changed = lab_fingerprint(lab) != before
    return LoadedLab(lab, is_changed, tuple(lab_join_warnings(lab)), tuple(lines))


@transaction.atomic
def _load_but_collection(
    file: LabFile, load: FolderLoad, *, choice: LoadChoice, pages: PreparedPages
) -> Lab:
    """Load the lab's tasks and their files, or nothing if its collection would be refused."""
    changes, problems = load.changes, load.problems
    topic_changes = TopicChanges(changes, pages)
    lab = load_lab_file(file, by=load.by, at=load.at, choice=choice, changes=topic_changes)
    tasks = {task.slug: task for task in Task.objects.filter(lab=lab).select_related("lab")}
    for task_file in file.tasks:
        for load_files in folder_loads().values():
            load_files(tasks[task_file.slug], task_file, load)
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


def load_task_qrels(task: Task, file: TaskFile, load: FolderLoad) -> None:
    """Load the versions of a task's qrels that a lab folder has."""
    topics = set(task.topics.values_list("query_id", flat=True))
    for qrels in file.qrels:
        outside = FileProblems(str(qrels.path))
        find_unknown_topics(qrels.frame.with_columns(line=None), outside, topics)
        if outside:
            load.problems.extend(outside)
            continue
        try:
            load_qrels(task=task, file=qrels, at=load.at, by=load.by)
        except FileRefusedError as error:
            load.problems.extend(error.problems)

"""The runs that tasks hand out, and the pack by which teams check theirs."""

from collections.abc import Iterable, Iterator
from functools import partial

from arqkit.formats.labs.files import ANSWER_IDS, RUNS
from arqkit.formats.labs.folder import TaskFile
from arqkit.formats.runs.packs import pack_chunks
from arqkit.formats.tables import exact_table
from arqkit.records import FileRefusedError
from arqlab.core.exports import (
    Audience,
    Document,
    Export,
    ExportFolder,
    declare_documents,
    declare_exports,
    folder_export,
    task_document,
)
from arqlab.core.folder_loads import FolderLoad, declare_folder_loads
from arqlab.core.models import Task
from arqlab.labs.selectors import topics_xml
from submissions.selectors import task_pack
from submissions.services.answer_ids import load_answer_ids
from submissions.services.run_files import find_runs, load_runs, new_runs, run_files

RUN_FOLDER = ExportFolder(RUNS.name, "manifest.tsv", "The run files in this folder.", run_files)


def _pack(task: Task) -> Iterable[bytes]:
    topics = topics_xml(task) if task.topics.exists() else b""
    yield from pack_chunks(task_pack(task, lazily=True), topics=topics)


def _answer_ids(task: Task) -> Iterable[bytes]:
    rows = task.answer_ids.order_by("pk")
    yield exact_table(rows.values_list("run_file", "query_id", "answer_id"), delimiter="\t")


def _documents(task: Task, *, published: bool) -> Iterator[Document]:
    has_ids = task.kind == Task.Kind.GENERATED_ANSWERS and task.answer_ids.exists()
    if has_ids and not published:
        yield task_document(PUBLISHED_IDS, task)


def _load_answer_ids(task: Task, file: TaskFile, load: FolderLoad) -> None:
    if file.answer_ids is not None:
        load_answer_ids(task=task, ids=file.answer_ids, by=load.by, changes=load.changes)


def _load_runs(task: Task, file: TaskFile, load: FolderLoad) -> None:
    """Check the runs of a folder, and load them when the rest is stored: each takes seconds."""
    if file.runs is None:
        return
    try:
        new = new_runs(task, find_runs(task, file.runs))
    except FileRefusedError as refused:
        load.problems.extend(refused.problems)
        return
    if new:
        load.afterwards.append(
            partial(load_runs, task=task, folder=file.runs, by=load.by, at=load.at)
        )


PUBLISHED_IDS = Export(
    ANSWER_IDS.name,
    "The ids of published answers: run file, topic, answer id.",
    Audience.ORGANIZERS,
    _answer_ids,
    kind=ANSWER_IDS,
)
declare_documents(of_task=_documents)
declare_exports(
    tasks=[
        Export(
            "task-pack.zip",
            "The task pack, by which arqkit check reports on a run offline: rules, limits, topics, "
            "the ids of the collection, and a short program that makes a first run.",
            Audience.EVERYONE,
            _pack,
            is_archived=False,
        ),
        folder_export(
            "runs.zip",
            "All submitted run files, unpacked, with a manifest of runs, teams and states, and the "
            "details of each run as ir_metadata.",
            Audience.ORGANIZERS,
            RUN_FOLDER,
            kind=RUNS,
        ),
    ]
)
declare_folder_loads({ANSWER_IDS: _load_answer_ids, RUNS: _load_runs})

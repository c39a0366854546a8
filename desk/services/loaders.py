"""What each kind of load does with its files, as the commands do, and topics from candidates.

Each function returns sentences on what was loaded. It raises `FileRefusedError` with every problem
of the files, or `UserError`.
"""

import csv
import io
from collections.abc import Container
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from pathlib import Path

import polars as pl
from django.core.files.base import ContentFile

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.dumps.sources import DUMP_FILES, dump_files
from arqkit.formats.labs.files import TOPIC_FORMULAS, TOPIC_INFO, TOPICS, TaskFacts
from arqkit.formats.labs.folder import TaskFile, read_lab, take_qrels
from arqkit.formats.labs.packed import unpack_files, unpack_lab
from arqkit.formats.labs.tables import REPRESENTATIONS, read_collection_table
from arqkit.formats.topics.files import threads_of
from arqkit.loads import Change, Fate, LoadChanges
from arqkit.records import FileRefusedError, Problem, TaskKind
from arqkit.texts.posts.topic_making import (
    MEASURED,
    Bounds,
    Criteria,
    drawn_by_strata,
    sift,
    write_candidates,
)
from arqlab.core.errors import UserError
from arqlab.core.files import kept
from arqlab.core.models import Job, Lab, Task, User
from arqlab.jobs.services.jobs import RunningJob, start_job
from arqlab.labs.permissions import may_organize
from arqlab.labs.services.topic_loading import load_topics
from arqlab.web import counted
from assessment.judging.services.importing import import_judgments
from assessment.models import QrelSet
from assessment.qrels.selectors.joining import join_warnings, lab_join_warnings
from assessment.qrels.selectors.rejudging import judged_formulas
from assessment.qrels.selectors.versions import (
    lab_summary,
    qrels_frame,
    qrels_named,
    topic_judgments,
)
from assessment.qrels.services.loading import load_lab, load_qrels
from collection.models import Collection
from collection.selectors.candidates import candidates_of, existing_topics
from collection.selectors.collections import collection_of
from collection.selectors.visual_maps import newest_map
from collection.services.loading import add_to_collection
from collection.services.topic_making import TopicFiles
from collection.services.visual_maps import make_visual_map
from desk.services.lab_archives import has_tables, restore_lab
from desk.services.load_files import (
    CANDIDATES,
    files_by_field,
    load_folder,
    reads_files,
    sent_files,
    sent_table_of,
    store_files,
)
from submissions.models import Run
from submissions.services.run_files import load_runs

FILES = {Task.Kind.FORMULAS.value: "task2"}
"""The name of the topic files by the kind of task; all others take those of task 1."""


def task_facts(task: Task) -> TaskFacts:
    """Return what the files of a task are checked against, without its topics."""
    return TaskFacts(TaskKind(task.kind), task.protocol.labels)


def list_candidates(work: RunningJob) -> list[str]:
    """Write the questions that meet the criteria to a CSV, as `manage.py make_topics` does."""
    options = work.job.options
    threads, titles = existing_topics()
    criteria = Criteria(
        bounds={name: Bounds(*options[name]) for name in MEASURED if options.get(name)},
        first_day=_day(options["first_day"]),
        last_day=_day(options["last_day"]),
        needs_link=not options["unlinked"],
        takes_related=options["related"],
        topics=threads,
        titles=titles,
        alike=options["alike"],
    )
    questions = candidates_of(collection_to_choose_from(work.lab), which=options["which"])
    sifted = sift(questions, criteria)
    candidates, left_out = sifted.kept, sifted.left_out
    if options.get("draw"):
        by, seed = ("score", "reputation", "formulas", "flesch"), options.get("seed") or 1
        candidates = drawn_by_strata(candidates, by=by, number=options["draw"], seed=seed)
    kept.replace(f"{load_folder(work.job)}/{CANDIDATES}", ContentFile(write_candidates(candidates)))
    return [
        f"{counted(len(sifted.kept) + sum(left_out.values()), 'question')}.",
        *(line.removesuffix(".") + "." for line in sifted.report),
        f"{counted(len(candidates), 'candidate')}.",
    ]


def collection_to_choose_from(lab: Lab) -> Collection:
    """Return the lab's collection. Raise `UserError` (`no-collection`) if it has none."""
    collection = collection_of(lab)
    if collection is None:
        raise UserError(
            "The lab has no collection. Load the files of a data dump first.", code="no-collection"
        )
    return collection


@reads_files
def topics_from_files(work: RunningJob, sent: SourceFolder) -> list[str]:
    """Load the topics of a task, with their information and threads if those were sent."""
    task, load = work.task, work.job
    table, facts = sent_table_of(sent, **files_by_field(sent)), task_facts(task)
    topics = table.named_content(TOPICS, facts)
    info, threads = table.named_content(TOPIC_INFO), table.named_content(TOPIC_FORMULAS)
    table.refuse_any()
    if topics is None:
        raise AssertionError("The form asks for topics.")
    topics_by_id = {topic.query_id: topic for topic in task.topics.order_by("position")}
    if not load.options.get("delete_others"):  # the task's order; then the new ones of the file
        new = {topic.query_id: topic for topic in topics}
        topics = list(({name: topic.record for name, topic in topics_by_id.items()} | new).values())
    ids = [topic.query_id for topic in topics]
    kept_threads = {name: topic.thread_id for name, topic in topics_by_id.items()}
    file = TaskFile(
        slug=task.slug,
        name=task.name,
        kind=TaskKind(task.kind),
        topics=tuple(topics),
        topic_info={name: topic.info for name, topic in topics_by_id.items()} | (info or {}),
        threads=kept_threads | threads_of(ids, threads or {}),
        qrels=(),
        answer_ids=None,
        protocol=task.protocol,
        overrides=task.overrides,
        opens=task.opens_at,
        deadline=task.deadline,
        judging_deadline=task.judging_deadline,
    )
    changes = load_topics(task=task, file=file, by=work.by, choice=work.choice)
    for version in QrelSet.objects.filter(task=task).select_related("task__lab"):
        work.warnings.extend(join_warnings(version))
    return [f"{counted(len(ids), 'topic')}: {changes.line}"]


@reads_files
def lab_from_files(work: RunningJob, sent: SourceFolder) -> list[str]:
    """Load a lab from a lab.toml and its files, as `manage.py load_lab` does."""
    root = unpack_lab(sent.folder("file"), sent.root / "unpacked")
    if has_tables(root) and work.job.options.get("archive") != "folder":
        raise UserError(
            "This is the archive of a whole lab, with its runs, pools and releases. Administrators"
            " restore all of it on the page Restore lab from an archive, or with manage.py"
            " restore_archive. To load only its topics, qrels and guidelines, choose so below, and"
            " load it again.",
            code="archive",
        )
    try:
        slug = read_lab(root).slug
        existing = Lab.objects.filter(slug=slug).first()
        if existing and not may_organize(work.by, existing):
            raise UserError(
                f"There is a lab with the address {slug}, and you do not organize it. Choose "
                "another slug in lab.toml, or ask its organizers.",
                code="taken",
            )
        loaded = load_lab(
            folder=root, at=work.at, by=work.by, progress=work.progress, choice=work.choice
        )
    except FileRefusedError as refused:
        below = f"{root.root}/"
        raise FileRefusedError(
            [problem._replace(path=problem.path.replace(below, "")) for problem in refused.problems]
        ) from refused
    Job.objects.filter(pk=work.job.pk).update(lab=loaded.lab)
    work.job.lab = loaded.lab
    lines = [f"{loaded.lab.name} ({slug})." if loaded.is_changed else "Nothing to change."]
    for task in lab_summary(loaded.lab):
        judged = f"; qrels {task.qrels} with {task.judged:,} judgments" if task.qrels else ""
        lines.append(f"{task.task}: {counted(task.topics, 'topic')}{judged}.")
    work.warnings.extend(loaded.warnings)
    collection = collection_of(loaded.lab)
    return [*lines, *loaded.lines, *(_collection_lines(collection) if collection else ())]


@reads_files
def lab_from_archive(work: RunningJob, sent: SourceFolder) -> list[str]:
    """Restore a whole lab from its archive, as `manage.py restore_archive` does."""
    if not work.by.is_superuser:  # the rights may have changed while the job waited
        raise UserError("Only administrators restore labs. Ask one.", code="administrator")
    path = sent_files(sent, "file")[0].path
    try:
        lab = restore_lab(path, by=work.by)
    except UserError as refused:
        message = refused.message.replace(str(path), path.name)
        raise UserError(message, code=refused.code) from refused
    Job.objects.filter(pk=work.job.pk).update(lab=lab)
    work.job.lab = lab
    runs = Run.objects.filter(task__lab=lab).count()
    return [
        f"{lab.name} ({lab.slug}).",
        f"{counted(lab.tasks.count(), 'task')}, {counted(lab.teams.count(), 'team')}, "
        f"{counted(runs, 'run')}.",
    ]


@reads_files
def qrels_from_file(work: RunningJob, sent: SourceFolder) -> list[str]:
    """Load a version of a task's qrels."""
    task, options = work.task, work.job.options
    topics = set(task.topics.values_list("query_id", flat=True))
    allowed = None if work.choice.leaves_out else topics
    values = {name: options.get(name) for name in ("name", "items", "labels", "relevant_from")}
    table = sent_table_of(sent, **files_by_field(sent), **values)
    qrels = take_qrels(table, task.protocol, task_facts(task)._replace(topics=allowed))
    table.refuse_any()
    if qrels is None:
        raise AssertionError("Qrels without problems have all their parts.")
    changes = _qrels_changes(task, qrels.frame, topics)
    frame = qrels.frame.filter(pl.col("topic").is_in(list(topics)))
    file = replace(qrels, path=Path(qrels.path.name), frame=frame)
    qrel_set = load_qrels(task=task, file=file, at=work.at, by=work.by)
    judged = topic_judgments(qrel_set)
    work.warnings.extend(join_warnings(qrel_set))
    return [
        f"Version {qrel_set.version} ({qrel_set.name}): {counted(frame.height, 'line')}, "
        f"{counted(len(judged), 'judged topic')}.",
        f"Compared with the current version: {changes.line}",
    ]


def _qrels_changes(task: Task, frame: pl.DataFrame, topics: Container[str]) -> LoadChanges:
    """Return how qrels differ from the current version, which does not change."""
    changes, current = LoadChanges(), qrels_named(task)
    labels: dict[tuple[str, str], int] = {}
    if current is not None:
        labels = {(topic, item): label for topic, item, label in qrels_frame(current).rows()}
    for topic, item, label in frame.rows():
        old = labels.get((topic, item))
        fate = Fate.NEW if old is None else Fate.CHANGED if old != label else Fate.UNCHANGED
        fate = fate if topic in topics else Fate.OUTSIDE
        changes.add("labels", fate, Change(f"{topic} {item}", str(old), str(label)))
    return changes


@reads_files
def runs_from_files(work: RunningJob, sent: SourceFolder) -> list[str]:
    """Load runs for their teams, as `manage.py load_runs` does."""
    unpack_files(sent.folder("file"), sent.root / "runs")
    folder = sent.folder("runs")
    return load_runs(task=work.task, folder=folder, by=work.by, at=work.at, each=work.each)


@reads_files
def judgments_from_file(work: RunningJob, sent: SourceFolder) -> list[str]:
    """Import judgments made elsewhere into the pools of a task."""
    file, by, choice = sent_files(sent, "file")[0], work.by, work.choice
    data, name = file.content(), file.path.name
    changes = import_judgments(
        task=work.task, data=data, path=name, at=work.at, by=by, choice=choice
    )
    return [changes.line]


@reads_files
def collection_from_files(work: RunningJob, sent: SourceFolder) -> list[str]:
    """Import a data dump, documents and formula indexes into the lab's collection."""
    options = work.job.options
    values = {
        "slug": options["slug"],
        "complete": bool(options.get("complete")),
        "keep_later": bool(options.get("keep_later")),
        "licence": options.get("licence"),
        **{name: _day(options.get(name)) for name in ("since", "until")},
        **_dump(sent),
        "documents": _index(sent, "documents"),
        "formulas": {name: path for name in REPRESENTATIONS if (path := _index(sent, name))},
    }
    table = sent_table_of(sent, **values)
    file = read_collection_table(table)
    table.refuse_any()
    if file is None:
        raise AssertionError("A collection without problems has all its parts.")
    judged = judged_formulas(file.slug, work.lab)
    collection = add_to_collection(
        lab=work.lab,
        file=file,
        at=work.at,
        judged=judged,
        progress=work.progress,
        choice=work.choice,
    )
    work.warnings.extend(lab_join_warnings(work.lab))
    return _collection_lines(collection)


def new_visual_ids(work: RunningJob) -> list[str]:
    """Make the next version of the visual ids, as `manage.py make_visual_ids` does."""
    collection = collection_of(work.lab)
    if collection is None or not collection.formulas_index:
        raise UserError("The collection has no formulas. Load a formula index first.")
    before = newest_map(collection)
    visual_map = make_visual_map(
        collection=collection,
        at=work.at,
        judged=judged_formulas(collection.slug),
        again=True,
        progress=work.progress,
    )
    if visual_map is None or visual_map == before:
        return ["Nothing to change: the ids are those of the newest version."]
    return _map_lines(collection)


def _dump(sent: SourceFolder) -> dict[str, str]:
    """Return the files of a data dump by kind; refuse unknown files, and two of one kind."""
    files: dict[str, str] = {}
    problems = []
    for file in sent_files(sent, "dump"):
        kinds = dump_files(file.path)
        again = [kind for kind in kinds if kind in files]
        if not kinds or again:
            what = f"another file of {', '.join(again)}" if again else "a file of another name"
            expected = f"{', '.join(DUMP_FILES.values())}, each once, plain or as gz, bz2 or 7z"
            todo = "Rename the file, or send a 7z archive of the dump."
            problems.append(Problem(file.path.name, None, what, expected, todo))
        files |= dict.fromkeys(kinds, file.name)
    if problems:
        raise FileRefusedError(problems)
    return files


def _index(sent: SourceFolder, name: str) -> str | None:
    files = [file.name for file in sent_files(sent, name)]
    return name if len(files) > 1 else next(iter(files), None)


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _collection_lines(collection: Collection) -> list[str]:
    lines = [
        f"{record.label} ({record.source}): {record.kept:,} of {record.rows:,} rows "
        f"kept, {counted(record.problem_count, 'problem')}."
        for record in collection.imports.all()
    ]
    return [*lines, *_map_lines(collection)]


def _map_lines(collection: Collection) -> list[str]:
    version = newest_map(collection)
    if version is None:
        return []
    return [
        f"Visual ids, version {version.version}: {version.counts['formulas']:,} formulas in "
        f"{version.counts['instances']:,} instances."
    ]


def candidates_file(load: Job) -> bytes:
    """Return the list of candidates, which is empty until it is made."""
    try:
        with kept.open(f"{load_folder(load)}/{CANDIDATES}") as file:
            return bytes(file.read())
    except FileNotFoundError:
        return b""


def read_candidates(load: Job) -> list[dict[str, str]]:
    """Return the rows of the list of candidates."""
    return list(csv.DictReader(io.StringIO(candidates_file(load).decode(), newline="")))


def load_topic_files(*, topic_files: TopicFiles, task: Task, at: datetime, by: User) -> Job:
    """Start the load of the topics that were made for a task. The caller queues it."""
    name = FILES.get(task.kind, "task1")
    fields = {
        "topics": f"topics.{name}.xml",
        "topic_info": f"topic-info.{name}.csv",
        "topic_formulas": "topic-formulas.latex.tsv",
    }
    uploads = {
        field: [ContentFile(topic_files.files[file], name=file)] for field, file in fields.items()
    }
    return start_job(
        job=Job(kind="topics", options={"delete_others": False}),
        place=task,
        at=at,
        by=by,
        store=partial(store_files, uploads=uploads),
    )

"""What each kind of load does with its files: the same as the commands, by the same services.

Each function returns sentences on what was loaded. It raises `FileRefusedError` with every problem
of the files, or `UserError`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Container, Mapping
from datetime import date
from pathlib import Path

import polars as pl

from arqkit.formats.dumps.records import Window
from arqkit.formats.dumps.sources import DUMP_FILES, dump_files
from arqkit.formats.labs.collection import REPRESENTATIONS, CollectionFile
from arqkit.formats.labs.folder import QrelsFile, read_lab
from arqkit.formats.labs.packed import unpack_lab
from arqkit.formats.qrels.read import read_qrels
from arqkit.loads import Change, Fate, LoadChanges
from arqkit.protocols.scales import is_relevant_possible, read_scale
from arqkit.records import FileRefusedError, ItemKind, Problem
from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Task
from arqlab.core.oddities import counted
from arqlab.core.permissions import may_organize
from assessment.judging.services.importing import import_judgments
from assessment.qrels.selectors.joining import join_warnings, lab_join_warnings
from assessment.qrels.selectors.rejudging import judged_formulas
from assessment.qrels.selectors.versions import (
    lab_summary,
    qrels_frame,
    qrels_named,
    topic_judgments,
)
from assessment.qrels.services.loading import load_lab, load_qrels
from assessment.tickets.services.loading import load_judging_rules
from collection.models import Collection
from collection.selectors.collections import collection_of
from collection.selectors.visual_maps import newest_map
from collection.services.loading import add_to_collection
from collection.services.visual_maps import make_visual_map
from desk.models import Load
from desk.services.load_files import load_folder, sent_files, sent_folder
from desk.services.loading import Loading, read_sent
from desk.services.topic_candidates import list_candidates
from desk.services.topic_loading import topics_from_files


def lab_from_files(one: Loading) -> list[str]:
    """Load a lab from a lab.toml and its files, as `manage.py load_lab` does."""
    folder = load_folder(one.load)
    root = unpack_lab(sent_folder(one.load, "file"), folder / "unpacked")
    try:
        slug = read_lab(root).slug
        known = Lab.objects.filter(slug=slug).first()
        if known and not may_organize(one.by, known):
            raise UserError(
                f"There is a lab with the address {slug}, and you do not organize it. Choose "
                "another slug in lab.toml, or ask its organizers.",
                code="taken",
            )
        loaded = load_lab(
            folder=root,
            at=one.at,
            by=one.by,
            progress=one.progress,
            choice=one.choice,
            also=load_judging_rules,
        )
    except FileRefusedError as refused:
        below = f"{root}/"
        raise FileRefusedError(
            [problem._replace(path=problem.path.replace(below, "")) for problem in refused.problems]
        ) from refused
    shutil.rmtree(folder / "unpacked")  # what was sent is kept
    Load.objects.filter(pk=one.load.pk).update(lab=loaded.lab)
    one.load.lab = loaded.lab
    lines = [f"{loaded.lab.name} ({slug})." if loaded.is_changed else "Nothing to change."]
    for task in lab_summary(loaded.lab):
        judged = f"; qrels {task.qrels} with {task.judged:,} judgments" if task.qrels else ""
        lines.append(f"{task.task}: {counted(task.topics, 'topic')}{judged}.")
    one.warnings.extend(loaded.warnings)
    collection = collection_of(loaded.lab)
    return [*lines, *(_collection_lines(collection) if collection else ())]


def qrels_from_file(one: Loading) -> list[str]:
    """Load a version of a task's qrels."""
    task, options = one.task, one.load.options
    rules = task.protocol
    labels = read_scale(options["labels"]) if options.get("labels") else rules.labels
    relevant_from = options.get("relevant_from") or rules.relevant_from
    if not is_relevant_possible(labels, relevant_from):
        raise UserError(
            f"No label is relevant from {relevant_from}. Set a lower label, or other labels.",
            code="relevant",
        )
    topics = set(task.topics.values_list("query_id", flat=True))
    taken = None if one.choice.leaves_out else topics
    problems: list[Problem] = []
    frame = read_sent(
        problems,
        one.load,
        "file",
        lambda data, path: read_qrels(data, path=path, scale=labels, topics=taken),
    )
    if frame is None:
        raise FileRefusedError(problems)
    changes = _qrels_changes(task, frame, topics)
    frame = frame.filter(pl.col("topic").is_in(list(topics)))
    path = sent_files(one.load, "file")[0]
    items = ItemKind(options.get("items") or rules.items)
    file = QrelsFile(options["name"], Path(path.name), frame, items, labels, relevant_from)
    found = load_qrels(task=task, file=file, at=one.at, by=one.by)
    judged = topic_judgments(found)
    one.warnings.extend(join_warnings(found))
    return [
        f"Version {found.version} ({found.name}): {counted(frame.height, 'line')}, "
        f"{counted(len(judged), 'judged topic')}.",
        f"Compared with the current version: {changes.line}",
    ]


def _qrels_changes(task: Task, frame: pl.DataFrame, topics: Container[str]) -> LoadChanges:
    """Return how qrels differ from the current version, which does not change."""
    changes, current = LoadChanges(), qrels_named(task)
    known: dict[tuple[str, str], int] = {}
    if current is not None:
        known = {(topic, item): label for topic, item, label in qrels_frame(current).rows()}
    for topic, item, label in frame.rows():
        old = known.get((topic, item))
        fate = Fate.NEW if old is None else Fate.CHANGED if old != label else Fate.UNCHANGED
        fate = fate if topic in topics else Fate.OUTSIDE
        changes.add("labels", fate, Change(f"{topic} {item}", str(old), str(label)))
    return changes


def judgments_from_file(one: Loading) -> list[str]:
    """Import judgments made elsewhere into the pools of a task."""
    path = sent_files(one.load, "file")[0]
    changes = import_judgments(
        task=one.task,
        data=path.read_bytes(),
        path=path.name,
        at=one.at,
        by=one.by,
        choice=one.choice,
    )
    return [changes.line]


def collection_from_files(one: Loading) -> list[str]:
    """Import a data dump, documents and formula indexes into the lab's collection."""
    load, options = one.load, one.load.options
    since, until = (_day(options.get(name)) for name in ("since", "until"))
    documents = sent_files(load, "documents")
    file = CollectionFile(
        slug=options["slug"],
        complete=bool(options.get("complete")),
        files=_dump(load) | ({"documents": documents[0]} if documents else {}),
        formulas={name: path for name in REPRESENTATIONS if (path := _index(load, name))},
        window=Window(since, until, bool(options.get("keep_later"))),
    )
    judged = judged_formulas(file.slug, one.lab)
    collection = add_to_collection(
        lab=one.lab,
        file=file,
        at=one.at,
        judged=judged,
        progress=one.progress,
        choice=one.choice,
    )
    one.warnings.extend(lab_join_warnings(one.lab))
    return _collection_lines(collection)


def new_visual_ids(one: Loading) -> list[str]:
    """Make the next version of the visual ids, as `manage.py make_visual_ids` does."""
    collection = collection_of(one.lab)
    if collection is None or not collection.formulas_index:
        raise UserError("The collection has no formulas. Load a formula index first.")
    before = newest_map(collection)
    made = make_visual_map(
        collection=collection,
        at=one.at,
        judged=judged_formulas(collection.slug),
        again=True,
        progress=one.progress,
    )
    if made is None or made == before:
        return ["Nothing to change: the ids are those of the newest version."]
    return _map_lines(collection)


LOADERS: Mapping[str, Callable[[Loading], list[str]]] = {
    Load.Kind.LAB: lab_from_files,
    Load.Kind.TOPICS: topics_from_files,
    Load.Kind.QRELS: qrels_from_file,
    Load.Kind.JUDGMENTS: judgments_from_file,
    Load.Kind.COLLECTION: collection_from_files,
    Load.Kind.VISUAL_IDS: new_visual_ids,
    Load.Kind.CANDIDATES: list_candidates,
}


def _dump(load: Load) -> dict[str, Path]:
    """Return the files of a data dump by kind; refuse unknown files, and two of one kind."""
    found: dict[str, Path] = {}
    problems = []
    for path in sent_files(load, "dump"):
        kinds = dump_files(path)
        again = [kind for kind in kinds if kind in found]
        if not kinds or again:
            what = f"another file of {', '.join(again)}" if again else "a file of another name"
            expected = f"{', '.join(DUMP_FILES.values())}, each once, plain or as gz, bz2 or 7z"
            todo = "Rename the file, or send a 7z archive of the dump."
            problems.append(Problem(path.name, None, what, expected, todo))
        found |= kinds
    if problems:
        raise FileRefusedError(problems)
    return found


def _index(load: Load, name: str) -> Path | None:
    files = sent_files(load, name)
    return sent_folder(load, name) if len(files) > 1 else next(iter(files), None)


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _collection_lines(collection: Collection) -> list[str]:
    lines = [
        f"{record.get_kind_display()} ({record.source}): {record.kept:,} of {record.rows:,} rows "
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

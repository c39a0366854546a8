"""Read a lab from a folder: lab.toml, and the topics, topic information and qrels that it names.

All files are checked first, and a folder with any mistake is refused with all its mistakes. The
files of the collection must exist, but are read only when they are imported.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import polars as pl

from arqkit.formats.archives.folders import SourceFolder, SourcePath
from arqkit.formats.labs.files import (
    ANSWER_IDS,
    ASSIGNMENTS,
    GUIDELINES,
    JUDGMENTS,
    QRELS,
    RUNS,
    TOPIC_FORMULAS,
    TOPIC_INFO,
    TOPICS,
    TaskFacts,
)
from arqkit.formats.labs.tables import CollectionFile as CollectionFile
from arqkit.formats.labs.tables import (
    LabTable,
    Mistakes,
    closing_time,
    opening_time,
    read_collection_table,
    slug_text,
    some_text,
)
from arqkit.formats.topics.files import threads_of
from arqkit.formats.topics.information import TopicInfo
from arqkit.labels import LabelScale
from arqkit.protocols.overrides import (
    OVERRIDABLE,
    OverrideRefusedError,
    item_kind,
    one_of,
    truth,
    whole_number,
    with_overrides,
)
from arqkit.protocols.presets import PROTOCOLS, Protocol, TaskProtocol
from arqkit.protocols.scales import SCALES, is_relevant_possible, read_scale, scale_faults
from arqkit.records import ItemKind, TaskKind, TopicRecord
from arqkit.standings import PublishedRuns

T = TypeVar("T")

UNREAD = (ASSIGNMENTS, JUDGMENTS)
"""The files that are read when they are loaded: with the pools and people of the task."""
ACTIONS = ("wait", "expert", "another")
"""What can happen with a reported item, as policies of tickets name it."""


class WrittenScale(NamedTuple):
    """A scale, its JSON form as written in the file, and the lowest relevant label of a preset."""

    scale: LabelScale
    written: str | list[dict[str, object]]
    relevant_from: int | None = None


def take_scale(table: LabTable) -> WrittenScale | None:
    """Read the key `labels`; None if it is missing or invalid. Problems are noted."""
    value = table.value("labels")
    if not isinstance(value, list) or not value:
        scale = table.take("labels", read_scale, None)
        if scale is None or not isinstance(value, str):
            return None
        preset = SCALES.get(value)
        return WrittenScale(scale, value, preset.relevant_from if preset else None)
    if not all(isinstance(row, Mapping) for row in value):
        table.take("labels", read_scale, None)
        return None
    labels = table.tables("labels")
    faults = list(scale_faults(value))
    for fault in faults:
        at, key = (table, "labels") if fault.label is None else (labels[fault.label], fault.key)
        at.mistake(key, fault.found, fault.expected, fault.todo)
    if faults:
        return None
    scale = read_scale(value)
    return WrittenScale(scale, scale.rows())


def check_relevant(table: LabTable, scale: LabelScale, relevant_from: int) -> None:
    """Note a problem if no label of the scale is relevant."""
    if is_relevant_possible(scale, relevant_from):
        return
    highest = max(label.value for label in scale.judgments)
    key = "relevant_from" if "relevant_from" in table else "labels"
    actual = f"no relevant label: the highest is {highest}, and labels are relevant from "
    expected = f"a label of {relevant_from} or higher"
    todo = f"Set relevant_from to {highest} or lower, or add a label."
    table.mistake(key, f"{actual}{relevant_from}", expected, todo)


@dataclass(frozen=True)
class JudgingRules:
    """The guidelines of a task (HTML, or None), and its policy of tickets.

    `actions` has an action for some labels that are not judgments, by their values as text;
    `expert` is the email address or user name of the one who gets tickets, or an empty text.
    """

    guidelines: str | None = None
    actions: Mapping[str, str] = field(default_factory=dict)
    expert: str = ""
    expert_closes: bool = False


NO_RULES = JudgingRules()


def take_judging_rules(table: LabTable, scale: LabelScale | None) -> JudgingRules:
    """Return the rules of a task; `scale` has its labels, or None if they are unknown."""
    text = table.named_content(GUIDELINES)
    policy = table.table("ticket_policy", required=False)
    if policy is None:
        return JudgingRules(text)
    expert = (
        policy.take("expert", partial(some_text, expected="an email address or a user name"), "")
        or ""
    )
    closes = policy.take("expert_closes", truth, default=False) or False
    reports = [] if scale is None else [str(label.value) for label in scale.reports]
    actions = {
        label: action
        for label in reports
        if (action := policy.take(label, one_of(*ACTIONS), None)) is not None
    }
    if scale is not None:
        policy.close()
    if "expert" in actions.values() and not expert:
        actual, todo = "no expert", "Name the user who gets these tickets."
        policy.mistake(None, actual, "the key expert beside the action expert", todo)
    return JudgingRules(text, actions, expert, closes)


class LabDates(NamedTuple):
    """The opening, the deadline and the judging deadline of a lab or task, each with a zone."""

    opens: datetime | None = None
    deadline: datetime | None = None
    judging_deadline: datetime | None = None


def read_dates(table: LabTable, default: LabDates) -> LabDates:
    """Return the dates of a lab or task, each after the one before."""
    dates = LabDates(
        table.take("opens", opening_time, default.opens),
        table.take("deadline", closing_time, default.deadline),
        table.take("judging_deadline", closing_time, default.judging_deadline),
    )
    opens, deadline, judging = dates
    closing = (deadline, "deadline") if deadline else (opens, "opening")
    _check_order(table, (opens, "opening"), (deadline, "deadline"))
    _check_order(table, closing, (judging, "judging deadline"))
    return dates


def _check_order(
    table: LabTable, first: tuple[datetime | None, str], last: tuple[datetime | None, str]
) -> None:
    (earlier, event), (later, name) = first, last
    if earlier is not None and later is not None and later <= earlier:
        key = name.replace(" ", "_")
        actual = f"a {name} ({later}) that is not after the {event} ({earlier})"
        expected, todo = f"a {name} after the {event}", "Correct one of the two."
        other = "opens" if event == "opening" else event
        table.mistake(key if key in table else other, actual, expected, todo)


def take_answer_ids(table: LabTable, task: TaskFacts) -> pl.DataFrame | None:
    """Return the rows of the file (run, topic, answer), or None without a valid file."""
    key = ANSWER_IDS.key
    if key in table and task.kind not in (None, TaskKind.GENERATED_ANSWERS):
        table.file(key)
        expected = f"a task of kind {TaskKind.GENERATED_ANSWERS}"
        table.mistake(key, f"{key} in a task of kind {task.kind}", expected, "Remove it.")
        return None
    return table.named_content(ANSWER_IDS, task)


@dataclass(frozen=True, eq=False)
class QrelsFile:
    """One version of a task's qrels: `frame` holds topic, item, label; `labels` is the scale."""

    name: str
    path: Path
    frame: pl.DataFrame
    items: ItemKind
    labels: LabelScale
    relevant_from: int


@dataclass(frozen=True, eq=False)
class TaskFile:
    """A task of a lab. `protocol` is the preset with the `overrides` of the task.

    `topics` is None if the folder has no topics for the task; those that it has are kept then.
    `threads` has the question post of each topic for which it is known, `answer_ids` the ids of
    published answers (run, topic, answer), `judging` what is for assessors. `unread` has the files
    of `UNREAD` by their keys.
    """

    slug: str
    name: str
    kind: TaskKind
    topics: tuple[TopicRecord, ...] | None
    topic_info: TopicInfo
    threads: Mapping[str, str]
    qrels: tuple[QrelsFile, ...]
    answer_ids: pl.DataFrame | None
    protocol: TaskProtocol
    overrides: Mapping[str, object]
    opens: datetime | None
    deadline: datetime | None
    judging_deadline: datetime | None
    judging: JudgingRules = NO_RULES
    published_runs: PublishedRuns | None = None
    runs: SourceFolder | None = None
    unread: Mapping[str, SourcePath] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class LabFile:
    """A lab. Times have a zone; a task without one of them has that of the lab."""

    slug: str
    name: str
    protocol: Protocol
    opens: datetime | None
    deadline: datetime | None
    judging_deadline: datetime | None
    collection: CollectionFile | None
    tasks: tuple[TaskFile, ...]


class _Head(NamedTuple):
    slug: str | None = None
    name: str | None = None
    protocol: Protocol | None = None
    dates: LabDates = LabDates()


def read_lab(folder: SourceFolder) -> LabFile:
    """Return the lab in a folder. Raise FileRefusedError with every problem of all its files."""
    mistakes = Mistakes(folder)
    root = mistakes.read_root()
    table = root.table("collection", required=False)
    collection = None if table is None else read_collection_table(table)
    lab = _lab(root, collection)
    root.close()
    mistakes.refuse_any()
    if lab is None:
        raise AssertionError("A lab without problems has all its parts.")
    return lab


def _lab(root: LabTable, collection: CollectionFile | None) -> LabFile | None:
    head = _head(root.table("lab"))
    tables = root.tables("tasks")
    tasks = [task for table in tables if (task := _task(table, head)) is not None]
    _check_distinct(tables, "slug")
    if head.slug is None or head.name is None or head.protocol is None:
        return None
    return LabFile(head.slug, head.name, head.protocol, *head.dates, collection, tuple(tasks))


def _head(table: LabTable | None) -> _Head:
    if table is None:
        return _Head()
    head = _Head(
        slug=table.take("slug", slug_text),
        name=table.text("name"),
        protocol=table.take("protocol", _one_in(PROTOCOLS)),
        dates=read_dates(table, LabDates()),
    )
    table.close()
    return head


def _task(table: LabTable, head: _Head) -> TaskFile | None:
    slug, name = table.take("slug", slug_text), table.text("name")
    kind = table.take("kind", _one_in({kind.value: kind for kind in TaskKind}))
    preset = None if head.protocol is None or kind is None else _preset(table, head.protocol, kind)
    overrides = _overrides(table)
    rules = None if preset is None else _overridden(table, preset, overrides)
    dates = read_dates(table, head.dates)
    facts = TaskFacts(kind, rules.labels if rules else None)
    topics = table.named_content(TOPICS, facts)
    info = table.named_content(TOPIC_INFO)
    threads = table.named_content(TOPIC_FORMULAS) or {}
    if topics is not None:
        facts = facts._replace(topics={topic.query_id for topic in topics})
    answer_ids = take_answer_ids(table, facts)
    tables = table.tables(QRELS.key, required=False)
    read = (take_qrels(qrels_table, rules, facts) for qrels_table in tables)
    qrels = tuple(file for file in read if file is not None)
    _check_distinct(tables, "name")
    judging = take_judging_rules(table, rules.labels if rules else None)
    choices = {choice.value: choice for choice in PublishedRuns}
    published = table.take("published_runs", _one_in(choices), None)
    runs = table.named_content(RUNS)
    named = {kind.key: table.file(kind.key, required=False) for kind in UNREAD}
    table.close(*OVERRIDABLE)
    if slug is None or name is None or kind is None or rules is None:
        return None
    return TaskFile(
        slug,
        name,
        kind,
        None if topics is None else tuple(topics),
        info or {},
        threads_of([topic.query_id for topic in topics or ()], threads),
        qrels,
        answer_ids,
        rules,
        overrides,
        *dates,
        judging,
        published,
        runs,
        {key: file for key, file in named.items() if file is not None},
    )


def take_qrels(table: LabTable, rules: TaskProtocol | None, task: TaskFacts) -> QrelsFile | None:
    """Return a version of qrels from its table, or None with its problems; they are noted."""
    name, file = table.text("name", most=50), table.file("file")
    protocol = rules or TaskProtocol()
    items = table.take("items", item_kind, protocol.items) or protocol.items
    file_scale = take_scale(table)
    default = (
        protocol.relevant_from
        if file_scale is None or file_scale.relevant_from is None
        else file_scale.relevant_from
    )
    relevant_from = table.take("relevant_from", whole_number, default) or default
    table.close("labels")
    # Without a known scale, labels cannot be checked.
    scale = file_scale.scale if file_scale else task.labels
    if scale is not None and (file_scale is not None or "relevant_from" in table):
        check_relevant(table, scale, relevant_from)
    frame = table.content(file, QRELS, task._replace(labels=scale))
    if file is None or frame is None or name is None:
        return None
    return QrelsFile(name, file.path, frame, items, scale or protocol.labels, relevant_from)


def _overrides(table: LabTable) -> dict[str, object]:
    """Return the protocol fields that the task overrides, but for an invalid scale."""
    others = [field for field in OVERRIDABLE if field in table and field != "labels"]
    overrides = {field: table.take(field, lambda value: value) for field in others}
    if (scale := take_scale(table)) is not None:
        overrides["labels"] = scale.written
    return overrides


def _preset(table: LabTable, protocol: Protocol, kind: TaskKind) -> TaskProtocol | None:
    preset = protocol.tasks.get(kind)
    if preset is None:
        expected = f"a kind of task in {protocol.slug}: {', '.join(protocol.tasks)}"
        table.mistake("kind", f"a task of kind {kind}", expected, "Choose another kind.")
    return preset


def _overridden(
    table: LabTable, preset: TaskProtocol, overrides: Mapping[str, object]
) -> TaskProtocol:
    try:
        rules = with_overrides(preset, overrides)
        check_relevant(table, rules.labels, rules.relevant_from)
        return rules
    except OverrideRefusedError as error:
        for field, sentence in error.refused.items():
            table.mistake(field, *sentence)
        return preset


def _check_distinct(tables: list[LabTable], key: str) -> None:
    earlier: set[str] = set()
    for table in tables:
        value = table.value(key)
        if isinstance(value, str):
            if value in earlier:
                todo = f"Choose another {key}."
                table.mistake(key, f"the {key} {value} again", f"each {key} once", todo)
            earlier.add(value)


def _one_in(values: Mapping[str, T]) -> Callable[[object], T]:
    return lambda value: values[one_of(*values)(value)]

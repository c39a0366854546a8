"""The kinds of files of a task: one table that every way in and out of a lab asks.

A lab folder names them in its lab.toml, an archive is such a folder, a download is one file of an
archive, and a load in the browser is a folder with one file. Each kind has one reader, so that each
way refuses the same files in the same words.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import polars as pl

from arqkit.formats.archives.folders import SourceFolder, SourcePath
from arqkit.formats.assignments import AssignmentRow, read_assignments
from arqkit.formats.qrels.judgments import JudgedLine, read_judgments
from arqkit.formats.qrels.read import read_qrels
from arqkit.formats.runs.filename import read_answer_ids
from arqkit.formats.source_text import source_text
from arqkit.formats.topics.files import read_topic_threads, read_topics
from arqkit.formats.topics.information import TopicInfo, read_topic_info
from arqkit.labels import LabelScale
from arqkit.protocols.scales import ARQMATH
from arqkit.records import FileRefusedError, Problem, TaskKind, TopicRecord

T = TypeVar("T")
Content = TypeVar("Content", covariant=True)

LONGEST_GUIDELINES = 50_000  # characters


class TaskFacts(NamedTuple):
    """What the files of a task are checked against. What is None is not checked."""

    kind: TaskKind | None = None
    labels: LabelScale | None = None
    topics: Collection[str] | None = None


UNCHECKED = TaskFacts()


@dataclass(frozen=True, eq=False)
class TaskFileKind(Generic[Content]):
    """A kind of file of a task.

    - key: its key in a table of tasks of a lab.toml, and its field in a load in the browser.
    - name: its name in archives and among downloads; * stands for the name of one of several.
    - contents: its formats, for people.
    - read: how the file at a path is read, which its problems name. Raises FileRefusedError.
    - needs: the key of the kind that must be beside it in a lab.toml.
    - is_folder: whether it is a folder of files.
    - is_named: whether the lab.toml of an archive names it. What belongs to people and pools of a
      server comes back with the tables of the archive, or with a line in its lab.toml.
    """

    key: str
    name: str
    contents: str
    read: Callable[[SourcePath, str, TaskFacts], Content]
    needs: str = ""
    is_folder: bool = False
    is_named: bool = True

    @property
    def sentence(self) -> str:
        """Return the formats as a sentence."""
        return f"{self.contents[0].upper()}{self.contents[1:]}."


def _guidelines(file: SourcePath, path: str, _: TaskFacts) -> str:
    text = source_text(file.content(), path=path)
    if not 0 < len(text.strip()) <= LONGEST_GUIDELINES:
        expected = f"a text of at most {LONGEST_GUIDELINES:,} characters"
        raise FileRefusedError.of(
            path, "a text that is empty or too long", expected, "Edit the file."
        )
    return text


def _without_problems(read: tuple[T, list[Problem]]) -> T:
    rows, problems = read
    if problems:
        raise FileRefusedError(problems)
    return rows


TOPICS: TaskFileKind[list[TopicRecord]] = TaskFileKind(
    "topics",
    "topics.xml",
    "the labs' XML, or NTCIR's two columns",
    lambda file, path, task: read_topics(
        file.content(), path=path, formulas=task.kind is TaskKind.FORMULAS
    ),
)
TOPIC_INFO: TaskFileKind[TopicInfo] = TaskFileKind(
    "topic_info",
    "topic-info.csv",
    "CSV or JSON: category, difficulty, dependency",
    lambda file, path, _: read_topic_info(file.content(), path=path),
    needs="topics",
)
TOPIC_FORMULAS: TaskFileKind[dict[str, str]] = TaskFileKind(
    "topic_formulas",
    "topic-formulas.tsv",
    "the index of the topics' formulas (TSV, gz, bz2), which names the thread of each topic",
    lambda file, _path, _task: read_topic_threads(file.path),
    needs="topics",
)
ANSWER_IDS: TaskFileKind[pl.DataFrame] = TaskFileKind(
    "answer_ids",
    "answer-ids.tsv",
    "TSV without a header: run file, topic, answer id",
    lambda file, path, task: read_answer_ids(file.content(), path=path, topics=task.topics),
)
QRELS: TaskFileKind[pl.DataFrame] = TaskFileKind(
    "qrels",
    "qrels.*.tsv",
    "lines of topic, 0, item and label, separated by tabs or spaces",
    lambda file, path, task: read_qrels(
        file.content(), path=path, scale=task.labels, topics=task.topics
    ),
)
GUIDELINES: TaskFileKind[str] = TaskFileKind(
    "guidelines", "guidelines.html", "HTML with LaTeX", _guidelines
)
JUDGMENTS: TaskFileKind[list[JudgedLine]] = TaskFileKind(
    "judgments",
    "judgments-with-names.tsv",
    "TSV with the columns topic, item and label; results of Turkle; qrels",
    lambda file, path, task: _without_problems(
        read_judgments(file.content(), path=path, scale=task.labels or ARQMATH)
    ),
    is_named=False,
)
ASSIGNMENTS: TaskFileKind[list[AssignmentRow]] = TaskFileKind(
    "assignments",
    "assignments.tsv",
    "CSV or TSV: a topic and an assessor",
    lambda file, path, _: _without_problems(read_assignments(file.content(), path=path)),
    is_named=False,
)
RUNS: TaskFileKind[SourceFolder] = TaskFileKind(
    "runs",
    "runs",
    "a folder of run files, with a manifest.tsv or metadata.csv or with the papers' names",
    lambda folder, _path, _task: SourceFolder(folder.path),
    is_folder=True,
    is_named=False,
)
TASK_FILES: Mapping[str, TaskFileKind[object]] = {
    kind.key: kind
    for kind in (
        TOPICS,
        TOPIC_INFO,
        TOPIC_FORMULAS,
        ANSWER_IDS,
        QRELS,
        GUIDELINES,
        RUNS,
        ASSIGNMENTS,
        JUDGMENTS,
    )
}

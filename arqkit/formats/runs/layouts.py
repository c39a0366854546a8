"""The declarations of the formats of run files (protocol §4)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from arqkit.formats.runs.report import RunRules
from arqkit.records import ItemKind, TaskKind


class Layout(NamedTuple):
    """A format of run files.

    `columns` are their columns by the names of `RunTable.rows`; others are read and ignored. The
    columns topic, rank, score and tag are required, but `fill` may hold the value of a column that
    the file does not have. `titles` are the names of the columns in the lab's guidelines, `kinds`
    the tasks that take the format, `items` the kind of its items (None if the task decides), and
    `quoted` files may have quoted cells that span lines.
    """

    format: str
    name: str
    columns: tuple[str, ...]
    titles: str
    kinds: tuple[TaskKind, ...]
    items: ItemKind | None = None
    quoted: bool = False
    fill: Mapping[str, str] = MappingProxyType({})

    def __str__(self) -> str:
        """Return the name of the format and of its columns."""
        return f"{self.name} ({len(self.columns)} columns: {self.titles})"


TASK1 = Layout(
    "arqmath-task1",
    "ARQMath Task 1",
    ("topic", "item", "rank", "score", "tag"),
    "Query_Id, Post_Id, Rank, Score, Run_Number",
    kinds=(TaskKind.ANSWERS,),
    items=ItemKind.POSTS,
)
TASK2 = Layout(
    "arqmath-task2",
    "ARQMath Task 2",
    ("topic", "item", "post", "rank", "score", "tag"),
    "Query_Id, Formula_Id, Post_Id, Rank, Score, Run_Number",
    kinds=(TaskKind.FORMULAS,),
    items=ItemKind.FORMULA_IDS,
)
TASK3 = Layout(
    "arqmath-task3",
    "ARQMath Task 3",
    ("topic", "rank", "score", "tag", "sources", "answer"),
    "Query_Id, Rank, Score, Run_Number, Sources, Answer",
    kinds=(TaskKind.GENERATED_ANSWERS,),
    items=ItemKind.ANSWERS,
    quoted=True,
)
# For tasks whose answers have ids in a file of the lab: the runs as published, without their texts.
TASK3_IDS = Layout(
    "arqmath-task3-ids",
    "ARQMath Task 3 without answers",
    ("topic", "rank", "score", "tag"),
    "Query_Id, Rank, Score, Run_Number",
    kinds=(TaskKind.GENERATED_ANSWERS,),
    items=ItemKind.ANSWERS,
)
TREC = Layout(
    "trec",
    "TREC",
    ("topic", "q0", "item", "rank", "score", "tag"),
    "topic, Q0, docno, rank, score, tag",
    kinds=(TaskKind.ANSWERS, TaskKind.FORMULAS, TaskKind.DOCUMENTS),
)
# No task accepts this format, but the repair turns it into a run of Task 3.
TWO_COLUMNS = Layout(
    "unknown",
    "topic and answer",
    ("topic", "answer"),
    "topic, answer",
    kinds=(),
    items=ItemKind.ANSWERS,
    quoted=True,
    fill={"rank": "1", "score": "1.0", "tag": "run", "sources": ""},
)
FORMATS = (TASK1, TASK2, TASK3, TASK3_IDS, TREC, TWO_COLUMNS)
UNKNOWN = Layout("unknown", "an unknown format", (), "", kinds=())


def known_formats(rules: RunRules) -> list[Layout]:
    """Return the formats that files of a task are recognized by."""
    return [layout for layout in FORMATS if layout is not TASK3_IDS or rules.has_answer_ids]


def taken_formats(rules: RunRules) -> list[Layout]:
    """Return the formats that a task takes."""
    taken = [layout for layout in known_formats(rules) if rules.kind in layout.kinds]
    return [TREC] if rules.trec_only and TREC in taken else taken


def wanted_formats(rules: RunRules) -> str:
    """Return the names of the formats that a task takes."""
    return " or ".join(map(str, taken_formats(rules)))

"""A run with a slip of its program is read in its own format, and the slip is named."""

import json

import pytest

from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.repair import repaired_run
from arqkit.formats.runs.report import RunReport, RunRules
from arqkit.records import ItemKind, TaskKind

TOPICS = ("A.301", "A.302", "26")
TASKS = {
    "arqmath-task1": RunRules(TaskKind.ANSWERS, TOPICS),
    "arqmath-task2": RunRules(TaskKind.FORMULAS, TOPICS, items=ItemKind.FORMULA_IDS),
    "trec": RunRules(TaskKind.DOCUMENTS, TOPICS, items=ItemKind.DOCUMENTS),
}
"""The rules of a task of each kind, by the format of its runs."""
Rows = list[list[str]]


def rows_of(layout: str) -> Rows:
    """Return a run without faults: five items for each topic."""
    rows = []
    for number, topic in enumerate(TOPICS):
        for rank in range(1, 6):
            item = str(1000 + 10 * number + rank * 7)
            before = {"arqmath-task2": [item, "9" + item], "trec": ["Q0", item]}.get(layout, [item])
            rows.append([topic, *before, str(rank), f"{10 - rank / 2}", "ours"])
    return rows


def joined(rows: Rows, mark: str = "\t") -> str:
    return "".join(mark.join(cells) + "\n" for cells in rows)


def numbered(rows: Rows, first: int = 0) -> Rows:
    return [[str(number), *cells] for number, cells in enumerate(rows, start=first)]


def names(rows: Rows) -> list[str]:
    return list("abcdef")[: len(rows[0])]


def written_by_r(rows: Rows) -> str:
    """Return what `write.table` of R writes: quoted texts, and one name less than columns."""
    quoted = [
        [f'"{cell}"' if not cell.replace(".", "").isdigit() else cell for cell in cells]
        for cells in rows
    ]
    body = joined([[f'"{number}"', *row] for number, row in enumerate(quoted, 1)], " ")
    return " ".join(f'"{name}"' for name in names(rows)) + "\n" + body


def with_tag(rows: Rows, tag: str) -> Rows:
    return [[*cells[:-1], tag] for cells in rows]


SLIPS = {
    "a trailing tab": ("trailing-separator", lambda rows: joined([[*row, ""] for row in rows])),
    "some trailing tabs": (
        "trailing-separator",
        lambda rows: joined([[*row, ""] if row[-3] == "3" else row for row in rows]),
    ),
    "percent": (
        "score-percent",
        lambda rows: joined([[*row[:-2], f"{row[-2]}%", row[-1]] for row in rows]),
    ),
    "no tag": ("missing-tag", lambda rows: joined([row[:-1] for row in rows])),
    "no tag, spaces": ("missing-tag", lambda rows: joined([row[:-1] for row in rows], " ")),
    "two words": ("tag-of-words", lambda rows: joined(with_tag(rows, "best run"), " ")),
    "three words": ("tag-of-words", lambda rows: joined(with_tag(rows, "my best run"), " ")),
    "pandas": ("row-numbers", lambda rows: joined(numbered(rows))),
    "pandas with names": (
        "row-numbers",
        lambda rows: joined([["", *names(rows)], *numbered(rows)]),
    ),
    "pandas CSV": ("row-numbers", lambda rows: joined([["", *names(rows)], *numbered(rows)], ",")),
    "pandas without tag": (
        "missing-tag",
        lambda rows: joined([["", *names(rows)[:-1]], *(row[:-1] for row in numbered(rows))]),
    ),
    "R": ("row-numbers", written_by_r),
}


def check(text: str, layout: str) -> RunReport:
    return check_run(text.encode(), TASKS[layout])


@pytest.mark.parametrize("layout", TASKS)
@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_named_in_the_format_of_the_task_and_repaired(slip: str, layout: str) -> None:
    kind, damaged = SLIPS[slip]
    text = damaged(rows_of(layout))

    report = check(text, layout)
    kinds = {problem.kind for problem in report.problems}
    repaired = check((repaired_run(text.encode(), TASKS[layout]) or b"").decode(), layout)

    assert report.format == layout
    assert kind in kinds
    assert kinds <= {kind, "row-numbers", "header-line", "separator"}
    wanted = check(joined(rows_of(layout)), layout).index
    assert wanted is not None
    assert wanted.equals(repaired.index)


def test_a_tag_of_words_between_tabs_is_a_tag() -> None:
    assert check(
        joined(with_tag(rows_of("arqmath-task2"), "my best run")), "arqmath-task2"
    ).is_valid


@pytest.mark.parametrize("layout", TASKS)
def test_a_slip_lists_each_line_with_what_was_expected(layout: str) -> None:
    [problem] = check(joined([row[:-1] for row in rows_of(layout)]), layout).problems

    assert problem.count == 15
    assert problem.first[4]["line"] == 5
    assert problem.first[4]["expected"] == problem.first[4]["found"] + "\trun"


ENTRIES = [{"qid": row[0], "docid": row[1], "score": 1.5} for row in rows_of("arqmath-task1")]
AS_JSON = {
    "JSON lines": "".join(json.dumps(entry) + "\n" for entry in ENTRIES),
    "JSON": json.dumps(ENTRIES, indent=1),
}


@pytest.mark.parametrize("layout", TASKS)
@pytest.mark.parametrize("form", AS_JSON)
def test_json_is_named_with_its_keys(form: str, layout: str) -> None:
    [problem] = check(AS_JSON[form] + "\n", layout).problems

    assert f"The file is {form} with the keys `qid`, `docid`, `score`." in problem.message

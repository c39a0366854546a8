"""For every repairable damage of every real run, the repaired ranking equals the undamaged one."""

import gzip
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import groupby, islice

import polars as pl
import pytest

from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.lines import records, write_record
from arqkit.formats.runs.repair import repaired_run
from arqkit.formats.runs.report import KINDS, RunRules
from arqkit.records import ItemKind, TaskKind
from tests.real_data import DATA, needs_data

pytestmark = needs_data
Rows = list[list[str]]
REPAIRABLE = [kind for kind, words in KINDS.items() if "repair" in words]
LISTS = sorted(DATA.glob("*/runs/**/*.gz"))
ANSWERS = sorted(DATA.glob("*/task3-answers/*.tsv"))
TOPICS, ROWS = 3, 60  # of each real run


@cache
def cells_of(path) -> Rows:
    """Return the first rows of the first topics of a real run, as cells."""
    if path in ANSWERS:
        pairs = (record.cells for record in records(path.read_text("utf-8")) if record.cells)
        return [[pair[0], "1", "1.0", "run", "", pair[1]] for pair in islice(pairs, TOPICS)]
    text = gzip.decompress(path.read_bytes()).decode()
    lines = (line.split("\t") if "\t" in line else line.split() for line in text.splitlines())
    topics = islice(groupby(lines, lambda cells: cells[0]), TOPICS)
    return [cells for _, rows in topics for cells in islice(rows, ROWS)]


def rules_of(path, rows: Rows, order: str) -> RunRules:
    """Return rules that the undamaged rows keep exactly."""
    sizes = [sum(cells[0] == topic for cells in rows) for topic in {cells[0] for cells in rows}]
    kind = TaskKind.FORMULAS if "task2" in path.name or "ntcir" in str(path) else TaskKind.ANSWERS
    rules = RunRules(kind, limit=max(sizes), order=order, max_characters=10**6)
    if path in ANSWERS:
        return replace(rules, kind=TaskKind.GENERATED_ANSWERS)
    if has_posts(rows):
        homes = {cells[1]: cells[2] for cells in rows}
        columns = {"formula_id": list(homes), "post_id": list(homes.values())}
        formulas = pl.DataFrame(columns).with_columns(visual_id=pl.lit(None, pl.String))
        return replace(rules, items=ItemKind.FORMULA_IDS, formulas=formulas)
    return rules


def has_posts(rows: Rows) -> bool:
    """Return whether the rows have formulas with their posts, as in ARQMath Task 2."""
    return len(rows[0]) == 6 and rows[0][1].isdigit() and len(rows[0][1]) > 1


def file(rows: Rows, *, mark: str = "\t", end: str = "\n") -> bytes:
    """Return rows as a file."""
    lines = (write_record(cells) if mark == "\t" else mark.join(cells) for cells in rows)
    return "".join(line + end for line in lines).encode()


def with_ranks(rows: Rows, new: Callable[[int, int], object]) -> bytes:
    """Return rows with new ranks: `new` has the old one and the number of the row."""
    at = 1 if is_answers(rows) else -3
    changed = [list(cells) for cells in rows]
    for number, cells in enumerate(changed):
        cells[at] = str(new(int(cells[at]), number))
    return file(changed)


def is_answers(rows: Rows) -> bool:
    return rows[0][4] == ""


def below(rows: Rows, *, item: str | None = None) -> list[str]:
    """Return a row below all others of its topic, by rank and by score."""
    topic = max((cells[0] for cells in rows), key=[cells[0] for cells in rows].count)
    own = [cells for cells in rows if cells[0] == topic]
    rank, score = (1, 2) if is_answers(rows) else (-3, -2)
    worst = list(own[0])
    worst[rank] = str(max(int(cells[rank]) for cells in own) + 1)
    worst[score] = str(min(float(cells[score]) for cells in own) - 1)
    if item:
        worst[1 if has_posts(rows) else -4] = item
    return worst


def without_comma(rows: Rows) -> str:
    return ";" if any("," in cell for cells in rows for cell in cells) else ","


def comma_scores(rows: Rows) -> bytes:
    at = 2 if is_answers(rows) else -2
    return file([[*c[:at], c[at].replace(".", ","), *c[at:][1:]] for c in rows])


def percent_scores(rows: Rows) -> bytes:
    at = 2 if is_answers(rows) else -2
    return file([[*c[:at], f"{c[at]}%", *c[at:][1:]] for c in rows])


def with_words(rows: Rows) -> bytes:
    """Return rows with spaces between the columns, and with a run tag of two words."""
    return file([[*cells[:-1], "my run"] for cells in rows], mark=" ")


LIST_DAMAGE: dict[str, Callable[[Rows], bytes]] = {
    "bom": lambda rows: b"\xef\xbb\xbf" + file(rows),
    "cr": lambda rows: file(rows, end="\r"),
    "separator": lambda rows: file(rows, mark=without_comma(rows)),
    "header-line": lambda rows: file([["Query_Id", *rows[0][1:]], *rows]),
    "padded-cells": lambda rows: file([[f" {cell} " for cell in cells] for cells in rows]),
    "blank-lines": lambda rows: b"\n".join([*file(rows[:5]).splitlines(), b"", file(rows[5:])]),
    "duplicate-item": lambda rows: file([*rows, below(rows)]),
    "over-limit": lambda rows: file([*rows, below(rows, item="1")]),
    "rank-not-integer": lambda rows: with_ranks(
        rows, lambda rank, number: "x" if number % 7 == 3 else rank
    ),
    "rank-below-1": lambda rows: with_ranks(rows, lambda rank, _: rank - 1),
    "rank-start": lambda rows: with_ranks(rows, lambda rank, _: rank + 5),
    "rank-repeated": lambda rows: with_ranks(rows, lambda rank, _: rank - (rank == 2)),
    "rank-jump": lambda rows: with_ranks(rows, lambda rank, _: rank + 5 * (rank > 1)),
    "rank-against-score": lambda rows: with_ranks(
        rows, lambda rank, _: 3 - rank if rank < 3 else rank
    ),
    "score-decimal-comma": comma_scores,
    "score-percent": percent_scores,
}
RANKED_DAMAGE: dict[str, Callable[[Rows], bytes]] = {
    "row-numbers": lambda rows: file([[str(n), *cells] for n, cells in enumerate(rows)]),
    "missing-tag": lambda rows: file([cells[:-1] for cells in rows]),
    "tag-of-words": with_words,
    "trailing-separator": lambda rows: file([[*cells, ""] for cells in rows]),
}
"""What only ranked lists have."""
FORMULA_DAMAGE = {
    "wrong-post": lambda rows: file([*rows, [rows[0][0], rows[1][1], "0", *rows[0][3:]]])
}
ANSWER_DAMAGE = {
    "two-columns": lambda rows: file([[cells[0], cells[5]] for cells in rows]),
    "two-answers": lambda rows: file([*rows, below(rows)]),
}


def damaged_runs(kind: str, order: str) -> Iterator[tuple[Rows, bytes, RunRules]]:
    """Yield every real run that can be so damaged: its rows, its damaged file and its rules."""
    for path in [*LISTS, *ANSWERS]:
        rows = cells_of(path)
        damage = ANSWER_DAMAGE if path in ANSWERS else LIST_DAMAGE | RANKED_DAMAGE
        damage = damage | FORMULA_DAMAGE if has_posts(rows) else damage
        if kind in damage:
            yield rows, damage[kind](rows), rules_of(path, rows, order)


def ranking(data: bytes, rules: RunRules) -> pl.DataFrame | None:
    """Return the ranking of a run, or None if it is refused."""
    index = check_run(data, rules).index
    return None if index is None else index.select("topic", "item", "order")


@pytest.mark.parametrize("order", ["score", "rank"])
@pytest.mark.parametrize("kind", REPAIRABLE)
def test_a_repaired_run_has_the_ranking_of_the_undamaged_run(kind, order):
    runs = list(damaged_runs(kind, order))
    assert runs, f"Write a damage that {kind} repairs."

    for rows, damaged, rules in runs:
        problems = {group.kind: group for group in check_run(damaged, rules).problems}
        repaired = repaired_run(damaged, rules)
        if problems[kind].is_repairable:
            assert ranking(repaired, rules).equals(ranking(file(rows), rules))
        else:
            assert order == "rank"
            result = ranking(damaged, rules)
            assert repaired is None or ranking(repaired, rules).equals(result)


@cache
def whole_run(name: str) -> Rows:
    """Return the first topics of a real run of Task 1, in the columns of Task 1."""
    rows = cells_of(next(path for path in LISTS if name in path.name))
    return [[cells[0], *cells[-4:]] for cells in rows]


def test_swapped_ranks_and_scores_of_a_real_run_are_named_and_left_as_they_are():
    for path in LISTS:
        rows = cells_of(path)
        swapped = file([[*cells[:-3], cells[-2], cells[-3], cells[-1]] for cells in rows])
        rules = rules_of(path, rows, "score")
        report = check_run(swapped, rules)

        assert [group.kind for group in report.problems if group.severity == "error"] == [
            "swapped-columns"
        ], path.name
        assert "Rank and score look swapped in " in report.problems[0].message
        assert ranking(repaired_run(swapped, rules) or swapped, rules) is None


def test_whole_scores_that_are_swapped_with_ranks_are_named_too():
    rows = [["A.1", str(item), str(90 - 3 * item), str(item), "t"] for item in range(1, 9)]
    report = check_run(file(rows), RunRules(TaskKind.ANSWERS))

    assert [group.kind for group in report.problems] == ["swapped-columns"]


@pytest.mark.parametrize("other", ["PSU-task1-PSU2", "MathDowsers", "MIRMU-task1"])
def test_two_real_runs_in_one_file_are_named_and_never_blended(other):
    both = file([*whole_run("PSU1"), *whole_run(other)])
    rules = RunRules(TaskKind.ANSWERS)
    report = check_run(both, rules)

    assert [group.kind for group in report.problems if group.severity == "error"] == ["two-runs"]
    assert report.problems[0].message.startswith("This file holds two runs or more")
    assert ranking(repaired_run(both, rules) or both, rules) is None


def test_two_real_runs_with_the_same_tag_are_never_blended():
    rows = [*whole_run("PSU1"), *whole_run("mlt.no_stopword")]
    both = file([[*cells[:-1], "t"] for cells in rows])
    rules = RunRules(TaskKind.ANSWERS)
    problems = {group.kind: group for group in check_run(both, rules).problems}

    assert "The file seems to hold two runs" in problems["two-lists"].message
    assert not any(group.is_repairable for group in problems.values())
    assert repaired_run(both, rules) is None


@pytest.mark.parametrize("name", ["PSU1", "PSU-task1-PSU2", "MathDowsers"])
def test_a_run_that_was_appended_to_itself_is_repaired_to_one(name):
    rows, rules = whole_run(name), RunRules(TaskKind.ANSWERS)

    repaired = repaired_run(file([*rows, *rows]), rules)

    assert ranking(repaired, rules).equals(ranking(file(rows), rules))


def test_a_comma_that_may_mark_thousands_is_left_to_the_team():
    lines = [["A.1", "7", "1", "1,234", "t"], ["A.1", "8", "2", "987", "t"]]
    rules = RunRules(TaskKind.ANSWERS)

    assert repaired_run(file(lines), rules) is None
    lines[1][3] = "0,987"
    assert b"1.234" in repaired_run(file(lines), rules)


def test_commas_that_may_be_separators_or_decimal_commas_are_left_to_the_team():
    data = b"A.1,7,1,2,5,t\nA.1,8,2,1,5,t\n"
    report = check_run(data, RunRules(TaskKind.ANSWERS))

    assert not report.is_valid
    assert not any(group.is_repairable for group in report.problems)
    assert repaired_run(data, RunRules(TaskKind.ANSWERS)) is None


def test_a_rank_that_may_be_a_score_is_not_replaced():
    rows = whole_run("PSU1")
    row = [*rows[7][:-3], rows[7][-2], rows[7][-3], rows[7][-1]]  # one row with swapped columns

    assert repaired_run(file([*rows[:7], row, *rows[8:]]), RunRules(TaskKind.ANSWERS)) is None


def test_of_two_answers_with_equal_scores_none_is_dropped():
    rows = [["A.1", "1", "1.0", "t", "", "one"], ["A.1", "2", "1.0", "t", "", "two"]]
    rules = RunRules(TaskKind.GENERATED_ANSWERS, limit=1)

    assert repaired_run(file(rows), rules) is None

"""A run file is checked by all rules of its task, and every problem has its line."""

import gzip
import random
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.repair import repaired_run
from arqkit.formats.runs.report import RunReport, RunRules
from arqkit.ranking import with_order
from arqkit.records import ItemKind, Severity, TaskKind
from tests.real_data import DATA, needs_data

TOPICS = ("A.1", "A.2", "A.3")
RULES = RunRules(TaskKind.ANSWERS, TOPICS, limit=20)


def task1_lines(size: int = 20) -> list[str]:
    return [
        f"{topic}\t{100 + rank}\t{rank}\t{50 - rank}.5\tbm25"
        for topic in TOPICS
        for rank in range(1, size + 1)
    ]


def found(report: RunReport) -> dict[str, list[int | None]]:
    return {group.kind: group.occurrences["line"].to_list() for group in report.problems}


def check(lines: list[str], rules: RunRules = RULES, **options: ItemKind) -> RunReport:
    return check_run("".join(f"{line}\n" for line in lines).encode(), rules, **options)


def test_a_good_run_has_no_problem_and_an_index():
    report = check(task1_lines())

    assert report.is_valid
    assert report.problems == ()
    assert (report.format, report.items, report.lines, report.rows, report.topics) == (
        "arqmath-task1",
        ItemKind.POSTS,
        60,
        60,
        3,
    )
    assert report.run_tags == ("bm25",)


def test_a_null_byte_hides_no_other_problem():
    lines = task1_lines()
    lines[1] = lines[1].replace("102", "10\x002")
    lines[4] = lines[4].replace("45.5", "45,5\0")
    lines[8] = lines[8].replace("109", "108")
    report = check(lines)

    wrong = {"null-byte": [2, 5], "score-decimal-comma": [5], "duplicate-item": [9]}
    assert found(report) == wrong
    assert not any(group.is_repairable for group in report.problems)
    assert repaired_run("\n".join(lines).encode(), RULES) is None


def test_the_index_has_the_columns_that_others_build_on():
    index = check(task1_lines()).index

    assert dict(index.schema) == {
        "topic": pl.String,
        "item": pl.String,
        "post": pl.String,
        "rank": pl.Int64,
        "score": pl.Float64,
        "order": pl.Int32,
    }
    assert index.equals(index.sort("topic", "order"))


def test_a_refused_run_has_no_index():
    report = check([*task1_lines(), "A.9\t1\t1\t1.0\tbm25"])

    assert not report.is_valid
    assert report.index is None


def test_the_submitted_rank_orders_the_index_where_the_task_requires_it():
    lines = ["A.1\t1\t1\t1.0\tt", "A.1\t2\t2\t2.0\tt"]

    assert check(lines).index["item"].to_list() == ["2", "1"]
    assert check(lines, RunRules(TaskKind.ANSWERS, TOPICS, order="rank")).index[
        "item"
    ].to_list() == ["1", "2"]


# What is written into a cell of a good line, and what is then reported of that line. The cells:
# topic, item, rank, score, tag.
FAULTS = {
    "unknown-topic": (0, "B.1"),
    "empty-item": (1, ""),
    "rank-not-integer": (2, "1_000"),
    "score-not-a-number": (3, "1_000"),
    "score-nan": (3, "NaN"),
    "score-infinite": (3, "-inf"),
    "score-out-of-range": (3, "1e39"),
    "score-decimal-comma": (3, "SCORE"),
    "several-tags": (4, "other"),
    "empty-tag": (4, ""),
    "padded-cells": (4, "bm25 "),
    "columns": (4, "bm25\tmore"),
    "rank-against-score": (3, "1000"),
}


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_every_planted_fault_is_reported_with_its_line(
    chance: random.Random, end: str, has_blank: bool
):
    lines = task1_lines()
    # Not the first of a topic: it has no rank before it to contradict. Not side by side: each has a
    # good line before it.
    places = chance.sample([index for index in range(1, 60, 2) if index % 20], len(FAULTS))
    planted = dict(zip(FAULTS, places, strict=True))
    for kind, index in planted.items():
        cells = lines[index].split("\t")
        position, value = FAULTS[kind]
        cells[position] = value.replace("SCORE", cells[position].replace(".", ","))
        lines[index] = "\t".join(cells)
    for index in sorted(planted.values(), reverse=True)[:has_blank]:
        lines.insert(index + 1, " ")
        planted["blank-lines"] = index + 1
    report = check_run((end.join(lines) + end).encode(), RULES)

    for kind, index in planted.items():
        assert index + 1 in found(report)[kind], kind
        assert len(found(report)[kind]) == 1, kind


def test_a_duplicate_is_reported_at_its_later_line_and_names_the_first():
    lines = task1_lines()
    lines[7] = lines[7].replace("\t108\t", "\t103\t")
    group = check(lines).problems[0]

    assert (group.kind, group.severity, group.count) == ("duplicate-item", Severity.ERROR, 1)
    assert group.occurrences.row(0) == (8, "A.1", "103", "the item once; it is already on line 3")


def test_ranks_that_start_late_repeat_and_jump_are_warnings():
    ranks = [2, 3, 3, 5]
    report = check([f"A.1\t{index}\t{rank}\t{9 - index}\tt" for index, rank in enumerate(ranks)])

    assert found(report) == {
        "missing-topic": [None, None],
        "rank-start": [1],
        "rank-repeated": [3],
        "rank-jump": [4],
    }
    assert report.is_valid


@pytest.mark.parametrize("by", ["order", "pooling_order"])
def test_repeated_ranks_are_errors_where_ranks_count(by):
    rules = RunRules(TaskKind.ANSWERS, ("A.1",), **{by: "rank"})
    report = check(["A.1\t1\t1\t2\tt", "A.1\t2\t1\t1\tt"], rules)

    assert [(group.kind, group.severity) for group in report.problems] == [
        ("rank-repeated", Severity.ERROR)
    ]


def test_a_line_that_is_lost_is_not_missed_in_the_ranks():
    lines = task1_lines()
    lines[4] = "A.1 something else"

    assert found(check(lines)) == {"columns": [5]}


def test_more_items_than_the_limit_are_reported_from_the_first_beyond_it_by_score():
    rules = RunRules(TaskKind.ANSWERS, TOPICS, limit=18)
    group = check(task1_lines(), rules).problems[0]

    assert group.kind == "over-limit"
    assert group.occurrences["line"].to_list() == [19, 20, 39, 40, 59, 60]
    assert group.message.startswith("3 topics have more than 18 items")


def test_ties_are_counted_and_those_of_32_bit_floats_apart():
    scores = ["3", "2", "2", "0.123456789", "0.123456788"]
    report = check(
        [f"A.1\t{index}\t{index}\t{score}\tt" for index, score in enumerate(scores, start=1)]
    )

    assert found(report)["score-tie"] == [2, 3]
    assert found(report)["score-tie-32-bit"] == [4, 5]
    assert "trec_eval 9.0.4 orders equal scores by id" in report.problems[-1].message


def test_topics_without_a_row_are_named():
    group = check(task1_lines()[:40]).problems[0]

    assert (group.kind, group.severity) == ("missing-topic", Severity.WARNING)
    assert group.occurrences.rows() == [(None, "A.3", "no row", "one or more")]
    assert "scores 0 in every mean" in group.message
    answered = check(task1_lines()[:40], replace(RULES, answered_only=True)).problems[0]
    assert answered.message.endswith("Means are over the topics that the run answers.")


def test_a_topic_that_comes_back_is_a_note():
    lines = task1_lines()
    lines.append(lines.pop(19))

    assert found(check(lines)) == {"topics-apart": [60]}


def test_an_empty_file_is_refused():
    for data in (b"", b"\n", b" \r\n\t\n", b"\xef\xbb\xbf"):
        report = check_run(data, RULES)
        assert not report.is_valid
        assert "empty-file" in found(report)


def test_a_file_of_another_task_is_refused_and_named():
    answers = "A.1\t1\t1.0\tgpt\t\tBecause $1 = 1$.\n" * 3
    report = check_run(answers.encode(), RULES)

    assert report.format == "arqmath-task3"
    assert "wrong-format" in found(report)


def test_errors_come_before_warnings_and_notes():
    lines = ["Query_Id\tPost_Id\tRank\tScore\tRun", *task1_lines()]
    lines[9] += "\tmore"
    severities = [
        group.severity for group in check_run("\r\n".join(lines).encode(), RULES).problems
    ]

    assert severities == sorted(severities, key=list(Severity).index)
    assert set(severities) == set(Severity)


def test_sentences_are_full_and_explain_what_to_do():
    lines = [*task1_lines(), *task1_lines()[:3], "B.1\t1\t1.5\t0,9\t", "", "A.1"]
    for group in check(lines).problems:
        assert group.message.endswith((".", "?"))
        assert group.todo.endswith(".")
        assert "{" not in group.message + group.todo
        assert group.count == group.occurrences.height


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_make_the_check_stumble(data):
    for kind in TaskKind:
        rules = RunRules(kind, TOPICS, limit=2)
        assert check_run(data, rules).lines >= 0
        repaired_run(data, rules)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(TOPICS), st.integers(1, 30), st.floats(-9, 9, width=32)),
        max_size=30,
    )
)
def test_the_index_holds_every_row_in_the_one_order(rows):
    unique = {(topic, str(item)): score for topic, item, score in rows}
    lines = [f"{topic}\t{item}\t1\t{score!r}\tt" for (topic, item), score in unique.items()]
    report = check(lines, RunRules(TaskKind.ANSWERS, TOPICS))

    if lines:
        assert report.index.height == len(unique)
        assert with_order(report.index.drop("order")).equals(report.index)


# -------------------------------------------------------------------------------------------------
# real runs


def topics(path: str) -> tuple[str, ...]:
    return tuple(re.findall(r'<Topic number="([^"]+)"', (DATA / path).read_text(encoding="utf-8")))


def real_rules(path: Path) -> RunRules:
    if "task1" in path.parts:
        return RunRules(TaskKind.ANSWERS, topics("arqmath-1/topics.task1.xml"))
    if "task2" in path.parts:
        items = ItemKind.VISUAL_IDS if "visual-ids" in path.name else ItemKind.FORMULA_IDS
        return RunRules(TaskKind.FORMULAS, topics("arqmath-1/topics.task2.xml"), items=items)
    listed = (DATA / "ntcir-12-wfb/topics.concrete.txt").read_text(encoding="utf-8").splitlines()
    return RunRules(
        TaskKind.FORMULAS, tuple(line.split()[0] for line in listed), items=ItemKind.FORMULA_IDS
    )


REAL_RUNS = sorted(DATA.glob("*/runs/**/*.gz"))


@needs_data
@pytest.mark.parametrize("path", REAL_RUNS, ids=lambda path: path.name)
def test_a_real_run_is_valid_as_it_is(path):
    data = gzip.decompress(path.read_bytes())
    report = check_run(data, real_rules(path))

    assert report.is_valid, [group.message for group in report.problems]
    assert report.rows == report.lines == report.index.height == data.count(b"\n")


@needs_data
@pytest.mark.parametrize("path", REAL_RUNS, ids=lambda path: path.name)
def test_a_real_run_is_repaired_only_in_its_ranks(path):
    data = gzip.decompress(path.read_bytes())
    rules = real_rules(path)
    repaired = repaired_run(data, rules)

    if repaired is not None:
        columns = pl.exclude("rank")
        assert (
            check_run(repaired, rules)
            .index.select(columns)
            .equals(check_run(data, rules).index.select(columns))
        )


@needs_data
@pytest.mark.parametrize("kind", [TaskKind.FORMULAS, TaskKind.DOCUMENTS])
def test_commas_in_the_second_column_of_a_real_run_do_not_make_it_a_csv_file(kind):
    [path] = DATA.glob("ntcir-12-wfb/runs/TangentCFT.txt.gz")
    data = gzip.decompress(path.read_bytes())
    rules = replace(real_rules(path), kind=kind, trec_only=True)

    report = check_run(data.replace(b" xxx ", b" 373321|0,0,0|0,0,0 "), rules)

    assert report.format_name.endswith("space-separated")
    assert report.index.equals(check_run(data, rules).index)


@needs_data
def test_the_formats_of_the_real_runs_are_reported():
    told = {
        path.name: check_run(gzip.decompress(path.read_bytes()), real_rules(path))
        for path in REAL_RUNS
    }
    names = {name: (report.format, report.items.value) for name, report in told.items()}

    assert names["PSU-task1-PSU1-auto-both-A.tsv.gz"] == ("trec", "posts")
    assert names["MIRMU-task1-OutOfCompetitionEnsemble-auto-both-A.tsv.gz"] == (
        "arqmath-task1",
        "posts",
    )
    assert names["MIRMU-task2-OutOfCompetitionEnsemble-auto-math-A.tsv.gz"] == (
        "arqmath-task2",
        "formula-ids",
    )
    assert names["Baseline-task2-TangentS-auto-math-P.visual-ids.tsv.gz"] == ("trec", "visual-ids")
    assert told["TangentCFT.txt.gz"].format_name.endswith("space-separated")


@needs_data
@pytest.mark.parametrize("name", ["gpt4.tsv", "Mistral-7B-Instruct.tsv"])
def test_real_answers_in_two_columns_are_repaired_to_runs(name):
    data = (DATA / "arqmath-3/task3-answers" / name).read_bytes()
    rules = RunRules(
        TaskKind.GENERATED_ANSWERS,
        topics("arqmath-3/topics.task1.xml"),
        limit=1,
        max_characters=10_000,
    )
    before, after = check_run(data, rules), check_run(repaired_run(data, rules), rules)

    assert not before.is_valid
    assert after.is_valid
    assert after.rows == before.rows == data.count(b"\n")


DOCUMENTS = RunRules(
    TaskKind.DOCUMENTS, ("M.1",), limit=9, items=ItemKind.DOCUMENTS, trec_only=True
)
HELD = pl.DataFrame(
    {"post_id": ["a_1", "7"], "type": ["document", "answer"], "thread_id": ["", "1"]}
)


@pytest.mark.parametrize(("complete", "severity"), [(True, Severity.ERROR), (False, Severity.NOTE)])
@pytest.mark.parametrize("posts", [HELD, HELD.lazy()])
def test_documents_are_looked_up_in_a_collection_of_documents(posts, complete, severity):
    rules = replace(DOCUMENTS, posts=posts, complete=complete)

    report = check(["M.1 Q0 a_1 1 3.0 t", "M.1 Q0 7 2 2.0 t", "M.1 Q0 b_2 3 1.0 t"], rules)

    [unknown] = [group for group in report.problems if group.kind == "unknown-item"]
    assert (unknown.severity, unknown.occurrences["line"].to_list()) == (severity, [2, 3])
    assert "every item is a document id" in unknown.message


def test_documents_are_not_looked_up_in_a_collection_without_any():
    rules = replace(DOCUMENTS, posts=HELD.filter(pl.col("type") == "answer"), complete=True)

    assert found(check(["M.1 Q0 b_2 1 1.0 t"], rules)) == {}

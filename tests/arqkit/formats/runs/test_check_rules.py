"""Items are looked up in the collection, answers are measured, tags are one."""

import polars as pl
import pytest

from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.report import RunReport, RunRules
from arqkit.records import ItemKind, Severity, TaskKind

POSTS = pl.DataFrame(
    {"post_id": ["1", "2", "3"], "type": ["answer", "question", "answer"], "thread_id": ["2"] * 3}
)
FORMULAS = pl.DataFrame(
    {"formula_id": ["10", "20"], "post_id": ["1", "3"], "visual_id": ["100", "200"]},
    schema_overrides=None,
)


def report_of(lines: list[str], kind: TaskKind, **options: object) -> RunReport:
    return check_run(
        "".join(f"{line}\n" for line in lines).encode(), RunRules(kind, ("A.1",), **options)
    )


def answers(*items: str, **options: object) -> RunReport:
    lines = [f"A.1\t{item}\t{rank}\t{-rank}\tt" for rank, item in enumerate(items, start=1)]
    return report_of(lines, TaskKind.ANSWERS, **({"posts": POSTS} | options))


def formulas(*items: str, **options: object) -> RunReport:
    lines = [f"A.1\t{item}\t{rank}\t{-rank}\tt" for rank, item in enumerate(items, start=1)]
    return report_of(lines, TaskKind.FORMULAS, **({"formulas": FORMULAS} | options))


def severities(report: RunReport) -> dict[str, tuple[Severity, list[int]]]:
    return {
        group.kind: (group.severity, group.occurrences["line"].to_list())
        for group in report.problems
    }


@pytest.mark.parametrize("posts", [POSTS, POSTS.lazy()], ids=["frame", "lazy"])
def test_unknown_posts_and_questions_are_errors_in_a_complete_collection(posts):
    lines = [
        f"A.1\t{item}\t{rank}\t{-rank}\tt" for rank, item in enumerate(["1", "2", "9"], start=1)
    ]
    report = report_of(lines, TaskKind.ANSWERS, posts=posts, complete=True)

    assert severities(report) == {
        "unknown-item": (Severity.ERROR, [3]),
        "wrong-type": (Severity.ERROR, [2]),
    }


def test_in_a_sample_an_unknown_post_is_a_note_and_a_question_an_error():
    report = answers("1", "2", "9")

    assert severities(report) == {
        "wrong-type": (Severity.ERROR, [2]),
        "unknown-item": (Severity.NOTE, [3]),
    }
    assert answers("1", "9").is_valid


def test_in_a_sample_a_formula_with_the_wrong_post_is_an_error():
    assert severities(formulas("20\t1")) == {"wrong-post": (Severity.ERROR, [1])}


def test_the_note_on_a_sample_asks_for_nothing():
    [note] = answers("1", "9").problems

    assert "sample" in note.message
    assert note.todo == "Nothing to do."


def test_a_run_without_a_known_item_gets_a_warning_in_a_sample():
    assert severities(answers("8", "9")) == {
        "no-known-item": (Severity.WARNING, [None]),
        "unknown-item": (Severity.NOTE, [1, 2]),
    }
    assert "no-known-item" in severities(formulas("80\t1"))


def test_a_run_of_visual_ids_without_a_known_one_gets_a_warning():
    lacking = FORMULAS.with_columns(visual_id=pl.Series(["100", None]))
    options = {"formulas": lacking, "complete": True, "items": ItemKind.VISUAL_IDS}

    report = report_of(["A.1 Q0 999 1 2 t"], TaskKind.FORMULAS, **options)

    assert severities(report)["no-known-item"] == (Severity.WARNING, [None])


def test_without_a_collection_no_item_is_looked_up():
    assert formulas("1\t2", "x\ty", formulas=None).problems == ()


def test_a_formula_with_the_wrong_post_is_reported_where_it_appears():
    group = formulas("10\t1", "20\t1", "30\t1", complete=True).problems[1]

    assert (group.kind, group.severity) == ("wrong-post", Severity.ERROR)
    assert group.occurrences.rows() == [(2, "A.1", "formula 20 in post 1", "post 3")]


def test_visual_ids_are_looked_up_where_the_items_are_visual_ids():
    lines = ["A.1\tQ0\t100\t1\t2\tt", "A.1\tQ0\t999\t2\t1\tt"]
    rules = RunRules(
        TaskKind.FORMULAS, ("A.1",), formulas=FORMULAS, complete=True, items=ItemKind.FORMULA_IDS
    )
    data = "".join(f"{line}\n" for line in lines).encode()
    by_name = check_run(data, rules, items=ItemKind.VISUAL_IDS)

    assert severities(by_name) == {"unknown-item": (Severity.ERROR, [2])}
    assert severities(check_run(data, rules)) == {"unknown-item": (Severity.ERROR, [1, 2])}


def test_visual_ids_that_a_formula_has_are_no_problem():
    lines = ["A.1 Q0 100 1 2 t", "A.1 Q0 200 2 1 t"]

    assert (
        report_of(lines, TaskKind.FORMULAS, formulas=FORMULAS, items=ItemKind.VISUAL_IDS).problems
        == ()
    )


def test_a_formula_task_whose_items_are_posts_takes_questions_too():
    lines = ["A.1 Q0 2 1 2 t", "A.1 Q0 9 2 1 t"]
    report = report_of(lines, TaskKind.FORMULAS, posts=POSTS, items=ItemKind.POSTS, complete=True)

    assert severities(report) == {"unknown-item": (Severity.ERROR, [2])}


def test_an_unknown_visual_id_is_a_note_while_formulas_lack_theirs():
    lacking = FORMULAS.with_columns(visual_id=pl.Series(["100", None]))
    report = report_of(
        ["A.1 Q0 999 1 2 t", "A.1 Q0 100 2 1 t"],
        TaskKind.FORMULAS,
        formulas=lacking,
        complete=True,
        items=ItemKind.VISUAL_IDS,
    )

    assert severities(report) == {"unknown-item": (Severity.NOTE, [1])}


def test_items_of_another_format_are_not_looked_up():
    lines = ["A.1\t10\t1\t2\tt", "A.1\t20\t2\t1\tt"]
    report = report_of(lines, TaskKind.FORMULAS, formulas=FORMULAS, posts=POSTS, complete=True)

    assert set(severities(report)) == {"wrong-format"}


def test_an_empty_post_is_an_error():
    assert severities(formulas("10\t", "20\t3"))["empty-item"] == (Severity.ERROR, [1])


def test_unknown_topics_are_named_in_the_sentence():
    lines = [f"B.{number}\t1\t1\t1\tt" for number in range(1, 8)]
    report = report_of(lines, TaskKind.ANSWERS)

    assert (
        "not part of this task: `B.1`, `B.2`, `B.3`, `B.4`, `B.5` and 2 more"
        in report.problems[0].message
    )


def test_without_topics_in_the_rules_every_topic_is_accepted():
    assert check_run(b"X\t1\t1\t1\tt\n", RunRules(TaskKind.ANSWERS)).problems == ()


def test_the_tag_of_most_rows_is_the_tag_of_the_run():
    lines = ["A.1\t1\t1\t3\ta", "A.1\t2\t2\t2\tb", "A.1\t3\t3\t1\tb"]
    report = report_of(lines, TaskKind.ANSWERS)

    assert report.problems[0].occurrences.rows() == [(1, "A.1", "a", "b")]
    assert report.run_tags == ("a", "b")


def written(*answers: str, **options: object) -> RunReport:
    lines = [f"A.{number}\t1\t1.0\tt\t\t{answer}" for number, answer in enumerate(answers, start=1)]
    rules = RunRules(
        TaskKind.GENERATED_ANSWERS,
        tuple(f"A.{number}" for number in range(1, 9))[: len(lines)],
        limit=1,
    )
    return check_run("".join(f"{line}\n" for line in lines).encode(), rules)


def test_an_answer_is_measured_in_unicode_characters():
    report = written("é" * 1200, "𝑥" * 1201)

    assert severities(report) == {"long-answer": (Severity.ERROR, [2])}
    assert report.problems[0].occurrences["found"].to_list() == ["1201 characters"]


def test_an_empty_answer_is_a_warning():
    assert severities(written("a", " ")) == {"empty-answer": (Severity.WARNING, [2])}


def test_an_odd_number_of_dollars_is_a_warning_and_escaped_ones_do_not_count():
    report = written("$a$", r"$a$ costs \$1", "$a", r"\\$a", "$$a$$ and $")

    assert severities(report) == {"odd-dollars": (Severity.WARNING, [3, 4, 5])}


def test_two_answers_to_a_topic_are_refused():
    data = b"A.1\t1\t2.0\tt\t\tx\nA.1\t2\t1.0\tt\t\ty\n"
    report = check_run(data, RunRules(TaskKind.GENERATED_ANSWERS, ("A.1",), limit=1))

    assert severities(report) == {"two-answers": (Severity.ERROR, [2])}
    assert "This task accepts one answer per topic" in report.problems[0].message


def test_the_index_of_generated_answers_has_the_answer_and_its_sources():
    data = b"A.1\t1\t2.0\tt\t1;2\tx\n"
    index = check_run(data, RunRules(TaskKind.GENERATED_ANSWERS, ("A.1",), limit=1)).index

    assert index.row(0, named=True) == {
        "topic": "A.1", "item": "A.1", "post": None, "rank": 1, "score": 2.0, "order": 1,
        "answer": "x", "sources": "1;2",
    }  # fmt: skip


MISSPELLED = {
    "1.0": "1.0",
    "001": "001",
    "１": "１",
    "1\u00a0": "1⟨U+00A0⟩",
    "\u200b1": "⟨U+200B⟩1",
    "“1”": "“1”",
    "%31": "%31",
}


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize(("name", "shown"), MISSPELLED.items())
def test_an_item_in_another_spelling_is_named_with_the_item_it_means(name, shown, complete):
    problem = answers("3", name, complete=complete).problems[0]

    assert (problem.kind, problem.severity) == ("item-spelling", Severity.ERROR)
    assert problem.message.endswith(f"than the collection: `{shown}` for `1`.")
    assert problem.occurrences.row(0) == (2, "A.1", shown, "1")


@pytest.mark.parametrize(
    ("ids", "hint"),
    [
        (['"a:1"', '"b:2"'], 'Is `"a:1"` meant to be `a:1`?'),
        (["a:1\u00a0", "b:2\u00a0"], "Is `a:1⟨U+00A0⟩` meant to be `a:1`?"),
        (["a%3A1", "b%3A2"], "Is `a%3A1` meant to be `a:1`?"),
        (["1", "2"], "The ids are the same numbers as the ranks."),
        (["x", "y"], "The first ids are `x`, `y`."),
    ],
)
def test_without_a_collection_a_run_that_joins_nothing_gets_a_warning_with_a_hint(ids, hint):
    known = pl.Series(["a:1", "b:2"])
    rules = {"knows": lambda _, named: named.is_in(known.implode()).any()}
    [problem] = answers(*ids, posts=None, **rules).problems

    assert (problem.kind, problem.severity) == ("no-known-item", Severity.WARNING)
    assert problem.message.endswith(hint)
    assert answers("a:1", *ids, posts=None, **rules).problems == ()
    assert answers(*ids, posts=None, knows=lambda *_: None).problems == ()


def test_topic_ids_in_another_spelling_are_listed_with_the_topic_they_mean():
    rules = RunRules(TaskKind.ANSWERS, ("A.1", "A.2"))
    report = check_run(b"a.1\t7\t1\t2.5\tt\nA2\t7\t1\t2.5\tt\nC.1\t7\t1\t2.5\tt\n", rules)

    unknown, spelled = report.problems
    assert unknown.occurrences["line"].to_list() == [3]
    assert spelled.message == (
        "2 lines spell a topic id in another way than this task: `a.1` for `A.1`, `A2` for `A.2`."
    )
    assert spelled.occurrences.select("line", "found", "expected").rows() == [
        (1, "a.1", "A.1"),
        (2, "A2", "A.2"),
    ]

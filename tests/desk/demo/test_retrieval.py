"""The demo's systems are deterministic and write runs in the labs' formats."""

import pytest

from arqkit.formats.labs.folder import TaskFile
from arqkit.records import TaskKind
from desk.demo import retrieval
from desk.demo.posts import Post
from desk.demo.retrieval import RankedPost
from desk.demo.systems import Library


@pytest.mark.parametrize("system", retrieval.ANSWER_SYSTEMS)
def test_a_system_finds_relevant_answers_among_its_first_ten_for_most_topics(
    system: str, tasks: dict[str, TaskFile], library: Library
) -> None:
    relevant = {
        (topic, item)
        for topic, item, label in tasks["task1"].qrels[0].frame.iter_rows()
        if label >= 2
    }
    rows = retrieval.retrieve(system, tasks["task1"].topics, library, depth=10)
    assert len({row.query_id for row in rows if (row.query_id, row.item) in relevant}) >= 12


@pytest.mark.parametrize("system", retrieval.FORMULA_SYSTEMS)
def test_a_formula_system_ranks_the_same_formula_first(
    system: str, tasks: dict[str, TaskFile], library: Library
) -> None:
    (topic,) = [topic for topic in tasks["task2"].topics if topic.query_id == "B.7"]
    (row,) = retrieval.retrieve(system, [topic], library, depth=1)
    latex = {formula.formula_id: formula.latex for formula in library.formulas}
    assert latex[row.item] == r"\sum_{k=0}^n \binom{n}{k}^2 = \binom{2n}{n}"


@pytest.mark.parametrize("system", retrieval.ANSWER_SYSTEMS)
def test_a_system_is_deterministic(
    system: str, tasks: dict[str, TaskFile], library: Library
) -> None:
    topics = tasks["task1"].topics
    assert retrieval.retrieve(system, topics, library) == retrieval.retrieve(
        system, topics, library
    )


def test_all_systems_return_different_runs(tasks: dict[str, TaskFile], library: Library) -> None:
    runs = [
        retrieval.retrieve(name, tasks["task1"].topics, library)
        for name in retrieval.ANSWER_SYSTEMS
    ]
    assert len({tuple((row.query_id, row.item) for row in run) for run in runs}) == len(runs)


def test_rows_are_ranked_by_score_and_then_by_id_both_descending(
    tasks: dict[str, TaskFile], library: Library
) -> None:
    rows = retrieval.retrieve("by-question", tasks["task1"].topics[:1], library)
    assert rows == sorted(rows, key=lambda row: (row.score, row.item), reverse=True)
    assert [row.rank for row in rows] == list(range(1, len(rows) + 1))


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (TaskKind.ANSWERS, "A.1\t12\t1\t0.500000\tMyRun\n"),
        (TaskKind.FORMULAS, "A.1\t12\t7\t1\t0.500000\tMyRun\n"),
        (TaskKind.GENERATED_ANSWERS, "A.1\t1\t0.500000\tMyRun\t7\tYes.\n"),
    ],
)
def test_a_run_has_the_columns_of_its_task(kind: TaskKind, line: str) -> None:
    assert (
        retrieval.write_run([RankedPost("A.1", "12", "7", 1, 0.5, "Yes.")], tag="MyRun", kind=kind)
        == line.encode()
    )


def test_an_extracted_answer_is_the_best_post_without_markup(
    tasks: dict[str, TaskFile], library: Library
) -> None:
    (row,) = retrieval.extract("bm25", tasks["task1"].topics[:1], library)
    (best,) = retrieval.retrieve("bm25", tasks["task1"].topics[:1], library, depth=1)
    assert row.post == best.item
    assert "<" not in row.answer
    assert row.answer.count("$") % 2 == 0


def test_a_long_post_is_cut_at_the_end_of_a_sentence() -> None:
    text = retrieval.text_of_html(Post("1", "answer", "2", "", "<p>One is one.</p> " * 200, ()))
    assert 1150 < len(text) <= 1200
    assert text.endswith("one.")

"""Scores that order a run otherwise than its ranks are named as a whole, with no repair."""

from collections.abc import Callable

import pytest

from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.repair import repaired_run
from arqkit.formats.runs.report import ProblemGroup, RunRules
from arqkit.formats.runs.results import report_of, report_text
from arqkit.records import Severity, TaskKind

TOPICS = tuple(f"A.{number}" for number in range(301, 399))
RULES = RunRules(TaskKind.ANSWERS, TOPICS)
BY_RANK = RunRules(TaskKind.ANSWERS, TOPICS, order="rank")
THOUSANDS = ["1.234", "1.012", "987", "54", "3"]


def run_of(score: Callable[[int], object]) -> bytes:
    """Return a run of 98 topics with five items each, scored by their ranks."""
    rows = (
        f"{topic}\t{int(topic[2:]) * 10 + rank}\t{rank}\t{score(rank)}\tours\n"
        for topic in TOPICS
        for rank in range(1, 6)
    )
    return "".join(rows).encode()


DISTANCES = run_of(lambda rank: f"{rank * 0.1:.2f}")
CONSTANT = run_of(lambda rank: 1.0)
GROUPED = run_of(lambda rank: THOUSANDS[rank - 1])


def problems(data: bytes, rules: RunRules = RULES) -> dict[str, ProblemGroup]:
    return {problem.kind: problem for problem in check_run(data, rules).problems}


@pytest.mark.parametrize(
    ("data", "kind"), [(DISTANCES, "score-rises"), (CONSTANT, "score-constant")]
)
def test_the_number_of_topics_is_named_and_nothing_is_repaired(data: bytes, kind: str) -> None:
    group = problems(data)[kind]

    assert "98 of 98 topics" in group.message
    assert group.severity is Severity.WARNING
    assert "rank-against-score" not in problems(data)
    assert repaired_run(data, RULES) is None


def test_separators_of_thousands_are_an_error_that_only_the_team_can_settle() -> None:
    found = problems(GROUPED)

    assert list(found) == ["score-thousands"]
    assert found["score-thousands"].first[0]["expected"] == "1234"
    assert repaired_run(GROUPED, RULES) is None


@pytest.mark.parametrize("data", [DISTANCES, CONSTANT, GROUPED])
def test_where_ranks_count_it_is_a_note(data: bytes) -> None:
    report = check_run(data, BY_RANK)

    assert report.is_valid
    assert {"score-rises", "score-constant", "score-thousands"} & {
        it.kind for it in report.problems
    }
    assert all(it.severity is Severity.NOTE for it in report.problems if "score" in it.kind)


@pytest.mark.parametrize(
    "scores",
    [
        [5, 4, 3, 2, 1],
        [9, 9, 3, 3, 1],
        ["2.500", "2.250", "2", "1.5", "1"],
        [0.5, 0.75, 0.6, 0.4, 0.1],
    ],
    ids=["falling", "ties", "three decimals", "one rise"],
)
def test_other_scores_are_not_suspected(scores: list[object]) -> None:
    data = run_of(lambda rank: scores[rank - 1])

    assert not {"score-rises", "score-constant", "score-thousands"} & set(problems(data))


def test_the_command_says_that_the_scores_may_mean_nothing() -> None:
    first = next(iter(report_text("run.tsv", report_of(check_run(DISTANCES, RULES)))))

    assert first.startswith("run.tsv: valid, but its scores may mean nothing: see")

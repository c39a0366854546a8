"""A run of ranks alone, such as MS MARCO's, is ordered by its ranks, and its ranks are checked."""

import pytest
from pytrec_eval import RelevanceEvaluator

from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.repair import repaired_run
from arqkit.formats.runs.report import RunReport, RunRules
from arqkit.ranking import with_order
from arqkit.records import ItemKind, TaskKind
from tests.offline import arqkit

RULES = RunRules(TaskKind.DOCUMENTS, ("M.1", "M.2"), items=ItemKind.DOCUMENTS)
SCORED = [("M.1", "a", 1, 0.9), ("M.1", "b", 2, 0.8), ("M.2", "c", 1, 0.9), ("M.2", "a", 2, 0.7)]


def ranked(*rows: tuple[str, str, object], mark: str = "\t", end: str = "\n") -> bytes:
    return "".join(mark.join(map(str, row)) + end for row in rows).encode()


def list_of(*ranks: object) -> list[tuple[str, str, object]]:
    """Return a list for each topic with these ranks, of items whose ids are in no order."""
    return [(topic, f"d{9 - n}", rank) for topic in RULES.topics for n, rank in enumerate(ranks)]


def lines_of(report: RunReport) -> dict[str, list[int | None]]:
    return {group.kind: group.occurrences["line"].to_list() for group in report.problems}


@pytest.mark.parametrize("mark", ["\t", " "])
def test_the_ranks_are_the_order_whatever_order_the_task_has(mark):
    report = check_run(ranked(*list_of(1, 2, 3), mark=mark), RULES)

    assert (report.format, report.problems, report.run_tags) == ("ms-marco", (), ("run",))
    items = ["d9", "d8", "d7"] * 2
    assert report.index["item"].to_list() == items
    for by in ("score", "rank"):
        assert with_order(report.index.drop("order"), by=by)["item"].to_list() == items


def test_trec_eval_scores_it_as_the_same_list_with_scores():
    index = check_run(ranked(*(row[:3] for row in SCORED)), RULES).index
    labels = {"M.1": {"b": 1, "x": 1}, "M.2": {"c": 2, "a": 1}}
    names = {"map", "recip_rank", "ndcg"}

    def values(rows):
        run = {topic: {} for topic in labels}
        for topic, item, score in rows:
            run[topic][item] = score
        return RelevanceEvaluator(labels, names).evaluate(run)

    scored = values((topic, item, score) for topic, item, _, score in SCORED)
    assert values(index.select("topic", "item", "score").iter_rows()) == scored


FAULTS = {
    "the same rank": ((1, 2, 2, 3, 4, 5, 6, 7, 8), {"rank-repeated": [3, 12]}),
    "a gap": ((1, 2, 4, 5), {"rank-jump": [3, 7]}),
    "from 0": ((0, 1, 2), {"rank-below-1": [1, 4]}),
    "from 2": ((2, 3), {"rank-start": [1, 3]}),
    "no number": ((1, 2, 3, 4, 5, 6, 7, 8, "x"), {"rank-not-integer": [9, 18]}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_wrong_ranks_are_named_and_an_unclear_order_is_refused(name):
    ranks, problems = FAULTS[name]
    report = check_run(ranked(*list_of(*ranks)), RULES)

    assert lines_of(report) == problems
    assert report.is_valid == (name in ("a gap", "from 2"))


def test_a_repair_numbers_again_and_adds_no_column():
    data = ranked(*list_of(1, 3, 4), mark=",", end="\r\n")

    assert repaired_run(data, RULES) == ranked(*list_of(1, 2, 3), end="\r\n")


def test_row_numbers_are_a_slip_and_a_run_tag_is_not_missing():
    numbered = [(str(line), *row) for line, row in enumerate(list_of(1, 2, 3))]
    report = check_run(ranked(*numbered), RULES)

    assert list(lines_of(report)) == ["row-numbers"]
    assert repaired_run(ranked(*numbered), RULES) == ranked(*list_of(1, 2, 3))


@pytest.mark.parametrize("ranks", [(0.9, 0.8, 0.7), (9, 8, 7), ("x", "y", "z")])
def test_a_third_column_that_is_no_rank_is_not_taken_for_one(ranks):
    report = check_run(ranked(*list_of(*ranks)), RULES)

    assert (report.format, list(lines_of(report))) == ("unknown", ["columns"])
    assert "MS MARCO (3 columns: qid, pid, rank)" in report.problems[0].message


@pytest.mark.parametrize("kind", [TaskKind.ANSWERS, TaskKind.FORMULAS, TaskKind.GENERATED_ANSWERS])
def test_other_tasks_do_not_take_it(kind):
    report = check_run(ranked(*list_of(1, 2, 3)), RunRules(kind, RULES.topics))

    assert (report.format, report.is_valid) == ("unknown", False)


def test_the_command_scores_it(tmp_path):
    (tmp_path / "run.tsv").write_bytes(ranked(*list_of(1, 2)))
    (tmp_path / "qrels.tsv").write_text("M.1 0 d8 1\nM.2 0 d9 1\n")
    ended = arqkit(tmp_path, "score", "run.tsv", "qrels.tsv", "--measures", "RR(rel=1)")

    assert (ended.returncode, "0.7500" in ended.stdout) == (0, True), ended.stderr

"""Ranks and scores are read strictly, and their faults are told once."""

import re

import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

from arqkit.formats.runs.check import kept_rows
from arqkit.formats.runs.ranks import (
    check_ranks,
    check_scores,
    check_ties,
    rank_faults,
    with_numbers,
)
from arqkit.formats.runs.report import RunRules
from arqkit.ranking import with_order
from arqkit.records import TaskKind

RULES = RunRules(TaskKind.ANSWERS, limit=2)
BY_RANK = RunRules(TaskKind.ANSWERS, limit=2, order="rank")
NONE_LOST = pl.Series("line", [], dtype=pl.Int64)
INTEGER = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def rows(*cells: tuple[str, str, str, str]) -> pl.DataFrame:
    """Make rows of topic, item, rank and score, on lines from 1."""
    schema = ["topic", "item", "rank_text", "score_text"]
    frame = pl.DataFrame(cells, schema=dict.fromkeys(schema, pl.String), orient="row")
    return with_numbers(frame.with_columns(line=pl.int_range(1, pl.len() + 1)))


def ranked(*ranks: str, scores: str = "") -> pl.DataFrame:
    values = scores.split() or ["1"] * len(ranks)
    return rows(*(("A", str(index), rank, values[index]) for index, rank in enumerate(ranks)))


def faults(
    frame: pl.DataFrame, lost: pl.Series = NONE_LOST, rules: RunRules = RULES
) -> dict[str, list[int]]:
    return {
        finding.kind: finding.occurrences["line"].to_list()
        for finding in check_ranks(frame, lost, rules)
    }


@given(st.text(st.sampled_from("0123456789+-_. e٣¹"), max_size=6))
@example("1_000")
@example(" 12 ")
@example("٣")
def test_a_rank_is_what_the_regular_expression_defines(text):
    is_rank = ranked(text)["rank"][0] is not None

    assert is_rank == bool(INTEGER.fullmatch(text))


@given(st.text(st.sampled_from("0123456789+-_. eE,xnaif٣"), max_size=6))
@example("1_000")
@example("1e400")
@example("infinity")
def test_a_score_is_what_the_regular_expression_defines(text):
    score = ranked("1", scores=text.replace(" ", "_"))["score"][0] if text.strip() else None
    is_number = bool(NUMBER.fullmatch(text.replace(" ", "_")))

    assert (score is not None) == (is_number and abs(float(text)) <= 3.4028235e38)


def test_each_score_that_cannot_be_ordered_is_reported_by_its_kind():
    scores = [
        "1",
        "nan",
        "-NaN",
        "inf",
        "-Infinity",
        "1e39",
        "-1e400",
        "0,9",
        "-,5e3",
        "1.000,5",
        "1_0",
        "x",
        "",
    ]
    frame = rows(*(("A", str(index), "1", score) for index, score in enumerate(scores)))
    told = {finding.kind: finding.occurrences["found"].to_list() for finding in check_scores(frame)}

    assert told == {
        "score-nan": ["nan", "-NaN"],
        "score-infinite": ["inf", "-Infinity"],
        "score-out-of-range": ["1e39", "-1e400"],
        "score-decimal-comma": ["0,9", "-,5e3"],
        "score-not-a-number": ["1.000,5", "1_0", "x", ""],
    }


def test_good_ranks_have_no_fault_in_any_order_of_the_lines():
    assert faults(ranked("1", "2", "3")) == {}
    assert faults(ranked("3", "1", "2")) == {}


def test_ranks_below_1_are_a_fault_of_their_own_and_no_jump():
    assert faults(ranked("0", "1", "2")) == {"rank-below-1": [1]}
    assert faults(ranked("-1", "-1", "1")) == {"rank-below-1": [1, 2]}


def test_a_rank_that_cannot_be_read_is_not_reported_again_as_a_jump():
    assert faults(ranked("1", "x", "3", "y", "z", "6", "8")) == {
        "rank-not-integer": [2, 4, 5],
        "rank-jump": [7],
    }


def test_a_lost_line_is_not_reported_as_a_jump():
    frame = ranked("1", "2", "4").with_columns(line=pl.Series([1, 2, 4]))

    assert faults(frame) == {"rank-jump": [4]}
    assert faults(frame, pl.Series("line", [3])) == {}


def test_a_score_that_rises_is_reported_with_what_it_may_be():
    frame = ranked("1", "2", "3", scores="1 2 1.5")
    finding = next(check_ranks(frame, NONE_LOST, RULES))

    assert finding.kind == "rank-against-score"
    assert finding.occurrences.rows() == [(2, "A", "2.0", "at most 1.0")]


def test_a_rise_that_32_bit_floats_do_not_see_is_none():
    assert faults(ranked("1", "2", scores="0.123456788 0.123456789")) == {}


def test_a_score_that_cannot_be_read_hides_no_rise_and_makes_none():
    assert faults(ranked("1", "2", "3", scores="1 nan 2")) == {"rank-against-score": [3]}
    topics = rows(("A", "1", "1", "1"), ("B", "1", "1", "nan"), ("B", "2", "2", "5"))
    assert rank_faults(topics, NONE_LOST).height == 0


def test_of_an_item_that_appears_twice_the_highest_score_is_kept():
    frame = rows(("A", "1", "1", "1"), ("A", "1", "2", "3"), ("A", "1", "3", "nan"))

    assert kept_rows(frame, RULES)[0]["line"].to_list() == [2]
    assert kept_rows(frame, BY_RANK)[0]["line"].to_list() == [1]


def test_the_limit_cuts_by_the_order_that_counts_after_duplicates_went():
    frame = rows(
        ("A", "1", "1", "1"), ("A", "2", "2", "2"), ("A", "3", "3", "3"), ("A", "3", "4", "3")
    )

    assert [part["line"].to_list() for part in kept_rows(frame, RULES)] == [[2, 3], [1]]
    assert [part["line"].to_list() for part in kept_rows(frame, BY_RANK)] == [[1, 2], [3]]


def test_a_tie_of_32_bit_floats_alone_is_reported_as_such():
    frame = with_order(ranked("1", "2", scores="0.123456789 0.123456788"))

    assert [finding.kind for finding in check_ties(frame, RULES)] == ["score-tie-32-bit"]


def test_where_ranks_count_equal_scores_are_counted_though_they_are_no_neighbours():
    ordered = with_order(ranked("1", "2", "3", "4", scores="5 3 5 1"), by="rank")
    [finding] = check_ties(ordered, BY_RANK)

    assert (finding.kind, finding.occurrences["line"].to_list()) == ("score-tie", [1, 3])

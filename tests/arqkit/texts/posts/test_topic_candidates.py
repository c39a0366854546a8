"""Topic candidates: measures of questions, and filters."""

from collections import Counter
from datetime import UTC, date, datetime

import pytest

from arqkit.texts.posts.topic_making import (
    Bounds,
    Candidate,
    Criteria,
    drawn_by_strata,
    measure_text,
    sift,
    write_candidates,
)

GOOD = Candidate(
    post_id="77",
    title="Why is $a^2$ even?",
    created=datetime(2019, 5, 1, 23, 59, tzinfo=UTC),
    score=3,
    answers=1,
    comments=0,
    views=50,
    reputation=120,
    words=40,
    formulas=2,
    title_formulas=1,
    flesch=61.26,
    duplicates=("1",),
    related=("2", "3"),
    tags=("parity", "squares"),
)


def left_out(candidate, **criteria):
    return [
        name for name, count in sift([candidate], Criteria(**criteria)).left_out.items() if count
    ]


def test_a_text_is_measured_without_its_formulas():
    formula = '<span class="math-container" id="1">$a$</span>'
    measures = measure_text(f"Is {formula} odd?", f"<p>We know that {formula} is {formula}.</p>")

    assert measures[:3] == (6, 3, 1)
    assert measures.flesch == pytest.approx(206.835 - 0.846 * 100 - 1.015 * 3)


def test_a_question_with_a_formula_and_a_duplicate_is_a_candidate():
    assert sift([GOOD], Criteria()).kept == [GOOD]


@pytest.mark.parametrize(
    ("change", "criteria", "reason"),
    [
        ({"formulas": 0}, {}, "no formula"),
        ({"duplicates": ()}, {}, "no duplicate that is searched"),
        (
            {"duplicates": (), "related": ()},
            {"takes_related": True},
            "no duplicate or related question that is searched",
        ),
        ({}, {"bounds": {"score": Bounds(4, None)}}, "score out of bounds"),
        ({"flesch": None}, {"bounds": {"flesch": Bounds(0, None)}}, "flesch out of bounds"),
        ({}, {"bounds": {"words": Bounds(None, 39)}}, "words out of bounds"),
        ({}, {"first_day": date(2019, 5, 2)}, "other dates"),
        ({}, {"last_day": date(2019, 4, 30)}, "other dates"),
        ({"created": None}, {"last_day": date(2019, 4, 30)}, "other dates"),
        ({}, {"topics": frozenset({"77"})}, "already a topic"),
        ({}, {"titles": ("Is $a^2$ even? Why?",)}, "same title as a topic"),
    ],
)
def test_each_filter_counts_what_it_removes(change, criteria, reason):
    assert left_out(GOOD._replace(**change), **criteria) == [reason]


@pytest.mark.parametrize(
    ("change", "criteria"),
    [
        ({"duplicates": ()}, {"takes_related": True}),
        ({"duplicates": (), "related": ()}, {"needs_link": False}),
        ({}, {"bounds": {"score": Bounds(3, 3), "views": Bounds(None, 50)}}),
        ({"score": None}, {"bounds": {"score": Bounds()}}),
        ({}, {"first_day": date(2019, 5, 1), "last_day": date(2019, 5, 1)}),
        ({}, {"titles": ("Why is $b^2$ odd?", "")}),
        ({"title": ""}, {"titles": ("",)}),
    ],
)
def test_questions_that_meet_the_criteria_are_kept(change, criteria):
    assert left_out(GOOD._replace(**change), **criteria) == []


def test_a_question_that_misses_two_criteria_is_counted_once():
    assert left_out(GOOD._replace(formulas=0, duplicates=())) == ["no formula"]


def test_candidates_are_sorted_by_score_views_and_age():
    some = [
        GOOD._replace(post_id=post, score=score, views=views)
        for post, score, views in [
            ("9", 1, 5),
            ("10", 1, 5),
            ("2", 1, 7),
            ("3", None, None),
            ("4", 8, None),
        ]
    ]

    assert [one.post_id for one in sift(some, Criteria()).kept] == ["4", "2", "9", "10", "3"]


def test_candidates_are_written_with_all_criteria():
    assert write_candidates(
        [GOOD, GOOD._replace(created=None, score=None, title='"a", b')]
    ).decode() == (
        "post_id,title,created,score,answers,comments,views,reputation,words,formulas,title_formulas,flesch,duplicates,related,tags\n"
        "77,Why is $a^2$ even?,2019-05-01,3,1,0,50,120,40,2,1,61.3,1,2 3,parity squares\n"
        '77,"""a"", b",,,1,0,50,120,40,2,1,61.3,1,2 3,parity squares\n'
    )


@pytest.mark.parametrize(
    ("change", "criteria", "line"),
    [
        ({"created": None}, {"first_day": date(2019, 1, 1)}, "The data dump has no dates."),
        ({"score": None}, {"bounds": {"score": Bounds(3)}}, "The data dump has no scores."),
        ({"duplicates": (), "related": ()}, {}, "The data dump has no links between questions."),
        (
            {"reputation": None},
            {"bounds": {"reputation": Bounds(1)}},
            "The data dump has no reputations of askers.",
        ),
    ],
)
def test_what_the_dump_lacks_is_the_reason_when_no_candidate_passes(change, criteria, line):
    without = GOOD._replace(**change)

    assert sift([without, without], Criteria(**criteria)).report[-1] == line
    assert line not in sift([without, GOOD], Criteria(**criteria)).report
    assert sift([without], Criteria(needs_link=False)).lacking == ()


def test_candidates_are_drawn_from_all_strata_in_turn():
    many = [
        GOOD._replace(post_id=str(n), score=n, reputation=1 if n % 2 else None) for n in range(90)
    ]
    drawn = drawn_by_strata(many, by=["score", "reputation"], number=12, seed=3)

    cells = Counter((one.score // 30, one.reputation) for one in drawn)
    assert cells == {(third, value): 2 for third in range(3) for value in (1, None)}
    assert drawn == sorted(drawn, key=lambda one: one.score)
    assert drawn == drawn_by_strata(many, by=["score", "reputation"], number=12, seed=3)
    assert drawn != drawn_by_strata(many, by=["score", "reputation"], number=12, seed=4)
    assert drawn_by_strata([], by=["score"], number=3, seed=1) == []

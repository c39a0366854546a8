"""Marks: the passages that decided a label, stored with it and shown again."""

from typing import Any

import pytest

from arqlab.core.models import User
from assessment.models import Judgment, PoolItem
from tests.assessment.judging.desk import Desk, body_for, label_for

FORMULA = "\N{OBJECT REPLACEMENT CHARACTER}"
SENTENCE = {
    "exact": f"Since {FORMULA}, it is even.",
    "formulas": ["a=2b"],
    "ordinal": 3,
    "prefix": "See. ",
    "suffix": " QED",
}
WORDS = {"exact": "a few words", "formulas": []}


def problems(desk: Desk, marks: Any, **fields: Any) -> set[tuple[str, str]]:
    """Send a label with marks that are refused, and return the fields and what was found."""
    item = desk.next()
    row = label_for(item["instances"][0], 2, marks=marks) | fields
    answer = desk.post("judgments/", body_for(item, [row]))
    assert desk.last.status_code == 400
    assert not Judgment.objects.exists()
    return {(each["field"], each["found"]) for each in answer["errors"]}


def test_marks_are_stored_with_the_judgment_and_come_with_its_item(desk: Desk) -> None:
    item = desk.next()
    desk.submit(item, 2, marks=[SENTENCE, WORDS])
    [shown] = desk.get(f"items/{item['item']}/")["instances"]
    [listed] = desk.get("judgments/")["judgments"]

    assert Judgment.objects.get().marks == [SENTENCE, WORDS]
    assert shown["judgment"]["marks"] == listed["marks"] == [SENTENCE, WORDS]


def test_each_judgment_of_the_history_keeps_its_own_marks(desk: Desk) -> None:
    item = desk.next()
    desk.submit(item, 2, marks=[WORDS])
    desk.submit(desk.get(f"items/{item['item']}/"), 2, marks=[SENTENCE])
    desk.submit(desk.get(f"items/{item['item']}/"), 3)

    assert [row.marks for row in Judgment.objects.all()] == [[WORDS], [SENTENCE], []]


def test_a_label_sent_twice_keeps_its_first_marks(desk: Desk) -> None:
    item = desk.next()
    row = label_for(item["instances"][0], 2, marks=[WORDS])
    for marks in ([WORDS], [SENTENCE]):
        desk.post("judgments/", body_for(item, [row | {"marks": marks}]))

    assert Judgment.objects.get().marks == [WORDS]


@pytest.mark.parametrize(
    ("marks", "found"),
    [
        (None, {("marks", "None")}),
        ("x", {("marks", "x")}),
        ([WORDS] * 21, {("marks", "21 marks")}),
        (["x"], {("marks.0", "str")}),
        ([{}], {("marks.0.exact", "None"), ("marks.0.formulas", "None")}),
        ([WORDS, WORDS | {"exact": " \n"}], {("marks.1.exact", "nothing")}),
        ([WORDS | {"exact": "x" * 2_001}], {("marks.0.exact", "2,001 characters")}),
        ([WORDS | {"prefix": "x" * 101}], {("marks.0.prefix", "101 characters")}),
        ([WORDS | {"suffix": 1}], {("marks.0.suffix", "1")}),
        ([WORDS | {"formulas": "x"}], {("marks.0.formulas", "x")}),
        ([WORDS | {"formulas": [1]}], {("marks.0.formulas", "[1]")}),
        ([WORDS | {"formulas": ["x" * 5_001]}], {("marks.0.formulas", "5,001 characters")}),
        ([SENTENCE | {"formulas": []}], {("marks.0.formulas", "0 formulas")}),
        ([SENTENCE | {"ordinal": 0}], {("marks.0.ordinal", "0")}),
    ],
)
def test_marks_of_the_wrong_form_are_refused(
    desk: Desk, marks: Any, found: set[tuple[str, str]]
) -> None:
    assert problems(desk, marks) == found


def test_the_problems_of_all_marks_are_reported_with_those_of_their_label(desk: Desk) -> None:
    marks = [WORDS | {"exact": ""}, SENTENCE, SENTENCE | {"ordinal": "3", "formulas": {}}]

    assert problems(desk, marks, comment="x" * 10_001, label=7) == {
        ("label", "7"),
        ("comment", "10,001 characters"),
        ("marks.0.exact", "nothing"),
        ("marks.2.ordinal", "3"),
        ("marks.2.formulas", "{}"),
    }


def test_characters_that_no_database_takes_are_left_out_of_marks(desk: Desk) -> None:
    desk.submit(desk.next(), 2, marks=[{"exact": "a\0b", "formulas": [], "prefix": "\ud800"}])

    assert Judgment.objects.get().marks == [{"exact": "ab", "formulas": [], "prefix": "?"}]


def test_no_assessor_gets_the_marks_of_another(desk: Desk, second: Desk, assessor: User) -> None:
    item = desk.next()
    desk.submit(item, 2, marks=[WORDS])

    assert second.get("judgments/")["judgments"] == []
    assert "few words" not in str([second.next() for _ in PoolItem.objects.all()])
    assert second.get(f"items/{item['item']}/")["code"] == "not-found"

"""A scale is data: its order, what of it is a judgment, and how it is stored."""

import polars as pl

from arqkit.labels import LabelScale, ScaleLabel, scale_of_rows
from arqkit.protocols.scales import ARQMATH

BROKEN = ScaleLabel(7, "X", "X", "Broken", "purple", is_judgment=False, asks_comment=True)
SCALE = LabelScale(
    (
        ScaleLabel(0, "0", "B", "Bad", "grey"),
        BROKEN,
        ScaleLabel(9, "9", "G", "Good", "green"),
        ScaleLabel(1, "1", "P", "Partially relevant", "amber"),
    )
)


def test_judgments_come_first_the_highest_before_the_others():
    assert SCALE.values == (9, 1, 0, 7)
    assert [label.word for label in SCALE] == ["Good", "Partially relevant", "Bad", "Broken"]


def test_labels_that_are_not_judgments_are_apart():
    assert (SCALE.reports, SCALE.unjudged) == ((BROKEN,), (7,))
    assert [label.value for label in SCALE.judgments] == [9, 1, 0]


def test_a_label_is_found_by_its_value_and_an_unknown_value_is_shown_as_its_number():
    assert SCALE.of(7) is BROKEN
    assert (SCALE.of(3).word, SCALE.of(3).colour) == ("3", "grey")


def test_a_scale_reads_back_from_its_rows():
    assert scale_of_rows(SCALE.rows()) == SCALE
    assert scale_of_rows(reversed(SCALE.rows())) == SCALE


def test_only_judgments_keep_their_label():
    frame = pl.DataFrame({"label": [9, 7, None, 0]}, schema={"label": pl.Int8})

    assert SCALE.only_judged(frame)["label"].to_list() == [9, None, None, 0]
    assert frame.filter(SCALE.is_judged())["label"].to_list() == [9, 0]


def test_without_such_labels_everything_is_a_judgment():
    frame = pl.DataFrame({"label": [9, 0]}, schema={"label": pl.Int8})

    assert SCALE.without((7,)).only_judged(frame)["label"].to_list() == [9, 0]


def test_the_labs_labels_are_those_of_the_papers():
    assert [(label.value, label.key, label.letter, label.word) for label in ARQMATH] == [
        (3, "3", "H", "High"),
        (2, "2", "M", "Medium"),
        (1, "1", "L", "Low"),
        (0, "0", "N", "Not relevant"),
        (5, "S", "S", "System failure"),
        (6, "D", "D", "Do not know"),
    ]
    assert ARQMATH.unjudged == (5, 6)

"""Special questions: their answers as labels, and the shares of the answers."""

import polars as pl
import pytest

from arqkit.judgments.questions import SpecialQuestion, answer_scale, answer_shares
from arqkit.labels import ScaleLabel
from arqkit.protocols.scales import ARQMATH, scale_faults


def report(value: int, key: str) -> ScaleLabel:
    return ScaleLabel(value, key, key, f"Report {key}", "amber", is_judgment=False)


def test_yes_and_no_are_1_and_0_before_the_reports():
    scale = answer_scale(["Yes", "No"], ARQMATH.reports)

    found = [(one.value, one.key, one.word) for one in scale]
    assert found == [
        (1, "1", "Yes"),
        (0, "0", "No"),
        (5, "S", "System failure"),
        (6, "D", "Do not know"),
    ]
    assert scale.unjudged == (5, 6)


@pytest.mark.parametrize(
    "reports",
    [
        ARQMATH.reports,
        (),
        (report(0, "X"), report(1, "2")),
        (report(99, "0"), report(12, "1"), report(3, "4")),
    ],
)
@pytest.mark.parametrize("count", [2, 3, 5])
def test_answers_keep_their_order_and_every_scale_is_valid(count, reports):
    words = ["Wholly", "Mostly", "Partly", "Hardly", "No"][:count]
    scale = answer_scale(words, reports)

    assert [one.word for one in scale.judgments] == words
    assert set(scale.reports) == set(reports)
    assert list(scale_faults(scale.rows())) == []


def test_a_share_is_that_of_the_counted_answer():
    questions = [SpecialQuestion("MG", "?", "", 1), SpecialQuestion("UI", "?", "", 1)]
    rows = [("MG", 1), ("MG", 0), ("MG", 2), ("MG", 1)]
    answers = pl.DataFrame(rows, schema=["question", "label"], orient="row")

    shares = answer_shares(answers, questions)
    assert [(one.answered, one.counted, one.share) for one in shares] == [(4, 2, 0.5), (0, 0, None)]

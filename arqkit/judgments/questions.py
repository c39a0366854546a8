"""Special questions about judged items, such as: is the answer machine-generated? (004 §6.4.3)

The answers are the labels of a scale. The measure of a question is the share of a run's items with
one of the answers: MG, UI. Labels that are not judgments are no answers.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl

from arqkit.labels import LabelScale, ScaleLabel

MOST_ANSWERS = 5
_KEYS = "1234567890"
_COLOURS = ("blue", "deep-green", "green", "light-green")


class SpecialQuestion(NamedTuple):
    """A question with a yes/no answer, or a choice of answers.

    - key: the name of its measure, such as MG, which is unique in a round.
    - help: what assessors should know to answer it.
    - counted: the value of the answer whose share is the measure.
    """

    key: str
    text: str
    help: str
    counted: int


class AnswerShare(NamedTuple):
    """How many items have an answer to a question, and the share with the counted one."""

    question: SpecialQuestion
    answered: int
    counted: int

    @property
    def share(self) -> float | None:
        """Return the share of the counted answer, or None without answers."""
        return self.counted / self.answered if self.answered else None


def answer_scale(words: Sequence[str], reports: Iterable[ScaleLabel]) -> LabelScale:
    """Return a scale with the answers in their order, and labels that report an item.

    The answers have the lowest values that no report has, the last one the lowest; yes and no are
    1 and 0. Their keys are these values where they can be.
    """
    report_labels = tuple(reports)
    report_values, keys = (
        {report.value for report in report_labels},
        {report.key for report in report_labels},
    )
    values = [
        value for value in range(len(words) + len(report_labels)) if value not in report_values
    ]
    colours = (*_COLOURS[: len(words) - 1], "grey")
    labels = []
    for word, value, colour in zip(words, values[len(words) - 1 :: -1], colours, strict=True):
        key = next(
            candidate
            for candidate in (str(value), *_KEYS)
            if len(candidate) == 1 and candidate not in keys
        )
        keys.add(key)
        labels.append(ScaleLabel(value, key, key, word, colour))
    return LabelScale((*labels, *report_labels))


def answer_shares(answers: pl.DataFrame, questions: Iterable[SpecialQuestion]) -> list[AnswerShare]:
    """Return the shares of some answers (question, label), by question."""
    return [
        AnswerShare(question, labels.len(), int((labels == question.counted).sum()))
        for question in questions
        for labels in [answers.filter(pl.col("question") == question.key)["label"]]
    ]

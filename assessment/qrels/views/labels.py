"""The distribution of labels, and label counts per topic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arqlab.ir.judgments.qrels import JudgedTopic


@dataclass(frozen=True, slots=True)
class LabelShare:
    """The count of a label, its `percent` of all labels, and the start of its part of the bar."""

    label: int
    count: int
    percent: float
    start: float


def label_shares(topics: Sequence[JudgedTopic], labels: Sequence[int]) -> list[LabelShare]:
    """Return the share of each label over all topics."""
    counts = {label: sum(topic.labels[label] for topic in topics) for label in labels}
    total = sum(counts.values()) or 1
    shares, start = [], 0.0
    for label, count in counts.items():
        percent = 100 * count / total
        shares.append(LabelShare(label, count, percent, start))
        start += percent
    return shares


def topic_lines(
    topics: Iterable[JudgedTopic], labels: Sequence[int]
) -> list[tuple[JudgedTopic, list[int]]]:
    """Return each topic with its label counts, in the order of the labels."""
    return [(topic, [topic.labels[label] for label in labels]) for topic in topics]

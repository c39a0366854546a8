"""The distribution of labels, and label counts per topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arqkit.judgments.qrels import JudgedTopic
from arqkit.labels import LabelScale, ScaleLabel


@dataclass(frozen=True, slots=True)
class LabelShare:
    """The count of a label, its `percent` of all labels, and the start of its part of the bar."""

    label: ScaleLabel
    count: int
    percent: float
    start: float


def label_shares(topics: Sequence[JudgedTopic], labels: LabelScale) -> list[LabelShare]:
    """Return the share of each label over all topics."""
    counts = {label: sum(topic.labels[label.value] for topic in topics) for label in labels}
    total = sum(counts.values()) or 1
    shares, start = [], 0.0
    for label, count in counts.items():
        percent = 100 * count / total
        shares.append(LabelShare(label, count, percent, start))
        start += percent
    return shares


def topic_lines(
    topics: Iterable[JudgedTopic], labels: LabelScale
) -> list[tuple[JudgedTopic, list[int]]]:
    """Return each topic with its label counts, in the order of the labels."""
    return [(topic, [topic.labels[label.value] for label in labels]) for topic in topics]


def label_chart(
    counts: Iterable[tuple[str, Mapping[int, int]]], labels: LabelScale
) -> dict[str, Any] | None:
    """Return the chart of label shares by topic, as `js/charts.js` reads it.

    `counts` holds the count of each label value by topic. Topics without a label are left out; the
    result is None if no topic has one.
    """
    topics = [
        {"topic": topic, "counts": [topic_counts.get(label.value, 0) for label in labels]}
        for topic, topic_counts in counts
        if any(topic_counts.values())
    ]
    names = [{"word": label.word, "colour": label.colour} for label in labels]
    return {"labels": names, "topics": topics} if topics else None

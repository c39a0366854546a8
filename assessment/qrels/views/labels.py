"""The distribution of labels, and label counts per topic: columns and the chart above them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join

from arqkit.judgments.qrels import JudgedTopic
from arqkit.labels import LabelScale, ScaleLabel
from arqlab.web import Chart, Column, Row, cells


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


def label_columns(
    labels: Iterable[ScaleLabel],
    counts: Callable[[Row], Mapping[int, float]],
    kind: cells.CellKind = cells.COUNT,
) -> list[Column[Row]]:
    """Return a column for each label; `counts` has the number of each label value of a row."""

    def count(label: ScaleLabel) -> Callable[[Row], float]:
        return lambda row: counts(row).get(label.value, 0)

    return [
        Column(cells.label(label, "short"), count(label), kind, name=label.word) for label in labels
    ]


def label_chart(
    counts: Iterable[tuple[str, Mapping[int, int]]], labels: LabelScale
) -> Chart | None:
    """Return the chart of label shares by topic.

    `counts` holds the count of each label value by topic. Topics without a label are left out; the
    result is None if no topic has one.
    """
    topics = [
        {"topic": topic, "counts": [topic_counts.get(label.value, 0) for label in labels]}
        for topic, topic_counts in counts
        if any(topic_counts.values())
    ]
    names = [{"word": label.word, "colour": label.colour} for label in labels]
    legend = format_html_join("", "<li>{}</li>", ((cells.label(label),) for label in labels))
    if not topics:
        return None
    return Chart(
        "label-shares",
        {"labels": names, "topics": topics},
        "Shares of the labels in each judged topic. The table below lists the counts.",
        css="chart-middle" if len(topics) <= 30 else "",
        caption=format_html(
            "% of the labels of each topic. Topics without a label are left out."
            '<ul class="chart-legend">{}</ul>',
            legend,
        ),
    )

"""The topics that may be dropped, with the probability that they are kept and what they cost."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from arqkit.judgments.completion import JudgedSample, keep_probabilities
from arqkit.records import TaskKind
from arqlab.core.models import Task
from assessment.assignments.selectors.grid import AssignmentGrid, TopicRow
from assessment.models import PoolItem
from assessment.qrels.selectors.counts import TopicTally, added
from assessment.qrels.selectors.drafts import task_scale
from assessment.qrels.selectors.frames import adjudicated_judgments, official_judgments


@dataclass(frozen=True)
class TopicForecast:
    """A started topic with few relevant items, or one set aside, and how probably it is kept."""

    row: TopicRow
    sample: JudgedSample
    probability: float

    @property
    def unjudged(self) -> int:
        """Return the number of items that are or would be set aside."""
        return self.row.total - self.row.done if self.row.is_set_aside else self.row.left

    @property
    def hours(self) -> float:
        """Return the expected hours for these items, at the labels per item of the whole topic."""
        labels = self.unjudged * self.row.labels / self.row.total
        return labels * self.row.seconds / 3600


def topic_forecasts(task: Task, grid: AssignmentGrid) -> list[TopicForecast]:
    """Return the topics that may be dropped, least likely kept first."""
    needed = task.protocol.min_relevant
    started = [row for row in grid.rows if row.is_set_aside or 0 < row.done < row.total]
    if not needed or not started:
        return []
    forecasts = keep_forecasts(task, grid.tallies)
    droppable = [
        TopicForecast(row, *forecasts[row.topic.pk])
        for row in started
        if row.topic.pk in forecasts
        and (row.is_set_aside or (row.left and forecasts[row.topic.pk][0].relevant < needed))
    ]
    return sorted(droppable, key=lambda forecast: (forecast.row.is_set_aside, forecast.probability))


def keep_forecasts(
    task: Task, tallies: Mapping[int, TopicTally]
) -> dict[int, tuple[JudgedSample, float]]:
    """Return the judged sample of each topic, and the probability that it is kept."""
    # Without Task 3 answers mixed into Task 1. The items of a supplement count as drawn from the
    # same topic, although their order is random among themselves only.
    kinds = set(PoolItem.Kind)
    if task.kind == Task.Kind.ANSWERS:
        kinds.remove(PoolItem.Kind.ANSWERS)
    decided, samples = _decided(task, kinds), {}
    for topic, tally in tallies.items():
        if parts := [size for (_, kind), size in tally.sizes.items() if kind in kinds]:
            size = added(parts)
            relevant = decided.get(topic, sum(tally.relevant.get(kind, 0) for kind in kinds))
            samples[topic] = JudgedSample(size.items, max(size.done, relevant), relevant)
    probabilities = keep_probabilities(
        samples, kind=TaskKind(task.kind), min_relevant=task.protocol.min_relevant
    )
    return {topic: (samples[topic], probabilities[topic]) for topic in samples}


def _decided(task: Task, kinds: Collection[str]) -> dict[int, int]:
    """Return the relevant items of the topics in which an adjudication decided labels."""
    scale = task_scale(task)
    lowest = task.protocol.relevant_in(scale)
    values = [label.value for label in scale.judgments if label.value >= lowest]
    fields = ("instance__item__topic", "instance__item__item", "instance__doc_id")
    rulings = adjudicated_judgments(task).filter(instance__item__kind__in=kinds)
    decided = {
        (topic, doc_id): (item, label)
        for topic, item, doc_id, label in rulings.values_list(*fields, "label")
    }
    topics = {topic for topic, _ in decided}
    official = official_judgments(task).filter(
        instance__item__kind__in=kinds, instance__item__topic__in=topics, label__in=values
    )
    rows = official.values_list(*fields)
    relevant = {(topic, item) for topic, item, doc_id in rows if (topic, doc_id) not in decided}
    relevant |= {(topic, item) for (topic, _), (item, label) in decided.items() if label in values}
    return dict.fromkeys(topics, 0) | Counter(topic for topic, _ in relevant)

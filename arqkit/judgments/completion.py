"""Forecasts of judging: when it will be complete, and whether a topic will be kept.

The unit of work is a label: of a post, of an answer, of an instance of a formula.

A topic with fewer than `min_relevant` relevant items is dropped (protocol §6). The order of a
topic's items is random, so the judged items are a simple random sample of all its items. The rate
of relevant items differs from topic to topic by a beta distribution, which the other topics of the
task determine. Given the judged items, the number of relevant items among the unjudged ones then
has a beta-binomial distribution (Skellam 1948, J. R. Stat. Soc. B 10(2)).
"""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from arqkit.records import TaskKind

Key = TypeVar("Key")

ENOUGH_TOPICS = 10
"""The number of other topics from which their rates of relevant items are trusted."""

ENOUGH_JUDGED = 30
"""The number of judged items from which a topic counts among them."""

CORRELATIONS = (1e-4, 0.5)
"""The limits of the estimated correlation of two items of a topic: a small sample of topics may
suggest that topics do not differ at all."""

ENOUGH = 10
"""The number of timed labels from which a pace is trusted."""

RECENT = timedelta(days=7)
"""The period whose judgments determine how many labels are given per day."""

DAY = timedelta(days=1)


class JudgedSample(NamedTuple):
    """The items of a topic, how many of them are judged, and how many of these are relevant."""

    total: int
    judged: int
    relevant: int


class RatePrior(NamedTuple):
    """The beta distribution of the rate of relevant items over topics."""

    alpha: float
    beta: float


LAB_PRIORS: Mapping[TaskKind, RatePrior] = MappingProxyType(
    {
        TaskKind.ANSWERS: RatePrior(1.23, 18.16),
        TaskKind.FORMULAS: RatePrior(1.10, 4.15),
        TaskKind.GENERATED_ANSWERS: RatePrior(1.23, 18.16),
        TaskKind.DOCUMENTS: RatePrior(1.23, 18.16),
    }
)
"""The priors of the official qrels of ARQMath-1, -2 and -3 together, used until this lab has enough
topics; for documents and generated answers, those of answers. Dropped topics are not in these
qrels, so the forecast is rather too high than too low, and rather too many topics are judged."""


class _Sums(NamedTuple):
    """Sums over topics with enough judged items, from which their prior follows."""

    topics: float = 0
    judged: float = 0
    relevant: float = 0
    squares: float = 0
    """Of the numbers of judged items."""
    rates: float = 0
    """Of the squares of the rates of relevant items, weighted by judged items."""

    def without(self, sample: JudgedSample) -> "_Sums":
        """Return the sums over the other topics."""
        return _Sums(*(one - two for one, two in zip(self, _sums([sample]), strict=True)))

    @property
    def prior(self) -> RatePrior | None:
        """Return the prior, or None if the topics are too few or all alike."""
        mean = self.relevant / self.judged if self.judged else 0.0
        if self.topics < ENOUGH_TOPICS or not 0 < mean < 1:
            return None
        spread = self.rates - mean * self.relevant
        by_chance, weight = self.topics - 1, self.judged - self.squares / self.judged
        correlation = (spread / (mean * (1 - mean)) - by_chance) / (weight - by_chance)
        lowest, highest = CORRELATIONS
        correlation = min(max(correlation, lowest), highest)
        precision = (1 - correlation) / correlation
        return RatePrior(mean * precision, (1 - mean) * precision)


def _sums(samples: Iterable[JudgedSample]) -> _Sums:
    measured = [sample for sample in samples if sample.judged >= ENOUGH_JUDGED]
    rows = (
        (1, judged, relevant, judged**2, relevant**2 / judged) for _, judged, relevant in measured
    )
    return _Sums(*map(sum, zip(*rows, strict=True)))


def estimated_prior(samples: Iterable[JudgedSample]) -> RatePrior | None:
    """Return the prior that topics suggest, or None if they are too few or all alike.

    Moments are weighted by the number of judged items (Kleinman 1973, J. Am. Stat. Assoc. 68(341)).
    """
    return _sums(samples).prior


def keep_probability(sample: JudgedSample, *, prior: RatePrior, min_relevant: int) -> float:
    """Return the probability that the finished topic has at least `min_relevant` relevant items.

    It is the probability of an error if the topic is set aside now.
    """
    missing = min_relevant - sample.relevant
    unjudged = sample.total - sample.judged
    if missing <= 0:
        return 1.0
    if missing > unjudged:
        return 0.0
    from scipy.stats import betabinom

    alpha = prior.alpha + sample.relevant
    beta = prior.beta + sample.judged - sample.relevant
    fewer = betabinom.cdf(missing - 1, unjudged, alpha, beta)
    return min(max(1 - float(fewer), 0.0), 1.0)


def keep_probabilities(
    samples: Mapping[Key, JudgedSample], *, kind: TaskKind, min_relevant: int
) -> dict[Key, float]:
    """Return the probability that each topic is kept, with a prior from all other topics."""
    sums = _sums(samples.values())
    return {
        topic: keep_probability(
            sample, prior=sums.without(sample).prior or LAB_PRIORS[kind], min_relevant=min_relevant
        )
        for topic, sample in samples.items()
    }


class Pace(NamedTuple):
    """The number of timed labels and their total active seconds."""

    labels: int = 0
    seconds: float = 0.0

    @property
    def each(self) -> float | None:
        """Return the mean seconds per label, or None if no label was timed."""
        return self.seconds / self.labels if self.labels else None

    def plus(self, other: "Pace") -> "Pace":
        """Return the sum of two paces."""
        return Pace(self.labels + other.labels, self.seconds + other.seconds)


def expected_seconds(paces: Iterable[Pace], *, usual: float) -> float:
    """Return the expected seconds per label: of the first pace with ENOUGH labels, else `usual`.

    `usual` is `TaskProtocol.seconds`.
    """
    return next((pace.seconds / pace.labels for pace in paces if pace.labels >= ENOUGH), usual)


def estimated_completions(
    remaining: Iterable[int], *, recent: int, since: datetime | None, at: datetime
) -> list[datetime | None]:
    """Return the estimated completion of each part of the work, done one part after the other.

    `remaining` holds the number of missing labels of each part. `recent` is the number of labels
    given in the RECENT period before `at` by an assessor whose first label was at `since`; the
    rate is computed over at least one day. The result is None for a part without missing labels,
    and for every part if there are no recent ones.
    """
    if not recent or since is None:
        return [None for _ in remaining]
    labels_per_day = recent / (min(RECENT, max(at - since, DAY)) / DAY)
    completions: list[datetime | None] = []
    total = 0
    for labels in remaining:
        total += labels
        completions.append(at + total / labels_per_day * DAY if labels else None)
    return completions


def expected_per_day(
    parts: Iterable[tuple[int, datetime]], *, at: datetime, until: date
) -> dict[date, float]:
    """Return the number of items expected on each day from that of `at` through `until`.

    `parts` holds numbers of unjudged items and their estimated completions after `at`. Each part is
    judged at an even rate. Days are those of the time zone of `at`. Without parts, the result is
    empty.
    """
    rates = [(items / ((end - at) / DAY), end) for items, end in parts]
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    expected: dict[date, float] = {}
    while rates and midnight.date() <= until:
        start, midnight = max(at, midnight), midnight + DAY
        spans = ((rate, max(timedelta(0), min(midnight, end) - start)) for rate, end in rates)
        expected[start.date()] = sum(rate * (span / DAY) for rate, span in spans)
    return expected

"""How likely the best runs stay the best when the judging of topics goes on.

A topic that is not fully judged may end with scores like those of any other topic. So in each
sample, the fully judged topics keep their scores, and each other topic takes the scores of a topic
drawn at random: a bootstrap (Efron, 1979) of the unfinished topics alone.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arqkit.measures.columns import Reals

SAMPLES = 2_000


class TopStability(NamedTuple):
    """The share of samples with the same best runs, and for each run, with the run among them.

    The order of the best runs does not matter. Of runs with equal means, the first comes first.
    """

    same: float
    each: Reals


def top_stability(
    scores: Reals, finished: NDArray[np.bool_], *, unscored: int, top: int, seed: int
) -> TopStability:
    """Return the stability of the `top` best runs of a matrix of runs by topics.

    `finished` marks the topics that are fully judged; `unscored` is the number of further topics
    that have no scores yet. A missing score is NaN, and a run's mean leaves it out.
    """
    _, topics = scores.shape
    draws = int((~finished).sum()) + unscored
    random = np.random.default_rng(seed)
    counts = random.multinomial(draws, np.full(topics, 1 / topics), size=SAMPLES) + finished
    chosen = _best(_means(scores, counts), top)
    now = _best(_means(scores, np.ones((1, topics), dtype=np.int64)), top)
    return TopStability(float((chosen == now).all(axis=1).mean()), chosen.mean(axis=0))


def _means(scores: Reals, counts: NDArray[np.int64]) -> Reals:
    """Return the means of the runs for each sample (rows), which counts each topic so often."""
    known = ~np.isnan(scores)
    totals = counts @ np.where(known, scores, 0).T
    numbers = counts @ known.T.astype(np.int64)
    return np.divide(totals, numbers, out=np.zeros_like(totals), where=numbers > 0)


def _best(means: Reals, top: int) -> NDArray[np.bool_]:
    """Mark the best runs of each row."""
    places = np.argsort(-np.round(means, 12), axis=1, kind="stable")[:, :top]
    marks = np.zeros(means.shape, dtype=np.bool_)
    np.put_along_axis(marks, places, True, axis=1)
    return marks

"""Random and tied scores of runs by topic."""

import numpy as np
import pytest

# Runs and topics. Wilcoxon's test is exact up to 13 topics, and without ties up to 50.
SIZES = [(6, 5), (4, 12), (3, 13), (5, 14), (4, 30), (4, 50), (4, 51), (8, 78)]


def random_scores(runs: int, topics: int) -> np.ndarray:
    """Return scores without ties."""
    return np.random.default_rng(runs * topics).beta(1.2, 2, (runs, topics))


def tied_scores(runs: int, topics: int) -> np.ndarray:
    """Return scores like P@8, with ties and equal scores in some topics."""
    generator = np.random.default_rng(runs + topics)
    scores = generator.integers(0, 9, (runs, topics)) / 8
    scores[1] = np.where(generator.random(topics) < 0.5, scores[0], scores[1])
    return scores


TABLES = [
    pytest.param(kind(*size), id=f"{kind.__name__} {size}")
    for kind in (random_scores, tied_scores)
    for size in SIZES
]

"""The stability of the best runs agrees with the exact probability over all possible draws."""

from itertools import product
from statistics import fmean

import numpy as np
import pytest

from arqkit.comparison.correlation import SAMPLES, top_stability

SCORES = np.array(
    [[0.9, 0.2, 0.4, 0.6], [0.3, 0.8, 0.5, 0.2], [0.5, 0.5, 0.6, 0.3], [0.1, 0.4, 0.3, 0.9]]
)
FINISHED = np.array([True, False, False, True])
UNSCORED, TOP = 1, 2
ERRORS = 4  # standard errors of a share of the samples


def best_of(rows: list[list[float]]) -> set[int]:
    """Return the places of the best means; of equal means, the first."""
    means = [round(fmean(value for value in row if value == value), 12) for row in rows]
    return set(sorted(range(len(rows)), key=lambda place: -means[place])[:TOP])


def exact(scores: np.ndarray) -> tuple[float, list[float]]:
    """Return the probabilities by enumerating all draws."""
    now = best_of(scores.tolist())
    fixed = [place for place, is_finished in enumerate(FINISHED) if is_finished]
    draws = (~FINISHED).sum() + UNSCORED
    tops = [
        best_of([[row[place] for place in (*fixed, *drawn)] for row in scores.tolist()])
        for drawn in product(range(4), repeat=draws)
    ]
    return fmean(top == now for top in tops), [
        fmean(run in top for top in tops) for run in range(4)
    ]


@pytest.mark.parametrize("missing", [False, True])
def test_the_shares_are_those_of_all_possible_draws(missing):
    scores = SCORES.copy()
    if missing:
        scores[2, 1] = np.nan
    found = top_stability(scores, FINISHED, unscored=UNSCORED, top=TOP, seed=1)

    same, each = exact(scores)
    assert 0 < same < 1
    for share, expected in zip([found.same, *found.by_run], [same, *each], strict=True):
        error = (expected * (1 - expected) / SAMPLES) ** 0.5
        assert abs(share - expected) <= ERRORS * error


def test_nothing_changes_when_all_topics_are_judged():
    found = top_stability(SCORES, np.ones(4, dtype=bool), unscored=0, top=TOP, seed=1)

    assert found.same == 1
    assert found.by_run.tolist() == [float(run in best_of(SCORES.tolist())) for run in range(4)]


def test_a_seed_gives_the_same_figures_and_fewer_runs_than_places_all_stay():
    one, other = (
        top_stability(SCORES, FINISHED, unscored=1, top=TOP, seed=seed) for seed in (7, 7)
    )
    assert one.same == other.same
    assert top_stability(SCORES, FINISHED, unscored=1, top=5, seed=1).same == 1

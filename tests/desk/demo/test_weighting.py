"""The weighting schemes on three documents with scores computed by hand."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from desk.demo import weighting
from desk.demo.weighting import Scores

DOCUMENTS = [["ring", "ideal", "ideal"], ["ring", "field"], ["graph"]]
SCHEMES = [
    weighting.bm25,
    weighting.cosine,
    partial(weighting.feedback, best=1),
    weighting.likelihood,
    partial(weighting.latent, dimensions=3),
]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_best_match_is_first_and_a_document_without_a_match_scores_zero(
    scheme: Callable[..., Scores],
) -> None:
    (scores,) = scheme(DOCUMENTS, [["ideal", "ring"]])
    assert scores.argmax() == 0
    assert scores[2] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_query_without_known_terms_matches_nothing(scheme: Callable[..., Scores]) -> None:
    assert np.abs(scheme(DOCUMENTS, [[], ["unheard"]])).max() == pytest.approx(0, abs=1e-6)


def test_the_cosine_of_a_document_with_itself_is_one() -> None:
    assert np.diag(weighting.cosine(DOCUMENTS, DOCUMENTS)) == pytest.approx([1, 1, 1])


def test_bm25_is_the_formula_of_lucene() -> None:
    (scores,) = weighting.bm25(DOCUMENTS, [["graph"]], k1=1.2, b=0.75)
    idf, length = np.log(1 + (3 - 1 + 0.5) / (1 + 0.5)), 1 / 2
    assert scores[2] == pytest.approx(idf / (1 + 1.2 * (1 - 0.75 + 0.75 * length)), rel=1e-5)


def test_min_max_maps_each_query_to_the_range_from_0_to_1() -> None:
    assert weighting.min_max(np.array([[2.0, 4.0, 3.0], [5.0, 5.0, 5.0]])).tolist() == [
        [0, 1, 0.5],
        [0, 0, 0],
    ]

"""Nearest neighbours of vectors by cosine."""

import numpy as np
import pytest

from arqkit.retrieval.vectors import VectorIndex

pytest.importorskip("faiss")

NAMES = [f"v{number}" for number in range(500)]


@pytest.fixture(scope="module")
def vectors():
    return np.random.default_rng(1).standard_normal((500, 64)).astype(np.float32)


@pytest.fixture(scope="module")
def index(vectors):
    return VectorIndex.build([(NAMES[:300], vectors[:300]), (NAMES[300:], 7 * vectors[300:])])


def cosines(vectors, query):
    exact = vectors.astype(np.float64)
    return exact @ query / np.linalg.norm(exact, axis=1) / np.linalg.norm(query)


def test_the_nearest_are_those_with_the_highest_cosine(index, vectors):
    query = vectors[7] + vectors[8]
    found = index.search(["q"], query[None], limit=20)

    expected = cosines(vectors, query.astype(np.float64))
    assert found["item"].to_list() == [NAMES[n] for n in np.argsort(-expected)[:20]]
    assert found["score"].to_numpy() == pytest.approx(np.sort(expected)[::-1][:20], abs=1e-6)


def test_an_exact_copy_ranks_before_a_vector_that_differs_in_the_last_bit(vectors):
    for vector in vectors[:50]:
        near = np.nextafter(vector, np.float32(9))
        index = VectorIndex.build([(["a", "b", "copy"], np.stack([near, -vector, vector]))])
        ranking = index.search(["q"], vector[None])
        assert ranking["item"][0] == "copy"
        assert ranking["score"].to_list() == pytest.approx([1, 1, -1])


def test_equal_vectors_are_in_the_order_of_their_ids(vectors):
    index = VectorIndex.build([(["c", "a", "b"], vectors[[0, 0, 0]])])
    assert index.search(["q"], vectors[:1])["item"].to_list() == ["a", "b", "c"]


def test_a_topic_has_the_same_ranking_alone_and_among_others(index, vectors):
    together = index.search(NAMES[:40], vectors[:40] + 1, limit=50)
    alone = [index.search([NAMES[n]], vectors[n : n + 1] + 1, limit=50) for n in range(40)]
    assert together.rows() == [row for ranking in alone for row in ranking.rows()]


def test_a_saved_index_is_the_same_in_a_moved_folder(index, vectors, tmp_path):
    (tmp_path / "made").mkdir()
    index.save(tmp_path / "made")
    opened = VectorIndex.open((tmp_path / "made").rename(tmp_path / "moved"))
    assert opened.search(["q"], vectors[:1]).equals(index.search(["q"], vectors[:1]))
    assert (len(opened), opened.recall) == (500, 1)


@pytest.mark.parametrize(("least", "recall"), [(0.8, 0.99), (1.01, 1)])
def test_many_vectors_are_compressed_if_their_nearest_are_still_found(vectors, least, recall):
    index = VectorIndex.build([(NAMES, vectors)], flat=400, least_recall=least)
    assert index.recall == pytest.approx(recall, abs=0.02)
    assert (index.recall < 1) == (least <= 1)
    assert index.search(["q"], vectors[:1])["item"][0] == "v0"


def test_a_search_for_nothing_finds_nothing(index):
    assert index.search([], np.empty((0, 64), np.float32)).is_empty()


@pytest.mark.parametrize("wrong", [0, np.nan, np.inf])
def test_a_vector_without_a_direction_is_refused(wrong):
    vectors = np.array([[1, 2], [wrong, 0]], np.float32)
    with pytest.raises(ValueError, match="Vector 2 of 2 has the length"):
        VectorIndex.build([(["a", "b"], vectors)])


def test_an_index_without_vectors_is_refused():
    with pytest.raises(ValueError, match="There is no vector"):
        VectorIndex.build([])

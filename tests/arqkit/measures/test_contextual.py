"""Contextual similarity, against the package bert-score 0.3.13 with the same model."""

from pathlib import Path

import pytest

from arqkit.measures.contextual import AnswerModel, model_problem, vectors_f1
from tests.arqkit.measures.tiny_models import make_tiny_model

# F1 of BERTScorer(model_type=folder, num_layers=2)
OF_BERT_SCORE = {
    ("the sum of squares", "the limit of sum"): 0.903267,
    ("limit a + b = c", "a + b"): 0.657112,
    ("x", "squares of the sum"): 0.598487,
    ("the the limit", "a b c d"): 0.740788,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("model"))


def test_f1_is_that_of_bert_score(folder):
    model = AnswerModel(str(folder))
    found = {pair: vectors_f1(*map(model.vectors, pair)) for pair in OF_BERT_SCORE}

    assert found == pytest.approx(OF_BERT_SCORE, abs=2e-4)  # vectors have 16 bits


def test_a_text_without_tokens_is_like_no_other_and_a_long_one_is_cut(folder):
    model = AnswerModel(str(folder))
    none, long = model.vectors(" "), model.vectors("x " * 500)

    assert (len(none), len(long)) == (0, 60)
    assert vectors_f1(none, long) == vectors_f1(long, none) == 0.0
    assert model.tokens("limit xy") == ["limit", "x", "##y"]


@pytest.mark.parametrize(
    ("name", "problem"),
    [("", "no language model"), ("nowhere", "no config.json"), (".", "no config.json")],
)
def test_a_folder_without_a_model_has_a_problem(tmp_path, monkeypatch, name, problem):
    monkeypatch.chdir(tmp_path)

    assert problem in model_problem(name)


def test_missing_packages_are_named(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setattr("arqkit.measures.contextual._NEEDED", ("arqlab_has_no_such_package",))
    assert model_problem(str(tmp_path)).endswith("are not installed. Run: bin/setup --systems")

    monkeypatch.setattr("arqkit.measures.contextual._NEEDED", ("numpy",))
    assert model_problem(str(tmp_path)) == ""

"""Equation embeddings: graphs, triplets, the network and its training (002)."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest

from arqkit.retrieval.graphs import NOTHING, UNREADABLE, Vocabulary, parse_formula
from arqkit.retrieval.triplets import Contexts, TrainingSettings, right_order

pytest.importorskip("torch_geometric")

import torch

from arqkit.retrieval.equations import (
    EquationIndex,
    EquationModel,
    Network,
    TooFewFormulasError,
    exchanged,
    histogram_loss,
    train,
    training_data,
)
from tests.real_data import DATA, needs_data


def formulas_of(threads):
    """Return 6 formulas for each thread, in two posts."""
    return pl.DataFrame(
        [
            (rf"\frac{{x_{number}}}{{{post}}} + {thread}", f"{thread}/{post}", str(thread))
            for thread, post, number in product(range(1, threads + 1), (1, 2), (1, 2, 3))
        ],
        schema=["latex", "post_id", "thread_id"],
        orient="row",
    )


FORMULAS, MANY = formulas_of(3), formulas_of(12)
TINY = TrainingSettings(triplets=40, epochs=2)


def rows_of(frame, column, rows):
    return frame[column].to_numpy()[rows]


def test_a_formula_is_a_tree_of_its_elements_and_characters():
    formula = parse_formula(r"\frac{x}{12}")

    assert [(tag, sign) for tag, _, sign in formula.nodes] == [
        ("mfrac", ""), ("mi", "x"), ("mn", "1"), ("mn", "2"),
    ]  # fmt: skip
    assert formula.parents == [0, 0, 0, 2]


def test_what_is_no_formula_is_a_node_without_features():
    graphs = Vocabulary.of([parse_formula("x")]).graphs(
        [parse_formula(r"\frac{1"), parse_formula("x")]
    )

    assert parse_formula(r"\frac{1") == UNREADABLE
    assert graphs.columns[0].tolist() == [NOTHING] * 3
    assert (graphs.columns[1] != NOTHING).tolist() == [True, False, True]


def test_edges_join_nodes_and_parents_both_ways_and_stay_in_their_graph():
    parsed = [parse_formula("x"), parse_formula("x^2"), parse_formula("a+b")]
    graphs = Vocabulary.of(parsed).graphs(parsed)

    taken = graphs.taken(np.array([2, 1]))
    owners = taken.owners()
    edges = {(int(a), int(b)) for a, b in taken.edges().T}
    assert edges == {(b, a) for a, b in edges}
    assert all(owners[a] == owners[b] for a, b in edges)
    assert len(edges) == 2 * (len(owners) - len(taken))  # a tree has one edge less than nodes


def test_positives_share_a_context_and_negatives_do_not():
    contexts = Contexts(FORMULAS, links=[("1", "2")])
    kept, held = contexts.split(0, seed=0)
    anchor, positive, negative = (
        rows_of(FORMULAS, "thread_id", column)
        for column in contexts.triplets(500, among=kept, seed=0).T
    )

    linked = {("1", "2"), ("2", "1")}
    pairs = {*zip(anchor, positive, strict=True)}
    assert pairs == {("1", "1"), ("2", "2"), ("3", "3"), *linked}
    assert {*zip(anchor, negative, strict=True)} == {("1", "3"), ("2", "3"), ("3", "1"), ("3", "2")}
    assert held.size == 0


def test_pairs_of_the_same_latex_are_left_out():
    twins = pl.concat([FORMULAS, FORMULAS])
    contexts = Contexts(twins)
    triplets = contexts.triplets(500, among=np.arange(3), seed=0)

    assert (contexts.looks[triplets[:, 0]] != contexts.looks[triplets[:, 1]]).all()


def test_threads_that_are_held_out_have_no_triplets_to_train_with():
    contexts = Contexts(FORMULAS)
    kept, held = contexts.split(1 / 3, seed=0)

    rows = contexts.triplets(100, among=kept, seed=0)
    assert (len(kept), len(held), {*kept.tolist()} & {*held.tolist()}) == (2, 1, set())
    assert {*contexts.threads[rows].ravel().tolist()} == {*kept.tolist()}


def test_a_collection_without_pairs_is_refused():
    with pytest.raises(TooFewFormulasError, match="Train it on a larger collection"):
        training_data(MANY.unique("thread_id"), [], TINY)


def test_the_ranking_score_counts_triplets_whose_positive_is_nearer():
    vectors = np.array([[1, 0], [0.8, 0.1], [0, 1], [0.8, -0.1]], np.float32)

    assert right_order(vectors, np.array([[0, 1, 2], [0, 2, 1], [0, 1, 3]])).tolist() == [
        True, False, False,  # a tie is no success
    ]  # fmt: skip


def test_the_histogram_loss_is_the_sum_of_the_paper():
    near, far = np.array([0.9, 0.31, -0.2]), np.array([0.4, -0.75, 0.1])
    places = np.linspace(-1, 1, 64)
    width = places[1] - places[0]

    def kernel(similarity, place):
        return max(0.0, 1 - abs(similarity - place) / width)

    # Formula 4: for each pair of a positive and a negative, all bins r' up to r.
    expected = sum(
        kernel(s, places[low]) * kernel(t, places[high])
        for s, t in product(near, far)
        for high in range(64)
        for low in range(high + 1)
    ) / (len(near) * len(far))
    assert histogram_loss(torch.tensor(near), torch.tensor(far)).item() == pytest.approx(expected)


def test_only_characters_of_identifiers_are_exchanged_and_equal_ones_stay_equal():
    formula = parse_formula(r"x + 2x = 12y")
    vocabulary = Vocabulary.of([formula, parse_formula("abcdefghijklmnopqrstuvw")])
    graphs = vocabulary.graphs([formula] * 20)

    changed = exchanged(graphs, vocabulary.identifiers, np.random.default_rng(0)).columns
    is_named = graphs.columns[:, 0] == vocabulary.identifiers
    first, second, third = changed[is_named, 2].reshape(-1, 3).T
    assert (first == second).all()
    assert (second != third).all()
    assert 0 < (first != graphs.columns[is_named, 2][0]).sum() < 20
    assert (changed[~is_named] == graphs.columns[~is_named]).all()
    assert (changed[:, :2] == graphs.columns[:, :2]).all()


def test_training_that_was_stopped_ends_like_one_that_was_not(tmp_path):
    data = training_data(MANY, [], TINY)
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    whole.mkdir()
    stopped.mkdir()
    expected = train(data, TINY, whole)

    def stop(done, total):
        if done >= len(data.triplets):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(data, TINY, stopped, stop)
    model = train(data, TINY, stopped)

    graphs = data.graphs
    np.testing.assert_allclose(model.embed(graphs), expected.embed(graphs), atol=1e-4)
    courses = [json.loads((folder / "history.json").read_text()) for folder in (whole, stopped)]
    assert courses[0]["settings"] == courses[1]["settings"]
    assert [len(course["epochs"]) for course in courses] == [2, 2]


def test_training_lowers_both_losses(tmp_path):
    settings = replace(TINY, triplets=128, epochs=6, rate=1e-3)
    train(training_data(MANY, [], settings), settings, tmp_path)

    first, *_, last = json.loads((tmp_path / "history.json").read_text())["epochs"]
    assert last["pairs"] < first["pairs"]
    assert last["masking"] < first["masking"]


@needs_data
def test_an_exact_copy_of_a_formula_ranks_first(tmp_path):
    sample = pl.read_csv(DATA / "collection/formulas.latex.tsv.gz", separator="\t", n_rows=2_000)
    latex = sample["formula"].unique(maintain_order=True).head(300)
    formulas = pl.DataFrame({"formula_id": [f"f{n}" for n in range(300)], "latex": latex})
    torch.manual_seed(0)
    model = EquationModel(Vocabulary.of([parse_formula(text) for text in latex]), Network())
    EquationIndex.build(model, [formulas.head(170), formulas.tail(130)]).save(tmp_path)
    index = EquationIndex.open(tmp_path)

    for name, text in formulas.sample(30, seed=0).rows():
        found = index.search("A.1", text)
        copies = found.filter(pl.col("score") > found["score"][0] - 1e-6)["item"]
        assert name in copies.to_list()
        assert found["score"][0] == pytest.approx(1, abs=1e-5)

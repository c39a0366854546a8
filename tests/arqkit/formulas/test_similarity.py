"""Similarity of formulas by the symbol pairs of their layout strings."""

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.formulas.similarity import layout_symbols, pair_index, similar_forms, symbol_pairs

SQUARE = "V!x a[ N!2 ] n O!+ n N!1"

symbols = st.sampled_from(["V!x", "V!y", "N!1", "O!+", "O!=", "F", "A"])


def layouts(depth: int = 2) -> st.SearchStrategy[str]:
    """Return layout strings: symbols in a row, some with symbols above and below."""
    if depth == 0:
        return symbols
    inner = layouts(depth - 1)
    node = st.one_of(
        symbols,
        st.builds("{} a[ {} ]".format, symbols, inner),
        st.builds("{} b[ {} ]".format, symbols, inner),
    )
    return st.lists(node, min_size=1, max_size=4).map(" n ".join)


def similarity(one: str, other: str) -> float:
    """Return the similarity of two layout strings, by an index of one formula."""
    found = similar_forms(pair_index([other]).lazy(), one, limit=1)
    return found["similarity"].sum()


def dice(one: str, other: str) -> float:
    """Return Dice's coefficient of the symbol pairs, by its definition."""
    ours, theirs = Counter(symbol_pairs(one)), Counter(symbol_pairs(other))
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def test_pairs_are_those_of_one_and_two_edges_and_the_last_symbols():
    pairs = [pair for pair in symbol_pairs(SQUARE) if not pair.startswith("~")]

    assert sorted(pairs) == sorted(
        ["V!x N!2 a", "V!x O!+ n", "V!x N!1 nn", "O!+ N!1 n", "N!2 .", "N!1 ."]
    )  # fmt: skip


def test_the_symbols_of_a_formula_include_its_structures_but_no_edges():
    fraction = "F o[ V!n ] u[ N!2 ] n O!+ n R w[ V!x ]"

    assert layout_symbols(fraction) == ["F", "V!n", "N!2", "O!+", "R", "V!x"]


def test_adjacent_symbols_are_also_paired_by_kind():
    assert "~V N a" in symbol_pairs(SQUARE)


def test_a_formula_with_one_symbol_consists_of_its_last_symbol():
    assert symbol_pairs("V!x") == ["V!x ."]


def test_a_symbol_with_the_name_of_an_edge_is_a_symbol():
    assert "V!n V!a n" in symbol_pairs("V!n n V!a")


@given(layouts())
def test_a_formula_has_similarity_1_to_itself(layout):
    assert similarity(layout, layout) == 1


@given(layouts(), layouts())
def test_similarity_is_symmetric_and_between_0_and_1(one, other):
    assert 0 <= similarity(one, other) == similarity(other, one) <= 1


def test_equal_letters_rank_above_other_letters_and_these_above_another_structure():
    same_letters = "V!x a[ N!2 ] n O!- n N!1"
    other_letters = "V!y a[ N!3 ] n O!+ n N!4"
    other_structure = "F o[ V!y ] u[ N!3 ]"
    layouts = [other_structure, other_letters, same_letters]

    assert sorted(layouts, key=lambda layout: -similarity(SQUARE, layout)) == layouts[::-1]
    assert len({similarity(SQUARE, layout) for layout in layouts}) == 3


@given(st.lists(layouts(), min_size=1, max_size=8), layouts())
def test_the_index_finds_the_same_as_pairwise_comparison(forms, asked):
    found = similar_forms(pair_index(forms).lazy(), asked, limit=len(forms))

    expected = {row: dice(asked, form) for row, form in enumerate(forms) if dice(asked, form) > 0}
    assert dict(found.rows()) == pytest.approx(expected)
    assert found["similarity"].is_sorted(descending=True)


def test_the_index_leaves_out_formulas_without_a_layout():
    index = pair_index([None, "V!x", ""])

    assert index["form"].to_list() == [1]
    assert index.schema == {
        "pair": pl.UInt64,
        "form": pl.UInt32,
        "count": pl.UInt32,
        "size": pl.UInt32,
    }


def test_an_empty_index_finds_nothing():
    assert similar_forms(pair_index([]).lazy(), SQUARE, limit=5).height == 0


def test_pair_numbers_do_not_depend_on_the_process():
    assert pair_index(["V!x"])["pair"].to_list() == [9634302967547363282]


def test_an_index_made_in_batches_is_the_same(monkeypatch):
    forms = [SQUARE, None, "V!x", SQUARE]
    whole = pair_index(forms)
    monkeypatch.setattr("arqkit.formulas.similarity.BATCH", 2)

    assert pair_index(forms).equals(whole)


def test_repeated_spaces_in_a_layout_do_not_matter():
    assert symbol_pairs("V!x  n V!y") == symbol_pairs("V!x n V!y")

"""How alike formulas look, by the symbol pairs of their layout."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arqlab.ir.formulas.similarity import pair_index, similar_forms, symbol_pairs

SQUARE = "V!x a[ N!2 ] n O!+ n N!1"

symbols = st.sampled_from(["V!x", "V!y", "N!1", "O!+", "O!=", "F", "A"])


def layouts(depth: int = 2) -> st.SearchStrategy[str]:
    """Layout strings: symbols in a row, some with symbols above and below."""
    if depth == 0:
        return symbols
    inner = layouts(depth - 1)
    node = st.one_of(
        symbols,
        st.builds("{} a[ {} ]".format, symbols, inner),
        st.builds("{} b[ {} ]".format, symbols, inner),
    )
    return st.lists(node, min_size=1, max_size=4).map(" n ".join)


def test_pairs_are_those_of_one_and_two_edges_and_the_last_symbols():
    pairs = [pair for pair in symbol_pairs(SQUARE) if not pair.startswith("~")]

    assert sorted(pairs) == sorted(
        ["V!x N!2 a", "V!x O!+ n", "V!x N!1 nn", "O!+ N!1 n", "N!2 .", "N!1 ."]
    )  # fmt: skip


def test_neighbours_are_taken_by_kind_too():
    assert "~V N a" in symbol_pairs(SQUARE)


def alike(one: str, other: str) -> float:
    """The likeness that the index gives of two formulas."""
    return sum(similar_forms(pair_index([other]).lazy(), one, limit=1)["similarity"])


def dice(one: str, other: str) -> float:
    """Dice's coefficient by its definition: twice the shared pairs by all pairs."""
    ours, theirs = Counter(symbol_pairs(one)), Counter(symbol_pairs(other))
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def test_a_formula_of_one_symbol_has_its_last_symbol():
    assert symbol_pairs("V!x") == ["V!x ."]


def test_a_symbol_called_like_an_edge_is_a_symbol():
    assert "V!n V!a n" in symbol_pairs("V!n n V!a")


@given(layouts())
def test_a_formula_is_wholly_like_itself(layout):
    assert alike(layout, layout) == 1


@given(layouts(), layouts())
def test_likeness_is_symmetric_and_between_0_and_1(one, other):
    assert 0 <= alike(one, other) == alike(other, one) <= 1


def test_other_letters_are_less_alike_than_the_same_and_more_than_another_structure():
    same_letters, other_letters, other_shape = (
        "V!x a[ N!2 ] n O!- n N!1",
        "V!y a[ N!3 ] n O!+ n N!4",
        "F o[ V!y ] u[ N!3 ]",
    )

    assert alike(SQUARE, same_letters) > alike(SQUARE, other_letters) > alike(SQUARE, other_shape)


@given(st.lists(layouts(), min_size=1, max_size=8), layouts())
@settings(deadline=None)
def test_the_index_gives_what_comparing_one_by_one_gives(forms, asked):
    found = similar_forms(pair_index(forms).lazy(), asked, limit=len(forms))

    expected = {row: dice(asked, form) for row, form in enumerate(forms) if dice(asked, form) > 0}
    assert dict(found.rows()) == pytest.approx(expected)
    assert found["similarity"].is_sorted(descending=True)


def test_formulas_without_a_layout_are_in_no_row():
    index = pair_index([None, "V!x", ""])

    assert index["form"].to_list() == [1]
    assert index.schema == {
        "pair": pl.UInt64,
        "form": pl.UInt32,
        "count": pl.UInt32,
        "size": pl.UInt32,
    }


def test_an_index_of_nothing_finds_nothing():
    assert similar_forms(pair_index([]).lazy(), SQUARE, limit=5).height == 0


def test_the_numbers_of_pairs_do_not_depend_on_the_process():
    assert pair_index(["V!x"])["pair"].to_list() == [9634302967547363282]

"""Snippets of posts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arqlab.ir.snippet import LENGTH, Part, joined, snippet, stem

LONG = "nothing to see here. " * 60
FORMULA = '<span class="math-container" id="7">$\\frac{a}{b}$</span>'


def text_of(parts: list[Part]) -> str:
    return "".join(part.text if part.formula is None else f"${part.formula.latex}$" for part in parts)


def test_the_snippet_is_where_the_words_are():
    parts = snippet(f"<p>{LONG}</p><p>The harmonic series diverges.</p><p>{LONG}</p>", found=["harmonic", "series"])

    assert [part.text for part in parts if part.kind == "mark"] == ["harmonic", "series"]
    assert (parts[0].kind, parts[-1].kind) == ("gap", "gap")


def test_without_a_find_it_is_the_beginning():
    assert text_of(snippet(f"<p>First words. {LONG}</p>", found=["absent"])).startswith("First words.")


def test_a_formula_is_whole_and_one_that_was_asked_for_is_marked():
    [formula] = [part for part in snippet(f"{LONG} by {FORMULA} {LONG}", formulas=["7"]) if part.formula]

    assert (formula.formula.latex, formula.is_found) == (r"\frac{a}{b}", True)


def test_other_forms_of_a_word_are_marked_as_the_index_finds_them():
    assert {stem("group"), stem("groups")} == {"group"}
    assert stem("converges") == stem("converging") == stem("converge")


def test_accents_and_case_do_not_keep_a_word_from_its_mark():
    [mark] = [part.text for part in snippet("By l'Hôpital.", found=["hopital"]) if part.kind == "mark"]

    assert mark == "Hôpital"


def test_blanks_between_words_stay_and_are_one():
    assert text_of(snippet("<p>a  b</p>\n<p>c</p>")) == "a b c "


@given(st.lists(st.sampled_from(["word ", "<p>", "</p>", FORMULA, "series ", "&lt;", "é "])))
def test_a_snippet_is_bounded_and_joining_changes_no_text(pieces):
    parts = snippet("".join(pieces), found=["series"])

    assert sum(len(part.text) for part in parts) <= LENGTH + 40
    assert text_of(joined(parts)) == text_of(parts)

"""Snippets of posts."""

from hypothesis import given
from hypothesis import strategies as st

from arqkit.texts.posts.snippets import (
    BEFORE,
    LENGTH,
    LONGEST_FORMULA,
    READ,
    Part,
    joined,
    marked,
    snippet,
    stem,
)

LONG = "nothing to see here. " * 60
FORMULA = '<span class="math-container" id="7">$\\frac{a}{b}$</span>'


def text_of(parts: list[Part]) -> str:
    return "".join(
        part.text if part.formula is None else f"${part.formula.latex}$" for part in parts
    )


def test_the_snippet_contains_the_matches():
    parts = snippet(
        f"<p>{LONG}</p><p>The harmonic series diverges.</p><p>{LONG}</p>",
        terms=["harmonic", "series"],
    )

    assert [part.text for part in parts if part.kind == "mark"] == ["harmonic", "series"]
    assert (parts[0].kind, parts[-1].kind) == ("gap", "gap")


def test_without_a_match_the_snippet_is_the_beginning():
    assert text_of(snippet(f"<p>First words. {LONG}</p>", terms=["absent"])).startswith(
        "First words."
    )


def test_formulas_are_whole_and_matches_are_marked():
    [formula] = [
        part for part in snippet(f"{LONG} by {FORMULA} {LONG}", formulas=["7"]) if part.formula
    ]

    assert (formula.formula.latex, formula.is_found) == (r"\frac{a}{b}", True)


def test_other_forms_of_a_word_are_marked_as_the_index_finds_them():
    assert {stem("group"), stem("groups")} == {"group"}
    assert stem("converges") == stem("converging") == stem("converge")


def test_words_are_marked_ignoring_accents_and_case():
    [mark] = [
        part.text for part in snippet("By l'Hôpital.", terms=["hopital"]) if part.kind == "mark"
    ]

    assert mark == "Hôpital"


def test_white_space_between_words_is_collapsed():
    assert text_of(snippet("<p>a  b</p>\n<p>c</p>")) == "a b c "


@given(st.lists(st.sampled_from(["word ", "<p>", "</p>", FORMULA, "series ", "&lt;", "é "])))
def test_a_snippet_is_bounded_and_joining_changes_no_text(pieces):
    parts = snippet("".join(pieces), terms=["series"])

    assert sum(len(part.text) for part in parts) <= LENGTH + 40
    assert text_of(joined(parts)) == text_of(parts)


@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.sampled_from(["alpha ", "beta ", "gamma "])), max_size=9
    )
)
def test_no_other_part_of_a_text_has_more_different_matches(places):
    text, ask = (
        "".join("other " * others + word for others, word in places),
        ["alpha", "beta", "gamma"],
    )
    shown = {stem(part.text) for part in snippet(text, terms=ask) if part.is_found}
    windows = (
        text[at : at + LENGTH - BEFORE].split(" ")[:-1]
        for at in range(len(text))
        if text[at - 1 : at] in ("", " ")
    )

    assert len(shown) >= max(
        (len({stem(word) for word in window} & {*ask}) for window in windows), default=0
    )


def test_text_beyond_the_limit_is_left_out():
    parts = marked("x " * READ, terms=["x"])

    assert (sum(len(part.text) for part in parts), parts[-1].kind) == (READ, "gap")
    assert [part.kind for part in marked(FORMULA * READ, terms=[])][-1] == "gap"


def test_a_formula_longer_than_any_real_one_is_a_gap():
    long = f'<span class="math-container" id="8">${"x" * (LONGEST_FORMULA + 1)}$</span>'

    assert [
        part.kind for part in joined(snippet(f"By {long}{long} it holds.", formulas=["8"]))
    ] == ["text", "gap", "text"]

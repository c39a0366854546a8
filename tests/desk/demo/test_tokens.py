"""Tokens of posts and formulas for the demo's systems."""

import pytest

from desk.demo import tokens

HTML = (
    '<p>The <em>primes</em> of <span class="math-container" id="7">$a &lt; b$</span>'
    " and properties.</p>"
)


def test_words_exclude_formulas_and_stop_words() -> None:
    assert tokens.lower_words(HTML) == ["prime", "property"]


def test_latex_tokens_leave_out_braces_and_space() -> None:
    assert tokens.latex_tokens(r"\frac{a}{12}\, \le x") == [r"\frac", "a", "12", r"\leq", "x"]


def test_ngrams_are_adjacent_tokens() -> None:
    assert tokens.ngrams(["a", "+", "b"], 2) == ["a +", "+ b"]


@pytest.mark.parametrize(
    "latex", [r"a^{2}", r"{a}^2", r"a ^2.", r"\displaystyle a^2", r"\left a^2\,"]
)
def test_formulas_that_look_the_same_have_one_form(latex: str) -> None:
    assert tokens.visual_form(latex) == tokens.visual_form("a^2")


@pytest.mark.parametrize(("one", "other"), [("x^{12}", "x^12"), ("a", "A"), (r"a \leq b", "a < b")])
def test_formulas_that_look_different_have_two_forms(one: str, other: str) -> None:
    assert tokens.visual_form(one) != tokens.visual_form(other)

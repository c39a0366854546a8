"""The text, the formulas and the words of posts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqlab.ir.postwords import TextFormula, pieces, plain_text, word_spans, words

FORMULA = '<span class="math-container" id="7">$a&lt;b$</span>'


def test_formulas_come_out_with_their_id_without_dollars_and_escapes():
    assert list(pieces(f"If {FORMULA}, stop.")) == ["If ", TextFormula("7", "a<b", False), ", stop."]


def test_a_formula_between_two_dollars_is_a_display():
    assert list(pieces('<span class="math-container">$$x$$</span>')) == [TextFormula("", "x", True)]


def test_the_plain_text_has_neither_tags_nor_formulas_nor_scripts():
    html = f"<p>One <em>w</em>ord &amp; {FORMULA}</p><script>alert(1)</script><p>two</p><!-- three -->"

    assert plain_text(html).split() == ["One", "word", "&", "two"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L'Hôpital", ["l", "hopital"]),
        ("L’Hôpital", ["l", "hopital"]),
        ("p-adic", ["p", "adic"]),
        ("C*-algebra", ["c", "algebra"]),
        ("Erdős–Rényi", ["erdos", "renyi"]),
        ("snake_case", ["snake", "case"]),
        ("Straße", ["strasse"]),
        ("Пуанкаре", ["пуанкаре"]),
        ("$ ∀ — …", []),
    ],
)
def test_words_are_compared_without_case_accents_and_signs(text, expected):
    assert words(text) == expected


@given(st.text())
def test_whatever_the_text_words_have_only_letters_and_digits_and_a_bounded_length(text):
    for word in words(text):
        assert word.isalnum()
        assert len(word) <= 64


@given(st.text())
def test_words_of_words_are_the_same_words(text):
    once = words(text)

    assert words(" ".join(once)) == once


@given(st.text())
def test_the_spans_of_words_lie_one_after_the_other_in_the_text(text):
    spans = [(start, end) for start, end, _ in word_spans(text)]

    assert all(start < end <= len(text) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))

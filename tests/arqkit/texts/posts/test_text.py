"""Text, formulas and search terms of posts."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.texts.posts.text import (
    TextFormula,
    pieces,
    plain_text,
    plain_title,
    renumbered,
    text_formulas,
    word_spans,
    words,
)

FORMULA = '<span class="math-container" id="7">$a&lt;b$</span>'


def test_formulas_have_their_id_and_no_dollars_or_escapes():
    assert list(pieces(f"If {FORMULA}, stop.")) == [
        "If ",
        TextFormula("7", "a<b", False),
        ", stop.",
    ]


def test_a_formula_between_two_dollars_is_a_display():
    assert list(pieces('<span class="math-container">$$x$$</span>')) == [TextFormula("", "x", True)]


def test_the_plain_text_has_neither_tags_nor_formulas_nor_scripts():
    html = (
        f"<p>One <em>w</em>ord &amp; {FORMULA}</p><script>alert(1)</script><p>two</p><!-- three -->"
    )

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
def test_splitting_words_again_changes_nothing(text):
    once = words(text)

    assert words(" ".join(once)) == once


@given(st.text())
def test_the_spans_of_words_lie_one_after_the_other_in_the_text(text):
    spans = [(start, end) for start, end, _ in word_spans(text)]

    assert all(start < end <= len(text) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


SPAN = '<span class="math-container" id="{}">{}</span>'
POST = (
    f"<p>Let {SPAN.format('7', '$a &lt; b$')} be.</p>\n\n"
    f"<p>Then\n{SPAN.format('254.2', '$$x^2$$')}</p>\n"
)


def test_formulas_are_listed_in_order_without_dollars():
    assert text_formulas(POST) == [
        TextFormula("7", "a < b", False),
        TextFormula("254.2", "x^2", True),
    ]


def test_formulas_in_brackets_or_without_an_id_are_found():
    html = (
        "<span id='q' class='math-container'>\\(y\\)</span>"
        '<span class="math-container">\\[z\\]</span>'
    )

    assert text_formulas(html) == [TextFormula("q", "y", False), TextFormula("", "z", True)]


def test_plain_text_keeps_paragraphs_without_formulas_and_tags():
    assert [part.split() for part in plain_text(POST).split("\n\n") if part.strip()] == [
        ["Let", "be."],
        ["Then"],
    ]
    assert plain_text("<p>R&amp;D</p>") == "R&D"


def test_a_title_keeps_its_latex():
    assert plain_title(f"Is {SPAN.format('7', '$a &lt; b$')}\n <em>so</em>?") == "Is $a < b$ so?"


def test_formulas_get_new_ids_and_the_text_becomes_one_line():
    numbers = iter(["q_1", "q_2"])
    html = renumbered(POST, lambda formula: next(numbers))

    assert html == (
        f"<p>Let {SPAN.format('q_1', '$a &lt; b$')} be.</p>"
        f"  <p>Then {SPAN.format('q_2', '$$x^2$$')}</p>"
    )


def test_preformatted_text_and_latex_comments_keep_their_lines():
    commented, plain = SPAN.format("1", "$$a % why\nb$$"), SPAN.format("2", "$a\nb$")
    html = f"<p>a\nb</p><pre>a\nb</pre>{commented}{plain}"
    done = renumbered(html, lambda formula: formula.formula_id)

    assert "<p>a b</p><pre>a\nb</pre>" in done
    assert "a % why\nb" in done
    assert "$a b$" in done

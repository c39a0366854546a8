"""Which posts have the same text."""

import pytest

from arqkit.texts.posts.topic_making import duplicate_groups, text_key

POST = '<p>Use <span class="math-container" id="7">$a&lt;b$</span> here.</p>'


@pytest.mark.parametrize(
    "same",
    [
        '<p>Use  <span class="math-container" id="9">$a &lt; b$</span>\nhere.</p>',
        "Use <em>$a&lt;b$</em><!-- not --> here.",
        "<blockquote>Use $a < b$ here.</blockquote>",
    ],
)
def test_markup_and_white_space_make_no_difference(same):
    assert text_key(same) == text_key(POST)


@pytest.mark.parametrize(("old", "new"), [("lt", "gt"), ("Use", "See"), ("b$", "B$")])
def test_another_formula_word_or_case_makes_another_text(old, new):
    assert text_key(POST.replace(old, new)) != text_key(POST)


def test_posts_are_grouped_and_those_without_text_are_not():
    posts = [("1", POST), ("2", "<p>x</p>"), ("3", '<img src="a">'), ("4", "<img>"), ("5", POST)]

    assert duplicate_groups(posts) == [["1", "5"]]

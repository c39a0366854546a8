"""Flesch's Reading Ease and its counts."""

import pytest

from arqkit.texts.posts.topic_making import TextCounts, count_text, reading_ease, syllables

# Published scores of the formula, as encyclopaedias and manuals of style print them.
PUBLISHED = [
    ("The cat sat on the mat.", 116),
    ("This sentence, taken as a reading passage unto itself, is being used to prove a point.", 69),
    ("The Australian platypus is seemingly a hybrid of a mammal and reptilian creature.", 37.5),
]


@pytest.mark.parametrize(("text", "score"), PUBLISHED)
def test_published_scores_are_reproduced(text, score):
    assert reading_ease(count_text(text)) == pytest.approx(score, abs=0.2)


def test_the_formula_is_that_of_flesch():
    # Of 100 words of 1.5 syllables in sentences of 20 words: 206.835 - 0.846 * 150 - 1.015 * 20.
    assert reading_ease(TextCounts(words=100, sentences=5, syllables=150)) == pytest.approx(59.635)


def test_a_text_without_words_has_no_score():
    assert reading_ease(count_text("42 + 7 = ∞.")) is None


def test_sentences_end_at_punctuation_and_paragraphs_but_not_within_numbers():
    assert count_text("Is it so? It is: see there; or not").sentences == 4
    assert count_text("A heading\n\nThe text, e.g.this, of 3.14 pages.").sentences == 2


def test_a_sentence_without_words_does_not_count():
    assert count_text("It is so. 3. (4). ...").sentences == 1


def test_a_word_may_have_hyphens_and_apostrophes_but_no_digits():
    assert count_text("L’Hôpital's well-known rule no. 2x").words == 5


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("the", 1),
        ("prove", 1),
        ("rules", 1),
        ("being", 2),
        ("table", 2),
        ("spaces", 2),
        ("bounded", 2),
        ("defined", 2),
        ("well-known", 2),
        ("equation", 3),
        ("continuous", 4),
        ("probability", 5),
        ("x", 1),
    ],
)
def test_syllables_of_the_fields_words(word, count):
    assert syllables(word) == count

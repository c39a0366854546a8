"""Search queries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.texts.posts.queries import MAX_TERMS, PostQuery, parse_query, with_filters


def test_words_phrases_and_exclusions_are_parsed():
    query = parse_query('"cauchy sequence" limit -metric -"open set"')

    assert query.phrases == (("cauchy", "sequence"), ("limit",))
    assert query.without == (("metric",), ("open", "set"))


def test_a_hyphenated_word_is_a_phrase():
    assert parse_query("p-adic").phrases == (("p", "adic"),)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("score:>5", 6, None),
        ("score:>=5", 5, None),
        ("score:<0", None, -1),
        ("score:<=3", None, 3),
        ("score:7", 7, 7),
        ("score:-2..4", -2, 4),
    ],
)
def test_scores_are_bounds(text, least, most):
    query = parse_query(text)

    assert (query.least, query.most) == (least, most)


def test_filters_are_read_and_may_be_excluded():
    query = parse_query("tag:Calculus -tag:limits kind:answers")

    assert (query.tags, query.without_tags, query.kind) == (("calculus",), ("limits",), "answer")
    assert parse_query("-kind:answer").kind == "question"


def test_formulas_are_between_dollars_or_backslashed_brackets():
    query = parse_query(r"euler $e^{i\pi}+1=0$ \(x^2\) $$\sum$$")

    assert query.formulas == (r"e^{i\pi}+1=0", "x^2", r"\sum")
    assert query.phrases == (("euler",),)


def test_an_invalid_filter_is_searched_as_words_and_noted():
    query = parse_query("score:high")

    assert query.phrases == (("score", "high"),)
    assert "is not a valid filter" in query.notes[0]


def test_a_colon_alone_is_not_a_filter():
    assert parse_query("lim:sup").phrases == (("lim", "sup"),)
    assert parse_query("lim:sup").notes == ()


def test_stop_words_are_ignored_unless_there_is_nothing_else():
    assert parse_query("what is the harmonic series").phrases == (("harmonic",), ("series",))
    assert parse_query("what is").phrases == (("what",), ("is",))
    assert parse_query('"if and only if"').phrases == (("if", "and", "only", "if"),)


def test_a_number_may_be_an_id_and_is_a_word_too():
    query = parse_query(" 12345 ")

    assert (query.number, query.phrases) == ("12345", (("12345",),))
    assert [parse_query(text).number for text in ("254.3", "c70.1", "3.", ".5", "1 2")] == [
        "254.3",
        "c70.1",
        "",
        "",
        "",
    ]


def test_an_id_is_named_by_its_kind():
    assert parse_query("post:1 formula:2 visual:3").ids == (
        ("post", "1"),
        ("formula", "2"),
        ("visual", "3"),
    )


def test_a_long_query_is_cut_with_a_note():
    query = parse_query(" ".join(f"w{number}" for number in range(100)))

    assert len(query.phrases) == MAX_TERMS
    assert "first 24 words" in query.notes[0]


@pytest.mark.parametrize("text", ["", "   ", "...", '"', '""', "-", "--", "$$", "$", ":", "\x00"])
def test_a_query_without_terms_is_empty(text):
    assert parse_query(text).is_empty


@given(st.text(alphabet=st.sampled_from('ab1 "-:$\\()[]*^{}&|!<>tagscorekind\x00é')))
def test_search_terms_have_letters_and_digits_only(text):
    query = parse_query(text)

    assert all(word.isalnum() for phrase in query.phrases + query.without for word in phrase)
    assert all(phrase for phrase in query.phrases + query.without)


def test_form_fields_add_filters_and_the_query_takes_precedence():
    query = with_filters(
        parse_query("kind:question tag:limits"), kind="answer", tags="limits, series", least=3
    )

    assert (query.kind, query.tags, query.least) == ("question", ("limits", "series"), 3)
    assert with_filters(PostQuery()).is_empty

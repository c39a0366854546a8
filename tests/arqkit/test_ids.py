"""Ids of topics and items are shown as they are, and recognized in other spellings."""

import pytest

from arqkit.topics import meant_topics, plain_id, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A.1 b", "A.1 b"),
        ("Duckworth–Lewis_method:0", "Duckworth–Lewis_method:0"),
        ("7\u00a0", "7⟨U+00A0⟩"),
        ("\ufeffA.1", "⟨BOM⟩A.1"),
        ("a\u200bb\tc\r\n", "a⟨U+200B⟩b\tc\r\n"),
    ],
)
def test_invisible_characters_are_shown_and_others_stay(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize("name", ["1004.0", "001004", "１００４", "1004\u00a0", "“1004”", "%31004"])
def test_a_number_in_another_spelling_is_that_number(name):
    assert plain_id(name) == "1004"


@pytest.mark.parametrize("name", ["0704.0001", "1.05", "0", "a_0:1", "Duckworth–Lewis_method:0"])
def test_other_ids_stay_as_they_are(name):
    assert plain_id(name) == name


TOPICS = ("A.1", "A.2", "A.10", "B-2", "last")


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("a.1", "A.1"),
        ("A1", "A.1"),
        ("A_01", "A.1"),
        ("10", "A.10"),
        ("010", "A.10"),
        ("10.0", "A.10"),
        ("A.１０", "A.10"),
        ("A.10\u200b", "A.10"),
        ("b2", "B-2"),
        ("2", None),  # A.2 or B-2
        ("B.1", None),
        ("A.100", None),
        ("", None),
        ("A", None),
    ],
)
def test_a_topic_is_recognized_in_another_spelling_if_it_can_be_only_one(name, topic):
    assert meant_topics([name], TOPICS) == ({name: topic} if topic else {})

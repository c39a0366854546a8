"""Scales as organizers write them: by name, by range, or label by label with every fault found."""

from typing import Any

import pytest

from arqkit.protocols.scales import (
    ARQMATH,
    NTCIR,
    SCALES,
    TREC_BINARY,
    is_relevant_possible,
    read_scale,
    scale_faults,
)

GOOD: dict[str, Any] = {"value": 1, "key": "1", "letter": "G", "word": "Good", "colour": "green"}
BAD: dict[str, Any] = {"value": 0, "key": "0", "letter": "B", "word": "Bad", "colour": "grey"}


def faults(*rows: object) -> list[tuple[int | None, str | None, str]]:
    return [(fault.label, fault.key, fault.found) for fault in scale_faults(rows)]


@pytest.mark.parametrize("name", SCALES)
def test_a_preset_is_read_by_its_name_and_has_no_fault(name):
    preset = SCALES[name]

    assert read_scale(name) == preset.scale == read_scale(preset.scale.rows())
    assert is_relevant_possible(preset.scale, preset.relevant_from)


def test_a_range_takes_the_judgments_of_the_lab_that_has_it_and_the_labels_that_are_none():
    assert (read_scale("0-3"), read_scale("0-4")) == (ARQMATH, NTCIR)
    assert (read_scale("0-1"), read_scale("0 – 4")) == (TREC_BINARY, NTCIR)
    assert read_scale("1-2").values == (2, 1, 5, 6)


@pytest.mark.parametrize("value", ["4", "3-0", "0-5", "best", 3, None, {}])
def test_what_is_no_scale_is_refused_with_what_is_expected(value):
    with pytest.raises(ValueError, match=r"a list of labels, one of arqmath, .* \"0-4\""):
        read_scale(value)


def test_a_label_needs_five_fields_and_may_have_two_more():
    partly = GOOD | {"is_judgment": False, "asks_comment": True}

    assert read_scale([GOOD, BAD]).unjudged == ()
    assert read_scale([partly, BAD]).unjudged == (1,)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("value", -1),
        ("value", 100),
        ("value", "1"),
        ("value", True),
        ("key", "11"),
        ("key", ""),
        ("key", "ä"),
        ("key", 1),
        ("letter", "?"),
        ("word", " "),
        ("word", "x" * 41),
        ("word", "a\nb"),
        ("word", 7),
        ("colour", "pink"),
        ("colour", 3),
        ("is_judgment", "no"),
        ("asks_comment", 1),
    ],
)
def test_a_field_that_cannot_be_is_found(key, value):
    assert faults(BAD, GOOD | {key: value}) == [(1, key, f"{key} = {value!r:.80}")]


@pytest.mark.parametrize("key", [*"bcijlnqt", *"BCIJLNQT", "?"])
def test_a_key_of_the_page_itself_is_refused(key):
    [fault] = scale_faults([BAD, GOOD | {"key": key}])

    assert (fault.label, fault.key) == (1, "key")
    assert (
        fault.expected
        == "a key that the judging page does not use itself (?, B, C, I, J, L, N, Q, T)"
    )


@pytest.mark.parametrize(
    ("key", "value"), [("value", 0), ("key", "0"), ("letter", "b"), ("word", "BAD")]
)
def test_what_two_labels_share_is_found_whatever_its_case(key, value):
    assert faults(BAD, GOOD | {key: value}) == [(1, key, f"the {key} {value!r} again")]


def test_missing_and_unknown_fields_are_found():
    assert faults(BAD, {"value": 1, "key": "1", "colour": "green", "name": "Good"}) == [
        (1, None, "a label without letter"),
        (1, None, "a label without word"),
        (1, "name", "the key name"),
    ]


def test_a_row_that_is_no_table_and_a_scale_without_judgments_are_found():
    assert faults(BAD | {"is_judgment": False}, "Good") == [
        (1, None, "'Good'"),
        (None, None, "only labels that are not judgments"),
    ]
    assert faults() == [(None, None, "only labels that are not judgments")]


def test_the_first_fault_is_the_reason_of_a_refusal():
    with pytest.raises(ValueError, match=r"one of deep-green, .* instead of colour = 'pink'"):
        read_scale([BAD, GOOD | {"colour": "pink"}])

"""Protocol overrides, and the messages for invalid ones."""

import pytest

from arqkit.protocols.overrides import (
    OVERRIDABLE,
    OverrideRefusedError,
    whole_number,
    with_overrides,
)
from arqkit.protocols.presets import TaskProtocol
from arqkit.protocols.scales import ARQMATH, NTCIR, TREC_BINARY
from arqkit.records import ItemKind

PRESET = TaskProtocol()


def refused(**overrides: object) -> dict[str, tuple[str, str, str]]:
    with pytest.raises(OverrideRefusedError) as error:
        with_overrides(PRESET, overrides)
    return error.value.refused


def test_without_overrides_the_protocol_is_the_preset():
    assert with_overrides(PRESET, {}) == PRESET


@pytest.mark.parametrize(
    ("field", "written", "read"),
    [
        ("limit", 100, 100),
        ("max_characters", 600, 600),
        ("quota", 1, 1),
        ("labels", "0-4", NTCIR),
        ("labels", "trec-binary", TREC_BINARY),
        ("labels", ARQMATH.rows(), ARQMATH),
        ("relevant_from", 3, 3),
        ("min_relevant", 0, 0),
        ("order", "rank", "rank"),
        ("pooling_order", "rank", "rank"),
        ("measures", ["P@10", "AR"], ("P@10", "AR")),
        ("measures", ["ERR@20", "RR@10"], ("ERR@20", "RR@10")),
        ("items", "visual-ids", ItemKind.VISUAL_IDS),
        ("trec_only", True, True),
        ("answered_only", True, True),
    ],
)
def test_each_field_can_be_overridden(field, written, read):
    assert getattr(with_overrides(PRESET, {field: written}), field) == read


def test_the_preset_itself_does_not_change():
    with_overrides(PRESET, {"limit": 5})

    assert TaskProtocol().limit == PRESET.limit == 1000


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("limit", 0),
        ("limit", True),
        ("quota", "5"),
        ("quota", 2.0),
        ("labels", "4"),
        ("labels", "3-0"),
        ("labels", "0-5"),
        ("labels", [0, 4]),
        ("min_relevant", -1),
        ("order", "random"),
        ("measures", []),
        ("measures", "P@10"),
        ("measures", ["nope"]),
        ("measures", ["AP", "AP(rel=2)"]),
        ("items", "books"),
        ("answered_only", "yes"),
    ],
)
def test_an_invalid_value_is_refused(field, value):
    assert list(refused(**{field: value})) == [field]


def test_an_unknown_field_is_refused_with_the_known_ones_and_the_nearest():
    found, expected, todo = refused(limitt=3)["limitt"]

    assert found == "the field limitt"
    assert expected == f"one of {', '.join(OVERRIDABLE)}"
    assert todo == "Did you mean limit?"


def test_all_errors_are_reported_at_once():
    assert set(refused(limit=0, order="best", nonsense=1)) == {"limit", "order", "nonsense"}


def test_measures_are_read_with_the_new_relevant_label():
    assert with_overrides(PRESET, {"relevant_from": 3, "measures": ["AP"]}).relevant_from == 3
    assert "measures" in refused(relevant_from=3, measures=["AP(rel=3)", "AP"])


def test_the_error_is_a_full_sentence():
    with pytest.raises(
        OverrideRefusedError,
        match=r"Found order = 'best'; expected one of score, rank\. Correct the value\.",
    ):
        with_overrides(PRESET, {"order": "best"})


def test_a_scale_that_is_named_brings_its_lowest_relevant_label():
    named = with_overrides(PRESET, {"labels": "trec-binary"})
    both = with_overrides(PRESET, {"labels": "ntcir", "relevant_from": 1})

    assert (named.relevant_from, both.relevant_from) == (1, 1)
    assert with_overrides(PRESET, {"labels": "0-4"}).relevant_from == 2


def test_a_whole_number_starts_at_one():
    with pytest.raises(ValueError, match="a whole number of at least 1"):
        whole_number(-1)

"""How states, deadlines, measures and scores are written."""

import pytest

from arqlab.core.templatetags import core_tags
from arqlab.labs.views.audit import detail_lines
from arqlab.web import cells


def test_a_chip_shows_its_state():
    assert cells.chip("valid") == '<span class="chip chip-valid">Valid</span>'


def test_a_chip_may_have_other_words():
    assert cells.chip("closed", "superseded") == '<span class="chip chip-closed">Superseded</span>'


def test_a_chip_escapes_its_state():
    assert "<b>" not in cells.chip("<b>")


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("nDCG(judged_only=True)@1000", "nDCG′"),
        ("AP(rel=2,judged_only=True)", "MAP′"),
        ("P(judged_only=True)@10", "P′@10"),
        ("Judged@10", "judged@10"),
        ("something else", "something else"),
    ],
)
def test_a_measure_is_written_as_in_the_papers(name, label):
    assert cells.measure(name) == label


@pytest.mark.parametrize(("score", "text"), [(0.26254, "0.2625"), (1, "1.0000"), (None, "–")])
def test_a_score_has_four_decimals(score, text):
    assert cells.score(score) == text


def test_a_key_is_written_as_words():
    assert core_tags.words_of_field("multi_part") == "Multi part"


def test_an_event_shows_old_and_new_values_line_by_line():
    detail = {
        "changes": {"deadline": [None, "2027"], "overrides": [{}, {"quota": 7}]},
        "by": "mail",
        "none": [],
    }

    assert detail_lines(detail) == ["deadline: – → 2027", "overrides: – → quota 7", "by: mail"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (61, "1 min"),
        (3000, "50 min"),
        (12_000, "3 h 20 min"),
        (4_500_000, "1,250 h"),
    ],
)
def test_how_long_something_takes_is_written_in_its_largest_units(seconds, text):
    assert cells.duration(seconds) == text


def test_an_address_can_break_before_its_domain_and_dots():
    assert cells.address("a<b.c@example.org") == ("<wbr>a&lt;b<wbr>.c<wbr>@example<wbr>.org")

"""Every measure that can be asked for has a definition and a source."""

from arqkit.measures.names import MEASURE_KINDS, Measure, definition_of, parse_measure
from tests.arqkit.measures.provided import EQUATION_SEARCH, PROVIDED


def test_every_kind_of_measure_is_defined():
    kinds = {parse_measure(name).kind for name in (*PROVIDED, *EQUATION_SEARCH, "AR", "Judged@10")}
    assert kinds <= set(MEASURE_KINDS)


def test_lexical_overlap_is_defined_but_cannot_be_asked_for():
    assert definition_of(parse_measure("LO")).source != definition_of(Measure("X", "X", "X")).source
    assert "LO" not in MEASURE_KINDS


def test_a_definition_names_cutoff_threshold_and_removed_items():
    found = definition_of(parse_measure("P(rel=2,judged_only=True)@10"))

    assert found.text == (
        "Share of relevant items among the first, to rank 10. Items are relevant from label 2. "
        "Unjudged items are removed first."
    )
    assert found.source == "trec_eval 9.0.4"


def test_a_measure_of_another_provider_has_the_documentation():
    assert "ir-measur.es" in definition_of(Measure("New", "New", "New")).source

"""The default guidelines match those of the labs (protocol §6; 000 Table 4, 004 Table 2, §5.6)."""

import pytest

from arqlab.ir.judgments.guidelines import default_guideline
from arqlab.ir.protocols.presets import PROTOCOLS
from arqlab.ir.records import TaskKind
from arqlab.texts.html.sanitizer import clean_post

EVERY_TASK = [(kind, slug) for slug, protocol in PROTOCOLS.items() for kind in protocol.tasks]
LABELS = ("High", "Medium", "Low", "Not relevant", "System failure", "Do not know")
ALWAYS_HIGH = "always <strong>High</strong>"
MAY_BE_LESS = "it may be less relevant, or not at all"


@pytest.mark.parametrize(("kind", "slug"), EVERY_TASK)
def test_the_guidelines_of_every_task_explain_all_six_labels(kind, slug):
    assert [
        label
        for label in LABELS
        if f"<strong>{label}</strong>" not in default_guideline(kind, slug)
    ] == []


@pytest.mark.parametrize(("kind", "slug"), EVERY_TASK)
def test_the_sanitizer_keeps_the_text_and_finds_its_formulas(kind, slug):
    text = default_guideline(kind, slug)
    clean = clean_post(text, prefix="g")

    assert clean.html.count('class="math-container"') == clean.formula_count > 0
    assert text.count("<") == clean.html.count("<") - 2 * clean.formula_count


@pytest.mark.parametrize(
    ("slug", "expected", "unexpected"),
    [("arqmath-1", ALWAYS_HIGH, MAY_BE_LESS), ("arqmath-2", MAY_BE_LESS, ALWAYS_HIGH)],
)
def test_an_exact_match_is_always_relevant_only_in_arqmath_1(slug, expected, unexpected):
    text = " ".join(default_guideline(TaskKind.FORMULAS, slug).split())

    assert expected in text
    assert unexpected not in text


def test_arqmath_2_and_3_have_the_same_guidelines_for_formulas():
    assert default_guideline(TaskKind.FORMULAS, "arqmath-3") == default_guideline(
        TaskKind.FORMULAS, "arqmath-2"
    )


def test_the_labels_of_answers_are_defined_as_in_the_overview_paper():
    text = " ".join(default_guideline(TaskKind.ANSWERS, "arqmath-1").split())

    assert "sufficient to answer the complete question on its own" in text
    assert "some path towards the solution" in text
    assert "information that could be useful for finding or interpreting an answer" in text
    assert "only restates the question is not relevant" in text


def test_items_without_a_judgment_count_as_unjudged_except_in_task_3():
    assert "counts as unjudged." in default_guideline(TaskKind.ANSWERS, "arqmath-2")
    assert "a generated answer as not relevant" in default_guideline(TaskKind.ANSWERS, "arqmath-3")
    assert "counts as not relevant" in default_guideline(TaskKind.WRITTEN_ANSWERS, "arqmath-3")

"""The default guidelines match those of the labs (protocol §6; 000 Table 4, 004 Table 2, §5.6)."""

import pytest

from arqkit.judgments import guidelines
from arqkit.labels import LabelScale, ScaleLabel
from arqkit.protocols.presets import PROTOCOLS
from arqkit.protocols.scales import ARQMATH
from arqkit.records import TaskKind
from arqkit.texts.html.sanitizer import clean_post

EVERY_TASK = [(kind, slug) for slug, protocol in PROTOCOLS.items() for kind in protocol.tasks]
ALWAYS_HIGH = "always <strong>High</strong>"
MAY_BE_LESS = "it may be less relevant, or not at all"


def default_guideline(kind: TaskKind, slug: str) -> str:
    rules = PROTOCOLS[slug].tasks[kind]
    return guidelines.default_guideline(
        kind, slug, scale=rules.labels, relevant_from=rules.relevant_from
    )


@pytest.mark.parametrize(("kind", "slug"), EVERY_TASK)
def test_the_guidelines_of_every_task_explain_all_its_labels(kind, slug):
    assert [
        label.word
        for label in PROTOCOLS[slug].tasks[kind].labels
        if f"<strong>{label.word}</strong>" not in default_guideline(kind, slug)
    ] == []


def test_labels_of_a_scale_of_its_own_are_listed_with_what_they_count_as():
    scale = LabelScale(
        (ScaleLabel(1, "1", "G", "Good & <new>", "green"), ScaleLabel(0, "0", "B", "Bad", "grey"))
    )
    text = guidelines.default_guideline(TaskKind.ANSWERS, "arqmath-3", scale=scale, relevant_from=1)

    assert "<td><strong>Good &amp; &lt;new&gt;</strong></td><td>relevant</td>" in text
    assert "<td><strong>Bad</strong></td><td>not relevant</td>" in text
    assert not any(word in text for word in ("High", "Medium", "When you cannot judge"))


def test_a_label_of_its_own_that_is_not_a_judgment_is_explained_too():
    broken = ScaleLabel(9, "X", "X", "Broken", "purple", is_judgment=False)
    scale = LabelScale((ScaleLabel(1, "1", "G", "Good", "green"), broken))
    text = guidelines.default_guideline(TaskKind.FORMULAS, "ntcir-12", scale=scale, relevant_from=1)

    assert "<strong>Broken</strong>: you cannot judge the item." in text


@pytest.mark.parametrize(("kind", "slug"), EVERY_TASK)
def test_the_sanitizer_keeps_the_text_and_finds_its_formulas(kind, slug):
    text = default_guideline(kind, slug)
    clean = clean_post(text, prefix="g")

    has_examples = PROTOCOLS[slug].tasks[kind].labels == ARQMATH
    assert clean.html.count('class="math-container"') == clean.formula_count
    assert bool(clean.formula_count) == has_examples
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
    assert "counts as not relevant" in default_guideline(TaskKind.GENERATED_ANSWERS, "arqmath-3")

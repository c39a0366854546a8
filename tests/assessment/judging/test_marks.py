"""Marks as quotes: in the assessor's list, and for pages that compare assessors."""

from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from arqlab.labs.services.corrections import save_correction
from assessment.judging.services.judged_list import quoted_marks
from assessment.models import Judgment, PoolInstance
from assessment.templatetags.assessment_tags import marks_of
from tests.assessment.factories import assign, judge, make_pool
from tests.factories import Scene

FORMULA = "\N{OBJECT REPLACEMENT CHARACTER}"
SENTENCE = {"exact": f"So <b> {FORMULA} > {FORMULA}.", "formulas": ["x^2", "y<z"]}
ALONE = {"exact": FORMULA, "formulas": [r"\unknown{<script>}"], "ordinal": 1}


@pytest.fixture
def judged(scene: Scene) -> list[Judgment]:
    """Two judgments of the assessor, of which the first has marks."""
    make_pool(scene.task)
    assign(scene.assessor, scene.task.topics.get(query_id="A.1"))
    instances = PoolInstance.objects.filter(item__topic__query_id="A.1").order_by("pk")
    marks: list[Any] = [[SENTENCE, ALONE], []]
    return [
        judge(scene.assessor, instance, 2, marks=own)
        for instance, own in zip(instances[:2], marks, strict=True)
    ]


def test_formulas_of_a_mark_are_typeset_in_their_places_and_its_words_escaped(
    judged: list[Judgment],
) -> None:
    sentence, _ = quoted_marks(judged)[judged[0].pk]

    first, square, between, less, last = _parts(sentence.html)
    assert (first, between, last) == ("So &lt;b&gt; ", " &gt; ", ".")
    assert "<msup>" in square
    assert "<mo>&lt;</mo>" in less
    assert not sentence.is_formula


def _parts(html: str) -> list[str]:
    """Return the words and the formulas of a quote."""
    words, *formulas = html.split('<span class="math-container"')
    parts = [words]
    for each in formulas:
        formula, _, after = each.partition("</math></span>")
        parts += [formula, after]
    return parts


def test_a_formula_that_cannot_be_typeset_is_quoted_as_escaped_latex(
    judged: list[Judgment],
) -> None:
    _, alone = quoted_marks(judged)[judged[0].pk]

    assert alone.is_formula
    assert "<script>" not in alone.html
    assert "&lt;script&gt;" in alone.html


def test_judgments_without_marks_take_no_query(
    judged: list[Judgment], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        assert quoted_marks(judged[1:]) == {judged[1].pk: []}
        assert marks_of(judged[1]) == marks_of(None) == []


def test_formulas_of_marks_are_shown_as_the_lab_corrects_them(
    judged: list[Judgment], scene: Scene
) -> None:
    save_correction(
        lab=scene.lab, kind="formula", key="x^2", value="w_3", at=timezone.now(), by=scene.organizer
    )
    corrected, _ = marks_of(judged[0], scene.lab)
    quoted, _ = marks_of(judged[0])

    assert ("<msub>" in corrected.html, "<msup>" in corrected.html) == (True, False)
    assert ("<msub>" in quoted.html, "<msup>" in quoted.html) == (False, True)


def test_the_marks_of_a_judgment_are_a_list_of_quotes(judged: list[Judgment]) -> None:
    first, second = (
        render_to_string("assessment/rounds/_marks.html", {"marks": marks_of(one)})
        for one in judged
    )

    assert first.count("<q ") == 2
    assert "So &lt;b&gt; <span" in first
    assert not second.strip()


def test_the_assessors_list_shows_the_marks_of_each_judgment(
    judged: list[Judgment], scene: Scene, client: Client
) -> None:
    client.force_login(scene.assessor)
    page = client.get("/labs/arqmath-x/tasks/task1/judge/A.1/judgments/").content.decode()

    assert page.count('class="marks"') == 1
    assert "<q" in page[page.index(f"?item={judged[0].instance.item_id}") :]

"""Formulas are typeset once and stored."""

import pytest

from arqlab.core.models import TypesetFormula
from arqlab.labs.services import formulas
from arqlab.labs.services.formulas import typeset_formulas, typeset_old_formulas

pytestmark = pytest.mark.django_db


def test_a_typeset_formula_is_stored_and_read_with_one_query(
    django_assert_num_queries, monkeypatch
):
    first = typeset_formulas([("x^2", False), ("y", True), ("x^2", False)])
    monkeypatch.setattr(formulas, "typeset", None)

    with django_assert_num_queries(1):
        assert typeset_formulas([("x^2", False), ("y", True)]) == first
    assert TypesetFormula.objects.count() == 2


def test_inline_and_display_formulas_are_stored_separately():
    found = typeset_formulas([("x", False), ("x", True)])

    assert found["x", False] != found["x", True]


def test_a_failure_is_stored_too(monkeypatch):
    typeset_formulas([(r"\frac{", False)])
    monkeypatch.setattr(formulas, "typeset", None)

    assert typeset_formulas([(r"\frac{", False)])[r"\frac{", False] == (None, r"\frac{")


def test_another_engine_typesets_stored_formulas_again():
    typeset_formulas([("x", False)])
    TypesetFormula.objects.update(engine="older", mathml="")

    assert typeset_formulas([("x", False)])["x", False].mathml == "<math><mi>x</mi></math>"
    assert TypesetFormula.objects.get().engine == formulas.ENGINE


def test_formulas_of_another_version_are_typeset_again_in_the_background(monkeypatch):
    found = typeset_formulas([("x", False), ("x", True), (r"\frac{", False)])
    TypesetFormula.objects.filter(is_display=True).update(engine="older", mathml="old")
    TypesetFormula.objects.filter(latex=r"\frac{").update(engine="the newest", mathml="new")

    typeset_old_formulas(seconds=30)

    assert set(TypesetFormula.objects.values_list("engine", flat=True)) == {formulas.ENGINE}
    monkeypatch.setattr(formulas, "typeset", None)
    assert typeset_formulas(found) == found


def test_without_time_no_old_formula_is_typeset_again():
    typeset_formulas([("x", False)])
    TypesetFormula.objects.update(engine="older")

    typeset_old_formulas(seconds=-1)

    assert TypesetFormula.objects.get().engine == "older"


def test_a_formula_stored_by_another_process_in_the_meantime_is_no_error(monkeypatch):
    real = formulas.typeset

    def set_while_another_does(latex, *, display):
        TypesetFormula.objects.create(
            digest=formulas._digest(latex, display),
            latex=latex,
            is_display=display,
            engine=formulas.ENGINE,
        )
        return real(latex, display=display)

    monkeypatch.setattr(formulas, "typeset", set_while_another_does)
    assert typeset_formulas([("x", False)])["x", False].mathml


@pytest.mark.parametrize("latex", ["", "\x00", "x\ud800"])
def test_a_formula_that_no_database_can_store_is_returned(latex):
    assert (latex, False) in typeset_formulas([(latex, False)])


def test_no_formulas_need_no_query(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert typeset_formulas([]) == {}

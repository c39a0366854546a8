"""LaTeX without MathML gets a layout: once each, and one that fails spoils no other."""

from __future__ import annotations

import polars as pl
import pytest

from collection.models import Collection
from collection.services import convert_latex, converting, import_formulas
from collection.services.converting import conversions_of
from tests.collection.factories import NOW
from tests.collection.services.importing.test_formulas import write_index

pytestmark = pytest.mark.django_db
GOOD, BAD = "e^{x}", r"\frac{1}{2"


@pytest.fixture
def collection(tmp_path) -> Collection:
    made = Collection.objects.create(slug="small", loaded_at=NOW)
    rows = (f"{number}\t1\t1\ttitle\t\t{latex}" for number, latex in enumerate((GOOD, BAD, GOOD, "a+b"), start=1))
    import_formulas(collection=made, files={"latex": write_index(tmp_path, "latex.tsv", *rows)}, at=NOW)
    return made


def layouts(collection: Collection) -> dict[str, str | None]:
    return dict(conversions_of(collection).select("latex", "layout").iter_rows())


def test_each_distinct_latex_is_converted_once_and_failures_are_kept(collection):
    assert convert_latex(collection=collection) == (3, 1)
    assert layouts(collection)[GOOD] == "V!e a[ V!x ]"
    kept = conversions_of(collection).filter(latex=BAD)
    assert kept.select("layout", "error").rows() == [(None, converting.NO_MATHML)]


def test_a_second_time_nothing_is_converted(collection):
    convert_latex(collection=collection)
    name = collection.conversions.name

    assert convert_latex(collection=collection) == (0, 0)
    assert collection.conversions.name == name


def test_another_engine_tries_the_failures_again_and_nothing_else(collection, monkeypatch):
    convert_latex(collection=collection)
    monkeypatch.setattr(converting, "engine", lambda: "temml-next")

    assert convert_latex(collection=collection) == (1, 1)
    assert sorted(conversions_of(collection)["engine"].unique()) == [kept_engine(collection), "temml-next"]


def kept_engine(collection: Collection) -> str:
    return conversions_of(collection).filter(latex=GOOD)["engine"].item()


def test_a_formula_that_brings_its_batch_down_is_found(collection, monkeypatch):
    real = converting.presentation_mathml

    def falls(latex: str) -> str | None:
        if latex == BAD:
            raise MemoryError("too deep")
        return real(latex)

    monkeypatch.setattr(converting, "presentation_mathml", falls)

    assert convert_latex(collection=collection) == (3, 1)
    assert conversions_of(collection).filter(latex=BAD)["error"].item() == "MemoryError: too deep"
    assert layouts(collection)["a+b"]


def test_a_collection_without_formulas_has_nothing_to_convert():
    empty = Collection.objects.create(slug="empty", loaded_at=NOW)

    assert convert_latex(collection=empty) == (0, 0)
    assert conversions_of(empty).equals(pl.DataFrame(schema=converting.SCHEMA))

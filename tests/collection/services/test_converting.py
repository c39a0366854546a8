"""Conversion of LaTeX without MathML to layout strings."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import polars as pl
import pytest

from arqkit.texts.maths import conversion
from arqkit.texts.maths.conversion import converter
from collection.models import Collection
from collection.selectors.collections import scan_columns
from collection.services import visual_maps
from collection.services.importing.formulas import import_formulas
from collection.services.visual_maps import convert_latex, converted_latex
from tests.collection.factories import NOW
from tests.collection.services.importing.test_formulas import write_index

pytestmark = pytest.mark.django_db
GOOD, BAD = "e^{x}", r"\begin{foo}x\end{bar}"


@pytest.fixture
def collection(tmp_path) -> Collection:
    made = Collection.objects.create(slug="small", loaded_at=NOW)
    rows = (
        f"{number}\t1\t1\ttitle\t\t{latex}"
        for number, latex in enumerate((GOOD, BAD, GOOD, "a+b"), start=1)
    )
    import_formulas(
        collection=made, files={"latex": write_index(tmp_path, "latex.tsv", *rows)}, at=NOW
    )
    return made


def layouts(collection: Collection) -> dict[str, str | None]:
    return dict(converted_latex(collection).select("latex", "layout").iter_rows())


def test_each_distinct_latex_is_converted_once_and_failures_are_stored(collection):
    assert convert_latex(collection=collection) == (3, 1)
    assert layouts(collection)[GOOD] == "V!e a[ V!x ]"
    kept = converted_latex(collection).filter(latex=BAD)
    assert kept.select("layout", "error").rows() == [(None, conversion.NO_MATHML)]


def test_a_second_call_converts_nothing(collection):
    convert_latex(collection=collection)
    name = collection.conversions.name

    assert convert_latex(collection=collection) == (0, 0)
    assert collection.conversions.name == name


def test_another_engine_converts_everything_again(collection, monkeypatch):
    convert_latex(collection=collection)
    monkeypatch.setattr(visual_maps, "engine", lambda: "another 2")

    assert converted_latex(collection).is_empty()
    assert convert_latex(collection=collection) == (3, 1)
    assert scan_columns(collection.conversions).collect()["engine"].unique().to_list() == [
        "another 2"
    ]


def test_a_formula_that_makes_its_batch_fail_is_found(collection, monkeypatch):
    @contextmanager
    def falling(**_: bool) -> Iterator[Callable[[str], str | None]]:
        with converter(exact=False) as real:
            yield lambda latex: fall() if latex == BAD else real(latex)

    monkeypatch.setattr(conversion, "converter", falling)

    assert convert_latex(collection=collection) == (3, 1)
    assert converted_latex(collection).filter(latex=BAD)["error"].item() == "MemoryError: too deep"
    assert layouts(collection)["a+b"]


def fall() -> str:
    raise MemoryError("too deep")


def test_conversions_before_an_interruption_are_saved(collection, monkeypatch):
    def stop(done: int, total: int | None) -> None:
        if done == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(visual_maps, "BATCH", 1)
    monkeypatch.setattr(visual_maps, "SAVE_INTERVAL", -1.0)
    with pytest.raises(KeyboardInterrupt):
        convert_latex(collection=collection, progress=stop)

    assert converted_latex(collection).height == 1
    assert convert_latex(collection=collection)[0] == 2


def test_a_collection_without_formulas_has_nothing_to_convert():
    empty = Collection.objects.create(slug="empty", loaded_at=NOW)

    assert convert_latex(collection=empty) == (0, 0)
    assert converted_latex(empty).equals(pl.DataFrame(schema=visual_maps.SCHEMA))

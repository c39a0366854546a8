"""A new optional app with a tab, a page, a job, a file and a table is its folder and one line."""

import os
import shutil
import subprocess
import sys

from django.conf import settings

from tests.paths import PACKAGES, ROOT

USED = """
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from django.test import Client
from django.test.utils import setup_test_environment
from arqlab.celery import app
from arqlab.core.models import Job, Lab, User
from arqlab.jobs.services.jobs import run_next_job
from contrib.sample.models import Greeting
from desk.services.lab_archives import archive_lab
from django.utils import timezone

setup_test_environment()
lab = Lab.objects.get()
task = lab.tasks.filter(topics__isnull=False).first()
client = Client()
client.force_login(User.objects.get(memberships__lab=lab, memberships__role="organizer"))
at = f"/labs/{lab.slug}/tasks/{task.slug}/"
topics = list(task.topics.values_list("query_id", flat=True))
page = client.get(at)
assert f'href="{at}greetings/"' in page.text, "no tab"
assert "greetings.tsv" in page.text, "no export"
opened = client.get(f"{at}greetings/")
assert opened.text == ", ".join(f"hello {topic}" for topic in topics), opened.text
file = client.get(f"{at}downloads/greetings.tsv")
assert b"".join(file).decode().split() == [word for topic in topics for word in ("hello", topic)]
client.post(f"{at}greetings/")
while run_next_job(at=timezone.now()):
    pass
job = Job.objects.get(kind="greeting")
assert (job.state, job.summary) == ("done", [f"{len(topics)} topics greeted."]), job.message
Greeting.objects.create(topic=task.topics.first(), words="good morning", secret="hush")
with TemporaryDirectory() as folder:
    archive = archive_lab(lab, path=Path(folder, "lab.zip"))
    assert archive.counts["sample.greeting"] == 1
    with zipfile.ZipFile(archive.path) as zipped:
        rows = zipped.read("demo/data/tables/sample.greeting.jsonl").decode()
        greetings = zipped.read(f"demo/data/{task.slug}/greetings.tsv")
    assert "good morning" in rows and "hush" not in rows, rows
    assert greetings.startswith(b"hello")
app.loader.import_default_modules()
assert "contrib.sample.tasks.greet_nobody" in app.conf.beat_schedule
"""


def test_a_new_app_is_its_folder_and_one_line(tmp_path):
    for folder in (*PACKAGES, "templates", "static"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "manage.py", tmp_path)
    sample = tmp_path / "contrib" / "sample"
    shutil.copytree(ROOT / "tests" / "sample_app", sample, dirs_exist_ok=True)
    file = tmp_path / "arqlab" / "settings.py"
    line = "OPTIONAL_APPS = ["
    assert file.read_text("utf-8").count(line) == 1
    file.write_text(file.read_text("utf-8").replace(line, f'{line}"sample", '), "utf-8")
    variables = {**os.environ, "ARQLAB_DATA": str(tmp_path / "var"), "PYTHONPATH": str(tmp_path)}
    variables |= {"DJANGO_SETTINGS_MODULE": "arqlab.settings", "ARQLAB_DEBUG": "1"}
    for command in (["build_demo"], ["shell", "-v", "0", "-c", USED]):  # the first one migrates
        ran = subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr[-3000:]
        assert "Traceback" not in ran.stderr

    assert "sample" not in settings.OPTIONAL_APPS

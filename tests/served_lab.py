"""A small lab served by real processes, for tests that start ArqLab as operators do."""

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, build_opener

from tests.databases import copy_embedded
from tests.everywhere import wait_for_line
from tests.paths import ROOT

TOKEN = "arqlab_of-the-superuser"


def ask(port: int, path: str, data: bytes | None = None) -> Any:
    """Return the API's answer to a request of the superuser."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=data)
    request.add_header("Authorization", f"Bearer {TOKEN}")
    if data:
        request.add_header("Content-Type", "multipart/form-data; boundary=part")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def sign_in(port: int) -> str:
    """Sign in as the superuser with the form. Return the path to which it leads."""
    url = f"http://127.0.0.1:{port}/accounts/login/"
    browser = build_opener(HTTPCookieProcessor())
    with browser.open(url) as page:
        [token] = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.read().decode())[:1]
    form = {"login": "root", "password": "a quiet blackboard", "csrfmiddlewaretoken": token}
    with browser.open(url, urlencode(form).encode()) as page:
        return urlsplit(page.url).path


def form_with_a_run() -> bytes:
    """Return the body of an upload with a run of the small lab."""
    disposition = (
        b'Content-Disposition: form-data; name="file"; filename="Ours-task1-bm25-auto-text-P.tsv"'
    )
    fields = b'--part\r\nContent-Disposition: form-data; name="team"\r\n\r\nOurs\r\n'
    return fields + b"--part\r\n" + disposition + b"\r\n\r\nA.1\t11\t1\t2.5\tbm25\n\r\n--part--\r\n"


SCENE = f"""
import os
from datetime import timedelta
from django.core.management import call_command
from django.utils import timezone
from arqlab.core.models import *
from arqlab.accounts.services.tokens import digest_of
call_command("load_lab", os.environ["LAB"])
call_command("choose_qrels", "small/task1", "official")
root = User.objects.create_superuser("root", "root@example.org", "a quiet blackboard")
now = timezone.now()
ApiToken.objects.create(
    user=root, name="tests", scope="write", digest=digest_of("{TOKEN}"), created_at=now,
    expires_at=now + timedelta(days=1),
)
Team.objects.create(lab=Lab.objects.get(), name="Ours")
"""


def load_small_lab(folder: Path, environment: Mapping[str, str]) -> None:
    """Load a lab with one task, one topic and qrels by commands, in one process; add a superuser
    and a team.
    """
    (folder / "lab.toml").write_text(
        '[lab]\nslug = "small"\nname = "Small"\nprotocol = "arqmath-1"\n'
        '[[tasks]]\nslug = "task1"\nname = "Answers"\nkind = "answers"\ntopics = "topics.xml"\n'
        'qrels = [{ name = "official", file = "qrels.tsv" }]\n'
    )
    topic = (
        '<Topic number="A.1"><Title>Sums</Title><Question>Add them.</Question>'
        "<Tags>sums</Tags></Topic>"
    )
    (folder / "topics.xml").write_text(f"<Topics>{topic}</Topics>")
    (folder / "qrels.tsv").write_text("A.1\t0\t11\t3\n")
    copy_embedded(folder)
    command = [sys.executable, "manage.py", "shell", "--command", SCENE]
    subprocess.run(command, cwd=ROOT, env={**environment, "LAB": str(folder)}, check=True)


def first_score(port: int, worker: subprocess.Popen[str]) -> float:
    """Read what a process logs until it has scored the run. Return the run's main measure."""
    wait_for_line(worker.stderr, "Scored runs of small/task1")
    [run] = ask(port, "/api/v1/labs/small/tasks/task1/leaderboard/")["runs"]
    return float(next(iter(run["scores"].values())))

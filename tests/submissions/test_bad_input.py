"""Files that are not runs: each is reported within 2 s of CPU time and 300 MB as what it is.

The command submits them one after the other, in a process whose time and memory are measured.
"""

import gzip
import json
import os
import random
import subprocess
import sys
from typing import Any

import pytest

from tests.databases import copy_embedded
from tests.paths import ROOT
from tests.submissions.factories import GOOD_RUN, zipped

MEGABYTES = 300
LINE = b"A.1\t1\t1\t1\tt\n"
SUBMIT_ALL = r"""
import io, json, re, sys, time
from pathlib import Path
import django
django.setup()
from django.core.management import CommandError, call_command
call_command("migrate", verbosity=0)
from arqlab.core.models import Lab, Task, Team, Topic
lab = Lab.objects.create(slug="lab", name="Lab", protocol="arqmath-3")
task = Task.objects.create(lab=lab, slug="task1", name="Task", kind="answers", trec_items="posts")
Team.objects.create(lab=lab, name="Alpha")
Topic.objects.create(task=task, query_id="A.1", position=1)
for path in sys.argv[1:]:
    out, start = io.StringIO(), time.process_time()
    try:
        call_command("submit_run", path, "--task", "lab/task1", "--team", "Alpha", stdout=out)
        ended = "accepted"
    except SystemExit:
        ended = "refused"
    except CommandError as error:
        ended = str(error)
    took = time.process_time() - start
    # The peak of this process alone: getrusage would include the memory of the parent.
    memory = int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024
    print(json.dumps([path.rpartition("/")[2], ended, out.getvalue(), took, memory]))
"""


def inputs() -> dict[str, bytes]:
    """Return the bad files by their names."""
    noise = random.Random(1).randbytes(200_000)
    many = LINE * 5_000_000
    return {
        "empty.tsv": b"",
        "folder.zip": zipped({"runs/": b""}),
        "folder-with-run.zip": zipped({"runs/": b"", "runs/run.txt": b"%PDF-1.7 x"}),
        "bomb.gz": gzip.compress(bytes(400_000_000), 1),
        "bomb.zip": zipped({"run.tsv": bytes(400_000_000)}),
        "bomb.tsv.gz": gzip.compress(b"A" * 400_000_000, 1),
        "nested.zip": zipped({"inner.zip": zipped({"run.tsv": GOOD_RUN})}),
        "short.tsv.gz": gzip.compress(noise.hex(" ", 40).replace(" ", "\n").encode())[:-2000],
        "short.zip": zipped({"run.tsv": noise})[:-2000],
        "paper.pdf": b"%PDF-1.7\n" + noise,
        "millions.tsv": b"A.1\n" * 4_000_000,
        "millions.tsv.gz": gzip.compress(many, 1),
        "one-line.tsv": b"A.1\t10\t1\t1\t" + b"x" * 3_000_000,
        "null.tsv": GOOD_RUN + b"A.1\t1\0\t9\t0.1\tt\n",
        "utf16.tsv": GOOD_RUN.decode().encode("utf-16"),
        "utf16-no-bom.tsv": (GOOD_RUN * 100).decode().encode("utf-16-le"),
        "latin1.tsv": "A.1\t10\t1\t2\tüml\n".encode("latin-1"),
    }


SENTENCES = {
    "empty.tsv": "Found an empty file; expected a run file",
    "folder.zip": "Found a zip without files, only folders; expected a run file",
    "folder-with-run.zip": "Found a PDF document; expected a run file",
    "bomb.gz": "Found many null bytes, so it is not text",
    "bomb.zip": "more than 64.0 MB when unpacked; expected at most 64.0 MB",
    "bomb.tsv.gz": "in one line; expected one line per item",
    "nested.zip": "Found an archive inside an archive",
    "short.tsv.gz": "Found a truncated gzip file",
    "short.zip": "Found a damaged zip",
    "paper.pdf": "Found a PDF document; expected a run file",
    "millions.tsv": "Found more than 100,000 lines; expected at most 100,000 lines in a run",
    "millions.tsv.gz": "Found more than 100,000 lines; expected at most 100,000 lines in a run",
    "one-line.tsv": "Found more than 200,000 bytes in one line; expected one line per item",
    "null.tsv": "has null bytes, so the file is not plain text",
    "utf16.tsv": "Found text in UTF-16; expected a run file: text in UTF-8",
    "utf16-no-bom.tsv": "Found text in UTF-16",
    "latin1.tsv": "not valid UTF-8",
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str, float, float]]:
    """Submit every bad file. Return its outcome, the output, the CPU seconds and the peak in MB."""
    folder, data = tmp_path_factory.mktemp("bad"), tmp_path_factory.mktemp("data")
    paths = []
    for name, content in inputs().items():
        paths.append(folder / name)
        paths[-1].write_bytes(content)
    copy_embedded(data)
    variables = {
        key: value for key, value in os.environ.items() if key not in {"DATABASE_URL", "REDIS_URL"}
    }
    variables |= {"ARQLAB_DATA": str(data), "DJANGO_SETTINGS_MODULE": "arqlab.settings"}
    command = [sys.executable, "-c", SUBMIT_ALL, *map(str, paths)]
    ended = subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    rows: list[list[Any]] = [json.loads(line) for line in ended.stdout.splitlines()]
    return {name: (state, text, took, memory) for name, state, text, took, memory in rows}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_file_that_is_not_a_run_is_reported_with_little_work(
    outcomes: dict[str, tuple[str, str, float, float]], name: str
) -> None:
    ended, text, _, megabytes = outcomes[name]
    assert ended == "refused"
    assert SENTENCES[name] in text
    assert megabytes < MEGABYTES

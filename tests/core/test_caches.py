"""Tests of the cache of computed values."""

import subprocess
import sys
import time
from random import Random

import pytest

from arqlab.core.caches import ComputedFiles

MOST = 100_000


@pytest.fixture
def files(tmp_path):
    return ComputedFiles(str(tmp_path), {"OPTIONS": {"MAX_BYTES": MOST}})


def test_files_of_computed_values_stay_below_their_limit(files, tmp_path):
    noise = [Random(number).randbytes(20_000) for number in range(39)]
    for number, value in enumerate(noise):
        files.set(f"value:{number}", value)

    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < MOST * 1.3
    assert files.get("value:38") == noise[38]
    assert files.get("value:0") is None


def test_another_process_reads_what_one_computed(files, tmp_path):
    files.set("value", {"a": 1}, timeout=None)
    code = (
        "from arqlab.core.caches import ComputedFiles;"
        f"print(ComputedFiles({str(tmp_path)!r}, {{}}).get('value'))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert answer.stdout.strip() == "{'a': 1}", answer.stderr


def test_a_value_is_forgotten_in_time(files, monkeypatch):
    files.set("value", 1, timeout=10)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 11)

    assert files.get("value") is None

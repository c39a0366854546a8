"""Tests of the cache of computed values."""

import subprocess
import sys
import time
from datetime import timedelta
from random import Random

import pytest
from django.core.cache import CacheHandler
from django.utils import timezone

from arqlab import environment
from arqlab.core import caches
from arqlab.core.cache_backends import ComputedFiles
from arqlab.core.caches import (
    AT_ONCE,
    NotComputedError,
    code_digest,
    computed_values,
    computing_at_most,
    recent_value,
)

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
        "from arqlab.core.cache_backends import ComputedFiles;"
        f"print(ComputedFiles({str(tmp_path)!r}, {{}}).get('value'))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert answer.stdout.strip() == "{'a': 1}", answer.stderr


def test_what_other_code_computed_is_not_read(tmp_path, monkeypatch):
    """Its classes may have moved: the value of an earlier version could not be loaded."""
    computed = CacheHandler(environment.caches("", tmp_path))["computed"]
    computed.set("board", 1)
    assert computed.get("board") == 1

    monkeypatch.setattr(caches, "code_digest", lambda: "later-version")

    assert computed.get("board") is None


def test_the_digest_of_the_code_follows_each_of_its_files(tmp_path, settings):
    digests, file = [code_digest()], tmp_path / "arqlab" / "rules.toml"
    settings.BASE_DIR = tmp_path
    file.parent.mkdir()
    for text in ("", "depth = 10", "depth = 20"):
        file.write_text(text)
        digests.append(code_digest.__wrapped__())

    assert len(set(digests)) == 4
    assert code_digest() == digests[0]


def test_a_value_is_forgotten_in_time(files, monkeypatch):
    files.set("value", 1, timeout=10)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 11)

    assert files.get("value") is None


class Counted:
    """A state that changes, and how often something was computed from it."""

    def __init__(self):
        self.state = self.computed = 0

    def ask(self, *, work, seconds=AT_ONCE):
        with computing_at_most(seconds):
            return recent_value("counted", self.state, self.compute, work=work)

    def compute(self):
        self.computed += 1
        return self.state


@pytest.fixture
def counted():
    computed_values.clear()
    return Counted()


def test_what_a_page_may_compute_is_always_that_of_the_state(counted):
    first, again = counted.ask(work=0.1), counted.ask(work=0.1)
    counted.state = 1

    assert (first, again, counted.computed) == ((0, None), (0, None), 1)
    assert counted.ask(work=0.1) == (1, None)


def test_what_takes_longer_may_be_a_minute_old_or_twenty_times_its_work(counted, monkeypatch):
    for work, age in ((2, 60), (30, 600)):
        computed_values.clear()
        counted.ask(work=work, seconds=None)
        counted.state += 1
        old, made = counted.ask(work=work)
        later = made + timedelta(seconds=age + 1)

        assert old == counted.state - 1
        monkeypatch.setattr(timezone, "now", lambda later=later: later)
        with pytest.raises(NotComputedError):
            counted.ask(work=work)
        assert counted.ask(work=work, seconds=None) == (counted.state, None)
        monkeypatch.undo()

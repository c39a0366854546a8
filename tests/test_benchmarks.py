"""Every benchmark runs at its smallest size and prints its ratios."""

import re
import subprocess
import sys
from argparse import Namespace
from contextlib import closing
from typing import Any

import psycopg2
import pytest

from benchmarks.common import Benchmark, postgresql
from tests.browser.chromium import CHROMIUM, NO_CHROMIUM
from tests.databases import TEMPLATE
from tests.paths import ROOT

NAMES = sorted({path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py")} - {"common"})
# What a benchmark calls, and what it needs therefore.
NEEDS = {
    "postgresql()": pytest.mark.servers,
    "page_of(": pytest.mark.servers,
    "shared_data(": pytest.mark.shared_data,
}


def marked(name: str) -> Any:
    text = (ROOT / f"benchmarks/{name}.py").read_text(encoding="utf-8")
    marks = [mark for call, mark in NEEDS.items() if call in text]
    if "page_of(" in text and CHROMIUM is None:
        marks.append(pytest.mark.skip(reason=NO_CHROMIUM))
    return pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", [marked(name) for name in NAMES])
def test_a_benchmark_runs_at_its_smallest_size(name):
    command = [sys.executable, "-m", f"benchmarks.{name}", "--smallest"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert re.search(r": ratio \d+\.\d\d, goal at (least|most) \d", finished.stdout)


@pytest.mark.parametrize(("smallest", "fails"), [(False, True), (True, False)])
def test_a_missed_goal_fails_unless_the_size_is_the_smallest(smallest, fails, capsys):
    benchmark = Benchmark(Namespace(smallest=smallest, rounds=3))
    benchmark.ratio("fast", 4.0, at_least=5)

    assert benchmark.has_failed is fails
    assert ("MISSED" in capsys.readouterr().out) is fails


def test_a_wrong_result_fails_at_any_size():
    benchmark = Benchmark(Namespace(smallest=True, rounds=3))
    benchmark.require("values are equal", False)

    assert benchmark.has_failed


@pytest.mark.parametrize(("goals", "value"), [({"at_least": 2}, 2.5), ({"at_most": 2}, 1.5)])
def test_a_goal_that_is_met_does_not_fail(goals, value):
    benchmark = Benchmark(Namespace(smallest=False, rounds=3))
    benchmark.ratio("fast", value, **goals)

    assert not benchmark.has_failed


def test_the_sides_of_a_benchmark_take_turns():
    benchmark, turns = Benchmark(Namespace(smallest=False, rounds=2)), []

    def side(name: str) -> int:
        turns.append(name)
        return len(turns)

    found = benchmark.alternate({name: lambda name=name: side(name) for name in "ab"}, unmeasured=1)

    assert turns == ["a", "b"] * 3
    assert found == {"a": [3, 5], "b": [4, 6]}


@pytest.mark.servers
def test_benchmarks_use_postgresql_with_fsync(monkeypatch):
    monkeypatch.delenv(TEMPLATE, raising=False)
    with postgresql() as address, closing(psycopg2.connect(address)) as connection:
        cursor = connection.cursor()
        cursor.execute("SHOW fsync")

        assert cursor.fetchone() == ("on",)

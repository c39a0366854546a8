"""Work on parts, in this process and on a Dask cluster."""

import operator
import os
import signal
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from arqkit.formulas.layout import read_layouts
from arqkit.parts import kept, mapped
from arqkit.retrieval.formulas import FormulaIndex, read_formulas
from tests.arqkit.retrieval.test_formula_search import FORMULAS, math

ROWS = pl.DataFrame(
    [(name, "x", math(content), None) for name, content in FORMULAS.items()]
    + [("latex", r"\frac{a}{2}", None, None), ("nothing", None, None, None)],
    schema=dict.fromkeys(("formula_id", "latex", "slt", "opt"), pl.String),
    orient="row",
)
double = partial(operator.mul, 2)


def in_parts_of(size: int, frame: pl.DataFrame = ROWS) -> list[pl.DataFrame]:
    return list(frame.iter_slices(size))


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}


def built(folder, parts, cluster):
    """Return the files of the index of parts."""
    read = kept(read_formulas, parts, folder / "parts", cluster=cluster, done=print)
    FormulaIndex.merge(read).save(folder / "index")
    return files_of(folder / "index")


def test_results_come_in_the_order_of_the_parts():
    assert list(mapped(double, range(9))) == [2 * number for number in range(9)]


def test_results_of_a_cluster_come_in_the_order_of_the_parts(cluster):
    assert list(mapped(double, range(9), cluster=cluster)) == list(map(double, range(9)))


def test_a_cluster_builds_the_index_that_one_process_builds_byte_for_byte(tmp_path, cluster):
    alone = built(tmp_path / "alone", [ROWS], "")
    together = built(tmp_path / "together", in_parts_of(2), cluster)

    assert len(alone) > 10
    assert together == alone


def test_a_cluster_reads_the_layouts_that_one_process_reads(cluster):
    formulas = ROWS.select("formula_id", formula="slt")
    together = pl.concat(mapped(read_layouts, in_parts_of(2, formulas), cluster=cluster))
    assert together.equals(read_layouts(formulas))
    assert together["layout"].count() == len(FORMULAS)


def test_an_error_on_a_cluster_is_that_of_the_function(cluster):
    with pytest.raises(ZeroDivisionError):
        list(mapped(partial(operator.truediv, 1), [1, 0], cluster=cluster))


def test_a_cluster_that_does_not_answer_is_refused(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("arqkit.parts.SECONDS", 0.1)
    with pytest.raises(ConnectionError, match="No Dask scheduler answers at tcp:"):
        list(mapped(double, [1], cluster="tcp://127.0.0.1:9"))


def doubled_by_a_mortal(marker: Path, number: int) -> int:
    """Return twice a number; the worker that gets 5 first is killed."""
    if number == 5 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def test_the_parts_of_a_worker_that_is_killed_are_worked_on_by_others(tmp_path):
    distributed = pytest.importorskip("distributed")
    mortal = partial(doubled_by_a_mortal, tmp_path / "killed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL"
    ) as made:
        results = list(mapped(mortal, range(12), cluster=made.scheduler_address))

    assert results == [2 * number for number in range(12)]
    assert (tmp_path / "killed").exists()


def test_a_cluster_without_workers_is_refused(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("arqkit.parts.SECONDS", 1)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as made,
        pytest.raises(ConnectionError, match="has no worker left"),
    ):
        list(mapped(double, [1], cluster=made.scheduler_address))


def test_finished_parts_are_not_worked_on_again(tmp_path):
    calls, told = [], []

    def half(number):
        calls.append(number)
        return 12 / number

    with pytest.raises(ZeroDivisionError):
        kept(half, [3, 2, 0, 1], tmp_path, done=told.append)
    results = kept(half, [3, 2, 4, 1], tmp_path, done=told.append)

    assert list(results) == [4, 6, 3, 12]
    assert calls == [3, 2, 0, 4, 1]
    assert told == [1, 2, 3, 4]

"""Approach0's own engine, in a process whose crashes and hangs are errors."""

import os
from signal import SIGKILL, SIGSTOP

import polars as pl
import pytest

from arqkit.retrieval.approach0 import Approach0Index, EngineError, approach0_engine

pytest.importorskip("pya0")

FORMULAS = [
    ("1", r"x^2+y^2=z^2"),
    ("2", r"a+b"),
    ("3", r"\bigl{("),  # the engine cannot parse it
    ("4", r"x^2+y^2=z^2"),
    ("5", r"\sqrt{x^2+y^2}"),
]


def found(index, latex, depth=1000):
    with index.engine() as engine:
        return index.search(engine, "B.1", latex, depth)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """The index of the formulas."""
    folder = tmp_path_factory.mktemp("long" * 30)  # the engine refuses long paths
    Approach0Index.build(FORMULAS, folder)
    return Approach0Index(folder)


def test_an_exact_copy_of_the_query_ranks_first_with_all_that_have_it(index):
    ranking = found(index, r"x^2+y^2=z^2")

    assert ranking["topic"].unique().to_list() == ["B.1"]
    assert set(ranking["item"][:2]) == {"1", "4"}
    assert ranking["score"][0] == ranking["score"][1] > ranking["score"][2]
    assert found(index, r"x^2+y^2=z^2", 1).equals(ranking.head(1))


def test_renamed_variables_are_found(index):
    assert found(index, r"c+d")["item"][0] == "2"


def test_what_cannot_be_parsed_finds_nothing_and_is_not_found(index):
    assert found(index, r"\bigl{(").is_empty()


def signalled(folder, signal, *asked):
    """Send a signal to an engine after its first answer, and ask it for more formulas."""
    with approach0_engine("add", folder) as engine:
        engine.ask(["x_1"])
        engine.patience = 0.2
        os.kill(engine.process.pid, signal)
        engine.ask(asked)


@pytest.mark.parametrize(
    ("signal", "message"),
    [(SIGKILL, "ended with SIGKILL"), (SIGSTOP, "did not answer within 0.2 seconds")],
)
@pytest.mark.parametrize(("asked", "at"), [(["x_2"], "the formula x_2"), ([], "the end")])
def test_an_engine_that_dies_or_hangs_is_an_error_that_says_where(
    tmp_path, signal, message, asked, at
):
    with pytest.raises(EngineError, match=rf"{message} at {at}\..*use the system tangent-s"):
        signalled(tmp_path, signal, *asked)


def test_a_folder_without_an_index_is_an_error_with_the_engines_last_message(tmp_path):
    pl.DataFrame({"item": [], "number": []}).write_parquet(tmp_path / "items.parquet")
    (tmp_path / "engine").mkdir()

    with pytest.raises(EngineError, match=r"exit status 1 .*has no index that the engine can open"):
        found(Approach0Index(tmp_path), "x")

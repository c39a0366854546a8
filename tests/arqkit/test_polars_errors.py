"""Internal failures of polars become ordinary exceptions; requests to stop do not."""

import polars as pl
import pytest

from arqkit.formats.runs import repair
from arqkit.formats.runs.report import RunRules
from arqkit.polars_errors import EngineFailedError, panics_as_errors
from arqkit.records import TaskKind


def panic(*_: object) -> None:
    raise pl.exceptions.PanicException("index out of bounds")


def test_a_panic_during_a_repair_becomes_an_ordinary_error(monkeypatch):
    monkeypatch.setattr(repair, "read_rows", panic)

    with pytest.raises(EngineFailedError, match="index out of bounds"):
        repair.repaired_run(b"A.1\t1\t1\t1\tt\n", RunRules(TaskKind.ANSWERS))


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, ValueError])
def test_other_exceptions_pass_unchanged(stop):
    with pytest.raises(stop), panics_as_errors():
        raise stop

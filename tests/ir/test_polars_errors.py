"""Internal failures of polars become ordinary exceptions; requests to stop do not."""

import polars as pl
import pytest

from arqlab.formats.runs import check, repair
from arqlab.formats.runs.report import RunRules
from arqlab.ir.polars_errors import EngineFailedError, panics_as_errors
from arqlab.ir.records import TaskKind


def panic(*_: object) -> None:
    raise pl.exceptions.PanicException("index out of bounds")


@pytest.mark.parametrize(("module", "door"), [(check, "check_run"), (repair, "repaired_run")])
def test_a_polars_panic_becomes_an_ordinary_error(monkeypatch, module, door):
    monkeypatch.setattr(module, "read_rows", panic)

    with pytest.raises(EngineFailedError, match="index out of bounds"):
        getattr(module, door)(b"A.1\t1\t1\t1\tt\n", RunRules(TaskKind.ANSWERS))


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, ValueError])
def test_other_exceptions_pass_unchanged(stop):
    with pytest.raises(stop), panics_as_errors():
        raise stop

"""The bill of materials names all that a server runs, and an audit says what it could not do."""

from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.paths import ROOT


@pytest.fixture(scope="module")
def audit() -> SimpleNamespace:
    """Return `bin/audit` as a module."""
    return SimpleNamespace(**run_path(str(ROOT / "bin/audit")))


def test_the_bill_of_materials_has_every_locked_and_every_copied_package(
    audit: SimpleNamespace,
) -> None:
    lock = (ROOT / "requirements-extras.txt").read_text(encoding="utf-8")
    locked = {line.split("==")[0] for line in lock.splitlines() if "==" in line and line[0] != " "}

    names = {component["name"] for component in audit.bill_of_materials()["components"]}

    assert locked
    assert locked <= names
    assert {"bootstrap", "echarts", "htmx.org"} <= names


SKIPPED: dict[str, Any] = {"name": "attrs", "skip_reason": "Dependency not found on PyPI"}
CLEAN: dict[str, Any] = {"name": "celery", "version": "5.6.2", "vulns": []}
WEAK: dict[str, Any] = {
    "name": "lxml",
    "version": "6.0.0",
    "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["6.0.1"], "description": "…"}],
}


@pytest.mark.parametrize(
    ("report", "last", "code"),
    [
        ("no answer", "Nothing was audited: the advisories could not be reached (no answer).", 0),
        (
            {"dependencies": [SKIPPED]},
            "Nothing was audited: the advisories could not be reached "
            "(Dependency not found on PyPI).",
            0,
        ),
        ({"dependencies": [CLEAN]}, "1 of 1 packages were audited; no advisory applies.", 0),
        (
            {"dependencies": [CLEAN, SKIPPED]},
            "1 of 2 packages were audited; no advisory applies.",
            0,
        ),
        ({"dependencies": [CLEAN, WEAK]}, "2 of 2 packages were audited; 1 advisories apply.", 1),
    ],
)
def test_an_audit_that_did_not_happen_is_not_a_clean_one(
    audit: SimpleNamespace, report: dict[str, Any] | str, last: str, code: int
) -> None:
    lines, ended = audit.audited(report)

    assert (lines[-1], ended) == (last, code)

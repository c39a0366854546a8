"""Tests change scores that never change in a lab."""

from __future__ import annotations

import pytest

from arqlab.core.caches import computed_values


@pytest.fixture(autouse=True)
def nothing_computed() -> None:
    """Forget what another test computed from rows with the same ids."""
    computed_values.clear()

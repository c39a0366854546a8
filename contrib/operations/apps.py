"""The app's name for Django."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from arqlab.apps import LabApp

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric


class OperationsConfig(LabApp):
    """What the operator of a server needs."""

    name = "contrib.operations"

    def figures(self) -> Iterator[Metric]:
        """Yield the figures of a server for its metrics."""
        # Only a web process needs its library.
        from contrib.operations.services.figures import server_figures

        return server_figures()

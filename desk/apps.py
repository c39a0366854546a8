"""The app's name for Django."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from arqlab.apps import LabApp

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric


class DeskConfig(LabApp):
    """Pages that span all apps, and the demo lab."""

    name = "desk"

    def figures(self) -> Iterator[Metric]:
        """Yield the figures of a server for its metrics."""
        from desk.services.figures import server_figures  # only a web process needs its library

        return server_figures()

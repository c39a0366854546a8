"""Metrics in the format of Prometheus: the requests of all web processes, and figures of the apps.

`manage.py serve` names a folder in PROMETHEUS_MULTIPROC_DIR before this module is imported. Its
processes count there, so that each answers for all. Judgments, uploads, jobs and queues are read
from the database, which is right on any number of machines.
"""

import os
from collections.abc import Iterator

from django.apps import apps
from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

REQUESTS = Histogram(
    "arqlab_request_seconds",
    "Requests by the name of the view and the status, and the seconds that they took.",
    ["view", "status"],
    buckets=(0.025, 0.1, 0.25, 0.5, 1, 2.5, 10),
    registry=None,
)


class _Figures(Collector):
    """What the apps count when they are asked: `figures` of their configuration."""

    def collect(self) -> Iterator[Metric]:
        for config in apps.get_app_configs():
            yield from getattr(config, "figures", tuple)()


def exposed_metrics() -> bytes:
    """Return all metrics in the text format of Prometheus."""
    registry = CollectorRegistry()
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(REQUESTS)
    registry.register(_Figures())
    return generate_latest(registry)

"""The figures of a server for Prometheus, read from the database when they are asked for."""

import time
from collections.abc import Iterator, Mapping

from django.core.cache import cache
from django.db import DatabaseError
from django.db.models import Count, Max
from django.utils import timezone
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from arqlab.core.models import Job
from arqlab.core.selectors import room_for_files
from arqlab.server.services.health import recent_readiness
from assessment.models import Judgment
from contrib.operations.services.backups import LAST_BACKUP
from contrib.operations.services.queues import work_queues
from submissions.models import Upload


def server_figures() -> Iterator[Metric]:
    """Yield all figures; without a database, those that need none."""
    ready = {name: float(fault is None) for name, fault in recent_readiness().items()}
    yield _gauge("ready", "1 if this check of /health/ready passes.", ready, "check")
    room = "Bytes that files may still take."
    yield GaugeMetricFamily("arqlab_room_bytes", room, float(room_for_files()))
    try:
        yield from list(_from_database())
    except DatabaseError:  # `ready` shows it
        return


def _from_database() -> Iterator[Metric]:
    queues = work_queues(at=timezone.now())
    waiting = {name: float(queue.waiting) for name, queue in queues.items()}
    yield _gauge("queue_length", "What waits or is in progress.", waiting, "queue")
    ages = {name: queue.age for name, queue in queues.items()}
    yield _gauge("queue_age_seconds", "Since when the oldest has not moved.", ages, "queue")
    states = Job.objects.order_by().values_list("state").annotate(Count("pk"))
    yield _gauge("jobs", "Jobs by state.", {state: float(n) for state, n in states}, "state")
    # The last key instead of a count, which would read the whole table.
    for name, text, model in (
        ("judgments", "Labels that were saved.", Judgment),
        ("uploads", "Files of runs that were sent.", Upload),
    ):
        last = model._base_manager.aggregate(last=Max("pk"))["last"]
        yield CounterMetricFamily(f"arqlab_{name}", text, float(last or 0))
    if last_backup := cache.get(LAST_BACKUP):
        age = time.time() - last_backup.timestamp()
        yield GaugeMetricFamily("arqlab_backup_age_seconds", "Since the last backup.", age)


def _gauge(name: str, text: str, values: Mapping[str, float], label: str) -> Metric:
    family = GaugeMetricFamily(f"arqlab_{name}", text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family

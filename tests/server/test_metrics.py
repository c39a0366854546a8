"""Prometheus reads requests and figures with its token, and nobody else does."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from arqlab.core.models import Job
from arqlab.server.tasks import beat
from submissions.models import Upload
from tests.factories import Scene

TOKEN = "a token of the tests"


@pytest.fixture(autouse=True)
def allowed(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN


def scraped() -> dict[tuple[str, ...], float]:
    """Return the samples by their name and the values of their labels."""
    asks = Client(headers={"authorization": f"Bearer {TOKEN}", "host": "web:8000"})
    families = text_string_to_metric_families(asks.get("/metrics").content.decode())
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


@pytest.mark.parametrize("header", [None, "Bearer another", TOKEN])
def test_nobody_reads_metrics_without_the_token(header: str | None) -> None:
    headers = {"authorization": header} if header else {}

    assert Client(headers=headers).get("/metrics").status_code == 404


def test_nobody_reads_metrics_without_a_setting(settings: Any) -> None:
    settings.METRICS_TOKEN = ""

    assert Client(headers={"authorization": "Bearer "}).get("/metrics").status_code == 404


def test_requests_are_counted_by_view_and_status(scene: Scene) -> None:
    names = {
        ("200", "desk:lab-list"): "/labs/",
        ("404", "desk:lab-detail"): "/labs/none/",
        ("404", ""): "/nothing/",
    }
    before = scraped()
    for path in names.values():
        Client().get(path)
    after = scraped()

    for labels in names:
        count = ("arqlab_request_seconds_count", *labels)
        assert after[count] - before.get(count, 0) == 1


@pytest.mark.needs("operations")
def test_figures_are_those_of_the_database(scene: Scene) -> None:
    beat()
    now = timezone.now()
    Job.objects.create(kind="topics", state="waiting", created_at=now, updated_at=now)
    upload = Upload.objects.create(file="a", name="a", size=1, sha256="0" * 64, uploaded_at=now)

    found = scraped()

    assert found["arqlab_queue_length", "jobs"] == found["arqlab_jobs", "waiting"] == 1
    assert found["arqlab_queue_length", "runs"] == found["arqlab_queue_age_seconds", "runs"] == 0
    assert found["arqlab_uploads_total",] == upload.pk
    assert found["arqlab_ready", "database"] == 1
    assert found["arqlab_room_bytes",] > 0

"""Uploads and runs for tests, and the bytes of run files."""

from datetime import UTC, datetime
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import factory
import polars as pl
from django.core.files.base import ContentFile

from submissions.models import Run, Upload
from tests.factories import TaskFactory, TeamFactory

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
RUN_NAME = "Alpha-task1-bm25-auto-both-A.tsv"
GOOD_RUN = b"A.1\t10\t1\t9.5\tbm25\nA.1\t11\t2\t8.5\tbm25\nA.2\t12\t1\t7.5\tbm25\n"
# Two errors on two lines: a duplicate item, and a score that is not a number.
BAD_RUN = b"A.1\t10\t1\t9.5\tbm25\nA.1\t10\t2\t8.5\tbm25\nA.2\t12\t1\tmuch\tbm25\n"


class UploadFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Upload

    name = RUN_NAME
    file = factory.LazyAttribute(lambda upload: ContentFile(GOOD_RUN, name=upload.name))
    size = len(GOOD_RUN)
    sha256 = "0" * 64
    uploaded_at = NOW


class RunFactory(factory.django.DjangoModelFactory):
    """A run that waits for validation."""

    class Meta:
        model = Run

    task = factory.SubFactory(TaskFactory)
    team = factory.SubFactory(TeamFactory, lab=factory.SelfAttribute("..task.lab"))
    upload = factory.SubFactory(UploadFactory)
    tag = factory.Sequence(lambda number: f"run{number}")
    identifier = factory.LazyAttributeSequence(
        lambda run, number: f"{run.tag}-{number}" if run.status == Run.Status.VALID else ""
    )
    status = Run.Status.UPLOADED
    submitted_at = NOW
    status_changed_at = NOW


class ValidRunFactory(RunFactory):
    """A valid run with its index."""

    status = Run.Status.VALID
    index = factory.LazyFunction(lambda: ContentFile(index_bytes(), name="run.parquet"))
    report = factory.LazyFunction(
        lambda: {"format": "arqmath-task1", "lines": 1, "rows": 1, "topics": 1}
    )


def index_bytes() -> bytes:
    """Return an index with one row as Parquet."""
    columns = {
        "topic": ["A.1"],
        "item": ["10"],
        "post": [None],
        "rank": [1],
        "score": [9.5],
        "order": [1],
    }
    buffer = BytesIO()
    pl.DataFrame(columns, schema_overrides={"order": pl.Int32, "post": pl.String}).write_parquet(
        buffer
    )
    return buffer.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    """Return a zip of these members, keyed by path."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def sent(data: bytes = GOOD_RUN, name: str = RUN_NAME) -> ContentFile:
    """Return a file as views pass it to a service."""
    return ContentFile(data, name=name)

"""Requests that the tests send to the pages of runs."""

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from tests.factories import Scene
from tests.submissions.factories import GOOD_RUN

NAME = "Alpha-task1-bm25-auto-both-P.tsv"


def url(name: str, *run: int) -> str:
    """Return the address of a page of runs, or of one run."""
    app = "desk" if name == "run-detail" else "submissions"
    return reverse(f"{app}:{name}", args=["arqmath-x", "task1", *run])


def upload(
    browser: Client,
    scene: Scene,
    data: bytes = GOOD_RUN,
    *,
    name: str = NAME,
    json: bool = False,
    **fields: str,
) -> Any:
    """Send a file as the upload page does and return the response."""
    body = {"team": scene.team.pk, "file": SimpleUploadedFile(name, data), "submit": "yes"} | fields
    return browser.post(
        url("run-upload"), body, headers={"Accept": "application/json"} if json else None
    )

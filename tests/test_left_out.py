"""A server without an optional app: it starts, opens every page, and links none that is missing."""

import os
import subprocess
import sys

import pytest
from django.conf import settings

from tests.paths import ROOT

OPENED = "tests/test_access.py::test_every_page_opens_and_each_link_on_it_leads_to_an_address"
APPS = settings.OPTIONAL_APPS


def without(apps: str, *command: str, folder: object) -> subprocess.CompletedProcess[str]:
    """Run a command on a server that leaves apps out."""
    variables = {**os.environ, "ARQLAB_WITHOUT": apps, "ARQLAB_DATA": str(folder)}
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("apps", [*APPS, ",".join(APPS)])
def test_every_page_opens_without_an_app(apps, tmp_path):
    ran = without(apps, "-m", "pytest", "-q", "-n", "0", OPENED, folder=tmp_path)

    assert "1 passed" in ran.stdout, ran.stdout[-3000:] + ran.stderr[-3000:]


def test_an_app_that_does_not_exist_is_refused(tmp_path):
    ran = without("radar,rader", "manage.py", "check", folder=tmp_path)

    assert ran.returncode == 1
    assert f"ARQLAB_WITHOUT names rader. Name only: {', '.join(APPS)}." in ran.stderr


def test_a_database_keeps_the_tables_of_an_app_that_is_left_out_later(tmp_path):
    for apps in ("", "retrieval", ""):
        ran = without(apps, "manage.py", "migrate", "-v", "0", folder=tmp_path)
        assert ran.returncode == 0, ran.stderr
        ran = without(apps, "manage.py", "doctor", folder=tmp_path)
        assert "migrations" not in ran.stdout + ran.stderr


def test_the_demo_opens_on_a_server_without_any_optional_app(tmp_path):
    apps = ",".join(APPS)
    for command in (["migrate", "-v", "0"], ["build_demo"]):
        ran = without(apps, "manage.py", *command, folder=tmp_path)
        assert ran.returncode == 0, ran.stderr
    reads = "from arqlab.core.models import AuditEvent as Event; print(Event.objects.get(verb='"
    reads += "lab.restore').detail)"
    told = without(apps, "manage.py", "shell", "-v", "0", "-c", reads, folder=tmp_path)

    assert "'without': ['retrieval.systemrun']" in told.stdout, told.stderr

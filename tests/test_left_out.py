"""A server without an optional app: it starts, opens every page, and links none that is missing."""

import os
import subprocess
import sys

import pytest
from django.conf import settings

from tests.databases import copy_embedded
from tests.paths import ROOT

OPENED = "tests/test_access.py::test_every_page_opens_and_each_link_on_it_leads_to_an_address"
APPS = settings.OPTIONAL_APPS
MIGRATED = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
print("It is migrated.")
call_command("doctor")
"""
BUILT = """
from arqlab.core.models import AuditEvent
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("build_demo")
print(AuditEvent.objects.get(verb="lab.restore").detail)
"""


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
    alone = ("-q", "-n", "0", "-p", "no:schemathesis")  # a plugin that takes a second to load
    ran = without(apps, "-m", "pytest", *alone, OPENED, folder=tmp_path)

    assert "1 passed" in ran.stdout, ran.stdout[-3000:] + ran.stderr[-3000:]


def test_an_app_that_does_not_exist_is_refused(tmp_path):
    ran = without("radar,rader", "manage.py", "check", folder=tmp_path)

    assert ran.returncode == 1
    assert f"ARQLAB_WITHOUT names rader. Name only: {', '.join(APPS)}." in ran.stderr


def test_a_database_keeps_the_tables_of_an_app_that_is_left_out_later(tmp_path):
    copy_embedded(tmp_path)
    for apps in ("", "retrieval", ""):
        ran = without(apps, "manage.py", "shell", "-v", "0", "-c", MIGRATED, folder=tmp_path)
        assert "It is migrated." in ran.stdout, ran.stderr
        assert "migrations" not in ran.stdout + ran.stderr


def test_the_demo_opens_on_a_server_without_any_optional_app(tmp_path):
    told = without(",".join(APPS), "manage.py", "shell", "-v", "0", "-c", BUILT, folder=tmp_path)

    assert "'without': ['retrieval.systemrun']" in told.stdout, told.stderr

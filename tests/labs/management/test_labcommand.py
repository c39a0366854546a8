"""Any command on labs may be the first one to run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.served_lab import ROOT


def test_a_command_creates_the_tables_of_an_empty_database(tmp_path: Path) -> None:
    variables = {"ARQLAB_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "arqlab.settings"}
    environment = {
        name: value for name, value in os.environ.items() if name != "DATABASE_URL"
    } | variables
    command = [sys.executable, "manage.py", "leaderboard", "none/task1"]

    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("CommandError: Unknown task 'none/task1'.")


@pytest.mark.django_db
def test_a_user_error_becomes_the_message_of_the_command() -> None:
    with pytest.raises(CommandError, match="Load a lab first"):
        call_command("leaderboard", "none/task1")

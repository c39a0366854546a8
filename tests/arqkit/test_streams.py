"""Commands whose reader goes away, as in `command | head`, end without a word."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arqkit.streams import UNREAD
from tests.paths import ROOT

COMMANDS = [
    "manage.py help --commands",
    "manage.py --version",
    "manage.py help migrate",
    "-m arqkit --help",
    "-m arqkit --version",
    "-m arqkit check --help",
]


@pytest.fixture
def unread_pipe() -> Iterator[int]:
    """Yield the end of a pipe to write to, whose other end is closed already."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_ends_silently_when_nobody_reads_its_output(
    command: str, unbuffered: str, unread_pipe: int, tmp_path: Path
) -> None:
    environment = os.environ | {"ARQLAB_DATA": str(tmp_path), "PYTHONUNBUFFERED": unbuffered}

    ended = subprocess.run(
        [sys.executable, *command.split()],
        cwd=ROOT,
        env=environment,
        stdout=unread_pipe,
        stderr=subprocess.PIPE,
        check=False,
    )

    assert ended.stderr == b""
    assert ended.returncode in {0, UNREAD}  # argparse itself ignores that its help is not read

"""Frozen releases in their folders, and how a test gets one as the data of a server."""

import contextlib
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import psycopg2

from tests.paths import ROOT
from tests.upgrades.freeze import DATABASE, FIGURES, FILES

RELEASES = sorted(path.name for path in Path(__file__).parent.iterdir() if path.name[0].isdigit())
NOT_SHARED = ("DATABASE_URL", "REDIS_URL")


def database_kind() -> str:
    """Return the kind of database that the tests run on."""
    return "postgresql" if os.environ.get("DATABASE_URL") else "sqlite"


def frozen(release: str, name: str) -> Path:
    """Return a file of a release."""
    return Path(__file__).parent / release / database_kind() / name


def frozen_figures(release: str) -> Any:
    """Return what the release itself showed."""
    return json.loads(frozen(release, FIGURES).read_text(encoding="utf-8"))


def thaw(release: str, data: Path) -> dict[str, str]:
    """Put the database and the files of a release in place; return the variables of its server."""
    database = gzip.decompress(frozen(release, DATABASE).read_bytes())
    variables = {key: value for key, value in os.environ.items() if key not in NOT_SHARED}
    variables |= {"ARQLAB_DATA": str(data), "DJANGO_SETTINGS_MODULE": "arqlab.settings"}
    if database_kind() == "sqlite":
        (data / "arqlab.sqlite3").write_bytes(database)
    else:
        variables["DATABASE_URL"] = _load(database.decode(), data)
    with tarfile.open(
        fileobj=io.BytesIO(gzip.decompress(frozen(release, FILES).read_bytes()))
    ) as tar:
        tar.extractall(data / "files", filter="data")
    return variables


def _load(statements: str, data: Path) -> str:
    server = os.environ["DATABASE_URL"]
    name = f"frozen_{hashlib.sha256(bytes(data)).hexdigest()[:12]}"
    url = f"{server.rpartition('/')[0]}/{name}"
    with contextlib.closing(psycopg2.connect(server)) as connected:
        connected.autocommit = True
        connected.cursor().execute(f"CREATE DATABASE {name}")
    with contextlib.closing(psycopg2.connect(url)) as connected, connected:
        connected.cursor().execute(statements)
    return url


def run(variables: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with some words in the environment of a thawed release."""
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=variables, capture_output=True, text=True
    )

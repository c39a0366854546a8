"""Freeze the database and the files of a release, for the tests of all later ones.

Usage, in a checkout of the release: `python -m tests.upgrades.freeze tests/upgrades/0.2.0`. It
makes a folder for SQLite and one for PostgreSQL, each with the database, its files, and the figures
that every later version must still show (`tests.upgrades.figures`).
"""

import contextlib
import gzip
import io
import os
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.everywhere import postgresql_binaries, postgresql_server
from tests.paths import ROOT

DATABASE, FILES, FIGURES = "database.gz", "files.tar.gz", "figures.json"
FILL = """
import os, sys, django
django.setup()
from pathlib import Path
from tests.upgrades.rows import empty_models, fill_every_model
fill_every_model(Path(os.environ["ARQLAB_DATA"]))
if empty := empty_models():
    sys.exit(f"These models have no row, so tests/upgrades/rows.py must make one: {empty}")
"""
SETTINGS = ("\\", "SET ", "SELECT pg_catalog.set_config(")
"""How lines of pg_dump begin that another version of the server or the client may not know."""


def freeze(folder: Path, url: str | None) -> None:
    """Fill a database, of SQLite without an address, and write it, its files and its figures."""
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="arqlab-frozen-") as data:
        variables = {"DJANGO_SETTINGS_MODULE": "arqlab.settings", "ARQLAB_DATA": data}
        variables |= {
            "DATABASE_URL": url or "",
            "REDIS_URL": "",
            "ARQLAB_SECRET_KEY": "frozen" * 10,
        }
        environment = os.environ | variables
        for words in (["manage.py", "migrate", "--verbosity=0"], ["-c", FILL]):
            subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, check=True)
        write(folder / DATABASE, dump(url) if url else copy(Path(data, "arqlab.sqlite3")))
        write(folder / FILES, packed(Path(data, "files")))
        command = [sys.executable, "-m", "tests.upgrades.figures"]
        figures = subprocess.run(
            command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE
        )
    (folder / FIGURES).write_bytes(figures.stdout + b"\n")


def write(path: Path, content: bytes) -> None:
    """Write a file compressed, with the same bytes for the same content."""
    path.write_bytes(gzip.compress(content, mtime=0))


def copy(path: Path) -> bytes:
    """Return an SQLite database as one file, without a log beside it."""
    with contextlib.closing(sqlite3.connect(path)) as source:
        source.execute("PRAGMA journal_mode=DELETE")
        source.execute("VACUUM")
    return path.read_bytes()


def dump(url: str) -> bytes:
    """Return a PostgreSQL database as SQL that any client can execute."""
    binary = postgresql_binaries()
    options = ("--inserts", "--rows-per-insert=100", "--no-owner", "--no-privileges")
    text = subprocess.run(
        [str(binary / "pg_dump"), *options, url], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    lines = (line for line in text.splitlines() if not line.startswith(("--", *SETTINGS)))
    return "\n".join(filter(None, lines)).encode() + b"\n"


def packed(folder: Path) -> bytes:
    """Return the files of a folder in one archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path in sorted(filter(Path.is_file, folder.rglob("*"))):
            tar.add(path, path.relative_to(folder).as_posix())
    return buffer.getvalue()


if __name__ == "__main__":
    target = Path(sys.argv[1])
    freeze(target / "sqlite", None)
    with postgresql_server() as server:
        if not server:
            sys.exit("PostgreSQL was not found. Install it: apt-get install postgresql")
        freeze(target / "postgresql", server)

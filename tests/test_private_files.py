"""Only the user of the server reads its files."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

KEY = "0123456789" * 5
FIRST_USE = """
from django.db import connection
connection.cursor().execute("CREATE TABLE first (one INTEGER)")
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
default_storage.save("uploads/1/run.tsv", ContentFile(b"A.1"))
"""


def manage(folder: Path, *command: str, secret_key: str = "") -> None:
    own = {"ARQLAB_DATA": str(folder), "DJANGO_SETTINGS_MODULE": "arqlab.settings"}
    own |= {"ARQLAB_SECRET_KEY": secret_key}
    kept = {key: value for key, value in os.environ.items() if not key.endswith(("_URL", "_KEY"))}
    subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=kept | own, check=True)


def open_to_others(folder: Path) -> list[str]:
    """Return the files that others can read, and are not in a folder that is closed to them."""
    found = []
    for parent, folders, files in os.walk(folder):
        paths = [Path(parent, name) for name in (*folders, *files)]
        found += [path for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077]
        folders[:] = [name for name in folders if Path(parent, name) in found]
    return sorted(str(path.relative_to(folder)) for path in found)


@pytest.mark.once
def test_a_new_server_creates_private_files(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        manage(tmp_path / "data", "shell", "--verbosity", "0", "--command", FIRST_USE)
    finally:
        os.umask(before)

    assert {"arqlab.sqlite3", "files", "secret-key"} <= set(os.listdir(tmp_path / "data"))
    assert open_to_others(tmp_path) == []


@pytest.mark.once
def test_the_data_folder_is_made_also_for_a_secret_key_from_elsewhere(tmp_path: Path) -> None:
    manage(tmp_path / "data", "shell", "--verbosity", "0", "--command", FIRST_USE, secret_key=KEY)

    assert open_to_others(tmp_path) == []


@pytest.mark.once
def test_the_files_of_an_earlier_version_are_closed(tmp_path: Path) -> None:
    (tmp_path / "files/uploads").mkdir(parents=True, mode=0o755)
    for name in ("secret-key", "arqlab.sqlite3", "files/uploads/run.tsv"):
        (tmp_path / name).write_text(KEY if name == "secret-key" else "")
        (tmp_path / name).chmod(0o644)
    (tmp_path / "files").chmod(0o755)

    manage(tmp_path, "shell", "--verbosity", "0", "--command", "")

    assert open_to_others(tmp_path) == []

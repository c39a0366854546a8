"""What is acknowledged is on the disk: the system calls of a process are counted."""

import os
import re
import shutil
from pathlib import Path

import pytest
from django.core.files.base import ContentFile

from arqlab.core.files import DurableStorage
from tests.submissions.processes import MAKE_LAB, start

STRACE = shutil.which("strace")
LOG = "arqlab.sqlite3-wal"


@pytest.mark.skipif(not STRACE, reason="strace is not installed.")
def test_what_is_acknowledged_is_on_the_disk_and_files_before_their_rows(tmp_path: Path) -> None:
    data, trace = tmp_path / "data", tmp_path / "trace"
    data.mkdir()
    rename = "Team.objects.update(name='Beta')"
    # It ends by a kill, because closing the last connection writes the database too.
    steps = [MAKE_LAB, *[rename] * 20, "print('sent', flush=True); submit('one'); die()"]
    calls = ["-y", "-e", "trace=fsync,fdatasync,write", "-e", "signal=none", "-o", str(trace)]
    start(data, *steps, under=[str(STRACE), "-f", *calls]).communicate()

    before, sent = re.split(r"write.*sent", trace.read_text())
    files = [path for path in synced(sent, data) if path.startswith("files")]
    assert synced(before, data).count(LOG) >= 20
    assert synced(sent, data)[-1] == LOG
    assert re.fullmatch(r"files/uploads/\d+/\d+/Alpha.*[.]part", files[0])
    assert files[-2:] == ["files/uploads", "files"]


def synced(trace: str, data: Path) -> list[str]:
    """Return the paths below a folder that a process had the system write to the disk, in order."""
    found = re.findall(r"f(?:data)?sync\(\d+<([^>]*)>", trace)
    return [os.path.relpath(path, data) for path in found]


def test_a_write_that_fails_leaves_no_file(tmp_path: Path) -> None:
    class Torn(ContentFile):
        def chunks(self, chunk_size=None):
            yield b"half of a line"
            raise OSError("The disk is full.")

    storage = DurableStorage(location=tmp_path)
    with pytest.raises(OSError, match="full"):
        storage.save("uploads/run.tsv", Torn(b""))

    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []

"""An archive is read back as it was written, or refused with the reason."""

import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyrage import x25519

from arqlab.core.errors import UserError
from contrib.operations.services.backup_archives import (
    FIELDS,
    HEAD,
    TAIL,
    ArchiveWriter,
    new_archive,
    read_archive,
)
from contrib.operations.services.backups import verify_backup
from tests.outside import tar_with
from tests.paths import ROOT

DATA = bytes(range(256)) * 4000
KEY = x25519.Identity.generate()


def write(folder: Path, recipients: list[Any] | None = None) -> Path:
    """Write an archive of two files into a folder."""
    (folder / "run").write_bytes(DATA)
    path = folder / "archive"
    with new_archive(path, recipients or []) as out:
        archive = ArchiveWriter(out, {"database": "sqlite"})
        archive.add("files/a/run", folder / "run")
        (folder / "run").write_bytes(DATA + b"longer")
        archive.add("files/a/run", folder / "run")
        archive.add("database", folder / "run")
        archive.close({"lost": [], "migrations": []})
    return path


def refused(path: Path, **options: Any) -> UserError:
    with pytest.raises(UserError) as error:
        read_archive(path, [], **options)
    return error.value


@pytest.mark.parametrize("recipients", [[], [KEY.to_public()]], ids=["plain", "encrypted"])
def test_the_last_state_of_a_file_is_extracted(tmp_path: Path, recipients: list[Any]) -> None:
    tail = read_archive(write(tmp_path, recipients), [KEY], into=tmp_path / "out")

    assert (tmp_path / "out/files/a/run").read_bytes() == DATA + b"longer"
    assert set(tail["members"]) == {HEAD, "files/a/run", "database"}


def test_an_encrypted_archive_shows_nothing_without_its_key(tmp_path: Path) -> None:
    path = write(tmp_path, [KEY.to_public()])

    assert b"files" not in path.read_bytes()
    assert refused(path).code == "key"


def test_a_secret_key_is_read_from_its_file(tmp_path: Path) -> None:
    path, file = write(tmp_path, [KEY.to_public()]), tmp_path / "key"
    file.write_text(f"# public key: {KEY.to_public()}\n{KEY}\n")

    assert verify_backup(path=path, identity=file).files == 1
    file.write_text("AGE-SECRET-KEY-1")
    with pytest.raises(UserError, match="is not a file of secret keys"):
        verify_backup(path=path, identity=file)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Return a plain and an encrypted archive."""
    folders = [tmp_path_factory.mktemp(name) for name in ("plain", "encrypted")]
    keys = ([], [KEY.to_public()])
    return [write(*each).read_bytes() for each in zip(folders, keys, strict=True)]


@given(number=st.integers(0, 1), share=st.floats(0, 0.9999), is_cut=st.booleans())
def test_no_damaged_archive_is_read(
    archives: list[bytes],
    tmp_path_factory: pytest.TempPathFactory,
    number: int,
    share: float,
    is_cut: bool,
) -> None:
    data = bytearray(archives[number])
    place = int(share * len(data))
    # The header of gzip has four bytes of time and two of the system, which mean nothing.
    if number == 0 and 3 < place < 10:
        place = 20
    if is_cut:
        del data[place:]
    else:
        data[place] ^= 0xFF
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(data)

    with pytest.raises(UserError):
        read_archive(path, [KEY])


def packed(members: dict[str, bytes]) -> bytes:
    with io.BytesIO() as out:
        with tarfile.open(fileobj=out, mode="w") as tar:
            for name, data in members.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
        return gzip.compress(out.getvalue())


def add(members: dict[str, bytes], name: str) -> None:
    """Add a file, and list it as the others are listed."""
    tell(members, "members", listed_in(members) | {name: [0, hashlib.sha256().hexdigest()]})
    members[name] = b""
    members[TAIL] = members.pop(TAIL)


def listed_in(members: dict[str, bytes]) -> dict[str, Any]:
    listed: dict[str, Any] = json.loads(members[TAIL])["members"]
    return listed


def tell(members: dict[str, bytes], field: str, value: object) -> None:
    """Change a field of the last member."""
    members[TAIL] = json.dumps(json.loads(members[TAIL]) | {field: value}).encode()


def unlisted(members: dict[str, bytes]) -> None:
    members["files/new"] = b"new"
    members[TAIL] = members.pop(TAIL)


FORGERIES: dict[str, Callable[[dict[str, bytes]], object]] = {
    "foreign": lambda members: members.pop(HEAD),
    "cut": lambda members: members.pop(TAIL),
    "missing": lambda members: members.pop("files/a/run"),
    "changed": lambda members: members.update({"files/a/run": b"other"}),
    "unlisted": unlisted,
    "after its end": lambda members: members.update(more=b"more"),
    "outside": lambda members: add(members, "../escaped"),
    "outside, from the root": lambda members: add(members, "/tmp/escaped"),
    "a control character": lambda members: add(members, "files/a\n"),
    "a long name": lambda members: add(members, "files/" + "x" * 300),
    "a deep path": lambda members: add(members, "files/" + "x/" * 3_000 + "y"),
    **{
        f"{name} {text[:20]!r}": lambda members, name=name, text=text: members.update({name: text})
        for name in (HEAD, TAIL)
        for text in (b"[]", b"null", b"{}", b"[" * 100_000, b'{"format": "1"}', b"9" * 5_000)
    },
    **{
        f"{field} {value!r}": lambda members, field=field, value=value: tell(members, field, value)
        for field in FIELDS[TAIL]
        for value in (None, 3, "x", [1], [[]])
    },
}


@pytest.mark.parametrize("name", FORGERIES)
def test_no_forged_archive_is_read(tmp_path: Path, name: str) -> None:
    """Neither to restore it nor to verify it."""
    path = write(tmp_path)
    with tarfile.open(path) as tar:
        members = {each.name: tar.extractfile(each).read() for each in tar}  # type: ignore[union-attr]
    FORGERIES[name](members)
    path.write_bytes(packed(members))

    assert refused(path, into=tmp_path / "out").code == "damaged"
    assert refused(path).code == "damaged"
    assert not (tmp_path / "escaped").exists()


KINDS = {
    "a link": "SYM",
    "a hard link": "LNK",
    "a device": "CHR",
    "a pipe": "FIFO",
    "a folder": "DIR",
}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_files_is_extracted(tmp_path: Path, kind: str) -> None:
    member = getattr(tarfile, f"{KINDS[kind]}TYPE")
    path = tmp_path / "archive"
    path.write_bytes(gzip.compress(tar_with(member, "/etc/passwd")))

    assert refused(path, into=tmp_path / "out").code == "damaged"


def bomb(name: str, kind: bytes) -> bytes:
    """Return an archive of a few megabytes with a member that is read as a whole, of a gigabyte."""
    entry, out = tarfile.TarInfo(name), io.BytesIO()
    entry.type, entry.size = kind, 10**9
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as zipped:
        zipped.write(entry.tobuf(tarfile.USTAR_FORMAT))
        for _ in range(100):
            zipped.write(bytes(10**7))
    return out.getvalue()


@pytest.mark.parametrize("name", ["header", HEAD])
def test_no_member_that_is_read_as_a_whole_fills_the_memory(tmp_path: Path, name: str) -> None:
    path = tmp_path / "archive"
    path.write_bytes(bomb(name, tarfile.REGTYPE if name == HEAD else tarfile.XHDTYPE))
    measured = f"""
import django
django.setup()
from pathlib import Path
from arqlab.core.errors import UserError
from contrib.operations.services.backup_archives import read_archive
try:
    read_archive(Path({str(path)!r}), [])
except UserError as refused:
    # What the system counts for a process begins with the memory of the one that started it.
    facts = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    [peak] = [line.split()[1] for line in facts if line.startswith("VmHWM:")]
    print(int(peak) // 1024, refused)
"""
    output = subprocess.run(
        [sys.executable, "-c", measured], cwd=ROOT, capture_output=True, encoding="utf-8"
    ).stdout
    megabytes, _, text = output.partition(" ")

    assert "is damaged" in text
    assert int(megabytes) < 700


def test_an_archive_of_a_newer_format_or_another_database_says_what_to_do(tmp_path: Path) -> None:
    newer = tmp_path / "newer"
    newer.write_bytes(packed({HEAD: json.dumps({"format": 2}).encode()}))

    assert "Update ArqLab" in refused(newer).message
    assert "Set DATABASE_URL" in refused(write(tmp_path), database="postgresql").message

"""An archive is read back as it was written, or refused with the reason."""

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyrage import x25519

from arqlab.core.errors import UserError
from desk.services.backup_archives import HEAD, TAIL, ArchiveWriter, new_archive, read_archive
from desk.services.backups import verify_backup

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
        archive.close({"lost": []})
    return path


def refused(path: Path, **options: Any) -> UserError:
    with pytest.raises(UserError) as error:
        read_archive(path, [], **options)
    return error.value


@pytest.mark.parametrize("recipients", [[], [KEY.to_public()]], ids=["plain", "encrypted"])
def test_the_last_state_of_a_file_is_extracted(tmp_path: Path, recipients: list[Any]) -> None:
    tail = read_archive(write(tmp_path, recipients), [KEY], into=tmp_path / "out")

    assert (tmp_path / "out/files/a/run").read_bytes() == DATA + b"longer"
    assert set(tail["members"]) == {HEAD, "files/a/run"}


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
    "outside": lambda members: members.update({"../escaped": b""}),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_no_forged_archive_is_read(tmp_path: Path, name: str) -> None:
    path = write(tmp_path)
    with tarfile.open(path) as tar:
        members = {each.name: tar.extractfile(each).read() for each in tar}  # type: ignore[union-attr]
    FORGERIES[name](members)
    path.write_bytes(packed(members))

    assert refused(path, into=tmp_path / "out").code == "damaged"
    assert not (tmp_path / "escaped").exists()


def test_an_archive_of_a_newer_format_or_another_database_says_what_to_do(tmp_path: Path) -> None:
    newer = tmp_path / "newer"
    newer.write_bytes(packed({HEAD: json.dumps({"format": 2}).encode()}))

    assert "Update ArqLab" in refused(newer).message
    assert "Set DATABASE_URL" in refused(write(tmp_path), database="postgresql").message

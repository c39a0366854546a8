"""Archives from outside are unpacked within bounds, or refused."""

import gzip
import io
import stat
import tarfile
import zipfile
from itertools import product
from pathlib import Path

import pytest

from arqkit.formats.archives import compressed, unpacking
from arqkit.formats.archives.compressed import DamagedFileError, read_pieces
from arqkit.formats.archives.unpacking import ARCHIVES, opened_7z, unpack_archive
from arqkit.records import FileRefusedError
from tests.outside import PACKERS, UNPACKED_NAMES, files_below, tar_of, tar_with, zip_of, zip_with

GOOD = [("lab/lab.toml", b"[lab]"), ("lab/runs/α.tsv", b"A.1"), ("README", b"")]
ZEROS = b"0" * 2_000_000


@pytest.fixture
def small(monkeypatch) -> None:
    """Lower the bound of bytes, so that a bomb is made in no time."""
    for module in (compressed, unpacking):
        monkeypatch.setattr(module, "MOST_UNPACKED", (100, 1_000_000))


def unpack(tmp_path: Path, name: str, data: bytes) -> Path:
    """Unpack an archive of these bytes, and return the folder."""
    to = tmp_path / "inside"
    to.mkdir()
    (tmp_path / "secret.txt").write_text("a secret")
    (tmp_path / name).write_bytes(data)
    try:
        unpack_archive(tmp_path / name, to)
    finally:
        assert files_below(tmp_path) == {
            "secret.txt",
            name,
            *(f"inside/{x}" for x in files_below(to)),
        }
        assert (tmp_path / "secret.txt").read_text() == "a secret"
        assert not [path for path in to.rglob("*") if path.is_symlink()]
    return to


def refusal(tmp_path: Path, name: str, data: bytes) -> str:
    """Return the sentence by which an archive is refused."""
    with pytest.raises(FileRefusedError) as refused:
        unpack(tmp_path, name, data)
    [problem] = refused.value.problems
    assert "\0" not in problem.path + problem.found
    return problem.found


def test_each_kind_of_archive_is_attacked():
    assert PACKERS.keys() == set(ARCHIVES)


@pytest.mark.parametrize("ending", ARCHIVES)
def test_an_archive_is_unpacked_as_it_was(tmp_path: Path, ending: str):
    to = unpack(tmp_path, f"lab{ending}", PACKERS[ending](GOOD))

    assert {name: (to / name).read_bytes() for name in files_below(to)} == dict(GOOD)


def holds(ending: str, name: str) -> bool:
    """Return whether an archive can have a file of this name.

    A tar archive ends at an entry without a name, and a name at the null character. A zip has its
    names in UTF-8, or in CP437, which has every byte.
    """
    return "\udc80" not in name if ending == ".zip" else bool(name) and "\0" not in name


@pytest.mark.parametrize(
    ("ending", "name"),
    [pair for pair in product([".zip", ".tar", ".tar.xz"], UNPACKED_NAMES) if holds(*pair)],
)
def test_a_hostile_name_is_refused(tmp_path: Path, ending: str, name: str):
    assert refusal(tmp_path, f"lab{ending}", PACKERS[ending]([(name, b"x")]))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
def test_a_link_or_device_in_a_tar_is_refused(tmp_path: Path, kind: bytes):
    assert "a link or a device" in refusal(tmp_path, "lab.tar", tar_with(kind))


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK])
def test_a_link_or_device_in_a_zip_is_refused(tmp_path: Path, mode: int):
    assert "a link or a device" in refusal(tmp_path, "lab.zip", zip_with(mode | 0o777))


@pytest.mark.parametrize("ending", [".zip", ".tar.gz", ".tar.bz2", ".tar.xz"])
def test_a_bomb_is_refused_before_it_fills_the_disk(tmp_path: Path, small, ending: str):
    data = PACKERS[ending]([("bomb", ZEROS)])

    assert "more than 1 MB" in refusal(tmp_path, f"lab{ending}", data)
    assert len(data) < len(ZEROS) / 100
    assert not any(path.stat().st_size for path in (tmp_path / "inside").rglob("*"))


def test_a_small_zip_does_not_become_more_than_100_megabytes(tmp_path: Path):
    data = zip_of([("bomb", bytes(101_000_000))])

    assert len(data) < 110_000
    assert "more than 100 MB" in refusal(tmp_path, "lab.zip", data)


def test_a_bomb_that_declares_no_size_is_refused(tmp_path: Path, small):
    data = bytearray(zip_of([(f"{number}", ZEROS[:600_000]) for number in range(2)]))
    size = (600_000).to_bytes(4, "little")
    while (at := data.find(size)) >= 0:
        data[at : at + 4] = (7).to_bytes(4, "little")

    assert refusal(tmp_path, "lab.zip", bytes(data))
    assert sum(path.stat().st_size for path in (tmp_path / "inside").rglob("*")) < 100


def test_a_bomb_in_the_headers_of_a_tar_is_refused(tmp_path: Path):
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 5_000_000
    data = gzip.compress(info.tobuf() + b"0" * 5_000_000 + b"\0" * 1024)

    assert "a header that is too large" in refusal(tmp_path, "lab.tar.gz", data)


@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
def test_too_many_files_are_refused(tmp_path: Path, monkeypatch, ending: str):
    monkeypatch.setattr(unpacking, "MOST_FILES", 100)
    data = PACKERS[ending]((f"{number}", b"") for number in range(200))

    assert "100 files" in refusal(tmp_path, f"lab{ending}", data)
    assert len(files_below(tmp_path / "inside")) <= 100


def test_a_zip_of_100_000_files_is_refused_before_one_is_written(tmp_path: Path):
    data = zip_of((f"{number}", b"") for number in range(100_000))

    assert "a zip of 100,000 files" in refusal(tmp_path, "lab.zip", data)
    assert not files_below(tmp_path / "inside")


@pytest.mark.parametrize("ending", [".zip", ".tar"])
@pytest.mark.parametrize("names", [("Topics.xml", "topics.XML"), ("é", "e\u0301")])
def test_two_names_of_one_file_are_refused(tmp_path: Path, ending: str, names: tuple[str, str]):
    data = PACKERS[ending]([(name, b"x") for name in names])

    assert "the files" in refusal(tmp_path, f"lab{ending}", data)


def test_a_file_below_a_file_and_a_password_are_refused(tmp_path: Path):
    assert "damaged" in refusal(tmp_path, "lab.tar", tar_of([("a", b"x"), ("a/b", b"x")]))


def test_what_is_no_archive_is_refused(tmp_path: Path):
    for number, data in enumerate((b"", b"PK", b"\x1f\x8b", b"<xml>" * 200, zip_of(GOOD)[:-30])):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert "damaged archive" in refusal(folder, "lab.zip", data)


def test_a_zip_that_says_that_it_has_few_files_is_refused_by_its_directory(tmp_path: Path):
    data = bytearray(zip_of((f"{number:0250}", b"") for number in range(30_000)))
    at = data.rfind(b"PK\x05\x06")
    data[at + 8 : at + 12] = b"\x01\0\x01\0"

    assert "a zip of 1 files" in refusal(tmp_path, "lab.zip", bytes(data))


def test_a_compressed_file_that_is_a_bomb_ends_at_the_bound(tmp_path: Path, small):
    path = tmp_path / "formulas.tsv.gz"
    path.write_bytes(gzip.compress(ZEROS))
    read: list[int] = []

    with pytest.raises(DamagedFileError, match="far more bytes"):
        read.extend(map(len, read_pieces(path)))
    assert sum(read) <= 1_000_000


def test_a_7z_bomb_is_refused(tmp_path: Path, small):
    py7zr = pytest.importorskip("py7zr")
    path = tmp_path / "dump.7z"
    with py7zr.SevenZipFile(path, "w") as archive:
        archive.writef(io.BytesIO(ZEROS), "Posts.xml")

    with pytest.raises(FileRefusedError, match="more than 1 MB"), opened_7z(path):
        pass


def test_a_full_disk_is_refused(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(unpacking, "SPARE", 2**60)

    assert "GB of files" in refusal(tmp_path, "lab.zip", zip_of(GOOD))


def test_zipfile_is_as_it_is_written_here():
    assert zipfile.ZipFile(io.BytesIO(zip_of(GOOD))).namelist() == [name for name, _ in GOOD]

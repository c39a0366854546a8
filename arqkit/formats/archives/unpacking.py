"""Unpack archives from outside (zip, tar, 7z) into a folder, within bounds.

Only regular files and folders are written. What an archive declares about itself is not trusted:
bytes are counted while they are written.
"""

import bz2
import gzip
import lzma
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, NoReturn

from arqkit.extras import needs_extra
from arqkit.formats.archives.compressed import BZIP2, GZIP, MOST_UNPACKED
from arqkit.formats.archives.folders import MOST_FILES, checked_parts, folded_name
from arqkit.records import FileRefusedError

if TYPE_CHECKING:
    from py7zr import SevenZipFile

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
"""The endings of the archives that `unpack_archive` reads."""
SPARE = 2**30
"""Bytes of the disk that an unpacked archive leaves free."""
DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    lzma.LZMAError,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
)
_CHUNK = 1024 * 1024
_ZIP, _XZ = b"PK", b"\xfd7zXZ"
_ENTRY_BYTES = 256  # of the directory of a zip, on average at most
_TAIL = 65_536 + 22 + 20 + 56  # a comment, the end record, and those of ZIP64
_END, _END64 = b"PK\x05\x06", b"PK\x06\x06"
_AGAIN = "Create the archive again."


class _Entry(NamedTuple):
    """A member of an archive: its name, whether it is a folder, its declared size, its bytes."""

    name: str
    is_folder: bool
    size: int
    data: IO[bytes] | None


def unpack_archive(file: Path, to: Path) -> None:
    """Unpack an archive, which `ARCHIVES` has, into an empty folder.

    Raise FileRefusedError if it is damaged, if it has more files or bytes than bounds allow, or a
    link, a device, a name that leaves the folder, or two names that differ only in case.
    """
    try:
        with file.open("rb") as packed:
            most = _most_unpacked(file.stat().st_size)
            is_zip = file.name.lower().endswith(".zip") or packed.read(2) == _ZIP
            packed.seek(0)
            entries = _of_zip if is_zip else _of_tar
            _write(entries(packed, file.name, most), file.name, to, most)
    except DAMAGE as error:
        actual = f"a damaged archive ({error})"
        expected = "a zip or tar archive without a password"
        raise FileRefusedError.of(file.name, actual, expected, _AGAIN) from error


def _most_unpacked(size: int) -> int:
    """Return how many bytes an archive of a size may unpack to: a multiple of it.

    Texts pack to a tenth; a zip bomb to a thousandth.
    """
    ratio, least = MOST_UNPACKED
    return max(least, ratio * size)


def _require_size(size: int, most: int, name: str) -> None:
    if size > most:
        expected = f"at most {most / 1e6:,.0f} MB of files for an archive of its size"
        todo = "Pack fewer files, or compress them one by one."
        raise FileRefusedError.of(name, f"more than {most / 1e6:,.0f} MB of files", expected, todo)


def _write(entries: Iterator[_Entry], archive: str, to: Path, most: int) -> None:
    names: dict[str, str] = {}
    written = 0
    for number, entry in enumerate(entries, 1):
        if number > MOST_FILES:
            _refuse_many(archive)
        place = to.joinpath(*checked_parts(entry.name))
        if entry.data is None:
            place.mkdir(parents=True, exist_ok=True)
            continue
        if (folded := folded_name(entry.name)) in names:
            actual = f"the files {names[folded]} and {entry.name}"
            expected = "each file once, with a name that differs in more than capital letters"
            raise FileRefusedError.of(archive, actual, expected, "Rename one of the two.")
        names[folded] = entry.name
        if place.exists():
            actual, todo = f"the file {entry.name} of two archives", "Send one of the two."
            raise FileRefusedError.of(archive, actual, "each file once", todo)
        _require_size(written + entry.size, most, archive)
        _require_room(entry.size, archive, to)
        place.parent.mkdir(parents=True, exist_ok=True)
        with closing(entry.data) as data, place.open("xb") as out:
            while chunk := data.read(_CHUNK):
                written += len(chunk)
                _require_size(written, most, archive)
                out.write(chunk)


def _refuse_many(archive: str) -> NoReturn:
    actual, expected = f"more than {MOST_FILES:,} files", f"at most {MOST_FILES:,} files"
    raise FileRefusedError.of(archive, actual, expected, "Pack fewer files.")


def _require_room(size: int, archive: str, to: Path) -> None:
    room = shutil.disk_usage(to).free - SPARE
    if size > room:
        actual = f"{size / 1e9:,.1f} GB of files"
        expected = f"at most {max(room, 0) / 1e9:,.1f} GB, the free space on the server"
        todo = "Ask the administrators for more space, or load the folder with manage.py load_lab."
        raise FileRefusedError.of(archive, actual, expected, todo)


def _refuse_kind(archive: str, name: str, kind: str) -> NoReturn:
    actual = f"{kind} ({name[:80]!a})"
    todo = "Pack the files themselves, without links."
    raise FileRefusedError.of(archive, actual, "an archive of files and folders", todo)


@contextmanager
def opened_zip(file: BinaryIO, name: str, *, most: int = MOST_FILES) -> Iterator[zipfile.ZipFile]:
    """Open a zip from outside whose directory has at most `most` files.

    Raise FileRefusedError before a huge directory is read into memory, and if the files have too
    many bytes; none is read beyond its declared size.
    """
    size = file.seek(0, 2)
    file.seek(max(size - _TAIL, 0))
    tail = file.read(_TAIL)
    file.seek(0)
    if (at := tail.rfind(_END)) >= 0 and len(tail) >= at + 22:
        files, directory = struct.unpack_from("<HL", tail, at + 10)
        if (at := tail.rfind(_END64)) >= 0 and len(tail) >= at + 56:
            files, directory = struct.unpack_from("<QQ", tail, at + 32)
        if files > most or directory > most * _ENTRY_BYTES:
            actual, expected = f"a zip of {files:,} files", f"at most {most:,} files"
            raise FileRefusedError.of(name, actual, expected, "Pack fewer files.")
    with zipfile.ZipFile(file) as archive:
        declared = sum(info.file_size for info in archive.infolist())
        _require_size(declared, _most_unpacked(size), name)
        yield archive


def _of_zip(packed: BinaryIO, archive: str, most: int) -> Iterator[_Entry]:
    with opened_zip(packed, archive) as zipped:
        for info in zipped.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                _refuse_kind(archive, info.filename, "a link or a device")
            # The name as it was written: `filename` ends at the first null character.
            name, is_folder = info.orig_filename, info.orig_filename.endswith("/")
            yield _Entry(name, is_folder, info.file_size, None if is_folder else zipped.open(info))


def _of_tar(packed: BinaryIO, archive: str, most: int) -> Iterator[_Entry]:
    stream: Any = _BoundedStream(packed, archive, most)
    with closing(stream), tarfile.open(fileobj=stream, mode="r:") as tar:
        for info in tar:
            if not (info.isreg() or info.isdir()):
                _refuse_kind(archive, info.name, "a link or a device")
            data = None if info.isdir() else tar.extractfile(info)
            yield _Entry(info.name, info.isdir(), info.size, data)


class _BoundedStream:
    """The unpacked bytes of a tar archive, up to a number of bytes.

    tarfile reads a header at once, so that its size is bounded too.
    """

    def __init__(self, packed: BinaryIO, archive: str, most: int) -> None:
        head = packed.read(len(_XZ))
        packed.seek(0)
        self._file: Any = packed
        if head.startswith(GZIP):
            self._file = gzip.GzipFile(fileobj=packed)
        elif head.startswith(BZIP2):
            self._file = bz2.BZ2File(packed)
        elif head.startswith(_XZ):
            self._file = lzma.LZMAFile(packed)  # noqa: SIM115 (`close` closes it)
        self._archive, self._most = archive, most + MOST_FILES * 10_240  # for its headers

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        _require_size(self._file.tell() + size, self._most, self._archive)
        if not 0 <= size <= _CHUNK:
            raise tarfile.ReadError("a header that is too large")
        return bytes(self._file.read(size))

    def seek(self, place: int) -> int:
        """Go to a byte."""
        _require_size(place, self._most, self._archive)
        return int(self._file.seek(place))

    def tell(self) -> int:
        """Return the number of the next byte."""
        return int(self._file.tell())

    def close(self) -> None:
        """Close what unpacks the bytes."""
        self._file.close()


@contextmanager
def opened_7z(path: Path) -> Iterator["SevenZipFile"]:
    """Open a 7z archive. Raise FileRefusedError if it is damaged or unpacks to too many bytes."""
    # Imported here, because its codecs cost time and memory, and few dumps need them.
    with needs_extra("archives"):
        from py7zr import SevenZipFile
        from py7zr.exceptions import PasswordRequired

    try:
        with SevenZipFile(path) as archive:
            if len(archive.files) > MOST_FILES:
                _refuse_many(path.name)
            _require_size(
                sum(file.uncompressed for file in archive.list()),
                _most_unpacked(path.stat().st_size),
                path.name,
            )
            yield archive
    except FileRefusedError:
        raise
    except Exception as error:  # each codec has its own errors
        actual = "an archive with a password" if isinstance(error, PasswordRequired) else str(error)
        actual, todo = actual or "a damaged archive", "Create it again, without a password."
        raise FileRefusedError.of(path.name, actual, "a complete 7z archive", todo) from error

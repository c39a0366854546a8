"""Where the files of a dump lie: plain, gzipped, bzip2ed, in a 7z archive, alone or together in a
folder (protocol §2).
"""

import bz2
import codecs
import gzip
import lzma
import re
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol

from arqlab.formats.archives.compressed import BZIP2, GZIP
from arqlab.ir.records import FileRefusedError, Problem

if TYPE_CHECKING:
    from py7zr import SevenZipFile

DUMP_FILES: Mapping[str, str] = {
    "posts": "Posts.xml",
    "comments": "Comments.xml",
    "post_links": "PostLinks.xml",
    "tags": "Tags.xml",
    "users": "Users.xml",
    "votes": "Votes.xml",
    "badges": "Badges.xml",
}
"""Kind of import -> the member of a dump that it reads."""
READ_ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError, UnicodeError)
"""What a file that was cut short or is damaged may raise while it is read."""
PACKINGS = ("", ".gz", ".bz2", ".7z")

# The labs' releases number their files: Posts.V1.3.xml.
_NAMES = {
    kind: re.compile(
        rf"(?:.*[./-])?{name.removesuffix('.xml')}(?:[._-]?v[0-9.]+)?(?:\.xml)?", re.IGNORECASE
    )
    for kind, name in DUMP_FILES.items()
}
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_MARKS_16 = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_FIRST_16 = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))  # without a mark


class _Bytes(Protocol):
    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""


class Source(NamedTuple):
    """An open file of a dump: its text as UTF-8, and how far into the file on disk that reaches, in
    bytes.
    """

    text: "_Bytes | _Recoded"
    file: BinaryIO
    size: int

    def share(self) -> float:
        """Return how much of the file was read, from 0 to 1."""
        return min(1.0, self.file.tell() / self.size) if self.size else 1.0


def dump_files(path: Path) -> dict[str, Path]:
    """Return which files of a dump lie in a folder or an archive, by kind; packed ones only where
    there is no plain one.

    Raises FileRefusedError when the path is neither, an archive that cannot be read, or holds
    several files of one kind.
    """
    if path.is_dir():
        found = defaultdict[tuple[str | None, str], list[str]](list)
        for one in sorted(path.iterdir()):
            found[kind_of(one), one.suffix.lower()].append(one.name)
        packings = {
            kind: [p for p in (".xml", *PACKINGS) if (kind, p) in found] for kind in DUMP_FILES
        }
        return {
            kind: path / _only(found[kind, first[0]], path)
            for kind, first in packings.items()
            if first
        }
    if path.suffix.lower() == ".7z":
        with _archive(path) as archive:
            return {kind: path for kind in DUMP_FILES if _member(archive.getnames(), kind, path)}
    kind = kind_of(path)
    return {kind: path} if kind and path.is_file() else {}


def kind_of(path: Path) -> str | None:
    """Return the kind of a file by its name, such as `posts` of Posts.xml.gz or Posts.V1.3.xml; None
    for another name.
    """
    name = path.name[: -len(path.suffix)] if path.suffix.lower() in PACKINGS[1:] else path.name
    is_xml = name.lower().endswith(".xml") or path.suffix.lower() == ".7z"
    return next(
        (kind for kind, pattern in _NAMES.items() if is_xml and pattern.fullmatch(name)), None
    )


@contextmanager
def opened(path: Path, kind: str) -> Iterator[Source]:
    """Open a file of a dump, or that of a kind in a folder or archive, which is unpacked to a
    temporary file.

    Raises FileRefusedError when there is none, or it cannot be opened. What is damaged further on
    raises one of `READ_ERRORS` when that is read.
    """
    with ExitStack() as stack:
        path = _in_folder(path, kind) if path.is_dir() else path
        try:
            if path.suffix.lower() == ".7z":
                file: BinaryIO = stack.enter_context(tempfile.TemporaryFile())
                unpacked: _Bytes = _Salvaged(file, _unpack(path, kind, file))
            else:
                file = stack.enter_context(path.open("rb"))
                unpacked = _unpacked(file)
            size = file.seek(0, 2)
            file.seek(0)
            source = Source(_recoded(unpacked), file, size)
        except READ_ERRORS as error:
            todo = "Give a file that is there and whole, plain or packed as .gz, .bz2 or .7z."
            raise FileRefusedError(
                [Problem(path.name, None, str(error), f"a readable {kind} file", todo)]
            ) from error
        yield source


def _in_folder(path: Path, kind: str) -> Path:
    found = dump_files(path).get(kind)
    if found is None:
        expected = f"{DUMP_FILES[kind]}, plain or packed as .gz, .bz2 or .7z"
        raise FileRefusedError(
            [Problem(path.name, None, "a folder without it", expected, "Put the file there.")]
        )
    return found


def _unpacked(file: BinaryIO) -> _Bytes:
    """Open what is packed by its first bytes: a name may be wrong, as that of a download that came
    unpacked.
    """
    head = file.read(len(BZIP2))
    file.seek(0)
    if head.startswith(GZIP):
        return _Packed(gzip.GzipFile(fileobj=file))
    return _Packed(bz2.BZ2File(file)) if head.startswith(BZIP2) else file


class _Packed:
    """Bytes of a packed file. Where it was cut short, what could be unpacked before is given first."""

    def __init__(self, file: gzip.GzipFile | bz2.BZ2File) -> None:
        self._file = file
        self._fault: Exception | None = None

    def read(self, size: int = -1, /) -> bytes:
        """Return as many bytes, fewer at the end or before a fault; raises the fault when it is
        reached.
        """
        if self._fault:
            raise self._fault
        parts: list[bytes] = []
        while size:
            try:
                part = self._file.read1(size)
            except READ_ERRORS as error:
                self._fault = error
                break
            if not part:
                break
            parts.append(part)
            size = max(size - len(part), 0) if size > 0 else -1
        if self._fault and not parts:
            raise self._fault
        return b"".join(parts)


@contextmanager
def _archive(path: Path) -> Iterator["SevenZipFile"]:
    from py7zr import (
        SevenZipFile,
    )  # with its codecs it costs time and memory, and few dumps need it
    from py7zr.exceptions import PasswordRequired

    try:
        with SevenZipFile(path) as archive:
            yield archive
    except FileRefusedError:
        raise
    except Exception as error:  # each of its codecs raises errors of its own
        found = "an archive with a password" if isinstance(error, PasswordRequired) else str(error)
        found, todo = (
            found or "a damaged archive",
            "Pack the dump's files again, without a password.",
        )
        raise FileRefusedError(
            [Problem(path.name, None, found, "a whole 7z archive", todo)]
        ) from error


def _unpack(path: Path, kind: str, file: BinaryIO) -> OSError | None:
    """Write the member of a kind to a file; gives the fault before which a part of it could be
    unpacked, if any.
    """
    try:
        _extract(path, kind, file)
    except FileRefusedError as refused:
        if not file.tell():
            raise
        return OSError(refused.problems[0].found)
    return None


def _extract(path: Path, kind: str, file: BinaryIO) -> None:
    with _archive(path) as archive:
        member = _member(archive.getnames(), kind, path)
        if member is None:
            found = f"an archive with {', '.join(archive.getnames()[:5]) or 'nothing'}"
            raise FileRefusedError(
                [Problem(path.name, None, found, DUMP_FILES[kind], "Give the archive that has it.")]
            )
        archive.extract(targets=[member], factory=_Factory(file))  # type: ignore[arg-type]  # it asks for no more


def _only(names: list[str], path: Path) -> str:
    """Return the one file of a kind. Raises FileRefusedError where there are more: which one is
    meant, nobody can tell.
    """
    if len(names) > 1:
        found, todo = (
            f"{len(names)} files of one kind ({', '.join(names[:5])})",
            "Take the others out.",
        )
        raise FileRefusedError([Problem(path.name, None, found, "one of each kind", todo)])
    return names[0]


def _member(names: list[str], kind: str, path: Path) -> str | None:
    """Return the member of a kind; one that is alone may be called as it likes."""
    found = [name for name in names if kind_of(Path(name)) == kind]
    alone = [name for name in names if name.lower().endswith(".xml") and len(names) == 1]
    found = found or [name for name in alone if kind_of(Path(name)) is None]
    return _only(found, path) if found else None


class _Factory:
    """Has py7zr write a member to an open file, whatever the member's name says."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def create(self, filename: str) -> "_Member":
        """Return what py7zr writes to."""
        return _Member(self._file)


class _Member:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.write, self.read, self.seek, self.flush, self.size = (
            file.write,
            file.read,
            file.seek,
            file.flush,
            file.tell,
        )

    def close(self) -> None:
        """Leave the file open: it is read next."""


class _Salvaged:
    """Bytes of a member's file, and after them the fault that ended it, if any."""

    def __init__(self, file: BinaryIO, fault: OSError | None) -> None:
        self._file, self._fault = file, fault

    def read(self, size: int = -1, /) -> bytes:
        """Return as many bytes, fewer at the end; raises the fault when it is reached."""
        part = self._file.read(size)
        if self._fault and not part:
            raise self._fault
        return part


class _Recoded:
    """Bytes of another encoding as UTF-8; what cannot be decoded becomes U+FFFD."""

    def __init__(self, file: _Bytes, start: bytes, encoding: str) -> None:
        self._file, self._start = file, start
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")

    def read(self, size: int = -1, /) -> bytes:
        """Return about as many bytes; none at the end."""
        while True:
            part, self._start = self._start or self._file.read(size), b""
            text = self._decoder.decode(part, final=not part)
            if text or not part:
                return text.encode()


class _Begun:
    """Bytes of which the first were read already."""

    def __init__(self, file: _Bytes, start: bytes) -> None:
        self._file, self._start = file, start

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes; none at the end."""
        start, self._start = self._start, b""
        return start or self._file.read(size)


def _is_8_bit_after_all(name: str, mark: str | None) -> bool:
    """Return whether a declaration could be read that says it cannot: one of 16 or 32 bits a
    character, without its mark.
    """
    return mark is None and codecs.lookup(name).name.startswith(("utf-16", "utf-32"))


def _recoded(file: _Bytes) -> "_Bytes | _Recoded":
    """Look at the first bytes for a byte order mark or a declared encoding, and give the file as
    UTF-8.
    """
    start = file.read(1024)
    encoding = next(
        (name for mark, name in (*_MARKS, *_MARKS_16, *_FIRST_16) if start.startswith(mark)), None
    )
    if encoding == "utf-8-sig":
        return _Begun(file, start[3:])
    declared = _DECLARED.match(start)
    name = encoding or (declared[1].decode() if declared else "utf-8")
    try:
        # ASCII is a part of UTF-8; to check it apart would lose a row with a stray byte for
        # nothing.
        is_utf8 = codecs.lookup(name).name in ("utf-8", "ascii") or _is_8_bit_after_all(
            name, encoding
        )
        "".encode(name)  # base64 and the like are no encodings of text
    except LookupError as error:
        raise OSError(f"the unknown encoding {name}") from error
    return _Begun(file, start) if is_utf8 else _Recoded(file, start, name)

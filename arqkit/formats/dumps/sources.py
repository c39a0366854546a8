"""Find and open the files of a dump: plain, compressed, in a 7z archive or a folder (§2).

Their text is UTF-8, and is read up to any damage.
"""

import codecs
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple

from arqkit.formats.archives.compressed import READ_ERRORS, ByteStream, unpacked_stream
from arqkit.formats.archives.unpacking import opened_7z
from arqkit.records import FileRefusedError

_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"<\0": "utf-16-le",  # without a mark
    b"\0<": "utf-16-be",
}

# Those of Python that no file is written in; punycode takes the square of the time for its length.
_NO_ENCODINGS = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"}

DUMP_FILES: Mapping[str, str] = {
    "posts": "Posts.xml",
    "comments": "Comments.xml",
    "post_links": "PostLinks.xml",
    "tags": "Tags.xml",
    "users": "Users.xml",
    "votes": "Votes.xml",
    "badges": "Badges.xml",
}
"""The file of a dump by the kind of import that reads it."""
PACKINGS = ("", ".gz", ".bz2", ".7z")

# The releases of the labs have version numbers in their names: Posts.V1.3.xml.
_NAMES = {
    kind: re.compile(
        rf"(?:.*[./-])?{name.removesuffix('.xml')}(?:[._-]?v[0-9.]+)?(?:\.xml)?", re.IGNORECASE
    )
    for kind, name in DUMP_FILES.items()
}


class SalvagedStream:
    """The unpacked bytes of a member, and then the fault that ended it early, if any."""

    def __init__(self, file: BinaryIO, fault: OSError | None) -> None:
        self._file, self._fault = file, fault

    def read(self, size: int = -1, /) -> bytes:
        """Return `size` bytes, fewer at the end. Raise the fault after the last one."""
        part = self._file.read(size)
        if self._fault and not part:
            raise self._fault
        return part


class _Begun:
    def __init__(self, file: ByteStream, start: bytes) -> None:
        self._file, self._start = file, start

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes; none at the end."""
        start, self._start = self._start, b""
        return start or self._file.read(size)


def utf8_stream(file: ByteStream) -> ByteStream:
    """Return a file as UTF-8, by its byte order mark or its declared encoding."""
    start = file.read(1024)
    marked = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    if marked == "utf-8-sig":
        return _Begun(file, start[3:])
    declared = _DECLARED.match(start)
    name = marked or (declared[1].decode() if declared else "utf-8")
    try:
        encoding = codecs.lookup(name).name
        if encoding in _NO_ENCODINGS:
            raise LookupError(name)
        "".encode(name)  # base64 and the like are not text encodings
    except LookupError as error:
        raise OSError(f"the unknown encoding {name}") from error
    # ASCII is read as UTF-8, so that a stray byte does not cost its row. A declaration in 8-bit
    # text cannot be one of UTF-16.
    is_utf8 = encoding in ("utf-8", "ascii") or (
        not marked and encoding.startswith(("utf-16", "utf-32"))
    )
    begun: Any = _Begun(file, start)
    return begun if is_utf8 else codecs.EncodedFile(begun, "utf-8", name, "replace")


class Source(NamedTuple):
    """An open file of a dump: its text as UTF-8, and the file on disk with its size in bytes."""

    text: ByteStream
    file: BinaryIO
    size: int

    def share(self) -> float:
        """Return the share of the file that was read, from 0 to 1."""
        return min(1.0, self.file.tell() / self.size) if self.size else 1.0


def dump_files(path: Path) -> dict[str, Path]:
    """Return the files of a dump in a folder or an archive, by kind.

    A compressed file counts only if there is no plain one. Raise FileRefusedError if the archive
    cannot be read, or if there are several files of one kind.
    """
    if path.is_dir():
        names = defaultdict[tuple[str | None, str], list[str]](list)
        for file in sorted(filter(Path.is_file, path.iterdir())):
            names[kind_of(file), file.suffix.lower()].append(file.name)
        packings = {
            kind: [p for p in (".xml", *PACKINGS) if (kind, p) in names] for kind in DUMP_FILES
        }
        return {
            kind: path / _only(names[kind, first[0]], path)
            for kind, first in packings.items()
            if first
        }
    if path.suffix.lower() == ".7z":
        with opened_7z(path) as archive:
            return {kind: path for kind in DUMP_FILES if _member(archive.getnames(), kind, path)}
    kind = kind_of(path)
    return {kind: path} if kind and path.is_file() else {}


def kind_of(path: Path) -> str | None:
    """Return the kind of a file from its name: `posts` for Posts.xml.gz, None for other names."""
    name = path.name[: -len(path.suffix)] if path.suffix.lower() in PACKINGS[1:] else path.name
    is_xml = name.lower().endswith(".xml") or path.suffix.lower() == ".7z"
    return next(
        (kind for kind, pattern in _NAMES.items() if is_xml and pattern.fullmatch(name)), None
    )


@contextmanager
def opened(path: Path, kind: str) -> Iterator[Source]:
    """Open a file of a dump, or the file of a kind in a folder or an archive.

    A 7z archive is unpacked to a temporary folder. Raise FileRefusedError if the file is missing or
    cannot be opened. Damage further on raises one of `READ_ERRORS` when it is read.
    """
    with ExitStack() as stack:
        path = _in_folder(path, kind) if path.is_dir() else path
        try:
            if path.suffix.lower() == ".7z":
                folder = Path(stack.enter_context(TemporaryDirectory(prefix="arqlab-7z-")))
                member, fault = _unpack(path, kind, folder)
                file = stack.enter_context(member.open("rb"))
                unpacked: ByteStream = SalvagedStream(file, fault)
            else:
                file = stack.enter_context(path.open("rb"))
                unpacked = unpacked_stream(file)
            size = file.seek(0, 2)
            file.seek(0)
            source = Source(utf8_stream(unpacked), file, size)
        except READ_ERRORS as error:
            todo = "Check the path and the file: plain, or compressed as .gz, .bz2 or .7z."
            expected = f"a readable {kind} file"
            raise FileRefusedError.of(path.name, str(error), expected, todo) from error
        yield source


def _in_folder(path: Path, kind: str) -> Path:
    file = dump_files(path).get(kind)
    if file is None:
        expected = f"{DUMP_FILES[kind]}, plain or compressed as .gz, .bz2 or .7z"
        actual = f"a folder without {DUMP_FILES[kind]}"
        raise FileRefusedError.of(path.name, actual, expected, "Add the file.")
    return file


def _unpack(path: Path, kind: str, folder: Path) -> tuple[Path, OSError | None]:
    """Unpack the member of a kind, and return its path and the fault that ended it early, if any.

    Raise FileRefusedError if nothing of it can be read.
    """
    member = None
    try:
        with opened_7z(path) as archive:
            member = _member(archive.getnames(), kind, path)
            if member is None:
                actual = f"an archive with {', '.join(archive.getnames()[:5]) or 'nothing'}"
                todo = "Name the archive that contains it."
                raise FileRefusedError.of(path.name, actual, DUMP_FILES[kind], todo)
            archive.extract(folder, targets=[member])
    except FileRefusedError as refused:
        unpacked = folder / (member or "")
        if not unpacked.is_file() or not unpacked.stat().st_size:
            raise
        return unpacked, OSError(refused.problems[0].found)
    return folder / member, None


def _only(names: list[str], path: Path) -> str:
    if len(names) > 1:
        actual = f"{len(names)} files of one kind ({', '.join(names[:5])})"
        raise FileRefusedError.of(path.name, actual, "one of each kind", "Remove the others.")
    return names[0]


def _member(names: list[str], kind: str, path: Path) -> str | None:
    """Return the member of a kind; a single XML file may have any name."""
    members = [name for name in names if kind_of(Path(name)) == kind]
    alone = [name for name in names if name.lower().endswith(".xml") and len(names) == 1]
    members = members or [name for name in alone if kind_of(Path(name)) is None]
    return _only(members, path) if members else None

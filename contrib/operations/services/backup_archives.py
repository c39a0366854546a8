"""Archives of backups: gzipped tar files, encrypted with age if there is a key.

They are written and read as streams, so none needs its size in memory. The last member lists the
size and the SHA-256 of all others; reading an archive reads and compares all of it.
"""

import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import IO, Self, TypedDict, cast

from django.conf import settings
from pyrage import DecryptError, EncryptError, decrypt_io, encrypt_io, x25519

from arqkit.formats.archives.folders import checked_parts
from arqkit.formats.nested import json_values
from arqkit.records import FileRefusedError
from arqlab.core.errors import UserError

HEAD, TAIL = "arqlab-backup.json", "manifest.json"
"""The first member names the format and the kind of database, so that a foreign archive is refused
before it is read; the last lists all others."""
FIELDS: dict[str, dict[str, type]] = {
    HEAD: {"format": int},
    TAIL: {"members": dict, "lost": list, "migrations": list},
}
"""What the two have at least."""
MOST_LISTED = 2**27
"""The bytes of a list of a million files, which is read as a whole."""
FORMAT = 1
AGE = b"age-encryption.org/"
"""The beginning of an encrypted file."""
CHUNK = 2**20


class Head(TypedDict, total=False):
    """The first member of an archive."""

    format: int
    version: str
    database: str


class Manifest(TypedDict):
    """The last member of an archive: the size and the SHA-256 of all others by name, the files that
    were lost before, and the migrations of the database.
    """

    members: Mapping[str, Sequence[object]]
    lost: list[str]
    migrations: list[str]


class ArchiveWriter:
    """An archive to which files are added. One that is added again replaces the earlier one."""

    def __init__(self, out: gzip.GzipFile, head: Mapping[str, object]) -> None:
        self._tar = tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT)  # noqa: SIM115
        self.members: dict[str, tuple[int, str]] = {}
        self._add_json(HEAD, {"format": FORMAT, **head})

    def add(self, name: str, path: Path) -> None:
        """Add a file. Raises `FileNotFoundError` if it does not exist."""
        with path.open("rb") as file:
            self._add(name, file, os.fstat(file.fileno()).st_size)

    def close(self, tail: Mapping[str, object]) -> None:
        """Write the list of all members, and `tail`, as the last member."""
        self._add_json(TAIL, {"members": self.members, **tail})
        self._tar.close()

    def _add(self, name: str, file: IO[bytes], size: int) -> None:
        entry, reader = tarfile.TarInfo(name), _HashingReader(file)
        entry.size = size
        self._tar.addfile(entry, reader)
        self.members[name] = (size, reader.digest.hexdigest())

    def _add_json(self, name: str, facts: dict[str, object]) -> None:
        text = json.dumps(facts).encode()
        self._add(name, io.BytesIO(text), len(text))


class _HashingReader:
    """A file that is read once, and the SHA-256 of what was read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(size)
        self.digest.update(chunk)
        return chunk


@contextmanager
def new_archive(path: Path, recipients: Sequence[x25519.Recipient]) -> Iterator[gzip.GzipFile]:
    """Yield the stream of a new archive, which is on the disk afterwards.

    With `recipients` of age, only they can read it.
    """
    with path.open("xb") as file:
        encrypt = partial(encrypt_io, writer=file, recipients=recipients)
        with (
            _piped(encrypt, "wb") if recipients else nullcontext(file) as out,
            # Parquet is compressed already, and the text of runs needs no more than the least.
            gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as zipped,
        ):
            yield zipped
        file.flush()
        # An archive is listed only when it is on the disk.
        os.fsync(file.fileno())


@contextmanager
def _piped(work: Callable[[IO[bytes]], object], mode: str) -> Iterator[IO[bytes]]:
    """Yield one end of a pipe, in this mode, and let a thread work at the other."""
    ends = [os.fdopen(end, kind) for end, kind in zip(os.pipe(), ("rb", "wb"), strict=True)]
    mine, other = ends if mode == "rb" else reversed(ends)

    def run() -> None:
        with other:
            work(other)

    with ThreadPoolExecutor(1) as pool, mine:
        working = pool.submit(run)
        try:
            yield mine
            mine.close()
        except Exception:
            with suppress(OSError):
                mine.close()
            # Its error is the cause of a pipe that broke or ended too early.
            if isinstance(failed := working.exception(), DecryptError | EncryptError):
                raise failed from None
            raise
        working.result()


def read_archive(
    path: Path,
    identities: Sequence[x25519.Identity],
    *,
    into: Path | None = None,
    database: str = "",
) -> Manifest:
    """Read all of an archive, extract it into a folder if one is given, and return its last member.

    Raises `UserError` if the archive is damaged, foreign, newer than this version or encrypted for
    other keys, or if it is not of the kind of `database` that is named.
    """
    try:
        with path.open("rb") as file:
            is_encrypted = file.read(len(AGE)) == AGE
            file.seek(0)
            decrypt = partial(decrypt_io, file, identities=identities)
            with (
                _piped(decrypt, "rb") if is_encrypted else nullcontext(file) as stream,
                gzip.GzipFile(fileobj=stream) as zipped,
            ):
                tail = _read_members(zipped, into, database)
                while zipped.read(CHUNK):  # its end has checksums too
                    pass
                return tail
    except DecryptError as error:
        raise UserError(
            f"{path} is encrypted, and no key fits ({error}). Name the file of the secret key that"
            " belongs to ARQLAB_BACKUP_KEY with --identity.",
            code="key",
        ) from error
    except OSError as error:
        if error.errno is None:  # of gzip and of age
            raise damaged(path, error) from error
        raise UserError(f"Cannot read {path}: {error}. Check the path and the disk.") from error
    except (tarfile.TarError, EOFError, zlib.error, ValueError, LookupError) as error:
        raise damaged(path, error) from error


def damaged(path: Path, fault: object) -> UserError:
    """Return the error of an archive with a fault."""
    return UserError(
        f"{path} is damaged, or no backup of ArqLab: {fault}. Use another archive.", code="damaged"
    )


class _Member(tarfile.TarInfo):
    """A file, or the header before it, which tarfile reads as a whole; the writer makes no other
    members.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Return a member. Raise `ReadError` for other kinds, and for a huge header."""
        member = super().frombuf(buf, encoding, errors)
        if not member.isreg() and member.type != tarfile.XHDTYPE:
            raise tarfile.ReadError(f"{member.name[:80]!r} is not a file")
        if not member.isreg() and member.size > CHUNK:
            raise tarfile.ReadError(f"a header of {member.size:,} bytes")
        return member


def _read_members(zipped: gzip.GzipFile, into: Path | None, database: str) -> Manifest:
    members: dict[str, list[object]] = {}
    texts: dict[str, dict[str, object]] = {}
    with tarfile.open(fileobj=zipped, mode="r|", tarinfo=_Member) as tar:
        for entry in tar:
            if not members and entry.name != HEAD:
                raise ValueError(f"its first file is {entry.name!r} instead of {HEAD!r}")
            if TAIL in texts:
                raise ValueError(f"a file follows the list of files: {entry.name!r}")
            opened = tar.extractfile(entry)
            if opened is None or entry.issparse():
                raise ValueError(f"{entry.name!r} is not a whole file")
            reader = _HashingReader(opened)
            if entry.name in (HEAD, TAIL):
                texts[entry.name] = _facts(entry.name, reader.read(MOST_LISTED + 1))
                _require_readable(cast("Head", texts[HEAD]), database)
            else:
                with _place(into, entry.name).open("wb") as out:
                    shutil.copyfileobj(reader, out, CHUNK)
            if entry.name != TAIL:
                members[entry.name] = [entry.size, reader.digest.hexdigest()]
    tail = cast("Manifest", texts[TAIL])
    listed = tail["members"]
    if wrong := [name for name in {**listed, **members} if listed.get(name) != members.get(name)]:
        raise ValueError(f"{len(wrong)} files are not as they were, such as {min(wrong)!r}")
    return tail


def _facts(name: str, text: bytes) -> dict[str, object]:
    """Return the content of the first or the last member. Raise ValueError for a foreign one."""
    if len(text) > MOST_LISTED:
        raise ValueError(f"{name!r} has more than {MOST_LISTED:,} bytes")
    facts = json_values(text)
    if not isinstance(facts, dict):
        raise ValueError(f"{name!r} is no JSON object")
    for field, kind in FIELDS[name].items():
        value = facts.get(field)
        is_of_texts = not isinstance(value, list) or all(isinstance(each, str) for each in value)
        if not isinstance(value, kind) or not is_of_texts:
            raise ValueError(f"{name!r} does not have {field!r} as backups do")
    return facts


def _place(into: Path | None, name: str) -> Path:
    """Return where a member is extracted to; its folder exists."""
    try:
        parts = checked_parts(name)
    except FileRefusedError as refused:
        raise ValueError(f"{name[:80]!r} is {refused.problems[0].found}") from refused
    if into is None:
        return Path(os.devnull)
    place = into.joinpath(*parts)
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def _require_readable(head: Head, database: str) -> None:
    """Raise `UserError` unless this version reads the archive, for this kind of database."""
    if head["format"] > FORMAT:
        raise UserError(
            f"The archive has format {head['format']}, and this version of ArqLab,"
            f" {settings.VERSION}, reads up to {FORMAT}. Update ArqLab to"
            f" {head.get('version', 'a newer version')}, then restore.",
            code="newer",
        )
    if database and head["database"] != database:
        raise UserError(
            f"The archive is of {head['database']}, but ArqLab uses {database}. Set DATABASE_URL to"
            f" an empty database of {head['database']}, or remove it for sqlite.",
            code="database",
        )

"""What comes from outside to do harm: names of files, and archives."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

SECRET = "a-secret-of-the-server"
NAMES = (
    "/etc/passwd",
    "//etc/passwd",
    "../secret.txt",
    "more/../../secret.txt",
    "./../secret.txt",
    "..",
    "../" * 30 + "etc/passwd",
    "..\\secret.txt",
    "more\\qrels.tsv",
    "C:\\Windows\\win.ini",
    "c:/Windows/win.ini",
    "\\\\server\\share\\secret.txt",
    "topics.xml\0.txt",
    "topics\n.xml",
    "topics\udc80.xml",
    "",
    "/",
    "/dev/zero",
    "/dev/stdin",
    "/proc/self/environ",
    "a/" * 30 + "topics.xml",
    "x" * 300,
    "x/" * 10 + "y" * 2_000,
    "missing.xml",
    "file:///etc/passwd",
)
"""Names that no file from outside may have."""
UNPACKED_NAMES = [name for name in NAMES if name not in ("missing.xml", "file:///etc/passwd")]

Files = Iterable[tuple[str, bytes]]


def zip_of(files: Files) -> bytes:
    """Return a zip that has the names as they are written."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            info = zipfile.ZipInfo("x")
            info.filename = name
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return out.getvalue()


def tar_of(files: Files, pack: Callable[[bytes], bytes] = bytes) -> bytes:
    """Return a tar archive that has the names as they are written."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", errors="surrogateescape") as archive:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return pack(out.getvalue())


PACKERS: dict[str, Callable[[Files], bytes]] = {
    ".zip": zip_of,
    ".tar": tar_of,
    ".tar.gz": lambda files: tar_of(files, gzip.compress),
    ".tgz": lambda files: tar_of(files, gzip.compress),
    ".tar.bz2": lambda files: tar_of(files, bz2.compress),
    ".tar.xz": lambda files: tar_of(files, lzma.compress),
}
"""A writer for each ending of an archive that is unpacked."""


def tar_with(kind: bytes, to: str = "../secret.txt") -> bytes:
    """Return a tar archive with a member of a kind that is no file."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("topics.xml")
        info.type, info.linkname = kind, to
        archive.addfile(info)
        after = tarfile.TarInfo("topics.xml/secret.txt")
        archive.addfile(after)
    return out.getvalue()


def zip_with(mode: int, to: str = "../secret.txt") -> bytes:
    """Return a zip with a member of a mode of Unix."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("topics.xml")
        info.create_system, info.external_attr = 3, mode << 16
        archive.writestr(info, to)
    return out.getvalue()


def files_below(folder: Path) -> set[str]:
    """Return the paths of all files and links below a folder."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }


HOSTILE: dict[str, Callable[[str], bytes]] = {
    "deep.json": lambda _: b"[" * 100_000,
    "deep.xml": lambda _: b"<a>" * 100_000,
    "Posts.xml": lambda secret: (
        f'<!DOCTYPE a [<!ENTITY b SYSTEM "file://{secret}">]>'
        '<posts><row Id="1" PostTypeId="1" Title="t" Body="&b;" /></posts>'
    ).encode(),
    "null.tsv": lambda _: bytes(200_000),
    "bytes.tsv": lambda _: bytes(range(256)) * 40,
    "digits.tsv": lambda _: b"A.1 0 10 " + b"9" * 5_000,
    "empty.tsv": lambda _: b"",
    "half.tsv.gz": lambda _: gzip.compress(bytes(range(256)) * 40)[:-9],
    "bomb.tsv.gz": lambda _: gzip.compress(bytes(110_000_000), 1),
    "link.tar": lambda secret: tar_with(b"2", secret),
    "device.tar": lambda _: tar_with(b"3"),
    "link.zip": lambda secret: zip_with(0o120777, secret),
    "names.zip": lambda secret: zip_of([("../secret.txt", b"a"), (secret, b"b")]),
    "lab.toml": lambda secret: f'[[tasks]]\ntopics = "{secret}"\n'.encode(),
}
"""Files that do harm, from the path of a file that nobody may read."""

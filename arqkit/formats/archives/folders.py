"""Folders that came from outside, and the paths in them: of a lab, an archive or a set of runs.

A name in a lab.toml, a manifest or an archive becomes a path here and nowhere else, and a file is
opened through that path. What came by browser, API or archive stays in its folder; a folder of the
operator may name files beside it, and lists them.
"""

import re
import stat
import unicodedata
from contextlib import suppress
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import NamedTuple, NoReturn

from arqkit.records import FileRefusedError

MOST_FILES = 20_000
DEEPEST = 20
LONGEST_NAME = 255  # bytes of each part, as file systems have it
LONGEST_PATH = 1_000
MOST_BYTES_READ = 64 * 1024 * 1024
"""The size of a file that is read as a whole."""
MISSING = "a path without a file"
_DRIVE = re.compile(r"[A-Za-z]:")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f\ud800-\udfff<>:"|?*]')
_HIDDEN = re.compile(r"\.|__MACOSX$")
_RENAME = "Rename the file, or correct the path."


def checked_parts(name: str, *, may_leave: bool = False) -> tuple[str, ...]:
    """Return the parts of a path. Raise FileRefusedError for one that leaves its folder.

    A path has forward slashes on every system: a backslash and a drive letter are refused.
    """
    expected, todo = "a path in the folder", "Put the file into the folder, and correct the path."
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if _UNPRINTABLE.search(name):
        refuse_path(name, "a path with control characters", "printable characters in UTF-8")
    if "\\" in name:
        refuse_path(name, "a path with a backslash", "forward slashes")
    if _DRIVE.match(name):
        refuse_path(name, "a path with the letter of a drive", expected, todo)
    if not may_leave and (name.startswith("/") or ".." in parts):
        refuse_path(name, "a path that leaves its folder", expected, todo)
    if not parts and not name.startswith("."):
        refuse_path(name, "a path without a name", "the path of a file")
    if len(parts) > DEEPEST:
        refuse_path(name, f"a path of {len(parts):,} folders", f"at most {DEEPEST} folders")
    if len(name) > LONGEST_PATH or any(len(part.encode()) > LONGEST_NAME for part in parts):
        expected = f"at most {LONGEST_PATH:,} characters, and {LONGEST_NAME} bytes for each name"
        refuse_path(name, f"a path of {len(name):,} characters", expected)
    return parts


def refuse_path(name: str, actual: str, expected: str, todo: str = _RENAME) -> NoReturn:
    """Raise FileRefusedError for a path from outside, which may have any characters."""
    raise FileRefusedError.of(_UNPRINTABLE.sub("?", name)[:200], actual, expected, todo)


def safe_name(name: str) -> str:
    """Return the name of a file without folders, as every file system and archive takes it."""
    last = PurePosixPath(name.replace("\\", "/")).name
    safe = _NOT_IN_NAMES.sub("_", last)[-120:]
    return safe if safe.strip(".") else "file"


def folded_name(name: str) -> str:
    """Return what two names share that are the same file where case does not count."""
    return unicodedata.normalize("NFC", name).casefold()


class SourcePath(NamedTuple):
    """A regular file or folder that may be read: its name as written, and where it really is."""

    name: str
    path: Path

    @property
    def is_folder(self) -> bool:
        """Return whether this is a folder."""
        return self.path.is_dir()

    def stream(self) -> BufferedReader:
        """Return the open file. Raise OSError if it cannot be read."""
        return self.path.open("rb")

    def content(self, most: int = MOST_BYTES_READ) -> bytes:
        """Return the whole file. Raise FileRefusedError if it is larger than `most` bytes."""
        with self.stream() as file:
            data = file.read(most + 1)
        if len(data) > most:
            actual, expected = f"more than {most:,} bytes", f"at most {most:,} bytes"
            raise FileRefusedError.of(self.name, actual, expected, "Check that it is this file.")
        return data


class SourceFolder:
    """A folder whose files are read through their checked paths.

    Links are resolved first. With `reads_beside`, which is for commands of the operator only, paths
    may leave the folder; `beside` then has what was found outside.
    """

    def __init__(self, root: Path, *, reads_beside: bool = False) -> None:
        self.root = root
        self.reads_beside = reads_beside
        self.beside: dict[Path, None] = {}
        self._real = root.resolve()

    def __truediv__(self, name: str) -> SourcePath:
        """Return an existing file or folder. Raise FileRefusedError."""
        parts = checked_parts(name, may_leave=self.reads_beside)
        return self._checked(name, Path("/" if name.startswith("/") else self.root, *parts))

    def folder(self, name: str) -> "SourceFolder":
        """Return a folder in this one, which has the same rights. Raise FileRefusedError."""
        below = SourceFolder((self / name).path, reads_beside=self.reads_beside)
        below.beside = self.beside
        return below

    def files(self, *, hidden: bool = True) -> dict[str, SourcePath]:
        """Return all files below the folder by their paths, sorted. Raise FileRefusedError.

        Links to folders are not followed. Without `hidden`, those that systems add are left out.
        """
        files: dict[str, SourcePath] = {}
        waiting: list[tuple[str, ...]] = [()]
        while waiting:
            above = waiting.pop()
            for path in Path(self.root, *above).iterdir():
                parts = (*above, path.name)
                if not hidden and _HIDDEN.match(path.name):
                    continue
                if path.is_dir() and not path.is_symlink():
                    waiting.append(parts)
                elif not path.is_dir():
                    name = "/".join(checked_parts("/".join(parts)))
                    files[name] = self._checked(name, path)
                if len(files) + len(waiting) > MOST_FILES and not self.reads_beside:
                    refuse_path(path.name, f"more than {MOST_FILES:,} files", "fewer files")
        return dict(sorted(files.items()))

    def _checked(self, name: str, path: Path) -> SourcePath:
        with suppress(OSError, RuntimeError):  # a loop of links is a RuntimeError
            real = path.resolve(strict=True)
            is_inside = real.is_relative_to(self._real)
            mode = real.stat().st_mode
            if (is_inside or self.reads_beside) and (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                if not is_inside:
                    self.beside[real] = None
                return SourcePath(name, real)
        # The same for a file outside and for one that is missing: the answer reveals neither.
        refuse_path(name, MISSING, "the path of a file in the folder", "Correct the path.")

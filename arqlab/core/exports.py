"""The files that labs and tasks hand out. Apps declare theirs in modules `exports`.

An archive of a lab is a folder of these files: a download is one of them, and `lab.toml` names
those that a lab folder is loaded from.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Any, Generic, NamedTuple, TypeVar

from arqkit.formats.labs.files import TaskFileKind
from arqkit.formats.tables import zip_chunks
from arqlab.apps import lab_apps

Owner = TypeVar("Owner")
_RECORDED: dict[str, Callable[[Any], Iterable[bytes]]] = {}


class Audience(StrEnum):
    """Who may download a file: everyone who sees the lab, from the release on, or organizers."""

    EVERYONE = "everyone"
    AFTER_RELEASE = "after release"
    ORGANIZERS = "organizers"


class Document(NamedTuple):
    """A file of an archive: its path, what it contains (for its folder, if empty), its content.

    `export` is the download of it, if there is one.
    """

    path: str
    contents: str
    chunks: Iterable[bytes]
    export: "Export[Any] | None" = None


class ExportFolder(NamedTuple):
    """The folder that an archive has of a zip file: its name, its first file and what it has."""

    name: str
    first: str
    contents: str
    files: Callable[[Any], Iterable[tuple[str, bytes]]]

    def documents(self, files: Iterable[tuple[str, bytes]]) -> Iterator[Document]:
        """Yield files of the folder as an archive has them."""
        for name, content in files:
            contents = self.contents if name == self.first else ""
            yield Document(f"{self.name}/{name}", contents, [content])


@dataclass(frozen=True)
class Export(Generic[Owner]):
    """A file of a lab or a task: its name, what it contains, and a function that yields it.

    - kind: how it is read again from a lab folder, or None; details: what lab.toml says about it.
    - exists: whether a lab or a task has the file.
    - is_archived: whether the archive of the whole lab has it.
    - published: what published archives have of a file for organizers, or None: it is not in them;
      published_contents: what it contains there, if that differs.
    - folder: what archives have in place of a zip file.
    """

    name: str
    contents: str
    audience: Audience
    chunks: Callable[[Owner], Iterable[bytes]]
    kind: TaskFileKind[Any] | None = None
    details: Callable[[Owner], Mapping[str, object]] = lambda _: {}
    exists: Callable[[Owner], bool] = lambda _: True
    is_archived: bool = True
    published: Callable[[Owner], Iterable[bytes]] | None = None
    published_contents: str = ""
    folder: ExportFolder | None = None

    def document(self, owner: Owner) -> Document:
        """Return the file as the archive of a whole lab has it."""
        return Document(self.name, self.contents, self.chunks(owner), self)


_LABS: list[Export[Any]] = []
_TASKS: list[Export[Any]] = []
_OF_TASK: list[Callable[[Any], Iterable[Export[Any]]]] = []
_OF_LAB: list[Callable[[Any], Iterable[Document]]] = []
_DOCUMENTS: list[Callable[..., Iterable[Document]]] = []


def folder_export(
    name: str, contents: str, audience: Audience, folder: ExportFolder, **fields: Any
) -> Export[Any]:
    """Return the export of a folder: a zip file to download, and the folder in archives."""

    def chunks(owner: Any) -> Iterable[bytes]:
        return zip_chunks(folder.files(owner))

    return Export(name, contents, audience, chunks, folder=folder, **fields)


def declare_exports(
    *,
    labs: Iterable[Export[Any]] = (),
    tasks: Iterable[Export[Any]] = (),
    of_task: Callable[[Any], Iterable[Export[Any]]] | None = None,
    recorded: Mapping[str, Callable[[Any], Iterable[bytes]]] | None = None,
) -> None:
    """Declare files of labs and of tasks.

    `of_task` returns organizers' files that not every task has, such as one for each pool.
    `recorded` has the content of files by name as it was at the release of a task.
    """
    _LABS.extend(labs)
    _TASKS.extend(tasks)
    _OF_TASK.extend([of_task] if of_task else ())
    _RECORDED.update(recorded or {})


def declare_documents(
    *,
    of_lab: Callable[[Any], Iterable[Document]] | None = None,
    of_task: Callable[..., Iterable[Document]] | None = None,
) -> None:
    """Declare what archives have of a lab, and by `published` of a task, besides its exports."""
    _OF_LAB.extend([of_lab] if of_lab else ())
    _DOCUMENTS.extend([of_task] if of_task else ())


def exports_of_labs() -> list[Export[Any]]:
    """Return the files of labs, those of apps below first."""
    _read()
    return _LABS


def exports_of_tasks() -> list[Export[Any]]:
    """Return the files of tasks, those of apps below first."""
    _read()
    return _TASKS


def exports_of_task(task: Any) -> list[Export[Any]]:
    """Return the organizers' files that not every task has."""
    _read()
    return [export for of_task in _OF_TASK for export in of_task(task)]


def documents_of_lab(lab: Any) -> Iterator[Document]:
    """Yield what archives have of a lab besides its exports."""
    _read()
    for of_lab in _OF_LAB:
        yield from of_lab(lab)


def documents_of_task(task: Any, *, published: bool) -> Iterator[Document]:
    """Yield what archives have of a task besides its exports."""
    _read()
    for of_task in _DOCUMENTS:
        yield from of_task(task, published=published)


def released_chunks(export: Export[Owner], owner: Owner) -> Iterable[bytes]:
    """Return the content of a file of a released task as it is published: as it was released."""
    _read()
    return _RECORDED.get(export.name, export.published or export.chunks)(owner)


@cache
def _read() -> None:
    for app in lab_apps():
        for module in app.modules_named("exports"):
            import_module(module)

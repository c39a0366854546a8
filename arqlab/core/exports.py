"""The files that labs and tasks hand out. Apps declare theirs in modules `exports`.

An archive of a lab is a folder of these files: a download is one of them, and `lab.toml` names
those that a lab folder is loaded from.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Generic, NamedTuple, Protocol, TypeVar

from arqkit.formats.labs.files import TaskFileKind
from arqkit.formats.tables import zip_chunks
from arqlab.apps import lab_apps
from arqlab.core.models import Lab, Task

Owner = TypeVar("Owner", Lab, Task)
Recorded = Callable[[Task], Iterable[bytes]]
"""Yields the content of a file of a task as it was at the release."""
_RECORDED: dict[str, Recorded] = {}


class Audience(StrEnum):
    """Who may download a file: everyone who sees the lab, from the release on, or organizers."""

    EVERYONE = "everyone"
    AFTER_RELEASE = "after release"
    ORGANIZERS = "organizers"


class Document(NamedTuple):
    """A file of an archive: its path, what it contains (for its folder, if empty), its content.

    `export` is the download of a file of a task, if there is one.
    """

    path: str
    contents: str
    chunks: Iterable[bytes]
    export: "Export[Task] | None" = None


class ExportFolder(NamedTuple):
    """The folder that an archive has of a zip file: its name, its first file and what it has."""

    name: str
    first: str
    contents: str
    files: Callable[[Task], Iterable[tuple[str, bytes]]]

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
    kind: TaskFileKind[object] | None = None
    details: Callable[[Owner], Mapping[str, object]] = lambda _: {}
    exists: Callable[[Owner], bool] = lambda _: True
    is_archived: bool = True
    published: Callable[[Owner], Iterable[bytes]] | None = None
    published_contents: str = ""
    folder: ExportFolder | None = None

    def document(self, owner: Owner) -> Document:
        """Return the file as the archive of a whole lab has it."""
        return Document(self.name, self.contents, self.chunks(owner))


class TaskDocuments(Protocol):
    """Yields what archives have of a task, or published ones, besides its exports."""

    def __call__(self, task: Task, /, *, published: bool) -> Iterable[Document]:
        """Yield the documents."""


_LABS: list[Export[Lab]] = []
_TASKS: list[Export[Task]] = []
_OF_TASK: list[Callable[[Task], Iterable[Export[Task]]]] = []
_OF_LAB: list[Callable[[Lab], Iterable[Document]]] = []
_DOCUMENTS: list[TaskDocuments] = []


def task_document(export: Export[Task], task: Task) -> Document:
    """Return the file of a task as the archive of a whole lab has it, with its download."""
    return export.document(task)._replace(export=export)


def folder_export(
    name: str,
    contents: str,
    audience: Audience,
    folder: ExportFolder,
    kind: TaskFileKind[object] | None = None,
) -> Export[Task]:
    """Return the export of a folder: a zip file to download, and the folder in archives."""

    def chunks(task: Task) -> Iterable[bytes]:
        return zip_chunks(folder.files(task))

    return Export(name, contents, audience, chunks, kind=kind, folder=folder)


def declare_exports(
    *,
    labs: Iterable[Export[Lab]] = (),
    tasks: Iterable[Export[Task]] = (),
    of_task: Callable[[Task], Iterable[Export[Task]]] | None = None,
    recorded: Mapping[str, Recorded] | None = None,
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
    of_lab: Callable[[Lab], Iterable[Document]] | None = None,
    of_task: TaskDocuments | None = None,
) -> None:
    """Declare what archives have of a lab, and by `published` of a task, besides its exports."""
    _OF_LAB.extend([of_lab] if of_lab else ())
    _DOCUMENTS.extend([of_task] if of_task else ())


def exports_of_labs() -> list[Export[Lab]]:
    """Return the files of labs, those of apps below first."""
    _read()
    return _LABS


def exports_of_tasks() -> list[Export[Task]]:
    """Return the files of tasks, those of apps below first."""
    _read()
    return _TASKS


def exports_of_task(task: Task) -> list[Export[Task]]:
    """Return the organizers' files that not every task has."""
    _read()
    return [export for of_task in _OF_TASK for export in of_task(task)]


def documents_of_lab(lab: Lab) -> Iterator[Document]:
    """Yield what archives have of a lab besides its exports."""
    _read()
    for of_lab in _OF_LAB:
        yield from of_lab(lab)


def documents_of_task(task: Task, *, published: bool) -> Iterator[Document]:
    """Yield what archives have of a task besides its exports."""
    _read()
    for of_task in _DOCUMENTS:
        yield from of_task(task, published=published)


def released_chunks(export: Export[Task], task: Task) -> Iterable[bytes]:
    """Return the content of a file of a released task as it is published: as it was released."""
    _read()
    return _RECORDED.get(export.name, export.published or export.chunks)(task)


@cache
def _read() -> None:
    for app in lab_apps():
        for module in app.modules_named("exports"):
            import_module(module)

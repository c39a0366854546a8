"""Exports: the files that labs and tasks hand out. Apps declare theirs in modules `exports`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Any, Generic, NamedTuple, TypeVar

from arqlab.apps import lab_apps

Owner = TypeVar("Owner")


class Audience(StrEnum):
    """Who may download a file: everyone who sees the lab, from the release on, or organizers."""

    EVERYONE = "everyone"
    AFTER_RELEASE = "after release"
    ORGANIZERS = "organizers"


@dataclass(frozen=True)
class Export(Generic[Owner]):
    """A file of a lab or a task: its name, what it contains, and a function that yields it."""

    name: str
    contents: str
    audience: Audience
    chunks: Callable[[Owner], Iterable[bytes]]


class Published(NamedTuple):
    """Files that a published archive has of a released task: what they are, and their contents."""

    contents: str
    files: Callable[[Any], Iterator[tuple[str, bytes]]]


_LABS: list[Export[Any]] = []
_TASKS: list[Export[Any]] = []
_PUBLISHED: list[Published] = []


def declare_exports(
    *,
    labs: Iterable[Export[Any]] = (),
    tasks: Iterable[Export[Any]] = (),
    published: Iterable[Published] = (),
) -> None:
    """Declare files of labs and of tasks, and what published archives have besides."""
    _LABS.extend(labs)
    _TASKS.extend(tasks)
    _PUBLISHED.extend(published)


def exports_of_labs() -> list[Export[Any]]:
    """Return the files of labs, those of apps below first."""
    _read()
    return _LABS


def exports_of_tasks() -> list[Export[Any]]:
    """Return the files of tasks, those of apps below first."""
    _read()
    return _TASKS


def published_files() -> list[Published]:
    """Return what published archives have of released tasks besides their exports."""
    _read()
    return _PUBLISHED


@cache
def _read() -> None:
    for app in lab_apps():
        for module in app.modules_named("exports"):
            import_module(module)

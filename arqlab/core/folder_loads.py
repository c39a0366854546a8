"""How the files of a lab folder are loaded. Apps declare it in `exports`, beside their writers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib import import_module

from arqkit.formats.labs.files import TaskFileKind
from arqkit.formats.labs.folder import TaskFile
from arqkit.loads import LoadChanges
from arqkit.records import Problem
from arqlab.apps import lab_apps
from arqlab.core.models import Task, User


@dataclass(frozen=True)
class FolderLoad:
    """A load of a lab folder, when and by whom.

    Loaders add what they change, which the organizer confirms, and the problems of the files. What
    takes long is loaded `afterwards`, when the rest is stored; it returns sentences.
    """

    at: datetime
    by: User | None
    changes: LoadChanges = field(default_factory=LoadChanges)
    problems: list[Problem] = field(default_factory=list)
    afterwards: list[Callable[[], list[str]]] = field(default_factory=list)


Loader = Callable[[Task, TaskFile, FolderLoad], None]
"""Loads what a folder has of a task. The caller has a transaction."""
_LOADERS: dict[str, Loader] = {}


def declare_folder_loads(loaders: Mapping[TaskFileKind[object], Loader]) -> None:
    """Declare how kinds of files are loaded from the folder of a lab, one after another."""
    _LOADERS.update({kind.key: loader for kind, loader in loaders.items()})


@cache
def folder_loads() -> Mapping[str, Loader]:
    """Return the loaders by the keys of their kinds, those of apps below first."""
    for app in lab_apps():
        for module in app.modules_named("exports"):
            import_module(module)
    return _LOADERS

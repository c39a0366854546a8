"""What the installed apps have, of the tests' tables of pages and commands: a server may leave
apps out (`ARQLAB_WITHOUT`), and the tests of all others hold without them.
"""

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from django.conf import settings

from tests.paths import ROOT


def installed_pages(names: Iterable[str]) -> list[str]:
    """Return the pages, such as `radar:radar-list`, whose apps are not left out."""
    return [name for name in names if name.partition(":")[0] not in settings.WITHOUT]


def installed_commands(names: Iterable[str]) -> list[str]:
    """Return the commands whose apps are not left out."""
    folders = [ROOT / "contrib" / app / "management" / "commands" for app in settings.WITHOUT]
    left_out = {path.stem for folder in folders for path in folder.glob("*.py")}
    return [name for name in names if name not in left_out]


def optional(module: str, name: str) -> Iterator[Any]:
    """Yield a value of a module of tests of each optional app that has it and is not left out."""
    for app in settings.OPTIONAL_APPS:
        path = ROOT / "tests" / "contrib" / app / f"{module}.py"
        if app not in settings.WITHOUT and path.exists():
            values = vars(import_module(f"tests.contrib.{app}.{module}"))
            if name in values:
                yield values[name]

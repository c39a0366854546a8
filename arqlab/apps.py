"""Apps of ArqLab: each declares itself in modules of fixed names, and the core names none.

`views` declare pages, their places and tabs; `tasks` jobs and what is scheduled; `checks` what must
hold before a server starts; `parts` what stands on pages of apps below; `exports` the files of labs
and tasks; `archive_tables` what is particular about models in archives. They may be in any package
of the app.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import ClassVar

from django.apps import AppConfig, apps

DECLARATIONS = ("checks", "tasks", "parts")
"""The modules that are read when a server starts; pages are read with the first request."""


class LabApp(AppConfig):
    """An app of ArqLab."""

    default = False  # Django would take this class for the app's own, where it is imported
    has_busiest_pages: ClassVar[bool] = False
    """Whether its addresses are compared first."""

    def __init_subclass__(cls) -> None:
        """Let Django take a class of an app's own."""
        cls.default = True

    def ready(self) -> None:
        """Read what the app declares."""
        for name in DECLARATIONS:
            for module in self.modules_named(name):
                import_module(module)

    def modules_named(self, name: str) -> Iterator[str]:
        """Yield the modules of a name in the app's package and in those below it."""
        top = Path(self.path)
        for file in sorted(top.rglob(f"{name}.py")):
            yield ".".join([self.name, *file.relative_to(top).with_suffix("").parts])


def lab_apps() -> list[LabApp]:
    """Return the installed apps of ArqLab, each above those before it."""
    return [config for config in apps.get_app_configs() if isinstance(config, LabApp)]

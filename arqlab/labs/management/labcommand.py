"""The base class of commands on labs."""

import sys
from abc import abstractmethod
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from arqkit.formats.archives.folders import SourceFolder
from arqkit.loads import LoadChoice, cause_lines
from arqkit.records import FileRefusedError
from arqlab.core.errors import UnconfirmedLoadError, UserError
from arqlab.core.models import User
from arqlab.core.sqlite3.base import patiently
from arqlab.labs.oddities import Ceremony, Oddity
from arqlab.labs.selectors import person_named
from arqlab.labs.services.archiving import require_unarchived_path

TASK = {"metavar": "LAB/TASK"}
BY = {"metavar": "PERSON", "help": "email address or user name for the audit log"}


def read_bytes(path: Path, todo: str = "Check the path.") -> bytes:
    """Return the content of a file, or raise `CommandError` with the reason and what to do."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"Cannot read {path}: {error.strerror}. {todo}") from error


def switch(text: str) -> dict[str, object]:
    """Return the options of an argument that is True if it is given."""
    return {"action": "store_true", "help": text}


def reasons(thing: str, text: str) -> dict[str, object]:
    """Return the options of an argument that names a thing with a reason, perhaps repeatedly."""
    words = {"metavar": (thing, "REASON"), "help": f"{text}; can be repeated"}
    return {"nargs": 2, "action": "append", "default": [], **words}


class LabCommand(BaseCommand):
    """A command that works on labs.

    It creates the tables of an empty database, so that it can be the first command ever run; a
    database with tables is left to `manage.py migrate`. The message of a `UserError` becomes the
    command's. It changes no archived lab or task that `LAB/TASK` or `--lab` names. Its docstring is
    what `--help` prints.
    """

    changes_labs = True
    """False for a command that only reads the lab or task that it names."""
    arguments: Mapping[str, Mapping[str, Any]] = {}
    """The arguments by name, with the options of `ArgumentParser.add_argument`."""

    # System checks import all views, which takes longer than most commands; `migrate` and `serve`
    # run them.
    requires_system_checks = ()

    def __init_subclass__(cls) -> None:
        """Take the text of `--help` from the docstring."""
        cls.help = " ".join((cls.__doc__ or "").split())

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the `arguments` that the command declares, by their names and options."""
        for name, options in self.arguments.items():
            parser.add_argument(name, **options)

    def actor(self, options: Mapping[str, object]) -> User | None:
        """Return the user named with `--by`, or None."""
        return person_named(str(options["by"])) if options["by"] else None

    def execute(self, *args: object, **options: object) -> str | None:
        """Run the command; raise `CommandError` with the message of a `UserError`."""
        if MigrationRecorder.Migration._meta.db_table not in connection.introspection.table_names():
            call_command("migrate", interactive=False, verbosity=0)
        try:
            if self.changes_labs and not options.get("dry_run"):
                require_unarchived_path(str(options.get("task") or options.get("lab") or ""))
            with patiently(self._report_waiting):
                return super().execute(*args, **options)
        except UserError as refused:
            raise CommandError(refused.message) from refused

    def list_beside(self, folder: SourceFolder) -> None:
        """Print the files that were read outside of a folder."""
        for path in folder.beside:
            self.stdout.write(f"Read beside the folder: {path}")

    def list_links(self, folder: Path, files: Iterable[Path]) -> None:
        """Print those of the files in a folder that lie outside of it. Raise FileRefusedError for
        what is no file.
        """
        source = SourceFolder(folder, reads_beside=True)
        for file in files:
            _ = source / file.name
        self.list_beside(source)

    def _report_waiting(self, text: str) -> None:
        self.stderr.write(text, style_func=str)
        self.stderr.flush()

    def require_yes(self, *, yes: bool, options: str = "--yes") -> None:
        """Ask whether to go on, or raise `CommandError`; `options` are those that answer yes."""
        if yes:
            return
        if not sys.stdin.isatty():
            raise CommandError(f"Nothing was changed. Check the list above, then add {options}.")
        self.stderr.write("Go on? [y/N] ", ending="", style_func=str)
        self.stderr.flush()
        if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
            raise CommandError("Nothing was changed.")


class LoadCommand(LabCommand):
    """A command that loads files, and asks before it changes what is stored; `--yes` answers.

    It reports the problems of a file by cause.
    """

    arguments = {"--yes": switch("change what is stored without asking")}

    def handle(self, *args: object, **options: object) -> None:
        """Load the files; list what would change, ask, and load them again with the answer."""
        choice = LoadChoice(confirmed=bool(options["yes"]))
        try:
            try:
                self.load(choice, **options)
            except UnconfirmedLoadError as unconfirmed:
                self.stderr.write("This load would change stored data:", style_func=str)
                for line in unconfirmed.changes.lines:
                    self.stderr.write(f"  {line}", style_func=str)
                self.require_yes(yes=False)
                self.load(choice._replace(confirmed=unconfirmed.changes.digest), **options)
        except FileRefusedError as refused:
            count = len(refused.problems)
            raise CommandError(
                f"Nothing was loaded: {count:,} problem{'s' * (count != 1)}.\n"
                + "\n".join(cause_lines(refused.problems))
            ) from refused

    @abstractmethod
    def load(self, choice: LoadChoice, *args: Any, **options: Any) -> None:
        """Load the files as the organizer chose, and print what was loaded."""


class CeremonyCommand(LabCommand):
    """A command that freezes, releases or closes something, and lists first what is odd about it.

    If something is odd, it asks before it goes on; `--yes` answers.
    """

    arguments = {
        "task": TASK,
        "--yes": switch("go on without asking if nothing is red"),
        "--acknowledge": switch("with --yes, go on although checks are red"),
        "--by": BY,
    }

    def confirm(
        self,
        checks: Iterable[Oddity],
        options: Mapping[str, object],
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        """Print what is odd on standard error, and ask whether to go on if something is.

        `reasons` are those of `Ceremony`. Raises `CommandError` if the answer is no, if nobody can
        be asked, or if something is red and `--yes` comes without `--acknowledge`.
        """
        ceremony = Ceremony(checks, reasons)
        for oddity in ceremony.oddities:
            red = "Red: " if oddity in ceremony.reds else ""
            self.stderr.write(f"{red}{oddity.sentence}", style_func=str)
        if options.get("dry_run"):
            return
        if options["yes"]:
            sent = {"seen": ceremony.digest, "acknowledged": options["acknowledge"]}
            ceremony.require_acknowledged(sent)
        needed = "--yes --acknowledge" if ceremony.reds else "--yes"
        self.require_yes(yes=bool(options["yes"]) or not ceremony.oddities, options=needed)

"""`manage.py import_posts PATH --collection SLUG`: import the files of a data dump."""

from datetime import date
from pathlib import Path
from typing import TypedDict, Unpack

from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone

from arqkit.formats.dumps.records import Window
from arqkit.formats.dumps.sources import DUMP_FILES, dump_files
from arqkit.loads import LoadChanges, LoadChoice
from arqkit.records import FileRefusedError
from arqlab.core.errors import require_confirmed
from arqlab.core.models import Lab
from arqlab.labs.management.labcommand import LoadCommand, switch
from collection.management.reporting import ProgressLine, collection_slug, import_lines
from collection.models import Collection, Import
from collection.services.importing.import_records import add_import_changes
from collection.services.importing.related_files import import_file
from collection.services.loading import assign_collection

INTERRUPTED = 130
"""The exit status of a command that Ctrl-C ended, as in shells."""
DAY = {"metavar": "DATE", "type": date.fromisoformat}


class _Options(TypedDict):
    path: Path
    collection: str
    kind: str | None
    since: date | None
    until: date | None
    keep_later: bool
    lab: str | None
    verbosity: int


class Command(LoadCommand):
    """Import the files of a data dump: posts, comments, links, tags, users, votes and badges as
    XML, plain or packed as .gz, .bz2 or .7z.

    Stop with Ctrl-C; run the same command again to continue.
    """

    arguments = {
        **LoadCommand.arguments,
        "path": {
            "metavar": "PATH",
            "type": Path,
            "help": "file of the data dump, or a folder or archive of such files",
        },
        "--collection": {
            "metavar": "SLUG",
            "type": collection_slug,
            "required": True,
            "help": "slug of the collection, created if it does not exist",
        },
        "--kind": {
            "choices": list(DUMP_FILES),
            "help": "type of PATH, if it cannot be detected from the name: "
            + ", ".join(DUMP_FILES),
        },
        "--since": DAY | {"help": "skip rows before this day"},
        "--until": DAY | {"help": "skip rows after this day"},
        "--keep-later": switch("keep newer posts for topics and threads, but do not search them"),
        "--lab": {"metavar": "LAB", "help": "lab that searches the collection"},
    }

    def load(self, choice: LoadChoice, *args: object, **options: Unpack[_Options]) -> None:
        """Import the files one by one and print their counts and problems."""
        window, now = self._window(options), timezone.now()
        files = self._files(options["path"], options["kind"])
        if options["path"].is_dir():
            self.list_links(options["path"], files.values())
        changes = LoadChanges()
        add_import_changes(changes, slug=options["collection"], files=files, window=window)
        require_confirmed(changes, choice.confirmed)
        lab = self._lab(options["lab"])
        with transaction.atomic():  # a refused assignment leaves no empty collection
            collection, _ = Collection.objects.get_or_create(
                slug=options["collection"], defaults={"loaded_at": now}
            )
            if lab:
                assign_collection(lab=lab, collection=collection)
        for kind, path in files.items():
            label, is_quiet = Import.Kind(kind).label, not options["verbosity"]
            try:
                with ProgressLine(self.stderr, label, is_quiet=is_quiet, path=path) as line:
                    record = import_file(
                        collection=collection,
                        kind=kind,
                        path=path,
                        window=window,
                        at=now,
                        progress=line,
                    )
            except KeyboardInterrupt:
                last = collection.imports.filter(kind=kind).order_by("-updated_at").first()
                stopped = f"Stopped. {last.rows if last else 0:,} rows are imported. Run the same"
                stopped += " command again to continue."
                raise CommandError(stopped, returncode=INTERRUPTED) from None
            except FileRefusedError as refused:
                raise CommandError("\n".join(map(str, refused.problems))) from refused
            lines = list(import_lines([record]))
            if record.finished_at != now:
                lines.append(f"{record.source} is already imported and was not read again.")
            for text in () if is_quiet else lines:
                self.stdout.write(text)

    def _window(self, options: _Options) -> Window:
        since, until = options["since"], options["until"]
        if since and until and until < since:
            raise CommandError(
                f"--until {until} is before --since {since}, so nothing would be imported. "
                "Correct one of the dates."
            )
        if options["keep_later"] and not until:
            raise CommandError("--keep-later needs --until. Add the last day to search.")
        return Window(since, until, options["keep_later"])

    def _files(self, path: Path, kind: str | None) -> dict[str, Path]:
        if not path.exists():
            raise CommandError(
                f"{path} does not exist. Name a file of the data dump, or a folder or archive of "
                "such files."
            )
        try:
            files = dump_files(path)
        except FileRefusedError as refused:
            raise CommandError("\n".join(map(str, refused.problems))) from refused
        if kind and path.is_dir():
            files = {kind: files[kind]} if kind in files else {}
        elif kind:
            files = {kind: path}
        if not files:
            names = ", ".join(DUMP_FILES.values())
            raise CommandError(
                f"{path} has no file name of a data dump ({names}) and contains no such file. Name "
                "its type with --kind."
            )
        return files

    def _lab(self, slug: str | None) -> Lab | None:
        if slug is None:
            return None
        if lab := Lab.objects.filter(slug=slug).first():
            return lab
        slugs = ", ".join(Lab.objects.values_list("slug", flat=True)) or "none yet"
        raise CommandError(f"Lab not found: {slug}. Labs: {slugs}.")

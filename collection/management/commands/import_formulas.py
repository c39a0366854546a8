"""`manage.py import_formulas --collection SLUG`: import the formula index of a collection."""

from pathlib import Path
from typing import Literal, TypedDict, Unpack

from django.core.management.base import CommandError
from django.utils import timezone

from arqkit.formats.formulas.index import index_files
from arqkit.loads import LoadChanges, LoadChoice
from arqlab.core.errors import require_confirmed
from arqlab.labs.management.labcommand import LoadCommand
from collection.management.reporting import ProgressLine, collection_slug, import_lines
from collection.models import Collection
from collection.services.importing.formulas import import_formulas
from collection.services.importing.import_records import add_import_changes

KINDS: tuple[Literal["latex", "slt", "opt"], ...] = ("latex", "slt", "opt")
FILE = {"metavar": "PATH", "type": Path, "help": "TSV (plain or compressed) or folder of TSVs"}


class _Options(TypedDict):
    collection: str
    latex: Path | None
    slt: Path | None
    opt: Path | None


class Command(LoadCommand):
    """Import the formula index of a collection: the LaTeX, SLT and OPT files of any edition, each a
    TSV or a folder of TSVs.
    """

    arguments = {
        **LoadCommand.arguments,
        "--collection": {"metavar": "SLUG", "type": collection_slug, "required": True},
        **{f"--{kind}": FILE for kind in KINDS},
    }

    def load(self, choice: LoadChoice, *args: object, **options: Unpack[_Options]) -> None:
        """Import the files and print their counts and problems."""
        files: dict[str, Path] = {kind: path for kind in KINDS if (path := options[kind])}
        if not files:
            raise CommandError("Name at least one file: --latex, --slt or --opt.")
        if missing := [str(path) for path in files.values() if not path.exists()]:
            raise CommandError(f"File not found: {', '.join(missing)}. Check the path.")
        for path in filter(Path.is_dir, files.values()):
            self.list_links(path, index_files(path))
        changes = LoadChanges()
        add_import_changes(changes, slug=options["collection"], files=files)
        require_confirmed(changes, choice.confirmed)
        now = timezone.now()
        collection, _ = Collection.objects.get_or_create(
            slug=options["collection"], defaults={"loaded_at": now}
        )
        with ProgressLine(self.stderr, "Formulas") as line:
            records = import_formulas(collection=collection, files=files, at=now, progress=line)
        for text in import_lines(records):
            self.stdout.write(text)
        self.stdout.write(f"Next, run: manage.py make_visual_ids {collection.slug}")

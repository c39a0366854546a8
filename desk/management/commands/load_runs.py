"""`manage.py load_runs LAB/TASK PATH`: load a folder of runs for their teams."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict, Unpack

from django.core.management import CommandError
from django.utils import timezone

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.labs.packed import place_file
from arqkit.loads import cause_lines
from arqkit.records import FileRefusedError
from arqlab.labs.management.labcommand import BY, TASK, LabCommand
from arqlab.labs.selectors import task_named
from submissions.services.run_files import load_runs


class _Options(TypedDict):
    task: str
    path: Path


class Command(LabCommand):
    """Load a folder or an archive of runs for their teams, without quota and deadline.

    The teams and details come from its manifest.tsv (as in runs.zip) or metadata.csv, which has the
    column file and others of the manifest, and otherwise from ir_metadata (run.tsv.ir_metadata.yml
    of run.tsv, or ir-metadata.yml in the folder of one run) and the files' names. Missing teams are
    created. Loading runs again changes nothing.
    """

    arguments = {"task": TASK, "path": {"metavar": "PATH", "type": Path}, "--by": BY}

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Print what was loaded, or every problem."""
        task, by, folder = task_named(options["task"]), self.actor(options), options["path"]
        if not folder.exists():
            raise CommandError(f"{folder} does not exist. Give the path of a folder or an archive.")
        try:
            with TemporaryDirectory() as unpacked:
                source = SourceFolder(folder, reads_beside=True)
                if folder.is_file():
                    source = SourceFolder(Path(unpacked))
                    place_file(folder, source.root)
                lines = load_runs(task=task, folder=source, by=by, at=timezone.now())
        except FileRefusedError as refused:
            text = "\n".join(cause_lines(refused.problems))
            raise CommandError(f"Nothing was loaded.\n{text}") from refused
        self.stdout.write("\n".join(lines))
        self.list_beside(source)

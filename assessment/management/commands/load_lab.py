"""`manage.py load_lab DIR`: load a lab from a folder with a lab.toml."""

import sys
from functools import partial
from pathlib import Path
from typing import TypedDict, Unpack

from django.core.management.base import CommandError
from django.utils import timezone

from arqkit.formats.archives.folders import SourceFolder
from arqkit.loads import LoadChoice
from arqlab.core.models import Lab, Membership
from arqlab.labs.management.labcommand import LoadCommand, switch
from arqlab.labs.permissions import has_verified_address
from arqlab.labs.selectors import person_named
from arqlab.labs.services.loading import FolderEditsError
from arqlab.labs.services.people import confirm_address, grant_role
from assessment.qrels.selectors.versions import lab_summary, qrels_named
from assessment.qrels.services.loading import load_lab
from collection.management.reporting import ProgressLine, import_lines, map_line
from collection.models import Import, Post
from collection.selectors.visual_maps import newest_map


class _Options(TypedDict):
    folder: Path
    organizer: str | None
    keep_edits: bool
    yes: bool


class Command(LoadCommand):
    """Load a lab from a folder with a lab.toml and the topics, qrels and collection it names."""

    arguments = {
        **LoadCommand.arguments,
        "folder": {"metavar": "DIR", "type": Path},
        "--organizer": {
            "metavar": "PERSON",
            "help": "grant the organizer role to the user with this email address or user name",
        },
        "--keep-edits": switch(
            "keep values that were edited in the browser (otherwise --yes overwrites them)"
        ),
    }

    keeps_edits: bool | None = None
    """Whether edited values stay; None until the organizer says so, once for both loads."""

    def load(self, choice: LoadChoice, *args: object, **options: Unpack[_Options]) -> None:
        """Load the folder and print a summary of the lab."""
        organizer = person_named(options["organizer"]) if options["organizer"] else None
        if organizer and organizer.email and not has_verified_address(organizer):
            confirm_address(user=organizer)  # the command line is trusted
        folder = SourceFolder(options["folder"], reads_beside=True)
        load = partial(load_lab, folder=folder, by=organizer, at=timezone.now())
        if options["keep_edits"] or options["yes"]:
            self.keeps_edits = options["keep_edits"]
        with ProgressLine(self.stderr, "The collection") as line:
            load = partial(load, progress=line)
            try:
                loaded = load(choice=choice._replace(keeps_edits=self.keeps_edits))
            except FolderEditsError as undecided:
                self.keeps_edits = self._answer(undecided)
                loaded = load(choice=choice._replace(keeps_edits=self.keeps_edits))
        if organizer:
            grant_role(lab=loaded.lab, user=organizer, role=Membership.Role.ORGANIZER, by=None)
        self._print(loaded.lab, is_changed=loaded.is_changed)
        for sentence in loaded.lines:
            self.stdout.write(sentence)
        self.list_beside(folder)
        for warning in loaded.warnings:
            self.stderr.write(self.style.WARNING(f"Warning: {warning}"))

    def _answer(self, undecided: FolderEditsError) -> bool:
        """List the edited values, and ask whether to keep them. Raise if the answer is neither."""
        self.stderr.write("The folder differs from values in the lab (lab -> folder):")
        for edit in undecided.edits:
            self.stderr.write(f"  {edit}", style_func=str)
        if not sys.stdin.isatty():
            raise CommandError(
                "Nothing was loaded. Add --yes to overwrite these values, or --keep-edits to keep "
                "them and load the rest."
            )
        self.stderr.write("Overwrite or keep them? [overwrite/keep/N] ", ending="", style_func=str)
        self.stderr.flush()
        answer = sys.stdin.readline().strip().casefold()
        if answer not in ("o", "overwrite", "k", "keep"):
            raise CommandError("Nothing was loaded.")
        return answer.startswith("k")

    def _print(self, lab: Lab, *, is_changed: bool) -> None:
        if not is_changed:
            self.stdout.write("Nothing to change.")
        self.stdout.write(f"{lab.name} ({lab.slug})")
        line = "{:<20} {:>7}  {:<20} {:>13} {:>8}"
        self.stdout.write(line.format("task", "topics", "qrels", "judged topics", "judged"))
        for task in lab_summary(lab):
            judged = (task.judged_topics or "", task.judged or "")
            cells = line.format(task.task, task.topics, task.qrels or "none", *judged)
            self.stdout.write(cells.rstrip())
        for row in lab.tasks.filter(qrel_sets__isnull=False).distinct().select_related("lab"):
            if qrels_named(row) is None:
                self.stdout.write(
                    f"No version of the qrels of {row} is current. Choose one: "
                    f"choose_qrels {row} NAME"
                )
        for collection in lab.collections.all():
            posts = Post.objects.filter(collection=collection).count()
            kind = "complete" if collection.is_complete else "a sample"
            self.stdout.write(f"Collection {collection.slug}, {kind}: {posts} posts.")
            for text in import_lines(Import.objects.filter(collection=collection)):
                self.stdout.write(text)
            self.stdout.write(map_line(newest_map(collection), collection))

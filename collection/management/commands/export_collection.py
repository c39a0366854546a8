"""`manage.py export_collection COLLECTION FOLDER`: write a collection as the labs publish it."""

from pathlib import Path

from arqlab.labs.management.labcommand import LabCommand
from collection.management.reporting import ProgressLine
from collection.selectors.collections import collection_named
from collection.services.exporting import export_collection


class Command(LabCommand):
    """Write a collection into a folder as the labs publish it: the posts and comments of the data
    dump with an id for each formula, and formula indexes in LaTeX, SLT and OPT. Formulas without a
    tree in an imported index are converted from LaTeX; OPT needs LaTeXML for that. The texts stay
    under the licence of the collection: check that it lets you pass them on.
    """

    arguments = {
        "collection": {"metavar": "COLLECTION", "help": "slug of the collection"},
        "folder": {"metavar": "FOLDER", "type": Path, "help": "an empty folder, or a new one"},
    }

    def handle(self, *, collection: str, folder: Path, **options: object) -> None:
        """Write the files and print what is in each."""
        with ProgressLine(self.stderr, "Formulas") as line:
            lines = export_collection(
                collection=collection_named(collection), folder=folder, progress=line
            )
        for text in lines:
            self.stdout.write(text)

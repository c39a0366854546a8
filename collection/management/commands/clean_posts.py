"""Sanitize posts and comments again after the sanitizer's rules changed."""

from arqlab.labs.management.labcommand import LabCommand, switch
from collection.management.reporting import ProgressLine
from collection.selectors.collections import collection_named
from collection.services.cleaning import clean_posts


class Command(LabCommand):
    """Sanitize again the posts and comments that were sanitized with older rules.

    If you stop the command, run it again to continue.
    """

    arguments = {
        "collection": {"nargs": "?", "help": "slug of the collection (default: all collections)"},
        "--all": switch("include texts sanitized with the current rules"),
    }

    def handle(self, *, collection: str | None, all: bool, **options: object) -> None:
        """Sanitize the texts and report their number."""
        chosen = collection_named(collection) if collection else None
        with ProgressLine(self.stdout, "Sanitizing") as line:
            count = clean_posts(collection=chosen, of_all=all, progress=line)
        self.stdout.write(f"Sanitized {count:,} posts and comments.")

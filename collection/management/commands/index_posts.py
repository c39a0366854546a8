"""`manage.py index_posts [COLLECTION]`: bring the search indexes up to date now."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from arqlab.core.management.labcommand import LabCommand
from collection.management.progress import ProgressLine
from collection.selectors import collection_named, newest_map
from collection.services import index_formulas, index_posts, waiting_collections


class Command(LabCommand):
    """Index the words of posts and the symbol pairs of formulas that are not indexed yet."""

    help = "Index the words of posts and the symbol pairs of formulas, those that are not indexed yet."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take a collection."""
        parser.add_argument("collection", metavar="COLLECTION", nargs="?", help="its slug; without it, all that wait")

    def handle(self, *args: Any, **options: Any) -> None:
        """Index, and say how many posts there were."""
        slug = options["collection"]
        for collection in [collection_named(slug)] if slug else list(waiting_collections()):
            line = ProgressLine(self.stderr, "Posts indexed")
            try:
                done = index_posts(collection=collection, progress=line)
            finally:
                line.close()
            if version := newest_map(collection):
                index_formulas(version=version)
            self.stdout.write(f"{collection}: {done:,} posts were indexed.")

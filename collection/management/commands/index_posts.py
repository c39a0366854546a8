"""`manage.py index_posts [COLLECTION]`: bring the search indexes up to date now."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from arqlab.core.management.labcommand import LabCommand
from collection.management.progress import ProgressLine
from collection.models import Collection
from collection.selectors import newest_map
from collection.services import index_formulas, index_posts, waiting_collections


class Command(LabCommand):
    """Index the words of posts and the symbol pairs of formulas that are not indexed yet."""

    help = "Index the words of posts and the symbol pairs of formulas, those that are not indexed yet."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take a collection."""
        parser.add_argument("collection", metavar="COLLECTION", nargs="?", help="its slug; without it, all that wait")

    def handle(self, *args: Any, **options: Any) -> None:
        """Index, and say how many posts there were."""
        if slug := options["collection"]:
            found = list(Collection.objects.filter(slug=slug))
            if not found:
                raise CommandError(f"There is no collection {slug}. Load it first.")
        else:
            found = list(waiting_collections())
        for collection in found:
            line = ProgressLine(self.stderr, "Posts indexed")
            try:
                done = index_posts(collection=collection, progress=line)
            finally:
                line.close()
            if version := newest_map(collection):
                index_formulas(version=version)
            self.stdout.write(f"{collection}: {done:,} posts were indexed.")

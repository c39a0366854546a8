"""`manage.py index_posts [COLLECTION]`: update the search indexes now."""

from typing import Any

from arqlab.labs.management.labcommand import LabCommand
from collection.management.reporting import ProgressLine
from collection.selectors.collections import collection_named
from collection.services.indexing import (
    index_formulas,
    index_posts,
    unindexed_collections,
    unindexed_visual_maps,
)


class Command(LabCommand):
    """Index the words of posts and the symbol pairs of formulas that are not yet indexed."""

    arguments = {
        "collection": {
            "metavar": "COLLECTION",
            "nargs": "?",
            "help": "slug of the collection (default: all that need indexing)",
        }
    }

    def handle(self, *args: Any, **options: Any) -> None:
        """Update the indexes and report what was indexed."""
        collections, versions = list(unindexed_collections()), unindexed_visual_maps()
        if slug := options["collection"]:
            collections = [collection_named(slug)]
            versions = versions.filter(collection__slug=slug)
        for collection in collections:
            with ProgressLine(self.stderr, "Posts indexed") as line:
                count = index_posts(collection=collection, progress=line)
            self.stdout.write(f"{collection}: {count:,} posts indexed.")
        for version in versions:
            done = index_formulas(version=version).pairs
            state = "indexed" if done else "are being indexed by another process"
            self.stdout.write(f"{version.collection}: formulas {state}.")

"""`manage.py index_posts [COLLECTION]`: update the search indexes now."""

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

    def handle(self, *, collection: str | None, **options: object) -> None:
        """Update the indexes and report what was indexed."""
        collections, versions = list(unindexed_collections()), unindexed_visual_maps()
        if collection:
            collections = [collection_named(collection)]
            versions = versions.filter(collection__slug=collection)
        for unindexed in collections:
            with ProgressLine(self.stderr, "Posts indexed") as line:
                count = index_posts(collection=unindexed, progress=line)
            self.stdout.write(f"{unindexed}: {count:,} posts indexed.")
        for version in versions:
            done = index_formulas(version=version).pairs
            state = "indexed" if done else "are being indexed by another process"
            self.stdout.write(f"{version.collection}: formulas {state}.")

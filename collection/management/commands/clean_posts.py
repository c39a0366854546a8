"""Sanitize posts and comments again, when the rules have changed."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from arqlab.core.management.labcommand import LabCommand
from collection.management.progress import ProgressLine
from collection.selectors.collections import collection_named
from collection.services.cleaning import clean_posts


class Command(LabCommand):
    """Bring posts and comments up to the sanitizer's rules of today; what the dump had stays."""

    help = "Sanitizes posts and comments again whose rules are older than today's. Can be broken off and called again."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the collection, and whether all its texts are meant."""
        parser.add_argument(
            "collection", nargs="?", help="slug of the collection; all of them where none is named"
        )
        parser.add_argument(
            "--all", action="store_true", help="also the texts that went through today's rules"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Sanitize and say how many."""
        found = collection_named(options["collection"]) if options["collection"] else None
        progress = ProgressLine(self.stdout, "Sanitizing")
        count = clean_posts(collection=found, of_all=options["all"], progress=progress)
        progress.close()
        self.stdout.write(f"{count:,} posts and comments were sanitized.")

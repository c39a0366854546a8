"""`manage.py make_visual_ids COLLECTION`: make the next version of a collection's visual ids."""

from typing import TypedDict, Unpack

from django.urls import reverse
from django.utils import timezone

from arqlab.core.models import Lab
from arqlab.labs.management.labcommand import LabCommand
from assessment.qrels.selectors.rejudging import affected_judgments, judged_formulas
from collection.management.reporting import ProgressLine, map_line
from collection.models import VisualMap
from collection.selectors.collections import collection_named
from collection.selectors.visual_maps import newest_map
from collection.services.visual_maps import make_visual_map


class _Options(TypedDict):
    collection: str


class Command(LabCommand):
    """Create the next version of a collection's visual ids, and list the judged formulas it
    changes.
    """

    arguments = {"collection": {"metavar": "COLLECTION", "help": "slug of the collection"}}

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Make the version and print its counts and the judged formulas it affects."""
        collection = collection_named(options["collection"])
        before, judged = newest_map(collection), judged_formulas(collection.slug)
        with ProgressLine(self.stderr, "LaTeX without MathML") as line:
            version = make_visual_map(
                collection=collection, at=timezone.now(), judged=judged, again=True, progress=line
            )
        if version is not None and version == before:
            self.stdout.write("Nothing to change.")
        self.stdout.write(map_line(version, collection))
        if version is not None:
            for lab in collection.labs.order_by("slug"):
                self._print_affected(lab, version)

    def _print_affected(self, lab: Lab, version: VisualMap) -> None:
        address = reverse("assessment:affected-judgment-list", args=[lab.slug, version.version])
        if count := affected_judgments(lab, version).height:
            self.stdout.write(
                f"{lab.slug}: {count:,} judgments of formulas with changed visual ids; see "
                f"{address}"
            )
        else:
            self.stdout.write(f"{lab.slug}: no judged formula changed.")

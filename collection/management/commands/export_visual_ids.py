"""`manage.py export_visual_ids COLLECTION`: print the visual ids of a collection."""

from arqlab.core.errors import UserError
from arqlab.labs.management.labcommand import LabCommand
from collection.models import Collection, VisualMap
from collection.selectors.collections import collection_named
from collection.selectors.visual_maps import map_table, mapping_parts

TABLES = ("mapping", "changes", "opinion")


class Command(LabCommand):
    """Print a version of the visual ids as TSV with a header: the visual id of every formula
    instance, or another table of the version.
    """

    arguments = {
        "collection": {"metavar": "COLLECTION", "help": "slug of the collection"},
        "--number": {
            "type": int,
            "metavar": "N",
            "help": "number of the version (default: the newest)",
        },
        "--table": {
            "choices": TABLES,
            "default": TABLES[0],
            "help": "mapping (default): formula_id and visual_id; changes: merges and splits since "
            "the previous version; opinion: instances that ArqLab would group differently",
        },
    }

    def handle(self, *, collection: str, number: int | None, table: str, **options: object) -> None:
        """Print the table."""
        version = _version(collection_named(collection), number)
        parts = mapping_parts(version) if table == "mapping" else [map_table(version, table)]
        for place, part in enumerate(parts):
            text = part.write_csv(separator="\t", include_header=place == 0)
            self.stdout.write(text, ending="")


def _version(collection: Collection, number: int | None) -> VisualMap:
    versions = VisualMap.objects.filter(collection=collection).order_by("-version")
    version = (versions if number is None else versions.filter(version=number)).first()
    if version is None:
        missing = "no visual ids" if number is None else f"no version {number} of its visual ids"
        numbers = ", ".join(map(str, versions.values_list("version", flat=True)))
        raise UserError(
            f"{collection} has {missing}. Versions: {numbers or 'none yet; run make_visual_ids'}.",
            code="unknown-version",
        )
    return version

"""The files of a lab's collection that labs hand out."""

import json
from collections.abc import Iterable, Iterator

from arqkit.formats.tables import exact_table
from arqlab.core.exports import Audience, Document, Export, declare_documents, declare_exports
from arqlab.core.models import Lab
from collection.selectors.collections import collection_of
from collection.selectors.imports import holdings_of
from collection.selectors.visual_maps import mapping_parts, newest_map


def _collection(lab: Lab) -> Iterable[bytes]:
    collection = collection_of(lab)
    if collection is None:
        yield b"{}\n"
        return
    holdings = holdings_of(collection)
    facts = {
        "collection": collection.slug,
        "is_complete": collection.is_complete,
        "first_post": holdings.first_post and holdings.first_post.isoformat(),
        "last_post": holdings.last_post and holdings.last_post.isoformat(),
        **{name: getattr(holdings, name) for name in ("questions", "answers", "comments", "tags")},
        "formulas": holdings.formulas,
        "visual_ids_version": holdings.visual_map and holdings.visual_map.version,
    }
    yield (json.dumps(facts, indent=2) + "\n").encode()


def _visual_ids(lab: Lab) -> Iterator[Document]:
    collection = collection_of(lab)
    version = newest_map(collection) if collection else None
    if version is not None:
        lines = (exact_table(part.iter_rows(), delimiter="\t") for part in mapping_parts(version))
        contents = f"Version {version.version} of the visual ids: formula id, visual id."
        yield Document("visual-ids.tsv", contents, lines)


declare_exports(
    labs=[
        Export(
            "collection.json",
            "The collection in numbers: posts, dates, formulas.",
            Audience.EVERYONE,
            _collection,
        )
    ]
)
declare_documents(of_lab=_visual_ids)

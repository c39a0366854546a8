"""The models of collections in archives of labs. A collection may belong to several labs."""

from collections.abc import Mapping
from typing import Any

from arqlab.core.errors import UserError
from arqlab.web.archive_tables import ArchiveTables, Key, declare_archive_tables
from collection.models import (
    Author,
    Collection,
    Comment,
    Import,
    Post,
    PostLink,
    PostWords,
    Tag,
    TextIndex,
    VisualMap,
)


def _collection(row: Mapping[str, Any], _: Key) -> Collection | None:
    return Collection.objects.filter(slug=row["slug"]).first()


def _version(row: Mapping[str, Any], key: Key) -> VisualMap | None:
    """Return the version of visual ids that is here. Raise `UserError` for another one."""
    collection = Collection.objects.get(pk=key(Collection, row["collection"]))
    version = collection.visual_maps.filter(version=row["version"]).first()
    if version and version.inputs != row["inputs"]:
        raise UserError(
            f"Version {version.version} of the visual ids of the collection {collection} is"
            " another one here than in the archive. Restore the lab on another server.",
            code="visual-ids",
        )
    return version


declare_archive_tables(
    ArchiveTables(
        left_out={
            Import: "work of this server",
            PostWords: "computed from the posts",
            TextIndex: "computed from the posts",
        },
        unwritten={VisualMap: {"pairs", "pairs_claimed_at"}},
        lookups={Collection: "labs", VisualMap: "collection__labs"},
        texts=dict.fromkeys((Post, Comment, PostLink, Author, Tag), Collection),
        found={Collection: _collection, VisualMap: _version},
    )
)

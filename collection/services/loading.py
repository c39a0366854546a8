"""Loading a collection from the files that a lab's folder names: posts, what stands around them,
formulas, visual ids.

What cannot be read is in the report of its file, the rest is in. It is done step by step, each in
its own transaction, and each step that was done is not done again: what was stopped is taken up
where it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime

from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import Lab
from arqlab.formats.formulas.index import read_index
from arqlab.formats.labs.folder import CollectionFile
from arqlab.ir.records import FileRefusedError, Problem
from collection.models import (
    Author,
    Collection,
    Comment,
    Import,
    LabCollection,
    Post,
    PostLink,
    Tag,
)
from collection.selectors.visual_maps import JudgedFormula
from collection.services.importing.formulas import delete_formulas, import_formulas
from collection.services.importing.import_records import Progress, file_digest
from collection.services.importing.related_files import import_file
from collection.services.indexing import index_if_small
from collection.services.parquet_files import replace_files
from collection.services.visual_maps import make_visual_map

ORDER = ("posts", "comments", "post_links", "tags", "users", "votes", "badges")
"""Votes are counted on posts and badges on users, so these come first."""


def load_collection(
    *,
    lab: Lab,
    file: CollectionFile,
    at: datetime,
    judged: JudgedFormula | None = None,
    progress: Progress | None = None,
) -> Collection:
    """Load the collection that a lab's folder names, and have the lab search it.

    The same files a second time change nothing, whichever lab names them. Without a formula index,
    the formulas that stand in the posts are taken. `judged` is that of `make_visual_map`. Raises
    what `require_loadable` raises, before anything is changed.
    """
    require_loadable(lab_slug=lab.slug, file=file)
    with transaction.atomic():
        Collection.objects.get_or_create(slug=file.slug, defaults={"loaded_at": at})
        # Of two that load it at once, one waits here, and then finds the files of the other.
        collection = Collection.objects.select_for_update().get(slug=file.slug)
        _replace_other_files(collection, digest=_digest(file), at=at)
        Collection.objects.filter(pk=collection.pk).update(is_complete=file.complete)
        LabCollection.objects.update_or_create(lab=lab, defaults={"collection": collection})
    for kind in ORDER:
        if kind in file.files:
            path = file.files[kind]
            import_file(
                collection=collection,
                kind=kind,
                path=path,
                window=file.window,
                at=at,
                progress=progress,
            )
    index_if_small(collection=collection)
    if file.formulas:
        import_formulas(collection=collection, files=file.formulas, at=at, progress=progress)
    make_visual_map(collection=collection, at=at, judged=judged, progress=progress)
    collection.refresh_from_db()
    return collection


@transaction.atomic
def assign_collection(*, lab: Lab, collection: Collection) -> None:
    """Have a lab search a collection. Raises `UserError` where it searches another: its runs were
    checked against that.
    """
    found, _ = LabCollection.objects.get_or_create(lab=lab, defaults={"collection": collection})
    if found.collection_id != collection.pk:
        raise UserError(
            f"{lab.slug} searches the collection {found.collection.slug}. Import into that one, or load the lab's folder "
            "with another slug for its collection.",
            code="other-collection",
        )


def require_loadable(*, lab_slug: str, file: CollectionFile) -> None:
    """Raise what would keep a collection from being loaded for a lab; nothing is changed.

    `FileRefusedError` when a file is not there or the headings of a formula index cannot be
    understood, and `UserError` when other labs search a collection of this slug with other files:
    their runs were checked against it.
    """
    if problems := list(_unreadable(file)):
        raise FileRefusedError(problems)
    others = LabCollection.objects.filter(collection__slug=file.slug).exclude(lab__slug=lab_slug)
    names = list(others.order_by("lab__slug").values_list("lab__slug", flat=True))
    if (
        names
        and not Collection.objects.filter(slug=file.slug, source_sha256=_digest(file)).exists()
    ):
        raise UserError(
            f"The collection {file.slug} is searched by {', '.join(names)}, and its files differ from this lab's. "
            "Give this lab's collection another slug, or load the same files.",
            code="collection-in-use",
        )


def _unreadable(file: CollectionFile) -> Iterator[Problem]:
    for path in dict.fromkeys([*file.files.values(), *file.formulas.values()]):
        if not path.exists():
            yield Problem(
                str(path),
                None,
                "no such file",
                "a file of the collection",
                "Name a file that is there.",
            )
    for path in file.formulas.values():
        first = next(read_index(path), None) if path.is_file() else None
        if (
            first
            and not first.frame.height
            and all(problem.line == 1 for problem in first.problems)
        ):
            yield from (problem._replace(path=str(path)) for problem in first.problems)


def _digest(file: CollectionFile) -> str:
    """Return the sha256 over all that is read: kinds, window and contents. An archive of several
    kinds is read once.
    """
    paths = {**file.files, **file.formulas}
    read = {path: file_digest(path) for path in set(paths.values())}
    whole = hashlib.sha256(repr(file.window).encode())
    for kind, path in sorted(paths.items()):
        whole.update(f" {kind} {read[path]}".encode())
    return whole.hexdigest()


def _replace_other_files(collection: Collection, *, digest: str, at: datetime) -> None:
    """Take out what the files of an earlier load brought in; the versions of the visual ids stay,
    the next follows them.

    What came into a collection by the commands alone, before any folder named it, stays: it may be
    these very files.
    """
    if collection.source_sha256 == digest:
        return
    if collection.source_sha256:
        for model in (Post, Comment, PostLink, Tag, Author):
            model._default_manager.filter(collection=collection).delete()
        delete_formulas(collection)
        Import.objects.filter(collection=collection).delete()
        replace_files(collection, posts_index="")
    collection.source_sha256, collection.loaded_at = digest, at
    collection.save(update_fields=["source_sha256", "loaded_at"])

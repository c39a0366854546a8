"""Loading a collection from the files in a lab's folder: posts, related files and formulas.

Rows that cannot be read are in the report of their file; all others are loaded. Each step has its
own transaction and is not repeated, so loading can resume after an interruption.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TypedDict

from django.db import transaction

from arqkit.formats.archives.compressed import DamagedFileError, read_pieces
from arqkit.formats.documents import EXPECTED, is_of_documents
from arqkit.formats.dumps.sources import DUMP_FILES
from arqkit.formats.formulas.index import read_index
from arqkit.formats.labs.folder import CollectionFile
from arqkit.formats.source_text import HEAD, FileKind, require_kind
from arqkit.loads import NO_CHOICE, Change, Fate, LoadChanges, LoadChoice
from arqkit.records import FileRefusedError, Problem
from arqlab.core.errors import UserError, require_confirmed
from arqlab.core.models import Lab
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
from collection.services.importing.import_records import Progress, add_import_changes, file_digest
from collection.services.importing.related_files import import_file
from collection.services.indexing import index_if_small
from collection.services.parquet_files import replace_files
from collection.services.visual_maps import make_visual_map

ORDER = ("posts", "documents", "comments", "post_links", "tags", "users", "votes", "badges")
"""The order of import: votes are counted on posts, and badges on users."""


def load_collection(
    *,
    lab: Lab,
    file: CollectionFile,
    at: datetime,
    judged: JudgedFormula | None = None,
    progress: Progress | None = None,
    choice: LoadChoice = NO_CHOICE,
) -> Collection:
    """Load the collection in a lab's folder and assign it to the lab.

    Loading the same files again changes nothing, even for another lab. Without a formula index, the
    formulas are extracted from the posts. For `judged` see `make_visual_map`. Raise the errors of
    `require_loadable`, or `UnconfirmedLoadError` if files are replaced, before anything changes.
    """
    require_loadable(lab_slug=lab.slug, file=file)
    require_confirmed(collection_changes(file, is_whole=True), choice.confirmed)
    with transaction.atomic():
        Collection.objects.get_or_create(slug=file.slug, defaults={"loaded_at": at})
        # Of two processes that load it at once, one waits here and then finds the files loaded.
        collection = Collection.objects.select_for_update().get(slug=file.slug)
        _replace_other_files(collection, digest=_digest(file), at=at)
        Collection.objects.filter(pk=collection.pk).update(**_facts(file))
        LabCollection.objects.update_or_create(lab=lab, defaults={"collection": collection})
    return _import_all(collection, file, at=at, judged=judged, progress=progress)


def add_to_collection(
    *,
    lab: Lab,
    file: CollectionFile,
    at: datetime,
    judged: JudgedFormula | None = None,
    progress: Progress | None = None,
    choice: LoadChoice = NO_CHOICE,
) -> Collection:
    """Import files into a lab's collection, which is created and assigned if the lab has none.

    A file replaces an earlier one of its kind; files of other kinds stay, as with the import
    commands. Raise `FileRefusedError` for files that cannot be imported, `UnconfirmedLoadError` if
    files are replaced, and `UserError` (`collection-in-use`, `other-collection`) if the collection
    is another one or other labs search it; nothing has changed then.
    """
    if problems := list(_unreadable(file)):
        raise FileRefusedError(problems)
    with transaction.atomic():
        collection, _ = Collection.objects.get_or_create(slug=file.slug, defaults={"loaded_at": at})
        if names := _other_labs(file.slug, lab.slug):
            raise UserError(
                f"{names} searches the collection {file.slug} too, and its runs were "
                "checked against it. Choose another name for the collection, or import the files "
                "with manage.py import_posts.",
                code="collection-in-use",
            )
        assign_collection(lab=lab, collection=collection)
        require_confirmed(collection_changes(file), choice.confirmed)
        Collection.objects.filter(pk=collection.pk).update(**_facts(file))
    return _import_all(collection, file, at=at, judged=judged, progress=progress)


def _facts(file: CollectionFile) -> dict[str, object]:
    return {"is_complete": file.complete, "licence": file.licence}


def collection_changes(file: CollectionFile, *, is_whole: bool = False) -> LoadChanges:
    """Return the files of a collection that a load replaces; other kinds go if it `is_whole`."""
    changes, files = LoadChanges(), {**file.files, **file.formulas}
    add_import_changes(changes, slug=file.slug, files=files, window=file.window)
    loaded = Collection.objects.filter(slug=file.slug).exclude(source_sha256="").first()
    if is_whole and loaded and loaded.source_sha256 != _digest(file):
        for gone in loaded.imports.filter(kept__gt=0).exclude(kind__in=files):
            change = Change(gone.label, f"{gone.source} ({gone.kept:,} rows)")
            changes.add("files of the collection", Fate.DELETED, change)
    return changes


class ImportOptions(TypedDict):
    """What all imports of a load have in common."""

    collection: Collection
    at: datetime
    progress: Progress | None


def _import_all(
    collection: Collection,
    file: CollectionFile,
    *,
    at: datetime,
    judged: JudgedFormula | None,
    progress: Progress | None,
) -> Collection:
    how: ImportOptions = {"collection": collection, "at": at, "progress": progress}
    for kind in (kind for kind in ORDER if kind in file.files):
        import_file(kind=kind, path=file.files[kind], window=file.window, **how)
    index_if_small(collection=collection)
    if file.formulas:
        import_formulas(files=file.formulas, **how)
    make_visual_map(judged=judged, **how)
    collection.refresh_from_db()
    return collection


@transaction.atomic
def assign_collection(*, lab: Lab, collection: Collection) -> None:
    """Assign a collection to a lab. Raise `UserError` if its runs were checked against another."""
    link, _ = LabCollection.objects.get_or_create(lab=lab, defaults={"collection": collection})
    if link.collection_id != collection.pk:
        raise UserError(
            f"{lab.slug} already uses the collection {link.collection.slug}. Import into that "
            "collection, or load the lab's folder with another slug for its collection.",
            code="other-collection",
        )


def require_loadable(*, lab_slug: str, file: CollectionFile) -> None:
    """Check that a collection can be loaded for a lab.

    Raise `FileRefusedError` if a file is missing or the header of a formula index cannot be read.
    Raise `UserError` if other labs search a collection with this slug and other files, because
    their runs were checked against it.
    """
    if problems := list(_unreadable(file)):
        raise FileRefusedError(problems)
    same = Collection.objects.filter(slug=file.slug, source_sha256=_digest(file))
    if (names := _other_labs(file.slug, lab_slug)) and not same.exists():
        raise UserError(
            f"{names} already uses a collection {file.slug} with other files. Choose "
            "another slug for this lab's collection, or load the same files.",
            code="collection-in-use",
        )


def _other_labs(slug: str, lab_slug: str) -> str:
    links = LabCollection.objects.filter(collection__slug=slug).exclude(lab__slug=lab_slug)
    return ", ".join(links.order_by("lab__slug").values_list("lab__slug", flat=True))


def _unreadable(file: CollectionFile) -> Iterator[Problem]:
    for path in dict.fromkeys([*file.files.values(), *file.formulas.values()]):
        if not path.exists():
            expected, todo = "a file of the collection", "Check the path."
            yield Problem(str(path), None, "no such file", expected, todo)
    documents = file.files.get("documents")
    if documents is not None and documents.exists() and not is_of_documents(documents):
        todo = "Convert or rename the file."
        yield Problem(str(documents), None, "a file of another kind", EXPECTED, todo)
    for kind, path in file.files.items():
        yield from _of_another_kind(path, FileKind.DUMP if kind in DUMP_FILES else None)
    for path in file.formulas.values():
        yield from _of_another_kind(path, FileKind.FORMULAS)
        first = next(read_index(path), None) if path.is_file() else None
        if first and not first.frame.height and {it.line for it in first.problems} <= {1}:
            yield from (problem._replace(path=str(path)) for problem in first.problems)


def _of_another_kind(path: Path, kind: FileKind | None) -> Iterator[Problem]:
    """Yield the problem of a file whose first lines show another kind than it should have."""
    if kind is None or not path.is_file() or path.suffix.lower() == ".7z":
        return
    try:
        require_kind(next(read_pieces(path, size=HEAD), b""), kind, path=str(path))
    except DamagedFileError:
        return  # the import reports it
    except FileRefusedError as refused:
        yield from refused.problems


def _digest(file: CollectionFile) -> str:
    """Return the sha256 of the kinds, window and contents of all files."""
    paths = {**file.files, **file.formulas}
    read = {path: file_digest(path) for path in set(paths.values())}
    whole = hashlib.sha256(repr(file.window).encode())
    for kind, path in sorted(paths.items()):
        whole.update(f" {kind} {read[path]}".encode())
    return whole.hexdigest()


def _replace_other_files(collection: Collection, *, digest: str, at: datetime) -> None:
    """Delete the data of an earlier load with other files. Versions of visual ids are kept.

    Data that only the import commands loaded is kept too, because it may come from the same files.
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

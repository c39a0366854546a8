"""Import of documents, which become posts without a thread: read, sanitized, stored in batches.

Each batch is stored together with the number of documents read, so that a stopped or killed import
can resume there. A document that exists is replaced; documents missing from the file are kept.
"""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from pathlib import Path

from django.db import transaction

from arqkit.formats.batches import in_slices
from arqkit.formats.documents import SourceDocument, read_documents
from arqkit.records import Problem
from arqkit.texts.html.foreign import WITHOUT_LATEX, document_html, text_html
from arqkit.texts.html.sanitizer import RULES, clean_title_and_body
from collection.models import Collection, Import, Post
from collection.services.importing.import_records import (
    WHOLE,
    Progress,
    finish_import,
    import_digest,
    is_overtaken,
    restart_import,
    save_progress,
    start_import,
    stopped_on_error,
)
from collection.services.importing.parquet_parts import write_posts_index

BATCH = 500
"""Documents stored in one transaction."""
REPLACED = ("title", "body", "clean_title", "clean_body", "rules")


def import_documents(
    *, collection: Collection, path: Path, at: datetime, progress: Progress | None = None
) -> Import:
    """Import the documents of a file or folder into a collection. Return the record.

    `arqkit.formats.documents` describes the files. One that is already imported is not read again.
    What cannot be read becomes a problem of the record. Raise `UserError` if another process is
    importing it.
    """
    digest = import_digest(Import.Kind.DOCUMENTS, path, WHOLE)
    record = start_import(
        collection=collection, kind=Import.Kind.DOCUMENTS, source=path.name, sha256=digest, at=at
    )
    if record.state == Import.State.DONE:
        if not is_overtaken(record):
            return record
        restart_import(record, at)
    with stopped_on_error(record):
        for batch in in_slices(islice(read_documents(path), record.rows, None), size=BATCH):
            with transaction.atomic():
                _store(record, batch, at)
            if progress is not None:
                progress(record.rows, None)
        with transaction.atomic():
            write_posts_index(collection)
            finish_import(record=record, at=at)
    return record


def _store(record: Import, batch: list[SourceDocument | Problem], at: datetime) -> None:
    """Store a batch of documents with its problems and the number of rows read."""
    problems = [document for document in batch if isinstance(document, Problem)]
    documents = [document for document in batch if isinstance(document, SourceDocument)]
    taken = _ids_of_posts(record.collection, documents)
    problems += [_taken(document) for document in documents if document.document_id in taken]
    rows = []
    for document in documents:
        if document.document_id not in taken:
            row, unread = _post(record.collection, document)
            rows.append(row)
            problems += [_without_latex(document, unread)] if unread else []
    Post.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["collection", "post_id"],
        update_fields=REPLACED,
    )
    record.rows += len(batch)
    record.kept += len(rows)
    record.counts = {"documents": record.kept}
    save_progress(record=record, problems=problems, at=at)


def _post(collection: Collection, document: SourceDocument) -> tuple[Post, int]:
    """Return a document as an unsaved post, and the number of its formulas without LaTeX."""
    read = document_html(document.text if document.is_html else text_html(document.text))
    source_title = document.title or read.title
    title, body = clean_title_and_body(source_title, read.body, post_id=document.document_id)
    post = Post(
        collection=collection,
        post_id=document.document_id,
        kind=Post.Kind.DOCUMENT,
        thread_id="",
        title=source_title,
        body=read.body,
        clean_title=title.kept,
        clean_body=body.kept,
        rules=RULES,
    )
    return post, read.unread


def _ids_of_posts(collection: Collection, documents: list[SourceDocument]) -> set[str]:
    """Return the ids that are those of questions and answers, which a document never replaces."""
    posts = Post.objects.filter(collection=collection).exclude(kind=Post.Kind.DOCUMENT)
    ids = [document.document_id for document in documents]
    return set(posts.filter(post_id__in=ids).values_list("post_id", flat=True))


def _taken(document: SourceDocument) -> Problem:
    actual = f"the id {document.document_id}, which is that of a post"
    todo = "Import the documents into a collection of their own."
    return Problem(document.source, document.line, actual, "an id that no post has", todo)


def _without_latex(document: SourceDocument, unread: int) -> Problem:
    actual = (
        f"{unread} formula{'s' * (unread != 1)} in MathML without LaTeX in {document.document_id}"
    )
    expected = "LaTeX in alttext or in an annotation application/x-tex"
    todo = f"Add the LaTeX, and import the documents again. Pages show “{WITHOUT_LATEX}”."
    return Problem(document.source, document.line, actual, expected, todo)

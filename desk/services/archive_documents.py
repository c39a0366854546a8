"""The files of an archive that people and other programs read; a restore needs none of them."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain

import tomli_w
from django.contrib.auth.models import AnonymousUser
from django.template.loader import render_to_string

from arqkit.formats.labs.files import QRELS, TASK_FILES
from arqlab.core.exports import (
    Audience,
    Document,
    documents_of_lab,
    documents_of_task,
    released_chunks,
    task_document,
)
from arqlab.core.models import Lab, Membership, Role, Task
from arqlab.labs.permissions import tasks_visible_to
from collection.selectors.collections import collection_of
from desk.services.exports import lab_exports, task_exports
from desk.services.static_site import site_files
from evaluation.selectors.boards import released_leaderboard

DATES = {"opens": "opens_at", "deadline": "deadline", "judging_deadline": "judging_deadline"}


def lab_documents(lab: Lab, *, published: bool) -> Iterator[Document]:
    """Yield the documents of a lab.

    `published` leaves out people, remarks, and all that visitors may not see: the qrels, judgments
    and runs that are not released.
    """
    visible = tasks_visible_to(AnonymousUser()) if published else Task.objects.all()
    tasks = list(visible.filter(lab=lab).select_related("lab"))
    documents = {}
    for document in chain(
        _of_lab(lab, published=published),
        *(_of_task(task, published=published) for task in tasks),
        _site(lab) if published else (),
    ):
        yield document
        documents[document.path] = document._replace(chunks=())
    contents = {path: one.contents for path, one in documents.items() if one.contents}
    table = {
        "lab": {"slug": lab.slug, "name": lab.name, "protocol": lab.protocol},
        "tasks": [_task_table(task, documents.values()) for task in tasks],
    }
    yield Document("lab.toml", "", [tomli_w.dumps(table).encode()])
    yield Document("CITATION.cff", "", [_json(_citation(lab))])  # JSON is YAML
    yield Document("datacite.json", "", [_json(_datacite(lab))])
    facts = {"lab": lab, "collection": collection_of(lab), "contents": contents}
    readme = render_to_string("desk/archive_readme.md", facts | {"published": published})
    yield Document("README.md", "", [readme.encode()])


def _of_lab(lab: Lab, *, published: bool) -> Iterator[Document]:
    yield from documents_of_lab(lab)
    for export in lab_exports(organizes=not published):
        if export.is_archived:
            yield export.document(lab)


def _of_task(task: Task, *, published: bool) -> Iterator[Document]:
    for document in _released(task) if published else _all(task):
        yield document._replace(path=f"{task.slug}/{document.path}")


def _all(task: Task) -> Iterator[Document]:
    exports = [export for export in task_exports(task, organizes=True) if export.is_archived]
    for export in exports:
        if export.folder is None:
            yield task_document(export, task)
    yield from documents_of_task(task, published=False)
    for export in exports:
        if folder := export.folder:
            yield from folder.documents(folder.files(task))


def _released(task: Task) -> Iterator[Document]:
    is_released = released_leaderboard(task) is not None
    for export in task_exports(task, organizes=True):
        is_for_all = export.is_archived and export.audience != Audience.ORGANIZERS
        if is_for_all or (is_released and export.published):
            contents = export.published_contents or export.contents
            chunks = released_chunks(export, task) if is_released else export.chunks(task)
            yield Document(export.name, contents, chunks, export)
    yield from documents_of_task(task, published=True)


def _site(lab: Lab) -> Iterator[Document]:
    for name, content in site_files(lab):
        contents = "The pages of the lab, without scripts." if name == "index.html" else ""
        yield Document(f"site/{name}", contents, [content])


def _task_table(task: Task, documents: Iterable[Document]) -> dict[str, object]:
    """Return a task in lab.toml, with those of its files that a lab folder is loaded from."""
    dates = {name: getattr(task, field) for name, field in DATES.items()}
    files: dict[str, str] = {}
    qrels: dict[object, dict[str, object]] = {}
    of_task = [one for one in documents if one.export and one.path.startswith(f"{task.slug}/")]
    # The qrels that everyone gets are those of a version too, and are then named instead of it.
    for path, _, _, export in sorted(of_task, key=_is_after_release):
        if export is None or export.kind is None or not export.kind.is_named:
            continue
        if export.kind is QRELS:
            details = {"name": "", "file": path} | dict(export.details(task))
            qrels[details["name"]] = details
        else:
            files[export.kind.key] = path
    return {
        "slug": task.slug,
        "name": task.name,
        "kind": task.kind,
        "published_runs": task.published_runs,
        **{name: date for name, date in dates.items() if date},
        **task.overrides,
        **{key: files[key] for key in TASK_FILES if key in files},
        **({QRELS.key: list(qrels.values())} if qrels else {}),
    }


def _is_after_release(document: Document) -> bool:
    return document.export is not None and document.export.audience == Audience.AFTER_RELEASE


def _organizers(lab: Lab) -> list[str]:
    people = Membership.objects.filter(lab=lab, role=Role.ORGANIZER).select_related("user")
    return [membership.user.name for membership in people.order_by("pk")] or [lab.name]


def _citation(lab: Lab) -> dict[str, object]:
    """Return the lab in the Citation File Format, 1.2."""
    return {
        "cff-version": "1.2.0",
        "type": "dataset",
        "message": "If you use this test collection, cite it as below.",
        "title": lab.name,
        "authors": [{"name": name} for name in _organizers(lab)],
        "date-released": lab.created_at.date().isoformat(),
        **({"abstract": lab.description} if lab.description else {}),
    }


def _datacite(lab: Lab) -> dict[str, object]:
    """Return the lab by DataCite's schema, 4.6; the repository that publishes it adds the DOI."""
    return {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Test collection"},
        "titles": [{"title": lab.name}],
        "creators": [{"name": name} for name in _organizers(lab)],
        "publisher": {"name": lab.name},
        "publicationYear": str(lab.created_at.year),
        "descriptions": [
            {"description": lab.description or lab.name, "descriptionType": "Abstract"}
        ],
    }


def _json(facts: dict[str, object]) -> bytes:
    return (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode()

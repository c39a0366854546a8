"""The files of an archive that people and other programs read; a restore needs none of them."""

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import tomli_w
from django.contrib.auth.models import AnonymousUser
from django.template.loader import render_to_string

from analyses.services.certificates import (
    Certification,
    certificate_frames,
    certification_of,
    opened_certification,
)
from arqkit.formats.tables import exact_table, frame_text
from arqlab.core.models import Lab, Membership, Role, Task
from arqlab.core.permissions import tasks_visible_to
from arqlab.web.exports import Export, published_files
from assessment.guidelines.services.rendering import clean_guideline
from collection.selectors.collections import collection_of
from collection.selectors.visual_maps import mapping_parts, newest_map
from desk.services.exports import lab_exports, official_table, task_exports, topic_info_csv
from desk.services.run_files import run_files
from desk.services.static_site import site_files
from evaluation.models import Leaderboard, ReleasedRun
from evaluation.permissions import score_access_of
from evaluation.selectors.boards import released_board, released_leaderboard
from evaluation.selectors.records import recorded_topic_info, recorded_topics, released_runs

GUIDELINES = "guidelines.html"
"""The file that strangers open in a browser, and that is sanitized for them as on its page."""
PUBLISHED = {"pool.tsv", "pool.json", GUIDELINES, "guidelines.json", "topic-info.csv"}
"""The organizers' files of a task that are published with its leaderboard."""
CERTIFICATE = {
    "teams": "the scores of runs without the judgments that only their team contributed",
    "runs": "the scores of runs without the judgments that only they contributed",
    "depths": "the rankings of the runs by shallower pools",
}
"""What is in the files of a certificate."""
RECORDED: Mapping[str, Callable[[Leaderboard], bytes]] = {
    "topics.xml": recorded_topics,
    "topic-info.csv": lambda leaderboard: topic_info_csv(recorded_topic_info(leaderboard)),
}
"""The files of a task that are published as they were at the release of its leaderboard."""
REMARKS = {"comment", "reason", "marks", "active_ms"}
"""The columns of judgments that are not published."""

DATES = {"opens": "opens_at", "deadline": "deadline", "judging_deadline": "judging_deadline"}


class Document(NamedTuple):
    """A file of an archive: its path, what it contains (for its folder, if empty), its content."""

    path: str
    contents: str
    chunks: Iterable[bytes]


def lab_documents(lab: Lab, *, published: bool) -> Iterator[Document]:
    """Yield the documents of a lab.

    `published` leaves out people, remarks, and all that visitors may not see: the qrels, judgments
    and runs that are not released.
    """
    visible = tasks_visible_to(AnonymousUser()) if published else Task.objects.all()
    tasks = list(visible.filter(lab=lab).select_related("lab"))
    contents = {}
    for document in chain(
        _of_lab(lab, published=published),
        *(_released(task) if published else _all(task) for task in tasks),
        _site(lab) if published else (),
    ):
        yield document
        if document.contents:
            contents[document.path] = document.contents
    table = {
        "lab": {"slug": lab.slug, "name": lab.name, "protocol": lab.protocol},
        "tasks": [_task_table(task, contents) for task in tasks],
    }
    yield Document("lab.toml", "", [tomli_w.dumps(table).encode()])
    yield Document("CITATION.cff", "", [_json(_citation(lab))])  # JSON is YAML
    yield Document("datacite.json", "", [_json(_datacite(lab))])
    facts = {"lab": lab, "collection": collection_of(lab), "contents": contents}
    readme = render_to_string("desk/archive_readme.md", facts | {"published": published})
    yield Document("README.md", "", [readme.encode()])


def _of_lab(lab: Lab, *, published: bool) -> Iterator[Document]:
    if (collection := collection_of(lab)) and (version := newest_map(collection)):
        parts = mapping_parts(version)
        lines = (exact_table(part.iter_rows(), delimiter="\t") for part in parts)
        contents = f"Version {version.version} of the visual ids: formula id, visual id."
        yield Document("visual-ids.tsv", contents, lines)
    for export in lab_exports(organizes=not published):
        if export.name != "audit.tsv":  # names runs by their keys on this server; see the table
            yield Document(export.name, export.contents, export.chunks(lab))


def _all(task: Task) -> Iterator[Document]:
    exports = {export.name: export for export in task_exports(task, organizes=True)}
    for name, export in exports.items():
        # Files with names instead of those with pseudonyms, which belong to this server.
        if not (name.endswith(".zip") or f"{name.removesuffix('.tsv')}-with-names.tsv" in exports):
            yield Document(f"{task.slug}/{name}", export.contents, export.chunks(task))
    for qrel_set in task.qrel_sets.filter(is_current=True).select_related("task__lab"):
        yield from _certificate(certification_of(qrel_set, computes=True), task)
    yield from _runs(task)


def _released(task: Task) -> Iterator[Document]:
    access = score_access_of(AnonymousUser(), task)
    names = {export.name for export in task_exports(task, organizes=False)}
    if access.leaderboard:
        names |= PUBLISHED
    for export in task_exports(task, organizes=True):
        if export.name in names and not export.name.endswith(".zip"):
            chunks = _published(export, task, access.leaderboard)
            yield Document(f"{task.slug}/{export.name}", export.contents, chunks)
    if access.leaderboard:
        for published in published_files():
            for name, content in published.files(task):
                yield Document(f"{task.slug}/{name}", published.contents, [content])
        contents = "All judgments with history. Assessors have pseudonyms."
        chunks = official_table(task, without=REMARKS)
        yield Document(f"{task.slug}/judgments.tsv", contents, chunks)
        if access.may_open_certificate(qrel_set := access.leaderboard.qrel_set):
            certified = certification_of(qrel_set, computes=True)
            yield from _certificate(opened_certification(certified, access), task)
        rows = released_board(access.leaderboard).rows
        keys = {row.run.key for row in rows if access.may_open(row.run)}
        released = [run for run in released_runs(access.leaderboard) if run.run_id in keys]
        yield from _runs(task, released)


def _published(
    export: Export[Task], task: Task, leaderboard: Leaderboard | None
) -> Iterable[bytes]:
    """Return the content of a file as strangers get it."""
    if leaderboard and export.name in RECORDED:
        return [RECORDED[export.name](leaderboard)]
    chunks = export.chunks(task)
    if export.name == GUIDELINES:
        return [clean_guideline(b"".join(chunks).decode()).encode()]
    return chunks


def _certificate(certified: Certification, task: Task) -> Iterator[Document]:
    for part, frame in certificate_frames(certified).items():
        contents = f"Reusability certificate of the qrels: {CERTIFICATE[part]}."
        yield Document(
            f"{task.slug}/certificate.{part}.tsv", contents, [frame_text(frame).encode()]
        )


def _site(lab: Lab) -> Iterator[Document]:
    for name, content in site_files(lab):
        contents = "The pages of the lab, without scripts." if name == "index.html" else ""
        yield Document(f"site/{name}", contents, [content])


def _runs(task: Task, released: Sequence[ReleasedRun] | None = None) -> Iterator[Document]:
    for name, content in run_files(task, released):
        contents = "The run files in this folder." if name == "manifest.tsv" else ""
        yield Document(f"{task.slug}/runs/{name}", contents, [content])


def _task_table(task: Task, paths: Container[str]) -> dict[str, object]:
    """Return a task in lab.toml, with those of its files that the archive has."""
    files = {"topics": "topics.xml", "topic_info": "topic-info.csv", "guidelines": GUIDELINES}
    dates = {name: getattr(task, field) for name, field in DATES.items()}
    qrels = {
        f"{task.slug}/qrels.{version.name}.tsv": version
        for version in task.qrel_sets.order_by("version")
    }
    if released := released_leaderboard(task):
        qrels |= {f"{task.slug}/qrels.tsv": released.qrel_set}
    tables = {
        version.name: {
            "name": version.name,
            "file": path,
            "items": version.items,
            "labels": version.scale,
            "relevant_from": version.relevant_from,
        }
        for path, version in qrels.items()
        if path in paths
    }
    return {
        "slug": task.slug,
        "name": task.name,
        "kind": task.kind,
        "published_runs": task.published_runs,
        **{name: date for name, date in dates.items() if date},
        **task.overrides,
        **{key: path for key, name in files.items() if (path := f"{task.slug}/{name}") in paths},
        **({"qrels": list(tables.values())} if tables else {}),
    }


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

"""The files of an archive that people and other programs read; a restore needs none of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import tomli_w
from django.template.loader import render_to_string

from arqlab.core.models import Lab, Membership, Role, Task
from collection.selectors.collections import collection_of
from desk.services.exports import LAB_EXPORTS, run_files, task_exports


def lab_documents(lab: Lab) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield the path and the content of each document of a lab."""
    contents = {}
    for export in LAB_EXPORTS:
        if export.name != "audit.tsv":  # names runs by their keys on this server; see the table
            contents[export.name] = export.contents
            yield export.name, export.chunks(lab)
    tasks = list(lab.tasks.select_related("lab"))
    for task in tasks:
        documents = {document.name: document for document in task_exports(task, organizes=True)}
        for name, document in documents.items():
            # Files with names instead of those with pseudonyms, which belong to this server.
            if not (
                name.endswith(".zip") or f"{name.removesuffix('.tsv')}-with-names.tsv" in documents
            ):
                contents[f"{task.slug}/{name}"] = document.contents
                yield f"{task.slug}/{name}", document.chunks(task)
        contents[f"{task.slug}/runs/"] = "The run files, unpacked; `manifest.tsv` lists them."
        for name, content in run_files(task):
            yield f"{task.slug}/runs/{name}", [content]
    yield "lab.toml", [tomli_w.dumps(_lab_table(lab, tasks)).encode()]
    yield "CITATION.cff", [_json(_citation(lab))]  # JSON is YAML
    yield "datacite.json", [_json(_datacite(lab))]
    facts = {"lab": lab, "collection": collection_of(lab), "contents": contents}
    yield "README.md", [render_to_string("desk/archive_readme.md", facts).encode()]


def _lab_table(lab: Lab, tasks: Iterable[Task]) -> dict[str, Any]:
    """Return the content of lab.toml. Its collection stays where it is."""
    return {
        "lab": {"slug": lab.slug, "name": lab.name, "protocol": lab.protocol},
        "tasks": [_task_table(task) for task in tasks],
    }


def _task_table(task: Task) -> dict[str, Any]:
    has_topics = task.topics.exists()
    dates = {name: getattr(task, field) for name, field in DATES.items()}
    return {
        "slug": task.slug,
        "name": task.name,
        "kind": task.kind,
        **({"topics": f"{task.slug}/topics.xml"} if has_topics else {}),
        **({"topic_info": f"{task.slug}/topic-info.csv"} if has_topics else {}),
        "guidelines": f"{task.slug}/guidelines.html",
        "published_runs": task.published_runs,
        **{name: date for name, date in dates.items() if date},
        **task.overrides,
        "qrels": [
            {
                "name": version.name,
                "file": f"{task.slug}/qrels.{version.name}.tsv",
                "items": version.items,
                "labels": version.scale,
                "relevant_from": version.relevant_from,
            }
            for version in task.qrel_sets.order_by("version")
        ],
    }


DATES = {"opens": "opens_at", "deadline": "deadline", "judging_deadline": "judging_deadline"}


def _organizers(lab: Lab) -> list[str]:
    people = Membership.objects.filter(lab=lab, role=Role.ORGANIZER).select_related("user")
    return [membership.user.name for membership in people.order_by("pk")] or [lab.name]


def _citation(lab: Lab) -> dict[str, Any]:
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


def _datacite(lab: Lab) -> dict[str, Any]:
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


def _json(facts: dict[str, Any]) -> bytes:
    return (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode()

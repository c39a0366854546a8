"""Topics made of questions that organizers chose among the candidates."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from django.core.files.base import ContentFile

from arqkit.formats.topics.chosen_questions import ChosenQuestion
from arqlab.core.models import Job, Lab, Task, User
from arqlab.core.services.jobs import start_job
from collection.services.topic_making import TopicFiles, make_topic_files
from desk.services.load_files import store_files
from desk.services.loaders import candidates_file, collection_to_choose_from

FILES = {Task.Kind.FORMULAS.value: "task2"}
"""The name of the topic files by the kind of task; all others take those of task 1."""


def read_candidates(load: Job) -> list[dict[str, str]]:
    """Return the rows of the list of candidates."""
    path = candidates_file(load)
    if not path.is_file():
        return []
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


def chosen_posts(posts: Sequence[str]) -> list[ChosenQuestion]:
    """Return chosen questions without numbers, formulas and information."""
    return [ChosenQuestion(line, post, "", "", {}) for line, post in enumerate(posts, start=2)]


def topic_files_of(
    lab: Lab, chosen: Sequence[ChosenQuestion], *, first: int, path: str
) -> TopicFiles:
    """Return the topic files of chosen questions. Raise `FileRefusedError` with all problems."""
    return make_topic_files(
        collection=collection_to_choose_from(lab), chosen=chosen, first=first, path=path
    )


def zip_of(files: Mapping[str, bytes]) -> bytes:
    """Return topic files as a zip."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def load_topic_files(*, topic_files: TopicFiles, task: Task, at: datetime, by: User) -> Job:
    """Start the load of the topics that were made for a task. The caller queues it."""
    name = FILES.get(task.kind, "task1")
    fields = {
        "topics": f"topics.{name}.xml",
        "topic_info": f"topic-info.{name}.csv",
        "topic_formulas": "topic-formulas.latex.tsv",
    }
    uploads = {
        field: [ContentFile(topic_files.files[file], name=file)] for field, file in fields.items()
    }
    return start_job(
        job=Job(kind="topics", options={"delete_others": False}),
        place=task,
        at=at,
        by=by,
        store=partial(store_files, uploads=uploads),
    )

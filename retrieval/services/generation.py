"""Generated answers for Task 3, from the language model that the server's settings name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import polars as pl
from django.conf import settings as django_settings

from arqkit.formats.runs.answers import ANSWERS
from arqkit.retrieval.generation import Endpoint, GenerationError, GenerationSettings, short_answer
from arqlab.core.errors import UserError
from arqlab.core.models import Task
from retrieval.models import SystemRun
from retrieval.selectors import Sources
from retrieval.services.indexes import Progress

KEPT = "The answers so far are kept: make the baseline again to ask for the others only."


def endpoint() -> Endpoint:
    """Return the API that the server's settings name."""
    return Endpoint(django_settings.GENERATION_URL, django_settings.GENERATION_KEY)


def needs_model(sources: Sources) -> str:
    """Return what to do if no language model is configured."""
    if not (django_settings.GENERATION_URL and django_settings.GENERATION_MODEL):
        return (
            "No language model is configured. Set ARQLAB_GENERATION_URL and "
            "ARQLAB_GENERATION_MODEL on the server, or run make_baseline with --answers FILE."
        )
    return endpoint().needs()


def model_settings(task: Task) -> dict[str, Any]:
    """Return the fields of `GenerationSettings` with the limit of a task's answers."""
    own = GenerationSettings(
        django_settings.GENERATION_MODEL, max_characters=task.protocol.max_characters
    )
    return asdict(own)


def by_model(sources: Sources, settings: Mapping[str, Any], progress: Progress) -> pl.DataFrame:
    """Return the answer (topic, answer) of a language model to each topic.

    `settings` are fields of `GenerationSettings`. Every answer is kept as soon as it is there, so
    that a killed job does not ask for it again. Raise `UserError` if the model cannot be asked, or
    has no short answer to a topic.
    """
    own, folder = GenerationSettings(**settings), _folder(sources.task, settings)
    answers, unanswered = list[tuple[str, str]](), list[str]()
    for done, topic in enumerate(sources.topics):
        tell = partial(progress, done, len(sources.topics))
        tell()
        prompt, wait = own.prompt_of(topic), partial(_wait, tell)
        complete = partial(endpoint().complete, prompt, own, wait=wait)
        try:
            answer = _kept(folder, prompt, partial(short_answer, complete, own))
        except GenerationError as error:
            raise UserError(f"{error} {KEPT}", code="generation") from error
        if answer is None:
            unanswered.append(topic.query_id)
        else:
            answers.append((topic.query_id, answer))
    if unanswered:
        raise UserError(
            f"The language model has no answer of 1 to {own.max_characters:,} characters to "
            f"{', '.join(unanswered)} in {own.tries} tries. {KEPT}",
            code="generation",
        )
    return pl.DataFrame(answers, schema=ANSWERS, orient="row")


def _wait(tell: Callable[[], None], seconds: int) -> None:
    """Let seconds pass. `tell` is called each second, so that the job may be stopped."""
    until = monotonic() + seconds
    while (left := until - monotonic()) > 0:
        tell()
        sleep(min(left, 1))


def _folder(task: Task, settings: Mapping[str, Any]) -> Path:
    """Return the folder of the answers for the next run of a task with some settings.

    Answers of a run that was submitted are not used again.
    """
    runs = SystemRun.objects.filter(run__task=task, system="generated").count()
    digest = hashlib.sha256(json.dumps(dict(settings), sort_keys=True).encode()).hexdigest()
    return Path(django_settings.DATA_DIR, "generated", f"{task.pk}-{runs + 1}-{digest[:12]}")


def _kept(folder: Path, prompt: str, ask: Callable[[], str | None]) -> str | None:
    """Return the stored answer to a prompt, or ask for one and store it."""
    file = folder / hashlib.sha256(prompt.encode()).hexdigest()
    if file.exists():
        return file.read_bytes().decode()
    if (answer := ask()) is not None:
        folder.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_bytes(answer.encode())
        part.rename(file)
    return answer

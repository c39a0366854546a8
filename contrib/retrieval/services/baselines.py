"""Baselines: a system ranks, and its run is submitted and checked like any other run."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePath
from typing import NamedTuple, cast

from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone

from arqkit.formats.runs.answers import read_answers, run_of_answers
from arqkit.formats.runs.times import write_times
from arqkit.formats.runs.writing import MOST_ITEMS, run_of_ranking
from arqkit.records import TaskKind
from arqlab.core.errors import UserError
from arqlab.core.models import Job, Task, User
from arqlab.jobs.services.jobs import RunningJob
from arqlab.teams.services import lab_team
from arqlab.web.jobs import JobLane
from contrib.retrieval.models import SystemRun
from contrib.retrieval.selectors import Sources
from contrib.retrieval.services.indexes import Progress
from contrib.retrieval.services.recording import versions_of
from contrib.retrieval.services.systems import (
    COMBINATION,
    GENERATED,
    SYSTEMS,
    System,
    needs_topics,
    system_named,
)
from contrib.retrieval.services.timing import Ranked
from submissions.models import Run
from submissions.selectors import run_items
from submissions.services.run_metadata import TAG_LENGTH, RunMetadata
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run


@dataclass(frozen=True)
class Order:
    """A baseline to make: a system with settings, for a task, and the tag of its run."""

    task: Task
    system: System
    settings: Mapping[str, object]
    tag: str

    @property
    def title(self) -> str:
        """Return the name of the system, with the runs or the file that its settings name."""
        runs = cast("Sequence[str]", self.settings.get("runs", ()))
        source = " and ".join(runs) or self.settings.get("file", "")
        return f"{self.system.name} of {source}" if source else self.system.name


def usual_order(task: Task, system: System) -> Order:
    """Return the order of a system with its own settings; the run is named after the system."""
    settings = {**system.settings, **system.configured(task)}
    return Order(task, system, settings, system.key)


def order_of_combination(task: Task, runs: Sequence[Run], method: str) -> Order:
    """Return the order of a combination of runs of a task, which is named after them.

    Raise `UserError` if they cannot be combined.
    """
    if len(set(runs)) < 2:
        raise UserError("Choose two different runs.", code="same-run")
    if len({run_items(run, task) for run in runs}) > 1:
        raise UserError(
            "These runs list different types of items, such as formula ids and visual ids. Choose "
            "runs with items of one type.",
            code="items-differ",
        )
    settings = {"method": method, "runs": [run.identifier for run in runs]}
    tag = "-".join([method, *(run.tag for run in runs)])[:TAG_LENGTH]
    return Order(task, COMBINATION, settings, tag)


def order_of_answers(task: Task, *, data: bytes, name: str) -> Order:
    """Return the order of the answers to a task's topics in a file, which its run is named after.

    Raise FileRefusedError with the problems of the file.
    """
    topics = [topic.query_id for topic in Sources(task).topics]
    longest = task.protocol.max_characters
    answers = read_answers(data, path=name, topics=topics, max_characters=longest)
    system = replace(
        GENERATED,
        description="Answers that were generated outside ArqLab.",
        rank=lambda *_: Ranked(answers, {}),
        needs=(needs_topics,),
    )
    settings = {"file": name, "sha256": hashlib.sha256(data).hexdigest()}
    tag = f"{GENERATED.key}-{PurePath(name).stem}"[:TAG_LENGTH]
    return Order(task, system, settings, tag)


def made_run(task: Task, tag: str) -> Run | None:
    """Return the baseline of a system that takes part in a task, or None."""
    runs = Run.objects.valid().filter(task=task, made_by__isnull=False, tag=tag)
    return runs.select_related("made_by", "team").first()


class RankedFile(NamedTuple):
    """What a system read, its run file, the seconds by topic, and what it was made with."""

    sources: Sources
    data: bytes
    seconds: Mapping[str, float]
    recorded: Mapping[str, object]


def rank_for(order: Order, progress: Progress) -> RankedFile:
    """Return the run file of a system. Raise `UserError` if it cannot run."""
    sources = Sources(order.task)
    if refusal := order.system.refusal(sources):
        raise UserError(f"{order.system.name}: {refusal}", code="cannot-run")
    ranking, seconds = order.system.rank(sources, order.settings, progress)
    if ranking.is_empty():
        raise UserError(f"{order.system.name} found nothing for the topics of {order.task.name}.")
    limit = min(MOST_ITEMS, order.task.protocol.limit)
    is_answers = "answer" in ranking.columns
    data = (
        run_of_answers(ranking, tag=order.tag)
        if is_answers
        else run_of_ranking(ranking, tag=order.tag, limit=limit)
    )
    versions = {"versions": versions_of(order.system.packages)}
    return RankedFile(
        sources, data, seconds, {**versions, **order.system.records(sources, order.settings)}
    )


def make_baseline(*, order: Order, by: User | None, at: datetime, progress: Progress) -> Run:
    """Let a system rank, submit its run as a baseline, check it, and return it.

    A run that was submitted when its worker died is only checked. The schedule may have begun to
    check the run, and ends it. Raise `UserError` if the system cannot run, a rule of submissions
    refuses the run, or it has errors.
    """
    if made_run(order.task, order.tag):
        raise UserError(
            f"{order.task.name} has the baseline {order.tag}. Withdraw it to make it again.",
            code="made",
        )
    run = _unchecked_run(order)
    if run is None:
        run = _submit(order, rank_for(order, progress), by=by, at=at)
    validate_uploaded_run(run_id=run.pk, at=timezone.now())
    run.refresh_from_db()
    if run.status == Run.Status.INVALID:
        raise UserError(
            f"The run {run.tag} (number {run.pk}) has errors. Its page lists them.", code="invalid"
        )
    return run


def _unchecked_run(order: Order) -> Run | None:
    waiting = (Run.Status.UPLOADED, Run.Status.VALIDATING)
    runs = Run.objects.submitted().filter(task=order.task, made_by__isnull=False, tag=order.tag)
    return runs.filter(status__in=waiting, withdrawn_at=None).select_related("team").first()


def order_of_job(job: Job, task: Task) -> Order:
    """Return the order of the baseline that a job makes for a task."""
    options = job.options
    return Order(task, system_named(options["system"]), options["settings"], options["tag"])


def lane_of_baseline(job: Job) -> JobLane:
    """Return the lane of the job that makes a baseline; a system may have been removed since."""
    system = SYSTEMS.get(job.options["system"])
    return system.lane if system else JobLane.MINUTES


def order_of_run(system_run: SystemRun) -> Order | None:
    """Return the order that made a run, or None if its system was removed since."""
    system = SYSTEMS.get(system_run.system)
    if system is None:
        return None
    described = replace(system, description=system_run.run.description)
    return Order(system_run.run.task, described, system_run.settings, system_run.run.tag)


def make_for_job(job: RunningJob) -> list[str]:
    """Make the baseline that a job names; nothing if an earlier attempt of the job made it."""
    order = order_of_job(job.job, job.task)
    run = made_run(job.task, order.tag) or make_baseline(
        order=order, by=job.by, at=job.at, progress=job.progress
    )
    return [f"{run.tag} in {job.task.name}: {run.get_status_display().lower()}."]


@transaction.atomic
def _submit(order: Order, ranked: RankedFile, *, by: User | None, at: datetime) -> Run:
    task, name = order.task, f"{order.task.slug}-{order.tag}.tsv"
    kind = TaskKind(task.kind)
    is_generated = kind is TaskKind.GENERATED_ANSWERS
    items = Task.Items.FORMULA_IDS if kind is TaskKind.FORMULAS else ""
    metadata = RunMetadata(
        order.tag,
        is_baseline=True,
        is_control=order.system.is_control,
        data_used=order.system.data_used,
        answer_kind=Run.AnswerKind.GENERATIVE if is_generated else "",
        description=order.system.description,
        items=items,
    )
    [run] = submit_upload(
        file=ContentFile(ranked.data, name=name),
        task=task,
        team=lab_team(task.lab),
        by=by,
        at=at,
        metadata={name: metadata},
    )
    run.retrieval_times = write_times(ranked.seconds)
    run.save(update_fields=["retrieval_times"])
    SystemRun.objects.create(
        run=run,
        system=order.system.key,
        settings=dict(order.settings),
        collection="" if is_generated else ranked.sources.collection_sha256,
        recorded=dict(ranked.recorded),
    )
    return run

"""Jobs: work that takes longer than a request, and the problems of the files that it read."""

import secrets
from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q

from arqlab.core.faults import PAUSES, attempt_due_at
from arqlab.core.models.labs import Lab, Task
from arqlab.core.models.people import User
from arqlab.web import url_of
from arqlab.web.jobs import JOB_KINDS

STALE_JOB = timedelta(minutes=3)
"""A running job whose worker gave no sign of life for this long counts as dead."""
MOST_ATTEMPTS = len(PAUSES) + 1
"""A job fails at last, after hours; a run waits on (`submissions.services.validation`)."""


def new_folder() -> str:
    """Return an unused name for the folder of a job's files."""
    return secrets.token_hex(16)


class Job(models.Model):
    """Work for a worker, with its state, progress, log and result."""

    class State(models.TextChoices):
        """The state of a job. What a user can put right refuses it; an error of ours fails it."""

        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Running"
        UNCONFIRMED = "unconfirmed", "Unconfirmed"
        DONE = "done", "Done"
        REFUSED = "refused", "Refused"
        FAILED = "failed", "Failed"
        STOPPED = "stopped", "Stopped"

    kind = models.CharField(max_length=20, help_text="The name of its `JobKind`.")
    key = models.CharField(
        max_length=200,
        blank=True,
        default="",
        help_text="What it makes. One job of a kind with a key waits or runs at a time.",
    )
    lab = models.ForeignKey(Lab, models.CASCADE, null=True, blank=True, related_name="jobs")
    task = models.ForeignKey(Task, models.CASCADE, null=True, blank=True, related_name="jobs")
    options = models.JSONField(default=dict, blank=True)
    files = models.JSONField(
        default=list, blank=True, help_text="Field, name, size and SHA-256 of each file."
    )
    folder = models.CharField(
        max_length=32, unique=True, default=new_folder, help_text="Folder of the files."
    )
    state = models.CharField(max_length=11, choices=State.choices, default=State.WAITING)
    is_stopping = models.BooleanField(default=False, help_text="Its worker is asked to stop.")
    done = models.PositiveBigIntegerField(default=0, help_text="Rows done by the current step.")
    total = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Estimated rows of the current step, if known."
    )
    message = models.TextField(blank=True, help_text="Why the job was refused or stopped.")
    summary = models.JSONField(default=list, blank=True, help_text="Sentences on what was done.")
    warnings = models.JSONField(
        default=list, blank=True, help_text="Sentences on loaded qrels that join nothing."
    )
    changes = models.JSONField(
        default=dict, blank=True, help_text="What a load would change, and its digest."
    )
    problem_count = models.PositiveBigIntegerField(
        default=0, help_text="Number of all problems; only some are stored with their lines."
    )
    problem_groups = models.JSONField(
        default=list, blank=True, help_text="The problems by cause, with examples."
    )
    log = models.TextField(blank=True, default="", help_text="Each change of state with its time.")
    attempts = models.PositiveSmallIntegerField(default=0)
    by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(help_text="Time of the last sign of life.")

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "key"],
                condition=Q(state__in=["waiting", "running"]) & ~Q(key=""),
                name="one_job_at_a_time",
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in="waiting running unconfirmed done refused failed stopped".split()
                ),
                name="job_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} {self.pk}"

    def get_absolute_url(self) -> str:
        """Return the address of the page."""
        return url_of("load", self.pk)

    @property
    def label(self) -> str:
        """Return the name of the job's kind for people."""
        return JOB_KINDS[self.kind].label

    @property
    def is_over(self) -> bool:
        """Return whether the job has ended."""
        return self.state not in (self.State.WAITING, self.State.RUNNING)

    @property
    def next_attempt(self) -> datetime:
        """Return when a job that waits is due, after faults of the server later than at once."""
        return attempt_due_at(self.attempts, self.updated_at)


class JobProblem(models.Model):
    """A problem of a file: its place, what was found and expected, and what to do."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="problems")
    source = models.CharField(max_length=300)
    line = models.PositiveBigIntegerField(null=True)
    found = models.TextField()
    expected = models.TextField()
    todo = models.TextField()

    class Meta:
        ordering = ["job", "pk"]

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: found {self.found}; expected {self.expected}. {self.todo}"

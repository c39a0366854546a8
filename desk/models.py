"""Loads of files by organizers: labs, topics, qrels, judgments and collections."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.db import models
from django.db.models import Q
from django.urls import reverse

from arqlab.core.models import Lab, Task, User

STALE_LOAD = timedelta(minutes=3)
"""A running load whose worker gave no sign of life for this long counts as dead."""
MOST_ATTEMPTS = 3


def new_folder() -> str:
    """Return an unused name for the folder of a load's files."""
    return secrets.token_hex(16)


class Load(models.Model):
    """Files that an organizer loads on a page, with the state, progress and report of the load."""

    class Kind(models.TextChoices):
        """What is loaded; visual ids and topic candidates are computed and have no files."""

        LAB = "lab", "Lab"
        TOPICS = "topics", "Topics"
        QRELS = "qrels", "Qrels"
        JUDGMENTS = "judgments", "Judgments"
        COLLECTION = "collection", "Collection files"
        VISUAL_IDS = "visual-ids", "Visual ids"
        CANDIDATES = "candidates", "Topic candidates"

    class State(models.TextChoices):
        """The state of a load. All but a done one have changed nothing."""

        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Running"
        UNCONFIRMED = "unconfirmed", "Unconfirmed"
        DONE = "done", "Done"
        REFUSED = "refused", "Refused"
        FAILED = "failed", "Failed"

    kind = models.CharField(max_length=20, choices=Kind.choices)
    lab = models.ForeignKey(Lab, models.CASCADE, null=True, blank=True, related_name="loads")
    task = models.ForeignKey(Task, models.CASCADE, null=True, blank=True, related_name="loads")
    options = models.JSONField(default=dict, blank=True)
    files = models.JSONField(
        default=list, blank=True, help_text="Field, name, size and SHA-256 of each file."
    )
    folder = models.CharField(
        max_length=32, unique=True, default=new_folder, help_text="Folder of the files."
    )
    state = models.CharField(max_length=11, choices=State.choices, default=State.WAITING)
    done = models.PositiveBigIntegerField(default=0, help_text="Rows done by the current step.")
    total = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Estimated rows of the current step, if known."
    )
    message = models.TextField(blank=True, help_text="Why the load was refused or stopped.")
    summary = models.JSONField(default=list, blank=True, help_text="Sentences on what was loaded.")
    warnings = models.JSONField(
        default=list, blank=True, help_text="Sentences on loaded qrels that join nothing."
    )
    changes = models.JSONField(
        default=dict, blank=True, help_text="What the load would change, and its digest."
    )
    problem_count = models.PositiveIntegerField(default=0)
    problem_groups = models.JSONField(
        default=list, blank=True, help_text="The problems by cause, with examples."
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(help_text="Time of the last sign of life.")

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="lab") | Q(lab__isnull=False), name="only_lab_loads_lack_a_lab"
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=["waiting", "running", "unconfirmed", "done", "refused", "failed"]
                ),
                name="load_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.pk}"

    def get_absolute_url(self) -> str:
        """Return the address of the page."""
        return reverse("desk:load-detail", args=[self.pk])

    @property
    def is_over(self) -> bool:
        """Return whether the load has ended."""
        return self.state not in (self.State.WAITING, self.State.RUNNING)


class LoadProblem(models.Model):
    """A problem of a loaded file: its place, what was found and expected, and what to do."""

    load = models.ForeignKey(Load, models.CASCADE, related_name="problems")
    source = models.CharField(max_length=300)
    line = models.PositiveBigIntegerField(null=True)
    found = models.TextField()
    expected = models.TextField()
    todo = models.TextField()

    class Meta:
        ordering = ["load", "pk"]

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.found}"

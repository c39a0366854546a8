"""Imports of files into a collection, and the rows that could not be read."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.db.models import Q

from collection.models.collections import Collection

STALE_AFTER = timedelta(seconds=60)
"""An import without a heartbeat for this long counts as dead. A batch takes seconds."""


class Import(models.Model):
    """The import of one file. It can resume after `rows`, the number of rows read and stored."""

    class Kind(models.TextChoices):
        """The files of a data dump, documents, and the representations of the formula index."""

        POSTS = "posts", "Posts"
        DOCUMENTS = "documents", "Documents"
        COMMENTS = "comments", "Comments"
        POST_LINKS = "post_links", "Post links"
        TAGS = "tags", "Tags"
        USERS = "users", "Users"
        VOTES = "votes", "Votes"
        BADGES = "badges", "Badges"
        LATEX = "latex", "Formulas in LaTeX"
        SLT = "slt", "Formulas as symbol layout trees"
        OPT = "opt", "Formulas as operator trees"

    class State(models.TextChoices):
        """The state of an import. A stopped import can resume."""

        RUNNING = "running", "Running"
        STOPPED = "stopped", "Stopped"
        DONE = "done", "Done"

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="imports")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    source = models.CharField(max_length=300, help_text="File name without its folder.")
    sha256 = models.CharField(
        max_length=64, help_text="SHA-256 of the file and the import's options."
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.RUNNING)
    rows = models.PositiveBigIntegerField(default=0, help_text="Rows read and stored so far.")
    kept = models.PositiveBigIntegerField(default=0)
    problem_count = models.PositiveBigIntegerField(
        default=0, help_text="Number of all problems; only some are stored with their lines."
    )
    counts = models.JSONField(default=dict, help_text="Numbers of rows kept and skipped, by kind.")
    started_at = models.DateTimeField()
    updated_at = models.DateTimeField(
        help_text="Time of the last stored batch: the import's heartbeat."
    )
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["collection", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "kind", "sha256"], name="source_imported_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["running", "stopped", "done"]), name="import_state_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source} into {self.collection}"


class ImportProblem(models.Model):
    """A row that could not be read: its place, what was found and expected, and what to do."""

    record = models.ForeignKey(Import, models.CASCADE, related_name="problems")
    source = models.CharField(max_length=300)
    line = models.PositiveBigIntegerField(null=True)
    found = models.TextField()
    expected = models.TextField()
    todo = models.TextField()

    class Meta:
        ordering = ["record", "pk"]

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.found}"

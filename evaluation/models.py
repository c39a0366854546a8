"""Scores of runs against qrels, and the released leaderboards."""

from collections.abc import Iterable

from django.db import models

from arqlab.core.models import Task, User
from assessment.models import QrelSet
from submissions.models import Run


class Scoring(models.Model):
    """A record that a run was scored against qrels with these measures.

    It is stored in the same transaction as the scores.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="scorings")
    qrel_set = models.ForeignKey(QrelSet, models.CASCADE, related_name="scorings")
    measures = models.JSONField(help_text="Names of the measures in ir_measures notation.")
    order = models.CharField(
        max_length=10, default="score", help_text="Order of the run's items: by score or by rank."
    )
    identity = models.CharField(
        max_length=200,
        blank=True,
        default="",
        help_text="Identifier of the run and of its answers (Task 3), or name of the file that "
        "maps formulas to visual ids.",
    )
    scored_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "qrel_set"], name="run_scored_once_per_qrels")
        ]

    def __str__(self) -> str:
        return f"{self.run} against {self.qrel_set}"

    def holds(self, order: str, identity: str) -> bool:
        """Return whether the scores are valid for this order and this identity of the items."""
        return (self.order, self.identity) == (order, identity)

    def covers(self, measures: Iterable[str], order: str, identity: str) -> bool:
        """Return whether the scores are valid and include all of these measures."""
        return self.holds(order, identity) and set(measures) <= set(self.measures)


class ScoringFault(models.Model):
    """The failed attempts at scoring a run against qrels, through no fault of its team."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="+")
    qrel_set = models.ForeignKey(QrelSet, models.CASCADE, related_name="+")
    attempts = models.PositiveIntegerField(default=0)
    failed_at = models.DateTimeField(help_text="Time of the last attempt.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "qrel_set"], name="scoring_fault_once")
        ]

    def __str__(self) -> str:
        return f"{self.run} against {self.qrel_set}, {self.attempts} times"


class RunScore(models.Model):
    """The mean of a measure over all topics of the qrels, for one run."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="run_scores")
    qrel_set = models.ForeignKey(QrelSet, models.CASCADE, related_name="run_scores")
    measure = models.CharField(max_length=60)
    value = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["qrel_set", "run", "measure"], name="run_score_once")
        ]

    def __str__(self) -> str:
        return f"{self.measure} {self.value:.4f}"


class TopicScore(models.Model):
    """The value of a measure for one topic of the qrels, for one run."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="topic_scores", db_index=False)
    qrel_set = models.ForeignKey(
        QrelSet, models.CASCADE, related_name="topic_scores", db_index=False
    )
    measure = models.CharField(max_length=60)
    query_id = models.CharField(max_length=100)
    value = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "qrel_set", "measure", "query_id"], name="topic_score_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.query_id} {self.measure} {self.value:.4f}"


class Leaderboard(models.Model):
    """A released, numbered leaderboard. Users see the newest version that is not hidden.

    Its scores are stored with it, so that later changes of measures or order do not change it.
    """

    task = models.ForeignKey(Task, models.CASCADE, related_name="leaderboards")
    version = models.PositiveSmallIntegerField()
    qrel_set = models.ForeignKey(QrelSet, models.PROTECT, related_name="leaderboards")
    runs = models.ManyToManyField(Run, related_name="leaderboards")
    measures = models.JSONField(
        default=list, help_text="Columns in ir_measures notation, main measure first."
    )
    scores = models.JSONField(
        default=dict, help_text="Means at the time of release, by run, then by measure."
    )
    out_of_competition = models.JSONField(
        default=list, blank=True, help_text="Runs that are listed apart: run, team, tag, reason."
    )
    reason = models.CharField(
        max_length=300,
        blank=True,
        default="",
        help_text="Why this version was released. Everyone who sees the version reads it.",
    )
    released_at = models.DateTimeField()
    released_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    hidden_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["task", "-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "version"], name="leaderboard_version_once_per_task"
            )
        ]

    def __str__(self) -> str:
        return f"{self.task} leaderboard {self.version}"

    @property
    def apart(self) -> frozenset[int]:
        """Return the runs (keys) out of competition."""
        return frozenset(row["run"] for row in self.out_of_competition)

"""Scores of runs against qrels, and the released leaderboards."""

from collections.abc import Iterable
from typing import TypedDict

from django.db import models

from arqlab.core.models import Task, User
from assessment.models import QrelSet
from submissions.models import Run

RUN_FACTS = ("team", "tag", "data", "flags", "standings")


class RunFacts(TypedDict):
    """What a leaderboard lists of a run, and a release or an erratum stores: the `RUN_FACTS`."""

    team: str
    tag: str
    data: str
    flags: list[str]
    standings: list[str]


"""The facts of a released run whose later changes are errata."""


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

    It is a record: its scores, runs (`entries`) and rules are stored with it, and what changes
    later is an erratum (docs/adr/0047).
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
    record = models.JSONField(
        default=dict,
        blank=True,
        help_text="Names, rules, topics and pools of the task at the time of release.",
    )
    recorded_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When record and entries were stored: at the release, or later for a version "
        "that was released before there were records.",
    )
    topics_file = models.FileField(
        upload_to="releases/%Y/%m/",
        blank=True,
        help_text="The topics at the time of release, in the XML of the labs.",
    )
    kit = models.FileField(
        upload_to="kits/%Y/%m/",
        blank=True,
        help_text="The paper kit of the version, kept when it is first made.",
    )

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

    @property
    def is_recorded_late(self) -> bool:
        """Return whether the record was stored after the release, from what was known then."""
        return self.recorded_at is not None and self.recorded_at > self.released_at


class ReleasedRun(models.Model):
    """A run as a released leaderboard lists it. Nothing changes it."""

    leaderboard = models.ForeignKey(Leaderboard, models.CASCADE, related_name="entries")
    run = models.ForeignKey(Run, models.PROTECT, related_name="+")
    team = models.CharField(max_length=200, help_text="Name of the team.")
    tag = models.CharField(max_length=100)
    data = models.CharField(max_length=40, blank=True, help_text="The data that the run used.")
    flags = models.JSONField(default=list, help_text="Keys of the flags that are set.")
    standings = models.JSONField(default=list, help_text="Keys of the standings that apply.")
    answer_ids = models.JSONField(
        default=dict, blank=True, help_text="Ids of the answers (Task 3) in published qrels."
    )
    topic_scores = models.JSONField(
        default=dict, help_text="Scores by measure, then by topic of the qrels."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["leaderboard", "run"], name="released_run_once")
        ]

    def __str__(self) -> str:
        return f"{self.team} {self.tag}"

    @property
    def facts(self) -> RunFacts:
        """Return what a later change of the run would contradict."""
        return {
            "team": self.team,
            "tag": self.tag,
            "data": self.data,
            "flags": self.flags,
            "standings": self.standings,
        }


class Erratum(models.Model):
    """A change after the release of a leaderboard, or a remark of the organizers about it."""

    leaderboard = models.ForeignKey(Leaderboard, models.CASCADE, related_name="errata")
    run = models.ForeignKey(
        Run, models.PROTECT, null=True, blank=True, related_name="+", help_text="If it is of one."
    )
    name = models.CharField(
        max_length=200, blank=True, help_text="Team and tag of the run as the version lists it."
    )
    text = models.CharField(max_length=500, help_text="What has changed.")
    reason = models.TextField(blank=True)
    made_at = models.DateTimeField()
    author = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    party = models.CharField(
        max_length=220, help_text="The author as everyone reads it: a team, or the organizers."
    )
    facts = models.JSONField(
        default=dict, blank=True, help_text="The facts of the run since then, if any has changed."
    )

    class Meta:
        ordering = ["leaderboard", "made_at", "pk"]
        verbose_name_plural = "errata"

    def __str__(self) -> str:
        return f"{self.leaderboard}: {self.text}"

    @property
    def sentence(self) -> str:
        """Return the erratum as everyone reads it, such as `Withdrawn on 3 Dec 2026 by …: …`."""
        reason = f": {self.reason}" if self.reason else "."
        return f"{self.text} on {self.made_at:%-d %b %Y} by {self.party}{reason}"

"""Uploaded files, the runs in them, and the problems found in each run."""

from __future__ import annotations

from collections.abc import Callable

from django.db import models
from django.db.models import Case, Count, Q, Value, When

from arqkit.formats.runs.report import weighs
from arqkit.formats.runs.times import TimeFacts, read_times
from arqkit.records import Severity
from arqkit.standings import FLAGS, STANDINGS, Flag, Standing, standing_of
from arqlab.core.models import Publication, Task, Team, User

RELEASED = {"leaderboards__isnull": False, "leaderboards__hidden_at": None}
"""The lookups of the runs on released leaderboards, which `evaluation` stores."""


def standings_of(run: Run) -> frozenset[Standing]:
    """Return all standings that apply to a run; its own is the last of them."""
    return frozenset(standing for standing in STANDINGS[1:] if getattr(run, standing.field))


class RunQuerySet(models.QuerySet["Run"]):
    """Filters for submitted, valid and counting runs."""

    def submitted(self) -> RunQuerySet:
        """Return the submissions, without the runs that were only checked."""
        return self.filter(check_only=False)

    def holding_tags(self) -> RunQuerySet:
        """Return the runs whose tags their teams cannot use again: not withdrawn, not invalid."""
        return self.submitted().filter(withdrawn_at=None).exclude(status="invalid")

    def with_standing(self, holds: Callable[[Standing], bool]) -> RunQuerySet:
        """Return the runs without those of a standing for which a rule does not hold."""
        refused = [standing.field for standing in STANDINGS[1:] if not holds(standing)]
        official = self.model()
        return self.filter(**{name: getattr(official, name) for name in refused})

    def valid(self) -> RunQuerySet:
        """Return the runs that pools and leaderboards use: scorable ones, not post-hoc."""
        return self.scorable().with_standing(lambda standing: standing.takes_part)

    def scorable(self) -> RunQuerySet:
        """Return the submitted, valid runs that are not withdrawn, also post-hoc runs."""
        valid = self.submitted().filter(status="valid")
        return valid.with_standing(lambda standing: standing.is_scored)

    def competing(self) -> RunQuerySet:
        """Return the valid runs that count in statistics."""
        return self.valid().with_standing(lambda standing: standing.counts)

    def counting(self, *, post_hoc: bool = False) -> RunQuerySet:
        """Return the runs that count toward a quota: valid ones, and those still to be checked.

        Post-hoc runs have a quota of their own.
        """
        runs = self.submitted().filter(
            status__in=["uploaded", "validating", "valid"], is_post_hoc=post_hoc
        )
        return runs.with_standing(lambda standing: standing.uses_quota)

    def for_lists(self) -> RunQuerySet:
        """Return the runs with `shown_state` and numbers of kinds of `errors` and `warnings`.

        `shown_state` is `Run.state`. The newest runs come first.
        """
        withdrawn = When(withdrawn_at__isnull=False, then=Value("withdrawn"))
        return self.annotate(
            shown_state=Case(withdrawn, default="status"),
            errors=Count("problems", filter=Q(problems__severity="error")),
            warnings=Count("problems", filter=Q(problems__severity="warning")),
        ).order_by("-submitted_at", "-pk")


class Upload(models.Model):
    """A file exactly as it was uploaded. It is evidence: never changed, and kept with its runs.

    Only runs that were just checked or are invalid are deleted (`submissions.services.storage`).
    """

    file = models.FileField(upload_to="uploads/%Y/%m/")
    name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64, db_index=True)
    uploaded_by = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="uploads"
    )
    uploaded_at = models.DateTimeField()
    key = models.UUIDField(
        null=True,
        blank=True,
        help_text="Chosen by a program, so that a file that it sends twice is stored once.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["uploaded_by", "key"], name="upload_key_once_per_user")
        ]

    def __str__(self) -> str:
        return self.name


class Run(Publication):
    """One system's results for a task: one file or archive member, with the team's metadata."""

    class Status(models.TextChoices):
        """The progress of a run's validation. `RunQuerySet.valid` lists the runs that take part."""

        UPLOADED = "uploaded", "Waiting"
        VALIDATING = "validating", "Being checked"
        VALID = "valid", "Valid"
        INVALID = "invalid", "Has errors"

    class DataUsed(models.TextChoices):
        """The parts of topics and posts that the system used."""

        BOTH = "both", "Text and math"
        TEXT = "text", "Text"
        MATH = "math", "Math"
        LINKS = "links", "Links (the organizers' oracle)"

    class AnswerKind(models.TextChoices):
        """Whether answers (Task 3) are extracts from posts or generated text."""

        EXTRACTIVE = "extract", "Extractive"
        GENERATIVE = "generate", "Generative"

    # The counts of `RunQuerySet.for_lists`.
    errors: int
    warnings: int

    task = models.ForeignKey(Task, models.PROTECT, related_name="runs")
    team = models.ForeignKey(Team, models.PROTECT, related_name="runs")
    upload = models.ForeignKey(Upload, models.PROTECT, related_name="runs")
    member = models.CharField(
        max_length=255, blank=True, help_text="Path of the run file inside the archive."
    )
    sha256 = models.CharField(
        max_length=64,
        blank=True,
        help_text="Of the unpacked run file; empty until the run is validated.",
    )
    tag = models.CharField(max_length=100)
    identifier = models.CharField(
        max_length=200,
        blank=True,
        editable=False,
        help_text="Immutable id of the run in pools, qrels and run maps; set when the run becomes "
        "valid.",
    )
    is_primary = models.BooleanField(default=False)
    is_manual = models.BooleanField(default=False)
    is_baseline = models.BooleanField(default=False)
    is_control = models.BooleanField(
        default=False,
        help_text="A control, such as a random order: scored, and in a pool only if organizers "
        "choose how.",
    )
    is_post_hoc = models.BooleanField(
        default=False,
        editable=False,
        help_text="Submitted by a team after the deadline: scored, but in no pool and on no "
        "official leaderboard.",
    )
    out_of_competition = models.CharField(
        max_length=300,
        blank=True,
        default="",
        help_text="Why the run is out of competition: scored and shown, but it does not count.",
    )
    system = models.UUIDField(
        null=True,
        blank=True,
        editable=False,
        db_index=True,
        help_text="Equal for the runs of one system in several tasks, which its team links.",
    )
    is_trained = models.BooleanField(
        default=False,
        editable=False,
        help_text="The system was trained or tuned on topics of this task.",
    )
    data_used = models.CharField(max_length=10, choices=DataUsed.choices, blank=True)
    answer_kind = models.CharField(max_length=10, choices=AnswerKind.choices, blank=True)
    description = models.TextField(blank=True)
    retrieval_times = models.TextField(
        blank=True, help_text="A line for each topic: its id and the seconds of its retrieval."
    )
    items = models.CharField(
        max_length=20,
        choices=Task.Items.choices,
        blank=True,
        help_text="Type of the items; empty if detected from the file.",
    )
    check_only = models.BooleanField(default=False)
    submitted_by = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="runs"
    )
    submitted_at = models.DateTimeField()
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.UPLOADED)
    status_changed_at = models.DateTimeField(
        help_text="When the status last changed. A claim that is too old is released."
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    report = models.JSONField(
        default=dict, blank=True, help_text="Format, lines, rows, topics and run tags of the file."
    )
    answer_ids = models.JSONField(
        default=dict,
        blank=True,
        editable=False,
        help_text="Ids of the answers (Task 3) in published qrels, by topic (`AnswerId`).",
    )
    index = models.FileField(upload_to="indexes/%Y/%m/", blank=True)
    occurrences = models.FileField(upload_to="reports/%Y/%m/", blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    withdrawal_reason = models.TextField(blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-submitted_at", "-pk"]
        indexes = [
            models.Index(fields=["status", "status_changed_at"], name="run_waiting"),
            models.Index(fields=["task", "sha256"], name="run_identical"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "team", "tag"],
                condition=Q(check_only=False, withdrawn_at=None) & ~Q(status="invalid"),
                name="run_tag_once_per_team",
            ),
            models.UniqueConstraint(
                fields=["task", "team"],
                condition=Q(
                    check_only=False,
                    withdrawn_at=None,
                    is_primary=True,
                    is_baseline=False,
                    status="valid",
                ),
                name="one_primary_per_team",
            ),
            models.UniqueConstraint(
                fields=["task", "identifier"],
                condition=~Q(identifier=""),
                name="run_identifier_once_per_task",
            ),
            models.CheckConstraint(
                condition=~Q(status="valid") | Q(check_only=True) | ~Q(identifier=""),
                name="submitted_valid_run_has_an_identifier",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["uploaded", "validating", "valid", "invalid"]),
                name="run_status_known",
            ),
            models.CheckConstraint(
                condition=Q(is_post_hoc=False) | Q(is_primary=False),
                name="post_hoc_run_is_not_primary",
            ),
            models.CheckConstraint(
                condition=~Q(status="valid") | ~Q(index=""), name="valid_run_has_its_index"
            ),
        ]

    def __str__(self) -> str:
        return self.standing.named(self.team.name, self.tag)

    @property
    def standing(self) -> Standing:
        """Return the standing of the run."""
        return standing_of(standings_of(self))

    @property
    def is_released(self) -> bool:
        """Return whether a leaderboard that is not hidden lists the run.

        A change of what it lists is an erratum that everyone reads.
        """
        return bool(self.pk) and Run.objects.filter(pk=self.pk, **RELEASED).exists()

    @property
    def flags(self) -> list[Flag]:
        """Return the flags that are set."""
        return [flag for flag in FLAGS if getattr(self, flag.field)]

    @property
    def declared(self) -> list[tuple[str, str]]:
        """Return the label and the word of every flag, such as `Run type` and `Automatic`."""
        set_flags = self.flags
        return [(flag.label, flag.yes if flag in set_flags else flag.no) for flag in FLAGS]

    @property
    def label(self) -> str:
        """Return the tag with the standing, for charts, lists and sentences."""
        return self.standing.marked(self.tag)

    @property
    def times(self) -> TimeFacts | None:
        """Return the facts of the retrieval times, or None if the team has entered none."""
        times = read_times(self.retrieval_times)
        return TimeFacts.of(times) if times else None

    @property
    def state(self) -> str:
        """Return the run's state for display: `withdrawn`, or its status."""
        return "withdrawn" if self.withdrawn_at else self.status

    @property
    def file_name(self) -> str:
        """Return the name of the run file: its path inside the archive, or the upload's name."""
        return self.member or self.upload.name


class AnswerId(models.Model):
    """The id of an answer (Task 3) in the published qrels of a task, from `answer_ids` of a lab."""

    task = models.ForeignKey(Task, models.CASCADE, related_name="answer_ids")
    run_file = models.CharField(max_length=255, help_text="Name of the run file without endings.")
    query_id = models.CharField(max_length=100)
    answer_id = models.CharField(max_length=300)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task", "run_file", "query_id"], name="answer_id_once_per_run_and_topic"
            )
        ]

    def __str__(self) -> str:
        return self.answer_id


class RunProblem(models.Model):
    """One kind of problem in a run: its count and first lines. `Run.occurrences` has every line."""

    class Level(models.TextChoices):
        """The severity of a problem. A run with an error is invalid."""

        ERROR = Severity.ERROR.value, "Error"
        WARNING = Severity.WARNING.value, "Warning"
        NOTE = Severity.NOTE.value, "Note"

    run = models.ForeignKey(Run, models.CASCADE, related_name="problems")
    position = models.PositiveSmallIntegerField()
    kind = models.SlugField()
    severity = models.CharField(max_length=10, choices=Level.choices)
    count = models.PositiveIntegerField()
    message = models.TextField()
    todo = models.TextField()
    is_repairable = models.BooleanField(default=False)
    first = models.JSONField(
        default=list, help_text="First occurrences: line, topic, found, expected."
    )

    class Meta:
        ordering = ["run", "position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "kind"], name="problem_kind_once_per_run"),
            models.CheckConstraint(
                condition=Q(severity__in=["error", "warning", "note"]),
                name="problem_severity_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} ({self.count})"

    @property
    def weighs(self) -> bool:
        """Return whether pages name this warning beside "valid" (`report.weighs`)."""
        return weighs(self.kind, self.severity)

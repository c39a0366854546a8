"""Models of labs, tasks and topics."""

from collections.abc import Iterable
from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.functional import cached_property

from arqkit.protocols.overrides import with_overrides
from arqkit.protocols.presets import PROTOCOLS, TaskProtocol
from arqkit.records import ITEM_WORDS, TASK_WORDS, ItemKind, TaskKind, TaskWords, TopicRecord
from arqkit.standings import PublishedRuns
from arqkit.topics import QUERY_TEXTS, merged_info


class Lab(models.Model):
    """One edition of an evaluation lab, such as ARQMath-3."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    protocol = models.CharField(
        max_length=40, help_text="Slug of a preset in arqkit.protocols.presets."
    )
    is_public = models.BooleanField(
        default=True,
        help_text="Everyone sees a public lab. Only its organizers, assessors and teams see a "
        "draft.",
    )
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Task(models.Model):
    """A task of a lab; its protocol is the lab's preset with the organizer's overrides."""

    class Kind(models.TextChoices):
        """The kind of retrieval in a task."""

        ANSWERS = TaskKind.ANSWERS.value, "Answer retrieval"
        FORMULAS = TaskKind.FORMULAS.value, "Formula retrieval"
        GENERATED_ANSWERS = TaskKind.GENERATED_ANSWERS.value, "Generated answers"
        DOCUMENTS = TaskKind.DOCUMENTS.value, "Document retrieval"

    class Items(models.TextChoices):
        """The kind of item in runs and qrels."""

        POSTS = ItemKind.POSTS.value, ITEM_WORDS[ItemKind.POSTS].ids
        FORMULA_IDS = ItemKind.FORMULA_IDS.value, ITEM_WORDS[ItemKind.FORMULA_IDS].ids
        VISUAL_IDS = ItemKind.VISUAL_IDS.value, ITEM_WORDS[ItemKind.VISUAL_IDS].ids
        ANSWERS = ItemKind.ANSWERS.value, ITEM_WORDS[ItemKind.ANSWERS].ids
        DOCUMENTS = ItemKind.DOCUMENTS.value, ITEM_WORDS[ItemKind.DOCUMENTS].ids

    class Threads(models.TextChoices):
        """When teams and visitors may see the threads of the topics."""

        AT_RELEASE = "at-release", "When a leaderboard is released"
        OPEN = "open", "Now"
        CLOSED = "closed", "Never"

    class Published(models.TextChoices):
        """Which runs everyone may open from a released leaderboard."""

        ALL = PublishedRuns.ALL.value, "All runs"
        PRIMARY = PublishedRuns.PRIMARY.value, "Primary runs and baselines"
        NONE = PublishedRuns.NONE.value, "No runs"

    lab = models.ForeignKey(Lab, models.CASCADE, related_name="tasks")
    slug = models.SlugField()
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=20, choices=Kind.choices)
    description = models.TextField(blank=True)
    position = models.PositiveSmallIntegerField(default=0)
    trec_items = models.CharField(
        max_length=20,
        choices=Items.choices,
        help_text="The kind of items in six-column TREC files of this task.",
    )
    overrides = models.JSONField(
        default=dict, blank=True, help_text="Values that override the protocol's preset."
    )
    opens_at = models.DateTimeField(null=True, blank=True)
    deadline = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True, help_text="When it was closed by hand.")
    judging_deadline = models.DateTimeField(
        null=True, blank=True, help_text="When judging should be complete. It closes nothing."
    )
    shows_own_scores = models.BooleanField(
        default=False,
        help_text="Teams see the scores of their own runs before the leaderboard is released.",
    )
    takes_post_hoc_runs = models.BooleanField(
        default=False,
        help_text="After the deadline, teams can submit post-hoc runs: they are scored and marked, "
        "and are in no pool and on no official leaderboard.",
    )
    archived_at = models.DateTimeField(null=True, blank=True)
    threads = models.CharField(
        max_length=10,
        choices=Threads.choices,
        default=Threads.AT_RELEASE,
        help_text="When teams and visitors see the threads of the topics, which contain answers.",
    )
    published_runs = models.CharField(
        max_length=10,
        choices=Published.choices,
        default=Published.ALL,
        help_text="The runs whose rankings, and lines of the certificate, everyone may open after "
        "the release.",
    )

    class Meta:
        ordering = ["lab", "position", "slug"]
        constraints = [
            models.CheckConstraint(
                condition=Q(published_runs__in=["all", "primary", "none"]),
                name="task_published_runs_known",
            ),
            models.CheckConstraint(
                condition=Q(threads__in=["at-release", "open", "closed"]), name="task_threads_known"
            ),
            models.UniqueConstraint(fields=["lab", "slug"], name="task_slug_once_per_lab"),
            models.CheckConstraint(
                condition=Q(kind__in=["answers", "formulas", "written-answers", "documents"]),
                name="task_kind_known",
            ),
            models.CheckConstraint(
                condition=Q(opens_at__isnull=True)
                | Q(deadline__isnull=True)
                | Q(opens_at__lt=models.F("deadline")),
                name="task_opens_before_deadline",
            ),
            models.CheckConstraint(
                condition=Q(opens_at__isnull=True)
                | Q(judging_deadline__isnull=True)
                | Q(opens_at__lt=models.F("judging_deadline")),
                name="task_opens_before_judging_deadline",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.lab.slug}/{self.slug}"

    @property
    def preset(self) -> TaskProtocol:
        """Return the lab's preset for this kind of task."""
        return PROTOCOLS[self.lab.protocol].tasks[TaskKind(self.kind)]

    @property
    def words(self) -> TaskWords:
        """Return the words for this kind of task in texts for people."""
        return TASK_WORDS[TaskKind(self.kind)]

    def refresh_from_db(
        self,
        using: str | None = None,
        fields: Iterable[str] | None = None,
        from_queryset: models.QuerySet["Task"] | None = None,
    ) -> None:
        """Read the task again, and its protocol."""
        super().refresh_from_db(using, fields, from_queryset)
        self.__dict__.pop("protocol", None)

    @cached_property
    def protocol(self) -> TaskProtocol:
        """Return the task's protocol: the lab's preset with the organizer's overrides."""
        return with_overrides(self.preset, self.overrides)

    def state(self, at: datetime) -> str:
        """Return whether the task accepts runs at a time: `upcoming`, `open` or `closed`."""
        if self.archived_at:
            return "closed"
        if self.opens_at and at < self.opens_at:
            return "upcoming"
        return "closed" if self.closed_at or (self.deadline and at > self.deadline) else "open"

    def takes_post_hoc(self, at: datetime) -> bool:
        """Return whether a run that a team submits at a time is a post-hoc run."""
        is_over = self.state(at) == "closed" and not self.archived_at
        return self.takes_post_hoc_runs and is_over

    @property
    def closes_at(self) -> datetime | None:
        """Return when the task closes or was closed: at its deadline or by an organizer."""
        return min(filter(None, (self.closed_at, self.deadline)), default=None)


class Topic(models.Model):
    """A topic of a task: its source, and its HTML, typeset once when the lab is loaded."""

    task = models.ForeignKey(Task, models.CASCADE, related_name="topics")
    query_id = models.CharField(max_length=100)
    position = models.PositiveIntegerField()
    title = models.TextField(blank=True)
    body = models.TextField(blank=True)
    tags = models.JSONField(default=list, blank=True)
    formula_id = models.CharField(max_length=100, blank=True)
    latex = models.TextField(blank=True)
    thread_id = models.CharField(
        max_length=40,
        blank=True,
        help_text="Id of the question post from which the topic was made, if known.",
    )
    thread_since = models.DateTimeField(
        default=timezone.now,
        editable=False,
        help_text="When the topic got its thread. If labs share a collection, the first closes it.",
    )
    info = models.JSONField(
        default=dict,
        blank=True,
        help_text="Topic information from the lab's folder, such as category and difficulty.",
    )
    info_edits = models.JSONField(
        default=dict,
        blank=True,
        help_text="Values edited by organizers, which override those from the lab's folder.",
    )
    title_html = models.TextField(blank=True)
    body_html = models.TextField(blank=True)
    formula_html = models.TextField(blank=True)
    engine = models.CharField(
        max_length=40,
        blank=True,
        help_text="Version of the typesetter. HTML of another version is made again.",
    )

    class Meta:
        ordering = ["task", "position"]
        constraints = [
            models.UniqueConstraint(fields=["task", "query_id"], name="topic_once_per_task")
        ]

    def __str__(self) -> str:
        return self.query_id

    @property
    def record(self) -> TopicRecord:
        """Return the topic as the kernel reads and writes it."""
        formula = self.formula_id or None, self.latex or None
        texts = (self.info.get(name, "") for name in QUERY_TEXTS)
        return TopicRecord(self.query_id, self.title, self.body, tuple(self.tags), *formula, *texts)

    @property
    def is_question(self) -> bool:
        """Return whether the topic is a question, which has a thread, and no bare query formula."""
        return bool(self.thread_id or self.title or self.body)

    @property
    def facts(self) -> dict[str, str]:
        """Return the topic's information: the lab folder's values with the organizers' edits."""
        return merged_info(self.info, self.info_edits)


class TopicVersion(models.Model):
    """The text that a topic had until it was changed. Runs and labels may be based on it."""

    topic = models.ForeignKey(Topic, models.CASCADE, related_name="versions")
    title = models.TextField(blank=True)
    body = models.TextField(blank=True)
    tags = models.JSONField(default=list, blank=True)
    formula_id = models.CharField(max_length=100, blank=True)
    latex = models.TextField(blank=True)
    replaced_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["topic", "pk"]

    def __str__(self) -> str:
        return f"{self.topic} until {self.replaced_at:%Y-%m-%d %H:%M}"


class TypesetFormula(models.Model):
    """A stored typeset formula; MathML is blank if the formula cannot be typeset."""

    digest = models.CharField(
        max_length=64,
        primary_key=True,
        help_text="SHA-256 of the mode (display or inline) and the LaTeX.",
    )
    latex = models.TextField()
    is_display = models.BooleanField()
    mathml = models.TextField(blank=True)
    engine = models.CharField(
        max_length=40,
        db_index=True,
        help_text="Version of the typesetter. A formula with another version is typeset again.",
    )

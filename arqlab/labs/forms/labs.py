"""Forms for labs and tasks."""

from collections.abc import Mapping
from typing import ClassVar

from django import forms

from arqkit.labels import LabelScale
from arqkit.measures.names import MeasureRefusedError, parse_measures
from arqkit.protocols.overrides import LONGEST_INSTRUCTION, MOST, with_overrides
from arqkit.protocols.scales import NAMES_OF_SCALES, grades_of, is_relevant_possible, read_scale
from arqlab.core.forms.moments import ZonedTimeField
from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Task

OWN_FIELDS = (
    *("name", "description", "opens_at", "deadline", "judging_deadline", "shows_own_scores"),
    *("takes_post_hoc_runs", "threads", "published_runs"),
)
PROTOCOL_FIELDS = (
    *("limit", "max_characters", "quota", "scored_submissions", "pooling_order", "order"),
    *("measures", "tokenizer", "labels", "relevant_from", "min_relevant", "instruction"),
)
OWN_LABELS = "own"
"""The labels of a task that has a list of its own, which comes from its lab.toml."""
JUDGING_DEADLINE_HELP = (
    "Optional. Assessors see it and are reminded 48 hours before. They can still judge afterwards."
)

_ORDERS = [
    ("score", "by score, then by item, both descending (trec_eval)"),
    ("rank", "by submitted rank"),
]

_EMPTY: tuple[object, ...] = (None, "", [])
_HELP = {
    "measures": "One measure per line in ir_measures notation. "
    "The first is the main measure and orders the leaderboard. ",
    "pooling_order": "Frozen pools keep theirs. ",
    "order": "Submitted ranks are always checked and kept. ",
    "tokenizer": "For lexical overlap (LO). ",
    "instruction": "Assessors read this line above the items. ",
    "labels": "arqmath, trec-binary, ntcir (the sum of two assessors’ labels from 0 to 2), or a "
    "range such as 0-2. Pools and qrels keep the labels they were made with. ",
    "scored_submissions": "Only if teams see means: the limit for each team, and for each person "
    "across all teams. Withdrawn runs count, too. ",
    "min_relevant": "Qrels leave out topics with fewer. 0 keeps every judged topic. ",
}


def name_field(what: str) -> forms.CharField:
    """Return the field of the name of a lab or a task."""
    errors = {"required": f"Enter a {what} name."}
    return forms.CharField(label="Name", max_length=200, error_messages=errors)


class ParagraphsField(forms.CharField):
    """A text of several paragraphs; `missing` tells the user to enter one that is required."""

    def __init__(self, *, label: str, help_text: str, rows: int = 8, missing: str = "") -> None:
        super().__init__(
            label=label,
            help_text=help_text,
            required=bool(missing),
            error_messages={"required": missing},
            widget=forms.Textarea(attrs={"rows": rows}),
        )

    def to_python(self, value: object) -> str | None:
        """Return the text with LF line ends, because browsers send CRLF."""
        text = super().to_python(value)
        return text.replace("\r\n", "\n") if text else text


class LabForm(forms.Form):
    """The name, description and visibility of a lab."""

    name = name_field("lab")
    description = ParagraphsField(
        label="Description",
        help_text="Who organizes the lab, what it evaluates, where to find the data. "
        "Separate paragraphs with blank lines.",
    )
    is_public = forms.BooleanField(label="This lab is public", required=False)


class LabEditForm(VersionedForm, LabForm):
    """The stored fields of a lab."""


class CountField(forms.IntegerField):
    """A limit: a whole number of at least `least`, or empty for the preset's value."""

    def __init__(self, limit: str, what: str, *, least: int = 1) -> None:
        sentence = f"Enter a whole number of at least {least} for {what}, or leave it empty."
        errors = dict.fromkeys(("invalid", "min_value"), sentence)
        errors["max_value"] = f"Enter at most {MOST:,} for {what}."
        super().__init__(
            label=f"{limit} {what}",
            min_value=least,
            max_value=MOST,
            required=False,
            error_messages=errors,
        )


class TaskDatesForm(forms.Form):
    """The texts and dates of a task. `question` asks whether a date in the past is meant."""

    question = ""
    error_fields: ClassVar[Mapping[str, str]] = {
        "taken": "slug",
        "dates": "deadline",
        "judging-dates": "judging_deadline",
        "past-deadline": "deadline",
        "past-judging_deadline": "judging_deadline",
    }
    name = name_field("task")
    description = ParagraphsField(
        label="Description",
        help_text="What systems should retrieve. Separate paragraphs with blank lines.",
    )
    opens_at = ZonedTimeField(label="Opening time", help_text="If empty, the task is already open.")
    deadline = ZonedTimeField(label="Deadline", help_text="If empty, there is no deadline.")
    judging_deadline = ZonedTimeField(label="Judging deadline", help_text=JUDGING_DEADLINE_HELP)


class TaskForm(TaskDatesForm, VersionedForm):
    """The rules of a task. Empty protocol fields take the value of the lab's preset."""

    field_order = ("name", "description")
    shows_own_scores = forms.BooleanField(
        label="Teams see rounded means of their own runs before the leaderboard is released",
        required=False,
        help_text="Risk: means reveal something about the labels. They are in coarse steps, which "
        "depend on the numbers of topics and labels, of runs that answer at least nine tenths of "
        "the topics. A task of few topics or labels has none. Allow few submissions.",
    )
    takes_post_hoc_runs = forms.BooleanField(
        label="Teams can submit post-hoc runs after the deadline",
        required=False,
        help_text="Post-hoc runs are scored and marked, and are in no pool and on no official "
        "leaderboard.",
    )
    threads = forms.ChoiceField(
        label="Teams and visitors see the threads of the topics",
        choices=Task.Threads.choices,
        required=False,
        help_text="Threads contain the answers to the topics, and their duplicates.",
    )
    published_runs = forms.ChoiceField(
        label="Runs that everyone may open from the released leaderboard",
        choices=Task.Published.choices,
        required=False,
        help_text="Their rankings with labels, and their rows in the certificate. Teams always "
        "see the rankings of their own runs.",
    )
    limit = CountField("Maximum", "items per topic")
    max_characters = CountField("Maximum", "characters per answer")
    quota = CountField("Maximum", "runs per team")
    scored_submissions = CountField("Maximum", "submissions with means before the release")
    pooling_order = forms.ChoiceField(label="Pooling order", choices=_ORDERS, required=False)
    order = forms.ChoiceField(label="Scoring order", choices=_ORDERS, required=False)
    measures = forms.CharField(
        label="Measures",
        widget=forms.Textarea(attrs={"rows": 9, "spellcheck": "false", "class": "id"}),
        required=False,
    )
    tokenizer = forms.ChoiceField(
        label="Tokens of answers",
        choices=[("words", "Words, numbers and LaTeX commands"), ("model", "The server’s model")],
        required=False,
    )
    labels = forms.CharField(
        label="Labels",
        max_length=40,
        required=False,
        widget=forms.TextInput(attrs={"class": "short"}),
    )
    relevant_from = CountField("Lowest", "relevant label")
    min_relevant = CountField("Minimum", "relevant items per topic", least=0)
    instruction = forms.CharField(
        label="Instruction", max_length=LONGEST_INSTRUCTION, required=False
    )

    def __init__(self, data: Mapping[str, object] | None = None, *, task: Task) -> None:
        """Fill in the current values, and show the preset's value with each protocol field."""
        super().__init__(data)
        self.task = task
        self.initial = {**{name: getattr(task, name) for name in OWN_FIELDS}, **self.initial}
        for name in PROTOCOL_FIELDS:
            self.initial[name] = _shown(name, getattr(task.protocol, name))
            preset = _shown(name, getattr(task.preset, name)).replace("\n", ", ")
            if name == "labels":
                self.initial[name] = self._labels
            text = f"{_HELP.get(name, '')}Preset {task.lab.protocol}: {preset}."
            self.fields[name].help_text = text
        if task.kind != Task.Kind.GENERATED_ANSWERS:
            del self.fields["max_characters"], self.fields["tokenizer"]
        if not task.words.has_threads:
            del self.fields["threads"]

    def clean_threads(self) -> str:
        """Return the selected value, or the current one if the field was not sent."""
        return self.cleaned_data["threads"] or self.task.threads

    def clean_published_runs(self) -> str:
        """Return the selected value, or the current one if the field was not sent."""
        return self.cleaned_data["published_runs"] or self.task.published_runs

    def clean_measures(self) -> list[str]:
        """Return the measures, one per line; reject unknown ones with the kernel's message."""
        lines = map(str.strip, self.cleaned_data["measures"].splitlines())
        measures = list(filter(None, lines))
        try:
            parse_measures(measures)
        except MeasureRefusedError as error:
            raise forms.ValidationError(str(error)) from error
        return measures

    @property
    def _labels(self) -> str:
        """Return the name or range of the task's labels, "own" for a list, "" for the preset's."""
        labels = self.task.overrides.get("labels", "")
        return labels if isinstance(labels, str) else OWN_LABELS

    def clean_labels(self) -> object:
        """Return the labels as an override, or "" for the preset's."""
        labels = self.cleaned_data["labels"]
        if labels == OWN_LABELS == self._labels:
            return self.task.overrides["labels"]
        preset = self.task.preset
        try:
            scale_and_grades = (read_scale(labels), grades_of(labels)) if labels else None
            return "" if scale_and_grades in (None, (preset.labels, preset.grades)) else labels
        except ValueError as error:
            raise forms.ValidationError(
                f"Unknown labels. Enter {NAMES_OF_SCALES}. Labels of your own are a list `labels` "
                "in lab.toml."
            ) from error

    def clean(self) -> dict[str, object]:
        """Check that a label is relevant."""
        cleaned = super().clean() or self.cleaned_data
        overrides = {name: cleaned.get(name) for name in ("labels", "relevant_from")}
        preset = self.task.preset
        same = overrides["relevant_from"] == preset.relevant_from
        if same:
            del overrides["relevant_from"]
        rules = with_overrides(preset, {name: value for name, value in overrides.items() if value})
        if not self.errors and not is_relevant_possible(rules.labels, rules.relevant_from):
            highest = max(label.value for label in rules.labels.judgments)
            message = f"No label is relevant: the highest is {highest}. Enter a lower one."
            self.add_error("relevant_from", message)
        return cleaned

    @property
    def protocol(self) -> dict[str, object]:
        """Return the protocol fields; empty fields have the preset's value."""
        preset, cleaned = self.task.preset, self.cleaned_data
        return {
            name: getattr(preset, name) if cleaned.get(name) in _EMPTY else cleaned[name]
            for name in PROTOCOL_FIELDS
            if name in self.fields
        }

    @property
    def changes(self) -> dict[str, object]:
        """Return the task's own fields."""
        return {name: self.cleaned_data[name] for name in OWN_FIELDS if name in self.cleaned_data}


def _shown(name: str, value: object) -> str:
    if isinstance(value, LabelScale):
        return ", ".join(f"{label.value} {label.word}" for label in value.labels)
    if name == "measures" and isinstance(value, tuple | list):
        return "\n".join(value)
    return str(value)

"""Forms to upload, describe and withdraw runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Unpack

from django import forms
from django.core.files import File
from django.db.models import QuerySet

from arqkit.formats.runs.times import read_times, write_times
from arqkit.records import FileRefusedError
from arqkit.standings import FLAGS, SET_BY_ORGANIZERS, Mark, Standing
from arqlab.core.forms.typed import Files, FormOptions
from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Task, Team
from arqlab.labs.forms.people import NamedChoiceField
from arqlab.labs.forms.topics import ReasonsForm
from arqlab.teams.forms import PublicationForm
from submissions.models import Run
from submissions.services.left_out import LeftOutRun
from submissions.services.run_metadata import RunMetadata, metadata_from_name

LONGEST_REASON = 2000
YES_NO = {"True": True, "False": False}


class FilesInput(forms.ClearableFileInput):
    """A file input for several files."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """A field for several files."""

    widget = FilesInput

    def clean(self, data: object, initial: object = None) -> list[File]:
        """Return the files, each checked by the base class."""
        # Without a file, clean None, which the base class refuses.
        files = data if isinstance(data, list) and data else [None]
        return [super(FilesField, self).clean(file, initial) for file in files]


class UploadForm(forms.Form):
    """Run files and their team."""

    file = FilesField(
        label="Run files",
        error_messages={
            "required": "Choose at least one run file.",
            "empty": "The file is empty. Choose a run file written by your system.",
        },
        allow_empty_file=True,
        max_length=255,
    )

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        files: Files | None = None,
        *,
        teams: QuerySet[Team],
        organizes: bool,
    ) -> None:
        super().__init__(data, files)
        self.fields["team"] = NamedChoiceField(
            queryset=teams,
            empty_label="Choose a team",
            required=not organizes,
            help_text="Leave this empty for baselines of the lab." if organizes else "",
            error_messages={"required": "Choose the team of the runs."},
        )
        self.order_fields(["team"])


def yes_no(label: str, no: str, yes: str) -> forms.TypedChoiceField:
    """Return a field with two choices for a boolean; nothing means no."""
    return forms.TypedChoiceField(
        label=label,
        choices=[("False", no), ("True", yes)],
        coerce=YES_NO.__getitem__,
        required=False,
        empty_value=False,  # type: ignore[arg-type]  # the stub knows only text
    )


def standing_field(standing: Standing | Mark) -> forms.Field:
    """Return the field by which organizers set a standing or a mark: its reason, or yes."""
    label = standing.word.capitalize()
    if standing.field.startswith("is_"):
        return yes_no(label, "No", "Yes")
    return forms.CharField(label=label, help_text=standing.help, max_length=300, required=False)


def reason_field(run: Run, *, required: bool) -> dict[str, forms.Field]:
    """Return the field for the reason of a change, if a released leaderboard lists the run."""
    field = forms.CharField(
        label="Reason",
        help_text="The run is on a released leaderboard, which keeps what it lists. Everyone reads "
        "the reason of a change as an erratum.",
        widget=forms.Textarea(attrs={"rows": 2}),
        max_length=LONGEST_REASON,
        required=required,
        error_messages={"required": "Enter a reason for the change."},
    )
    return {"reason": field} if run.is_released else {}


class RunMetadataForm(forms.Form):
    """The details of one run. The fields depend on the task and on the user's role."""

    name = forms.CharField(widget=forms.HiddenInput, max_length=255, required=False)
    tag = forms.CharField(
        label="Run tag",
        max_length=100,
        error_messages={
            "required": "Enter a run tag. The leaderboard shows it.",
            "max_length": "Shorten the tag to 100 characters.",
        },
    )
    data_used = forms.ChoiceField(
        label="Data used", choices=[("", "Not specified"), *Run.DataUsed.choices], required=False
    )
    answer_kind = forms.ChoiceField(
        label="Answers", choices=[("", "Not specified"), *Run.AnswerKind.choices], required=False
    )
    items = forms.ChoiceField(
        label="Items",
        choices=[
            ("", "Detect automatically"),
            *((kind, kind.label) for kind in (Task.Items.FORMULA_IDS, Task.Items.VISUAL_IDS)),
        ],
        required=False,
    )
    description = forms.CharField(
        label="Description",
        widget=forms.Textarea(attrs={"rows": 2}),
        max_length=5000,
        required=False,
    )

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        task: Task,
        organizes: bool,
        **options: Unpack[FormOptions],
    ) -> None:
        super().__init__(data, **options)
        self.fields |= {flag.field: yes_no(flag.label, flag.no, flag.yes) for flag in FLAGS}
        self.order_fields(["name", "tag", *(flag.field for flag in FLAGS)])
        if organizes:
            description = self.fields.pop("description")
            self.fields |= {flag.field: standing_field(flag) for flag in SET_BY_ORGANIZERS}
            self.fields |= {"description": description}
        if task.kind != Task.Kind.GENERATED_ANSWERS:
            del self.fields["answer_kind"]
        if task.kind != Task.Kind.FORMULAS:
            del self.fields["items"]

    def entered(self, metadata: RunMetadata) -> RunMetadata:
        """Return details of a run with those that were entered."""
        names = {field.name for field in fields(RunMetadata)} & self.cleaned_data.keys()
        return replace(metadata, **{name: self.cleaned_data[name] for name in names})


class RunEditForm(VersionedForm, RunMetadataForm):
    """The stored details of a run, and of a released one the reason for a change."""

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        run: Run,
        organizes: bool,
        **options: Unpack[FormOptions],
    ) -> None:
        super().__init__(data, task=run.task, organizes=organizes, **options)
        self.fields |= reason_field(run, required=False)


class RunPublicationForm(VersionedForm, PublicationForm):
    """The stored publication of a run, and its retrieval times."""

    retrieval_times = forms.CharField(
        label="Retrieval times",
        max_length=100_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false", "class": "id"}),
        help_text="A line for each topic with its id and the seconds, such as A.1 0.316.",
    )

    def __init__(
        self, data: Mapping[str, object] | None = None, *, run: Run, **options: Unpack[FormOptions]
    ) -> None:
        super().__init__(data, **options)
        self.run = run

    def clean_retrieval_times(self) -> str:
        """Return the times in the order of the topics; reject wrong lines and unknown topics."""
        topics = set(self.run.task.topics.values_list("query_id", flat=True))
        try:
            return write_times(read_times(self.cleaned_data["retrieval_times"], topics=topics))
        except FileRefusedError as error:
            raise forms.ValidationError([str(problem) for problem in error.problems]) from error


class SystemForm(VersionedForm):
    """The runs of one system, with a choice for each run that can be linked."""

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        run: Run,
        others: Iterable[Run],
        **options: Unpack[FormOptions],
    ) -> None:
        super().__init__(data, **options)
        linked = [("linked", "Same system"), ("trained", "Same system, trained on these topics")]
        self.runs = {f"run-{linkable.pk}": linkable for linkable in (run, *others)}
        for name, linkable in self.runs.items():
            is_same = linkable.pk == run.pk or (
                run.system is not None and linkable.system == run.system
            )
            choices = [
                ("linked", "Not trained on these topics"),
                ("trained", "Trained on these topics"),
            ]
            task, team = linkable.task, linkable.team
            self.fields[name] = forms.ChoiceField(
                label=f"{task.lab.name}, {task.name}: {linkable.tag} of {team.name}",
                choices=choices if linkable.pk == run.pk else [("", "Another system"), *linked],
                required=False,
                initial=("trained" if linkable.is_trained else "linked") if is_same else "",
            )

    def links(self) -> dict[int, bool]:
        """Return whether the system was trained on the topics, by the key of each linked run."""
        answers = {run.pk: self.cleaned_data[name] for name, run in self.runs.items()}
        return {key: value == "trained" for key, value in answers.items() if value}


def metadata_forms(
    data: Mapping[str, object], *, names: Sequence[str], task: Task, organizes: bool
) -> list[RunMetadataForm]:
    """Return a form per file name, filled with the submitted values, or else from the name."""
    prefixes = {data.get(f"{prefix}-name"): prefix for prefix in metadata_prefixes(data)}
    forms_of_files = []
    for position, name in enumerate(names):
        values = asdict(metadata_from_name(name)) | {"name": name}
        if name in prefixes:
            posted = {key: data.get(f"{prefixes[name]}-{key}") for key in values}
            values |= {key: value for key, value in posted.items() if value is not None}
        forms_of_files.append(
            RunMetadataForm(prefix=f"run{position}", initial=values, task=task, organizes=organizes)
        )
    return forms_of_files


def metadata_prefixes(data: Mapping[str, object]) -> list[str]:
    """Return the prefixes of the metadata forms in a request."""
    return [
        key.removesuffix("-name") for key in data if key.startswith("run") and key.endswith("-name")
    ]


class MoveForm(forms.Form):
    """The other team of a run, and of a released one the reason."""

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        run: Run,
        teams: QuerySet[Team],
        **options: Unpack[FormOptions],
    ) -> None:
        super().__init__(data, **options)
        self.fields["team"] = NamedChoiceField(
            queryset=teams,
            empty_label="Choose a team",
            label="New team",
            error_messages={"required": "Choose the team that the run moves to."},
        )
        self.fields |= reason_field(run, required=True)


class WithdrawForm(forms.Form):
    """The reason for a withdrawal."""

    reason = forms.CharField(
        label="Reason",
        help_text="Your team and the organizers can read the reason on the run page. If the run is "
        "on a released leaderboard, it stays there, and everyone reads the reason as an erratum.",
        widget=forms.Textarea(attrs={"rows": 3}),
        max_length=LONGEST_REASON,
        error_messages={"required": "Enter a reason for the withdrawal."},
    )


class LeftOutRunsForm(ReasonsForm):
    """Runs, each with a reason to leave it out."""

    def __init__(
        self,
        data: Mapping[str, object] | None,
        *,
        runs: QuerySet[Run],
        recorded: Iterable[LeftOutRun] = (),
    ) -> None:
        """Fill in the reasons of an earlier record of runs that were left out."""
        ordered = runs.select_related("team").order_by("team__name", "tag", "pk")
        super().__init__(
            data,
            kind="runs",
            names={str(run.pk): str(run) for run in ordered},
            reasons={str(row["run"]): row["reason"] for row in recorded},
        )

    @property
    def run_reasons(self) -> dict[int, str]:
        """Return the reasons that were entered, by run."""
        return {int(key): reason for key, reason in self.reasons.items()}

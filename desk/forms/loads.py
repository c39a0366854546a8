"""Forms to load labs, topics, qrels, judgments and collection files."""

from collections.abc import Mapping
from datetime import date
from typing import ClassVar

from django import forms
from django.conf import settings
from django.core.files import File
from django.template.defaultfilters import filesizeformat

from arqkit.formats.labs.files import (
    JUDGMENTS,
    QRELS,
    RUNS,
    TOPIC_FORMULAS,
    TOPIC_INFO,
    TOPICS,
    TaskFileKind,
)
from arqkit.formats.labs.tables import slug_text
from arqkit.protocols.scales import read_scale
from arqkit.texts.posts.topic_making import ALIKE, MEASURED
from arqlab.core.forms.moments import DayField
from arqlab.core.forms.typed import Files, field_of
from arqlab.core.models import Lab, Task
from arqlab.core.selectors import room_for_files
from arqlab.labs.forms.people import NamedChoiceField
from collection.models import Collection
from collection.selectors.candidates import highest_topic_number
from collection.selectors.collections import collection_of
from submissions.forms import FilesField


class LoadForm(forms.Form):
    """Files and options of a load. A repeated load has its earlier files."""

    is_small = True
    """Whether the files are read as a whole, so that their size is limited."""
    kinds: ClassVar[Mapping[str, TaskFileKind]] = {}
    """The kinds of files of a task by their fields."""
    confirmed = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        files: Files | None = None,
        *,
        place: Lab | Task | None,
        again: bool = False,
        initial: dict[str, object] | None = None,
    ) -> None:
        super().__init__(data, files, initial=initial)
        self.place = place
        self.again = again
        for name, kind in self.kinds.items():
            self.fields[name].help_text = self.fields[name].help_text or kind.sentence
        for field in self.fields.values():
            field.required = field.required and not (again and isinstance(field, forms.FileField))
        self.adapt(place)

    def adapt(self, place: Lab | Task | None) -> None:
        """Fit the fields to the lab or the task."""

    def clean(self) -> dict[str, object]:
        """Refuse files that are too large to read as a whole."""
        cleaned = super().clean() or self.cleaned_data
        for name, files in self.uploads.items():
            large = [file for file in files if file.size > settings.RUN_MAX_BYTES]
            if large and self.is_small:
                limit = filesizeformat(settings.RUN_MAX_BYTES)
                self.add_error(
                    name, f"{large[0].name} is too large: the limit is {limit}. Check the file."
                )
        return cleaned

    @property
    def file_limit(self) -> int | str:
        """Return how many bytes each file may have, or "" without a limit."""
        return settings.RUN_MAX_BYTES if self.is_small else ""

    @property
    def total_limit(self) -> int | str:
        """Return how many bytes all files may have together, or "" without a limit."""
        return "" if self.is_small else room_for_files()

    @property
    def uploads(self) -> dict[str, list[File]]:
        """Return the files by field."""
        sent = {
            name: self.cleaned_data.get(name)
            for name, field in self.fields.items()
            if isinstance(field, forms.FileField)
        }
        return {
            name: [file for file in (value if isinstance(value, list) else [value]) if file]
            for name, value in sent.items()
        }

    @property
    def options(self) -> dict[str, object]:
        """Return the other values, ready for JSON."""
        return {
            name: value.isoformat() if isinstance(value, date) else value
            for name, value in self.cleaned_data.items()
            if name not in self.uploads
        }

    @property
    def single(self) -> list[str]:
        """Return the fields of one file, whose file replaces an earlier one of any name."""
        return [
            name
            for name, field in self.fields.items()
            if isinstance(field, forms.FileField) and not isinstance(field, FilesField)
        ]


class OptionalFilesField(FilesField):
    """A field for any number of files."""

    def __init__(self, *, label: str, help_text: str) -> None:
        super().__init__(label=label, help_text=help_text, required=False)

    def clean(self, data: object, initial: object = None) -> list[File]:
        """Return the files, which may be none."""
        return super().clean(data, initial) if data else []


class LabFilesForm(LoadForm):
    """A lab.toml and the files that it names."""

    is_small = False
    file = FilesField(
        label="lab.toml and its files",
        help_text="One archive of the lab's folder (zip or tar), or the lab.toml together with all "
        "files that it names.",
        error_messages={"required": "Choose a lab.toml with its files, or an archive of them."},
    )
    edits = forms.ChoiceField(
        label="Values of an existing lab that were edited in the browser",
        required=False,
        choices=[
            ("", "list them, and load nothing"),
            ("keep", "keep the edited values"),
            ("overwrite", "overwrite them with those of the folder"),
        ],
    )
    archive = forms.ChoiceField(
        label="The archive of a whole lab, with runs, pools and releases",
        required=False,
        choices=[
            ("", "name it, and load nothing"),
            ("folder", "load only its topics, qrels and guidelines"),
        ],
    )


class RestoreForm(LoadForm):
    """The archive of a whole lab."""

    is_small = False
    file = forms.FileField(
        label="Archive",
        help_text="The zip file that an archive of the lab or manage.py archive wrote.",
        error_messages={"required": "Choose the archive of a lab."},
    )


class TopicsForm(LoadForm):
    """The topics of a task."""

    kinds = {kind.key: kind for kind in (TOPICS, TOPIC_INFO, TOPIC_FORMULAS)}
    topics = forms.FileField(label="Topics", error_messages={"required": "Choose a topic file."})
    topic_info = forms.FileField(label="Topic information", required=False)
    topic_formulas = forms.FileField(label="Topic formulas", required=False)
    delete_others = forms.BooleanField(
        label="Delete topics of this task that are not in the file", required=False
    )

    def adapt(self, place: Lab | Task | None) -> None:
        """Ask for the formulas of topics only where posts have threads."""
        if isinstance(place, Task) and not place.words.has_threads:
            del self.fields["topic_formulas"]


class QrelsForm(LoadForm):
    """One version of a task's qrels."""

    kinds = {"file": QRELS}
    file = forms.FileField(label="Qrels", error_messages={"required": "Choose a qrels file."})
    name = forms.CharField(
        label="Version name",
        max_length=50,
        initial="official",
        help_text="Qrels never change: give a correction a new name.",
        error_messages={"required": "Enter a name for this version."},
    )
    items = forms.ChoiceField(label="Items", choices=Task.Items.choices)
    labels = forms.CharField(
        label="Labels",
        required=False,
        max_length=40,
        help_text="arqmath, trec-binary, ntcir, or a range such as 0-2. If empty, the task's "
        "labels.",
    )
    relevant_from = forms.IntegerField(
        label="Lowest relevant label",
        required=False,
        min_value=1,
        widget=forms.NumberInput(attrs={"class": "short"}),
        help_text="If empty, that of the task.",
    )

    leaves_out = forms.BooleanField(
        label="Load only the lines of the task's topics", required=False
    )

    def adapt(self, place: Lab | Task | None) -> None:
        """Suggest the type of the items that the task's protocol names."""
        if isinstance(place, Task):
            self.fields["items"].initial = place.protocol.items.value

    def clean_labels(self) -> str:
        """Return the name or the range of a scale."""
        try:
            if labels := self.cleaned_data["labels"]:
                read_scale(labels)
        except ValueError as error:
            raise forms.ValidationError(f"Unknown labels. Enter {error}.") from error
        return str(labels)


class JudgmentsForm(LoadForm):
    """Judgments made elsewhere."""

    kinds = {"file": JUDGMENTS}
    file = forms.FileField(
        label="Judgments",
        help_text="TSV with the columns topic, item, label and optionally assessor, comment, "
        "seconds, judged_at, guidelines; a download of judgments; the results of a batch "
        "of Turkle; or a qrels file. All items must be in a pool of the task.",
        error_messages={"required": "Choose a file of judgments."},
    )
    leaves_out = forms.BooleanField(label="Load only those that are in the pool", required=False)
    takes_older = forms.BooleanField(
        label="Let older labels replace newer ones",
        required=False,
        help_text="A label that is newer here than in the file stays otherwise.",
    )


class RunsForm(LoadForm):
    """Runs of several teams."""

    kinds = {"file": RUNS}
    is_small = False
    file = FilesField(
        label="Runs",
        help_text="A download of runs (runs.zip), an archive of run files, or the files. Teams and "
        "details come from its manifest.tsv, from a metadata.csv with the column file and others "
        "of the manifest, or from names such as TEAM-task1-TAG-auto-both-P.tsv. Missing teams are "
        "created.",
        error_messages={"required": "Choose run files, or an archive of them."},
    )


class CollectionFilesForm(LoadForm):
    """Files of a data dump, documents, and formula indexes."""

    is_small = False
    slug = forms.CharField(
        label="Collection", max_length=50, help_text="Its name, such as mse-2018."
    )
    complete = forms.BooleanField(
        label="The collection is complete: a run with other items is invalid",
        required=False,
        initial=True,
    )
    licence = forms.CharField(
        label="Licence of the texts",
        required=False,
        max_length=60,
        help_text="Its SPDX identifier, such as CC-BY-SA-4.0. Archives of the lab contain the texts"
        " if the licence lets you pass them on (Creative Commons).",
    )
    dump = OptionalFilesField(
        label="Data dump",
        help_text="Posts.xml, Comments.xml, PostLinks.xml, Tags.xml, Users.xml, Votes.xml and "
        "Badges.xml, plain or compressed (gz, bz2, 7z), or one 7z archive of them.",
    )
    documents = forms.FileField(
        label="Documents",
        required=False,
        help_text="For tasks that retrieve documents or paragraphs: lines of JSON with id, title "
        "and html or text (.jsonl, .jsonl.gz), or a zip of HTML and text files named by their ids.",
    )
    latex = OptionalFilesField(label="Formulas in LaTeX", help_text="TSV, plain, gz or bz2.")
    slt = OptionalFilesField(
        label="Formulas as symbol layout trees", help_text="TSV with Presentation MathML."
    )
    opt = OptionalFilesField(
        label="Formulas as operator trees", help_text="TSV with Content MathML."
    )
    since = DayField(label="First day to search", help_text="Earlier posts are left out.")
    until = DayField(
        label="Last day to search",
        help_text="Later posts are left out, or kept for topics and their threads.",
    )
    keep_later = forms.BooleanField(
        label="Keep later posts for topics and their threads", required=False
    )

    def adapt(self, place: Lab | Task | None) -> None:
        """Show the facts of the lab's collection, whose name stays."""
        collection = collection_of(place) if isinstance(place, Lab) else None
        if collection:
            self.fields["slug"].initial, self.fields["slug"].disabled = collection.slug, True
            self.fields["complete"].initial = collection.is_complete
            self.fields["licence"].initial = collection.licence

    def clean_slug(self) -> str:
        """Return the name of the lab's collection, or of a new one."""
        slug = self.cleaned_data["slug"]
        if self.fields["slug"].disabled:
            return str(slug)
        try:
            slug_text(slug)
        except ValueError as error:
            raise forms.ValidationError(f"Enter a name: {error}.") from error
        if Collection.objects.filter(slug=slug, labs__isnull=False).exists():
            raise forms.ValidationError("Another lab has a collection with this name.")
        return str(slug)

    def clean(self) -> dict[str, object]:
        """Check that there is a file, and the days."""
        super().clean()
        cleaned = self.cleaned_data
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and until < since:
            self.add_error("until", "The last day is before the first day. Correct one of them.")
        if cleaned.get("keep_later") and not until:
            self.add_error("until", "Enter the last day to search, or do not keep later posts.")
        if not self.again and not any(self.uploads.values()):
            self.add_error("dump", "Choose at least one file of the collection.")
        return cleaned


class RangeField(forms.CharField):
    """A range of numbers, FROM..TO, as a pair; either end may be missing. Empty is None."""

    def __init__(self, *, label: str) -> None:
        widget = forms.TextInput(attrs={"class": "short", "placeholder": "FROM..TO"})
        super().__init__(label=label, required=False, widget=widget)

    def clean(self, value: object) -> list[float | None] | None:
        """Return the lowest and the highest number; a single number is both."""
        text = str(super().clean(value))
        if not text:
            return None
        least, dots, most = text.partition("..")
        try:
            ends = [float(end) if end else None for end in (least, most)]
        except ValueError as error:
            raise forms.ValidationError(
                f"{text} is not a range. Enter FROM..TO, FROM.. or ..TO."
            ) from error
        return ends if dots else [ends[0], ends[0]]


class ArchiveForm(LoadForm):
    """What the archive of a lab is for."""

    published = forms.TypedChoiceField(
        label="Contents",
        choices=[
            (False, "Everything, to make the lab again on another server"),
            (True, "What is released, with pseudonyms: a test collection for everyone"),
        ],
        coerce=lambda value: value == "True",
        widget=forms.RadioSelect,
        initial=False,
    )


class CandidatesForm(LoadForm):
    """The filters of `manage.py make_topics`."""

    which = forms.ChoiceField(
        label="Questions",
        choices=[
            ("later", "after the search window"),
            ("searched", "that are searched"),
            ("all", "all"),
        ],
    )
    first_day = DayField(label="First day")
    last_day = DayField(label="Last day")
    related = forms.BooleanField(label="Accept a related question as a duplicate", required=False)
    unlinked = forms.BooleanField(label="Include questions without a duplicate", required=False)
    alike = forms.FloatField(
        label="Similarity of equal titles",
        initial=ALIKE,
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"class": "short", "step": "0.05"}),
        help_text="Questions whose titles have at least this Jaccard coefficient with a topic of "
        "this server are left out.",
    )

    draw = forms.IntegerField(
        label="Candidates to draw",
        min_value=1,
        required=False,
        widget=forms.NumberInput(attrs={"class": "short"}),
        help_text="In turn from strata: the thirds of score, reputation, number of formulas and "
        "Flesch Reading Ease. If empty, all are listed.",
    )
    seed = forms.IntegerField(
        label="Seed of the draw",
        min_value=0,
        required=False,
        widget=forms.NumberInput(attrs={"class": "short"}),
    )

    def adapt(self, place: Lab | Task | None) -> None:
        """Add a range for each measure, between the dates and the links."""
        for name in MEASURED:
            label = "Flesch Reading Ease" if name == "flesch" else name.capitalize()
            label = "Reputation of the asker" if name == "reputation" else label
            self.fields[name] = RangeField(label=label)
        self.order_fields(["which", "first_day", "last_day", *MEASURED])


class ChosenForm(forms.Form):
    """The chosen questions, their first number, and the tasks that get them."""

    posts = forms.MultipleChoiceField(required=False)
    file = forms.FileField(
        label="Edited list",
        required=False,
        help_text="Instead of choosing in the table: the list of candidates as CSV with the rows "
        "you keep, and optionally topic, formula_id, category, difficulty and other information.",
    )
    first = forms.IntegerField(
        label="First topic number",
        min_value=1,
        max_value=999_999,
        widget=forms.NumberInput(attrs={"class": "short"}),
    )
    questions = NamedChoiceField(Task.objects.none(), label="Add the questions to", required=False)
    formulas = NamedChoiceField(Task.objects.none(), label="Add their formulas to", required=False)

    def __init__(
        self,
        data: Mapping[str, object] | None,
        files: Files | None,
        *,
        lab: Lab,
        candidates: list[str],
    ) -> None:
        """Offer the candidates and the lab's tasks, and the next free number."""
        super().__init__(data, files)
        field_of(self, "posts", forms.MultipleChoiceField).choices = [
            (post, post) for post in candidates
        ]
        self.fields["first"].initial = highest_topic_number() + 1
        kinds = {
            "questions": [Task.Kind.ANSWERS, Task.Kind.GENERATED_ANSWERS],
            "formulas": [Task.Kind.FORMULAS],
        }
        for name, kind in kinds.items():
            field = field_of(self, name, NamedChoiceField)
            field.queryset = lab.tasks.filter(kind__in=kind)
            field.empty_label = "no task"

    def clean(self) -> dict[str, object]:
        """Check that questions and a task are chosen."""
        cleaned = super().clean() or self.cleaned_data
        if not cleaned.get("posts") and not cleaned.get("file"):
            self.add_error("posts", "Choose at least one question, or send an edited list.")
        if "download" not in self.data and not (
            cleaned.get("questions") or cleaned.get("formulas")
        ):
            self.add_error("questions", "Choose the task that gets the topics.")
        return cleaned

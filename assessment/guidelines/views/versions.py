"""The pages of the guidelines for assessors."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple, Unpack

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from arqkit.labels import LabelScale
from arqkit.records import LONGEST_ID, TaskKind
from arqkit.texts.posts.queries import parse_query
from arqlab.core.errors import UserError
from arqlab.core.forms.typed import FormOptions, field_of
from arqlab.core.models import Task, Topic, User
from arqlab.core.views import refused, signed_in, told
from arqlab.labs.permissions import looked_up_task_or_404, may_organize, organized_task_or_404
from arqlab.web import TASK, Column, Pages, SearchForm, Table, answer, cells, number_of, to
from assessment.guidelines.selectors.versions import (
    changed_entries,
    changed_lines,
    counts_by_version,
    current_guideline,
    entries_of,
    followed_versions,
    guideline_source,
    guideline_text,
    label_table,
    undefined_labels,
    version_numbered,
    version_of,
    waiting_entries,
)
from assessment.guidelines.services.rendering import (
    changed_html,
    guideline_html,
    show_guideline,
    shown_entries,
)
from assessment.guidelines.services.versions import (
    LONGEST_ENTRY,
    Decision,
    add_example,
    find_entry_item,
    formulas_of_post,
    keep_entry,
    record_case,
    remove_entry,
    write_guideline,
)
from assessment.models import Guideline, GuidelineEntry
from assessment.qrels.selectors.drafts import task_scale
from collection.selectors.collections import collection_of
from collection.services.lookup import look_up

LONGEST_DEFINITION = 2_000  # characters

pages = Pages(f"{TASK}guidelines/", organized_task_or_404, section="judging")

KINDS = (GuidelineEntry.Kind.EXAMPLE, GuidelineEntry.Kind.CASE)


class GuidelineForm(forms.Form):
    """A new version of the guidelines, and the version it is based on."""

    text = forms.CharField(
        label="Guidelines",
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "true", "class": "id"}),
        strip=False,
        help_text="HTML as in posts (paragraphs, lists, tables, headings), with LaTeX between "
        "dollar signs. Every version is kept, and every judgment records the version "
        "the assessor followed.",
        error_messages={"required": "The guidelines are empty. Write how assessors should judge."},
    )
    after = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=32_767)

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        scale: LabelScale,
        **options: Unpack[FormOptions],
    ) -> None:
        super().__init__(data, **options)
        for label in scale:
            self.fields[f"label-{label.value}"] = forms.CharField(
                label=label.word,
                widget=forms.Textarea(attrs={"rows": 2}),
                max_length=LONGEST_DEFINITION,
                required=False,
            )

    @property
    def label_fields(self) -> list[forms.BoundField]:
        """Return the fields of the definitions."""
        return [field for field in self if field.name.startswith("label-")]

    @property
    def definitions(self) -> dict[str, str]:
        """Return the definitions that were entered, by the value of their label."""
        return {
            name.removeprefix("label-"): text
            for name, text in self.cleaned_data.items()
            if name.startswith("label-") and text
        }


class EntryForm(forms.Form):
    """An example or a decided case: what it is about, the label and the reason."""

    question = forms.CharField(
        label="Question of interpretation",
        widget=forms.Textarea(attrs={"rows": 2}),
        max_length=LONGEST_ENTRY,
        help_text="Such as: does an answer that only restates the question count? Texts may "
        "contain LaTeX between dollar signs.",
    )
    decision = forms.CharField(
        label="Decision", widget=forms.Textarea(attrs={"rows": 2}), max_length=LONGEST_ENTRY
    )
    topic = forms.ModelChoiceField(
        Topic.objects.none(), to_field_name="query_id", required=False, empty_label="no topic"
    )
    item = forms.CharField(
        max_length=LONGEST_ID,
        help_text="The id of the item in qrels: a post, a formula or a document of the "
        "collection, or an item of a pool. Search for it above.",
    )
    label = forms.TypedChoiceField(coerce=int, empty_value=None)
    reason = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), max_length=LONGEST_ENTRY)
    place = forms.CharField(
        label="Decided in",
        max_length=200,
        required=False,
        help_text="Such as the meeting. Assessors see it, but not who decided.",
    )

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        task: Task,
        kind: str,
        **options: Unpack[FormOptions],
    ) -> None:
        """Offer the topics and labels of a task; `kind` is that of the entry."""
        super().__init__(data, **options)
        self.task, self.kind = task, kind
        labels = [("", "no label"), *((label.value, label.word) for label in task_scale(task))]
        field_of(self, "label", forms.TypedChoiceField).choices = labels
        field_of(self, "topic", forms.ModelChoiceField).queryset = task.topics.order_by("position")
        if kind == GuidelineEntry.Kind.EXAMPLE:
            for name in ("question", "decision", "place"):
                del self.fields[name]
        else:
            for name in ("item", "label", "reason"):
                self.fields[name].required = False

    def save(self, *, at: datetime, by: User) -> GuidelineEntry:
        """Collect the entry for the next version. Raise `UserError` as the services do."""
        fields = self.cleaned_data
        item = find_entry_item(self.task, topic=fields["topic"], item=fields["item"])
        label, reason = fields["label"], fields["reason"]
        if self.kind == GuidelineEntry.Kind.EXAMPLE:
            return add_example(task=self.task, item=item, label=label, reason=reason, at=at, by=by)
        decision = Decision(fields["decision"], label, reason, place=fields["place"])
        return record_case(
            task=self.task, item=item, question=fields["question"], decision=decision, at=at, by=by
        )


@pages.form("entries/", "guideline-entry-list")
def guideline_entry_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the entries of the next and the current version; `remove` or `keep` one, or publish."""
    if request.method == "POST":
        with told(request):
            messages.success(request, _change(task, request, by=signed_in(request)))
        return redirect("assessment:guideline-entry-list", lab=task.lab.slug, task=task.slug)
    waiting, version = waiting_entries(task), version_of(current_guideline(task))
    scale = task_scale(task)
    current = entries_of(task, version).filter(until=None) if version else ()
    context = {
        "version": version,
        "added": shown_entries(waiting.added, scale=scale),
        "removed": shown_entries(waiting.removed, scale=scale),
        "current": shown_entries(current, scale=scale),
        "organizes": True,
    }
    return render(request, "assessment/guideline_entry_list.html", context)


def _change(task: Task, request: HttpRequest, *, by: User) -> str:
    """Carry out the requested action and return the message about it."""
    for name, change in (("remove", remove_entry), ("keep", keep_entry)):
        if key := number_of(request.POST.get(name, "")):
            change(entry=get_object_or_404(task.guideline_entries, pk=key), by=by)
            return "Saved for the next version."
    newest = current_guideline(task)
    text, after = guideline_text(task, newest), version_of(newest)
    guideline = write_guideline(task=task, text=text, at=timezone.now(), by=by, after=after)
    return f"Assessors now follow version {guideline.version}."


@pages.form("entries/add/", "guideline-entry-add")
def guideline_entry_add(request: HttpRequest, task: Task) -> HttpResponse:
    """Search for an item, and add an example of a label or, with `kind=case`, a decided case."""
    kind = KINDS[request.GET.get("kind") == GuidelineEntry.Kind.CASE]
    initial = {name: request.GET.get(name, "") for name in ("topic", "item")}
    form = EntryForm(request.POST or None, task=task, kind=kind, initial=initial)
    if request.method == "POST" and form.is_valid():
        with refused(form, **{"unknown-item": "item"}):
            form.save(at=timezone.now(), by=signed_in(request))
            messages.success(request, "Collected for the next version. Publish it when ready.")
            return redirect("assessment:guideline-entry-list", lab=task.lab.slug, task=task.slug)
    search, collection = SearchForm(request.GET, auto_id="entry-%s"), collection_of(task.lab)
    context = {"form": form, "kind": kind, "organizes": True, "search": search}
    context["collection"] = collection
    context |= _chosen_item(task, initial["item"], request.GET.get("post", ""))
    query, page = parse_query(search.text), request.GET.get("page")
    if collection and not query.is_empty:
        context["found"] = look_up(collection=collection, query=query, page=page)
    return render(request, "assessment/guideline_entry_add.html", context)


def _chosen_item(task: Task, item: str, post_id: str) -> dict[str, object]:
    """Return the chosen item as in an entry, or the formulas of the chosen post to choose from."""
    is_formula = task.kind == TaskKind.FORMULAS
    context: dict[str, object] = {"is_formula": is_formula}
    if is_formula and post_id:
        context["formulas"] = formulas_of_post(task, post_id)
    if item:
        try:
            fields = find_entry_item(task, topic=None, item=item)._asdict()
        except UserError as error:
            return context | {"refusal": error.message}
        entry = GuidelineEntry(task=task, kind=GuidelineEntry.Kind.EXAMPLE, since=1, **fields)
        [context["shown"]] = shown_entries([entry], scale=task_scale(task))
    return context


@pages.read("<number:version>/changes/", "guideline-changes", access=looked_up_task_or_404)
def guideline_changes(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Show what a version changed since the one before, or since the version in `since`."""
    guideline = version_or_404(task, version)
    if guideline is None:
        raise Http404
    since = number_of(request.GET.get("since", ""))
    before = since if since is not None and since < version else version - 1
    earlier, scale = version_numbered(task, before), task_scale(task)
    texts = [guideline_source(task, compared, scale) for compared in (earlier, guideline)]
    entries = changed_entries(task, before=before, version=version)
    both = (*entries.added, *entries.removed)
    labels = {entry.label for entry in both if entry.label is not None}
    context = {
        "guideline": guideline,
        "before": before,
        "earlier": range(version),
        "html": changed_html(*texts) if texts[0] != texts[1] else None,
        "changes": changed_lines(*texts),
        "added": shown_entries(entries.added, scale=scale),
        "removed": shown_entries(entries.removed, scale=scale),
        "labels": [scale.of(label) for label in sorted(labels, reverse=True)],
        "organizes": may_organize(request.user, task.lab),
    }
    return render(request, "assessment/guideline_changes.html", context)


@pages.read(
    "<number:version>/panel/", "guideline-panel", access=looked_up_task_or_404, sign_in=True
)
def guideline_panel(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Return a version for the judging page, with what is new for the user marked."""
    user = signed_in(request)
    followed = followed_versions(user, [task]).get(task.pk)
    context = {
        "version": version,
        "followed": followed,
        "shown": show_guideline(task, version_or_404(task, version), followed=followed),
        "newest": version_of(current_guideline(task)),
    }
    response = render(request, "assessment/_guideline_panel.html", context)
    response.headers["X-Judging-User"] = str(user.pk)  # as for the list of judgments
    return response


@pages.read("<number:version>/", "guideline-detail", access=looked_up_task_or_404)
def guideline_detail(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Show a version of the guidelines. Version 0 is ArqLab's default text."""
    guideline = version_or_404(task, version)
    context = {
        "guideline": guideline,
        "version": version,
        "shown": show_guideline(task, guideline),
        "newest": current_guideline(task),
        "organizes": may_organize(request.user, task.lab),
    }
    return render(request, "assessment/guideline_detail.html", context)


def version_or_404(task: Task, version: int) -> Guideline | None:
    """Return a version of a task's guidelines, None for the default text (0), or raise Http404."""
    guideline = version_numbered(task, version) if version else None
    if version and guideline is None:
        raise Http404
    return guideline


@pages.form("", "guideline-edit")
def guideline_edit(request: HttpRequest, task: Task) -> HttpResponse:
    """Edit the guidelines, preview the next version, and list all versions."""
    newest, scale = current_guideline(task), task_scale(task)
    form = GuidelineForm(request.POST or None, initial=_initial(task, newest), scale=scale)
    source = guideline_source(task, newest, scale)
    context: dict[str, object] = {"newest": newest, "waiting": waiting_entries(task)}
    if request.method == "POST" and form.is_valid():
        before, source = source, label_table(form.definitions, scale) + form.cleaned_data["text"]
        try:
            if "preview" not in request.POST:
                return _published(request, task, form)
            context["html"] = guideline_html(source)
        except UserError as error:
            if error.code == "changed-meanwhile":
                # Based on the version saved since, with the differences: saving again is informed.
                data = {**form.cleaned_data, "after": version_of(newest)}
                form = GuidelineForm(data, scale=scale)
                context["changes"] = changed_lines(before, source)
            form.add_error(None, error.message)
    counts = counts_by_version(task)
    context |= {"form": form, "unknown_labels": counts.get(None, 0)}
    context["undefined"] = undefined_labels(source, scale)
    table = _versions_table(task, counts, version_of(newest))
    return answer(request, "assessment/guideline_edit.html", context, table)


def _initial(task: Task, newest: Guideline | None) -> dict[str, object]:
    definitions = newest.definitions if newest else {}
    labels = {f"label-{value}": text for value, text in definitions.items()}
    return {"text": guideline_text(task, newest), "after": version_of(newest), **labels}


def _published(request: HttpRequest, task: Task, form: GuidelineForm) -> HttpResponse:
    fields = {name: form.cleaned_data[name] for name in ("text", "after")}
    fields |= {"definitions": form.definitions, "at": timezone.now(), "by": signed_in(request)}
    saved = write_guideline(task=task, **fields)
    messages.success(request, f"Assessors now follow version {saved.version}.")
    return redirect("assessment:guideline-detail", task.lab.slug, task.slug, saved.version)


class _VersionRow(NamedTuple):
    version: int
    author: str | None
    written_at: datetime | None


def _versions_table(
    task: Task, counts: Mapping[int | None, int], newest: int
) -> Table[_VersionRow]:
    address = [task.lab.slug, task.slug]
    labels = reverse("assessment:guideline-judgment-list", args=address)
    versions = task.guidelines.select_related("written_by").defer("text").order_by("-version")
    rows = [
        _VersionRow(it.version, it.written_by.name if it.written_by else None, it.written_at)
        for it in versions
    ]
    default = _VersionRow(0, f"ArqLab default for {task.lab.protocol}", None)

    def before(version: int) -> int:
        return sum(
            count for other, count in counts.items() if other is not None and other < version
        )

    def column(heading: str, count: Callable[[int], int], query: str) -> Column[_VersionRow]:
        return Column(
            heading,
            lambda row: count(row.version),
            cells.COUNT,
            link=lambda row: f"{labels}?{query}={row.version}" if count(row.version) else "",
        )

    return Table[_VersionRow](
        "versions",
        [
            Column(
                "Version",
                lambda row: f"Version {row.version}",
                link=to("assessment:guideline-detail", *address, of=lambda row: row.version),
                is_head=True,
            ),
            Column("By", lambda row: row.author),
            Column("Saved", lambda row: row.written_at, cells.TIME),
            Column(
                "State", lambda row: "current" if row.version == newest else "replaced", cells.CHIP
            ),
            column("Labels", lambda version: counts.get(version, 0), "version"),
            column("Labels given before", before, "before"),
        ],
        [*rows, default],
    )

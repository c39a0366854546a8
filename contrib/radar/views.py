"""The organizers' pages of the radar."""

from typing import NamedTuple

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_list_or_404, redirect
from django.utils import timezone

from arqkit.judgments.radar import RadarFinding
from arqkit.labels import ScaleLabel
from arqlab.core.models import Task
from arqlab.core.views import refused, signed_in
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import (
    TASK,
    Column,
    Empty,
    Filter,
    Pages,
    Prepared,
    Table,
    answer,
    cells,
    task_url,
    to,
)
from assessment.judging.views.judgments import ITEM, with_threads
from assessment.models import DismissedFinding, DuplicatePosts, Judgment
from assessment.qrels.selectors.drafts import task_scale
from contrib.radar.selectors.findings import (
    FindingRow,
    dismissed_findings,
    earlier_labels,
    finding_rows,
    findings_of,
    judgments_of_finding,
)
from contrib.radar.services.dismissing import LONGEST_NOTE, dismiss_finding, reopen_finding

pages = Pages(f"{TASK}radar/", organized_task_or_404, section="judging")


class NoteForm(forms.Form):
    """The note with which a finding is dismissed."""

    note = forms.CharField(
        label="Note",
        widget=forms.Textarea(attrs={"rows": 4}),
        max_length=LONGEST_NOTE,
        help_text="For example, what you discussed. Organizers see it; assessors do not.",
        error_messages={"required": "Write what you found out or agreed on."},
    )


@pages.read("", "radar-list", shows="radar")
def radar_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the open findings of a task, or with `state=dismissed` those dismissed with notes."""
    if request.GET.get("state") == "dismissed":
        dismissed = _dismissed_table(request, task)
        return answer(request, "radar/radar_dismissed.html", {}, dismissed)
    keys = set(dismissed_findings(task).values_list("key", flat=True))
    context = {
        "dismissed": len(keys),
        "is_compared": DuplicatePosts.objects.filter(task=task).exists(),
    }
    open_findings = [finding for finding in findings_of(task) if finding.key not in keys]
    table = _findings_table(request, task, open_findings)
    return answer(request, "radar/radar_list.html", context, table)


def _findings_table(
    request: HttpRequest, task: Task, open_findings: list[RadarFinding]
) -> Table[FindingRow]:
    return Table[FindingRow](
        "findings",
        [
            Column(
                "Kind",
                lambda row: row["kind"],
                order="kind",
                link=lambda row: task_url("radar:radar-detail", task, row["key"]),
                spoken=lambda row: (
                    f"{row['kind']}, {row['assessor']}, {row['topic'] or 'all topics'}"
                ),
                is_head=True,
                css="nowrap",
            ),
            Column("Assessor", lambda row: row["assessor"], by="assessor"),
            Column("Topic", lambda row: row["topic"], cells.ID, by="topic"),
            Column("Finding", lambda row: row["summary"], cells.PROSE),
            Column("Judgments", lambda row: row["judgments"], cells.COUNT, by="judgments"),
            Column("", order="weight", by="place", name=None),
        ],
        finding_rows(open_findings, scale=task_scale(task)),
        asked=request.GET,
        order="weight",
        searched=("kind", "assessor", "topic", "summary"),
        filters=[Filter(name, name.capitalize(), name) for name in ("kind", "assessor", "topic")],
        empty=Empty(
            "No findings",
            "Findings appear here while assessors judge. Drift is tested from 100 items of an "
            "assessor.",
        ),
    )


def _dismissed_table(request: HttpRequest, task: Task) -> Table[DismissedFinding]:
    return Table[DismissedFinding](
        "findings",
        [
            Column(
                "Assessor", lambda row: row.assessor.name, by="assessor__username", is_head=True
            ),
            Column("Topic", lambda row: row.topic, cells.ID, by="topic"),
            Column(
                "Finding",
                lambda row: row.summary,
                cells.PROSE,
                link=lambda row: task_url("radar:radar-detail", task, row.key),
            ),
            Column("Note", lambda row: row.note, cells.PROSE),
            Column("By", lambda row: row.dismissed_by and row.dismissed_by.name),
            Column("Dismissed", lambda row: row.dismissed_at, cells.TIME, by="dismissed_at"),
        ],
        dismissed_findings(task),
        asked=request.GET,
        order="-dismissed",
        searched=("summary", "note", "topic", "assessor__username", "assessor__first_name"),
        empty=Empty(
            "No dismissed findings yet", "Dismissed findings appear here with their notes."
        ),
    )


@pages.form("<str:finding>/", "radar-detail")
def radar_detail(request: HttpRequest, task: Task, finding: str) -> HttpResponse:
    """Show a finding with its judgments, and dismiss it with a note or reopen it."""
    radar_finding = {candidate.key: candidate for candidate in findings_of(task)}.get(finding)
    if radar_finding is None:  # perhaps dismissed before its labels changed
        get_list_or_404(task.dismissed_findings, key=finding)
        messages.info(request, "This finding no longer exists, because its labels have changed.")
        return redirect("radar:radar-list", lab=task.lab.slug, task=task.slug)
    form = NoteForm(request.POST if "dismisses" in request.POST else None)
    if request.method == "POST" and _is_changed(request, task, radar_finding, form):
        return redirect("radar:radar-list", lab=task.lab.slug, task=task.slug)
    context = {
        "form": form,
        "finding": finding_rows([radar_finding], scale=task_scale(task)).row(0, named=True),
        "dismissed": dismissed_findings(task).filter(key=finding).first(),
    }
    status, table = 422 if form.errors else 200, _judgments_table(request, task, radar_finding)
    return answer(request, "radar/radar_detail.html", context, table, status=status)


def _is_changed(request: HttpRequest, task: Task, finding: RadarFinding, form: NoteForm) -> bool:
    """Dismiss or reopen the finding. Return False if the form has errors."""
    at, by = timezone.now(), signed_in(request)
    if not form.is_bound:
        if reopen_finding(task=task, key=finding.key, at=at, by=by):
            messages.success(request, "Finding reopened. Its note is in the audit log.")
        return True
    if not form.is_valid():
        return False
    with refused(form):
        dismiss_finding(task=task, finding=finding, note=form.cleaned_data["note"], at=at, by=by)
        messages.success(request, "Finding dismissed. Your note is with the dismissed findings.")
        return True
    return False


class _RepeatedRow(NamedTuple):
    judgment: Judgment
    url: str
    earlier: list[ScaleLabel] | None


def _judgments_table(
    request: HttpRequest, task: Task, finding: RadarFinding
) -> Table[_RepeatedRow]:
    scale = task_scale(task)

    def topic(row: _RepeatedRow) -> str:
        return row.judgment.instance.item.topic.query_id

    def with_labels(judgments: list[Judgment]) -> list[_RepeatedRow]:
        earlier = earlier_labels(judgments, scale=scale)
        rows = with_threads(task.lab, judgments)
        return [_RepeatedRow(*row, earlier.get(row.judgment.instance_id)) for row in rows]

    return Table[_RepeatedRow](
        "judgments",
        [
            Column(
                "Topic",
                topic,
                cells.ID,
                link=to("labs:topic-detail", task.lab.slug, task.slug, of=topic),
                by="instance__item__topic__position",
            ),
            ITEM,
            Column("Label", lambda row: row.judgment.scale_label, cells.LABEL, by="label"),
            Column("Earlier labels", lambda row: row.earlier, cells.LABELS),
            Column("Comment", lambda row: row.judgment.comment, cells.EXCERPT),
            Column("Seconds", lambda row: row.judgment.active_ms, cells.SECONDS, by="active_ms"),
            Column(
                "Judged", lambda row: row.judgment.judged_at, cells.TIME, order="order", by="pk"
            ),
        ],
        Prepared(judgments_of_finding(task, finding), with_labels),
        asked=request.GET,
        order="order",
        searched=("instance__doc_id", "instance__item__topic__query_id", "comment"),
    )

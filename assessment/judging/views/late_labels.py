"""The labels that arrived late, and the decisions about them."""

from operator import attrgetter
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.html import format_html

from arqlab.core.models import Task
from arqlab.core.views import signed_in
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import (
    LAB,
    Column,
    Empty,
    Filter,
    Pages,
    Table,
    answer,
    cells,
    choice_column,
    counted,
    task_url,
)
from assessment.judging.services.late_labels import LONGEST_REASON, decide_late_labels
from assessment.models import LateLabel
from assessment.qrels.selectors.frames import late_labels, with_labels_that_count

pages = Pages(LAB, organized_task_or_404, section="judging")
SEARCHED = (
    "judgment__instance__doc_id",
    "judgment__instance__item__topic__query_id",
    "judgment__comment",
    "reason",
)
"""Where the list of late labels looks for words."""

POSITION = "judgment__instance__item__topic__position"


class LateDecisionForm(forms.Form):
    """What happens with the selected late labels, and why."""

    labels = forms.TypedMultipleChoiceField(
        coerce=int, error_messages={"required": "Select the labels to keep or to exclude."}
    )
    decision = forms.ChoiceField(
        choices=[
            (one.value, one.label) for one in (LateLabel.Decision.KEPT, LateLabel.Decision.EXCLUDED)
        ]
    )
    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="The assessors read it.",
        error_messages={"required": "Write why you keep or exclude the labels."},
    )

    def __init__(self, *args: Any, rows: QuerySet[LateLabel], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        undecided = rows.filter(decision=LateLabel.Decision.OPEN).values_list("pk", flat=True)
        self.fields["labels"].choices = [(pk, str(pk)) for pk in undecided]  # type: ignore[attr-defined]


@pages.form("tasks/<slug:task>/late-labels/", "late-label-list")
def late_label_list(request: HttpRequest, task: Task) -> HttpResponse:
    """List the late labels of a task, and keep or exclude the selected ones."""
    rows = late_labels(task)
    form = LateDecisionForm(request.POST if request.method == "POST" else None, rows=rows)
    if request.method == "POST" and form.is_valid():
        fields, by = form.cleaned_data, signed_in(request)
        count, undecided = decide_late_labels(task=task, **fields, at=timezone.now(), by=by)
        if count:
            messages.success(request, f"{counted(count, 'label')} {fields['decision']}.")
        if undecided:
            messages.error(
                request,
                f"{counted(undecided, 'label')} left undecided: the pool is closed, or a label of "
                "another assessor counts. Exclude them, or return the items to their topics first.",
            )
        return redirect(request.get_full_path())
    context, status, table = {"form": form}, 422 if form.errors else 200, _late_table(request, task)
    return answer(request, "assessment/late_label_list.html", context, table, status=status)


def _topic(late: LateLabel) -> str:
    return late.judgment.instance.item.topic.query_id


def _assessor(late: LateLabel) -> str:
    return late.judgment.assessor.name if late.judgment.assessor else ""


def _late_table(request: HttpRequest, task: Task) -> Table[LateLabel]:
    assessor, arrived = "judgment__assessor__username", "judgment__judged_at"
    return Table[LateLabel](
        "late-labels",
        [
            Column("Topic", _topic, cells.ID, is_head=True, order="topic", by=POSITION),
            choice_column(
                *("late-labels", "labels"),
                lambda late: late.pk if late.decision == LateLabel.Decision.OPEN else None,
                spoken=lambda late: f"{_topic(late)}, {late.judgment.instance.doc_id}",
            ),
            Column(
                "Item",
                lambda row: row.judgment.instance.doc_id,
                cells.ID,
                note=lambda row: row.judgment.instance.item.pool.round,
            ),
            Column("Label", lambda row: row.judgment.scale_label, cells.LABEL),
            Column("Counts now", _counting),
            Column("Assessor", _assessor, order="assessor", by=assessor),
            Column("Why late", lambda row: row.get_cause_display()),
            Column(
                "Arrived",
                lambda row: row.judgment.judged_at,
                cells.TIME,
                order="arrived",
                by=arrived,
            ),
            Column("Comment", lambda row: row.judgment.comment, cells.EXCERPT),
            Column("Decision", lambda row: row.get_decision_display(), note=_decided),
        ],
        with_labels_that_count(late_labels(task)),
        asked=request.GET,
        order="-arrived",
        searched=SEARCHED,
        filters=[
            Filter("decision", "Decision", "decision", LateLabel.Decision.choices),
            Filter("assessor", "Assessor", assessor),
        ],
        empty=Empty(
            "No late labels",
            "Labels appear here if they arrive after an assessor lost the role or the topic, for "
            "example from an offline trip.",
            task_url("assessment:assignment-list", task),
            "View assignments",
        ),
    )


def _counting(late: LateLabel) -> str:
    """Return the label that counts instead, with its assessor, or that this one counts."""
    return " ".join(
        "this label"
        if judgment.pk == late.judgment_id
        else f"{judgment.label} by {judgment.assessor.name if judgment.assessor else 'an import'}"
        for judgment in attrgetter("judgment.instance.counting_judgments")(late)
    )


def _decided(late: LateLabel) -> str:
    if late.decided_at is None:
        return ""
    name = late.decided_by.name if late.decided_by else cells.DASH
    return format_html("by {}, {}: {}", name, cells.moment(late.decided_at), late.reason)

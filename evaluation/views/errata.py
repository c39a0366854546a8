"""The errata of a released version of a leaderboard, and the form to add one."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from arqlab.core.models import Task
from arqlab.core.views import refused, signed_in
from arqlab.labs.permissions import organized_task_or_404, task_or_404
from arqlab.web import ROWS, TASK, Column, Empty, Pages, Table, answer, cells, task_url
from evaluation.models import Erratum, Leaderboard
from evaluation.permissions import ScoreAccess, released_versions, score_access_of
from evaluation.selectors.errata import errata_of
from evaluation.services.errata import add_erratum

pages = Pages(f"{TASK}leaderboard/versions/<number:version>/errata/", section="leaderboard")


def errata_table(leaderboard: Leaderboard, sight: ScoreAccess) -> Table[Erratum]:
    """Return the errata of a version; only organizers see the names of people."""

    def author(erratum: Erratum) -> str:
        return erratum.author.name if sight.organizes and erratum.author else erratum.party

    return Table[Erratum](
        "errata",
        [
            Column("Date", lambda row: row.made_at, cells.TIME, name="date", is_head=True),
            Column("Run", lambda row: row.name, name="run"),
            Column("Erratum", lambda row: row.text, name="erratum", css="wrap"),
            Column("Reason", lambda row: row.reason, name="reason", css="wrap"),
            Column("By", author, name="by"),
        ],
        errata_of(leaderboard),
        caption=f"What has changed since version {leaderboard.version} was released. The version "
        "itself stays as it was, and so do its files.",
        file=f"{leaderboard.task.lab.slug}-{leaderboard.task.slug}-errata-{leaderboard.version}",
        empty=Empty("No errata", "Nothing that this version lists has changed since its release."),
    )


@pages.read("", "erratum-list", access=task_or_404, api=ROWS)
def erratum_list(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Show the errata of a version, or return them as a file."""
    sight = score_access_of(request.user, task)
    released = get_object_or_404(released_versions(sight), version=version)
    context = {"released": released, "sight": sight}
    return answer(request, "evaluation/erratum_list.html", context, errata_table(released, sight))


class ErratumForm(forms.Form):
    """An erratum of the organizers."""

    text = forms.CharField(
        label="Erratum",
        max_length=300,
        help_text="Such as: the scores of A.12 rest on a wrong label.",
    )
    reason = forms.CharField(
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Everyone who sees the leaderboard reads both, with the date.",
    )


@pages.form("new/", "erratum-create", access=organized_task_or_404)
def erratum_create(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Add an erratum to a version."""
    sight = score_access_of(request.user, task)
    released = get_object_or_404(released_versions(sight), version=version)
    form = ErratumForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refused(form):
            by, at = signed_in(request), timezone.now()
            add_erratum(leaderboard=released, by=by, at=at, **form.cleaned_data)
            messages.success(request, f"The erratum of version {version} is published.")
            return redirect(task_url("evaluation:erratum-list", task, version))
    status = 422 if form.errors else 200
    context = {"released": released, "form": form}
    return render(request, "evaluation/erratum_create.html", context, status=status)

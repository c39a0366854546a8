"""The pages of sample tasks: made by organizers, opened by a link, scored by an expert."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import linebreaksbr
from django.utils import timezone
from django.utils.html import format_html

from arqlab.core.errors import UserError
from arqlab.core.views import edited, signed_in
from arqlab.web import TASK, Column, Pages, Table, cells, task_url
from assessment.models import Applicant, Round
from assessment.rounds.forms.rating import RatingForm
from assessment.rounds.permissions import SeenRound, organized_round_or_404, round_or_404
from assessment.rounds.selectors.votes import ScoreRow, ScoreSheet
from assessment.rounds.services.rounds import (
    Rating,
    apply_to_round,
    close_link,
    rate_applicant,
    renew_link,
)

pages = Pages(section="rounds")


@pages.action(f"{TASK}rounds/<slug:round>/link/", "sample-change", access=organized_round_or_404)
def sample_change(request: HttpRequest, round_: Round) -> HttpResponse:
    """Renew the link of a sample task, or with `action=close` close it."""
    by = signed_in(request)
    if not round_.rules.is_for_applicants:
        raise Http404
    if request.POST.get("action") == "close":
        close_link(round_=round_, by=by)
        messages.success(request, "The link is closed. Applicants who opened it can continue.")
    else:
        renew_link(round_=round_, by=by)
        messages.success(request, "The sample task has a new link. The old one no longer works.")
    return redirect(round_.address)


@pages.form(
    f"{TASK}rounds/<slug:round>/applicants/<number:person>/",
    "sample-rate",
    access=round_or_404,
    sign_in=True,
)
def sample_rate(request: HttpRequest, visible: SeenRound, person: int) -> HttpResponse:
    """Score an applicant, and decide about them as an organizer."""
    user, task = signed_in(request), visible.round.task
    if not visible.rates:
        raise Http404
    applicants = Applicant.objects.select_related("user", "round__task__lab")
    applicant = get_object_or_404(applicants, round=visible.round, user=person)

    def known() -> dict[str, Any]:
        return {"score": applicant.score, "note": applicant.note, "decision": applicant.decision}

    def save(form: RatingForm) -> HttpResponse:
        rating = Rating(**known() | form.cleaned_data)
        rate_applicant(applicant=applicant, rating=rating, by=user, at=timezone.now())
        messages.success(request, f"Saved for {applicant.user.name}.")
        return redirect(visible.round.address)

    form, answer = edited(
        request,
        applicant,
        lambda data: RatingForm(data, decides=visible.organizes, initial=known()),
        save,
        events=task.lab.audit_events.filter(verb="round.rate-applicant", target=applicant),
    )
    place = {"task": task, "lab": task.lab, "round": visible.round, "organizes": visible.organizes}
    context = place | {"applicant": applicant, "form": form}
    return answer or render(request, "assessment/rounds/sample_rate.html", context)


@pages.form("samples/<str:token>/", "sample-join")
def sample_join(request: HttpRequest, token: str) -> HttpResponse:
    """Show a sample task to whoever has its link, and let a signed-in user start it."""
    rounds = Round.objects.select_related("pool", "task__lab")
    round_ = get_object_or_404(rounds, token=token)
    if request.method == "POST":
        return _join(request, round_)
    expert = round_.pool.items.filter(assessor=round_.expert)
    context = {
        "round": round_,
        "task": round_.task,
        "lab": round_.task.lab,
        "samples": expert.count(),
        "is_closed": round_.pool.closed_at
        or round_.task.archived_at
        or round_.task.lab.archived_at,
    }
    return render(request, "assessment/rounds/sample_join.html", context)


@login_required
def _join(request: HttpRequest, round_: Round) -> HttpResponse:
    try:
        apply_to_round(round_=round_, user=signed_in(request), at=timezone.now())
    except UserError as error:
        messages.error(request, error.message)
        if error.code != "is-expert":
            return redirect("assessment:sample-join", token=round_.token)
    return redirect(round_.address)


def scores_table(round_: Round, sheet: ScoreSheet) -> Table[ScoreRow]:
    """Return the applicants, and the expert once the labels are shown."""
    task, samples = round_.task, len(sheet.samples)

    def page(row: ScoreRow) -> str:
        return task_url("assessment:sample-rate", task, round_.key, row.person.pk)

    votes: list[Column[ScoreRow]] = [
        Column("Same label", lambda row: f"{row.same} of {row.compared}", css="num"),
        Column("Same relevance", lambda row: f"{row.same_binary} of {row.compared}", css="num"),
        Column("Time", lambda row: row.seconds, cells.DURATION),
        *(
            Column(f"{sample.topic}, sample {sample.place}", _vote(place), css="wrap")
            for place, sample in enumerate(sheet.samples)
        ),
    ]
    return Table[ScoreRow](
        "scores",
        [
            Column(
                "Applicant",
                lambda row: row.person.name if row.applicant else f"{row.person.name} (expert)",
                link=lambda row: page(row) if row.applicant else "",
                is_head=True,
            ),
            Column("Judged", lambda row: f"{row.done} of {samples}", css="num"),
            *(votes if sheet.is_open else []),
            Column("Score", lambda row: row.applicant and row.applicant.score, cells.COUNT),
            Column("Note", lambda row: row.applicant and row.applicant.note, cells.PROSE),
            Column(
                "Decision",
                lambda row: row.applicant and row.applicant.get_decision_display(),
                css="nowrap",
            ),
        ],
        [*([sheet.expert] if sheet.is_open else []), *sheet.applicants],
        row_css=lambda row: "" if row.applicant else "is-own",
    )


def _vote(place: int) -> Callable[[ScoreRow], str]:
    """Return what shows the label of a sample with its time and comment."""

    def cell(row: ScoreRow) -> str:
        vote = row.votes[place]
        if vote is None:
            return ""
        time = "" if vote.seconds is None else cells.duration(vote.seconds)
        html = '{} <span class="muted small nowrap">{}</span> {}'
        return format_html(html, cells.label(vote.label), time, linebreaksbr(vote.comment))

    return cell

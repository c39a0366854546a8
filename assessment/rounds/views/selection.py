"""The pages of sample tasks: made by organizers, opened by a link, scored by an expert."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache

from arqlab.core.errors import UserError
from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Task, User
from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.core.views.answers import refused
from arqlab.core.views.editing import edited
from arqlab.web.pages import TASK, Pages
from assessment.assignments.selectors.grid import judging_staff
from assessment.guidelines.services.entries import LONGEST_ENTRY
from assessment.judging.selectors.own_work import own_round_topics
from assessment.models import Applicant, Round
from assessment.rounds.forms.training import DrawnItemsForm
from assessment.rounds.permissions import SeenSample, sample_or_404
from assessment.rounds.selectors.rounds import is_unused
from assessment.rounds.selectors.selection import score_sheet
from assessment.rounds.selectors.training_votes import real_names
from assessment.rounds.services.selection import (
    HIGHEST_SCORE,
    Rating,
    apply_to_round,
    close_link,
    make_sample,
    rate_applicant,
    renew_link,
)
from assessment.rounds.views.rounds import votes_response

pages = Pages(section="rounds")


class ExpertField(forms.ModelChoiceField):
    """A person to choose, by name."""

    def label_from_instance(self, obj: Any) -> str:
        """Return the name of a person."""
        return str(obj.name)


class SampleForm(DrawnItemsForm):
    """A sample task: its items and its expert."""

    expert = ExpertField(
        User.objects.none(),
        empty_label=None,
        help_text="Judges the same samples, and scores the applicants.",
    )

    def __init__(self, *args: Any, task: Task, **kwargs: Any) -> None:
        """Offer the people who may judge in the lab."""
        super().__init__(*args, task=task, **kwargs)
        self.fields["expert"].queryset = judging_staff(task.lab)  # type: ignore[attr-defined]
        self.fields["note"].label = "Note to the applicants"
        self.fields["count"].label = "Samples per topic"
        self.fields["topics"].help_text = "ARQMath-3 had three samples."


class RatingForm(VersionedForm):
    """The score, the note and the decision about an applicant."""

    score = forms.IntegerField(
        min_value=0, max_value=HIGHEST_SCORE, required=False, help_text="From 0 to 100."
    )
    note = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}),
        max_length=LONGEST_ENTRY,
        required=False,
        help_text="Applicants see neither the score nor the note.",
    )
    decision = forms.ChoiceField(
        choices=Applicant.Decision.choices,
        help_text="An accepted applicant becomes an assessor of the lab and gets a notice.",
    )

    def __init__(self, *args: Any, decides: bool, **kwargs: Any) -> None:
        """Ask for a decision only if the user may decide; an expert may only score."""
        super().__init__(*args, **kwargs)
        if not decides:
            del self.fields["decision"]


@pages.form(f"{TASK}rounds/samples/new/", "sample-create", access=organized_task_or_404)
def sample_create(request: HttpRequest, task: Task) -> HttpResponse:
    """Make a sample task from items of the official pool."""
    user = signed_in(request)
    initial = {"seed": f"{timezone.now():%Y%m%d}", "count": 3, "expert": user.pk}
    form = SampleForm(request.POST or None, task=task, initial=initial)
    if request.method == "POST" and form.is_valid():
        expert: User = form.cleaned_data["expert"]
        plan = form.plan(Round.Kind.SAMPLE, [expert])
        plan = replace(plan, source={**plan.source, "expert": expert.pk})
        with refused(form):
            round_ = make_sample(task=task, plan=plan, by=user, at=timezone.now())
            messages.success(request, f"{round_} is open. Send its link to the applicants.")
            return redirect("assessment:sample-detail", task.lab.slug, task.slug, round_.number)
    context = {"task": task, "lab": task.lab, "form": form}
    status = 422 if form.errors else 200
    return render(request, "assessment/rounds/sample_create.html", context, status=status)


@pages.read(
    f"{TASK}rounds/sample-<int:number>/", "sample-detail", access=sample_or_404, sign_in=True
)
@never_cache
def sample_detail(request: HttpRequest, seen: SeenSample) -> HttpResponse:
    """Show the score sheet of a sample task to organizers and the expert; applicants see topics."""
    user = signed_in(request)
    round_ = seen.round
    path = reverse("assessment:sample-join", args=[round_.token]) if round_.token else ""
    context = {
        "task": round_.task,
        "lab": round_.task.lab,
        "round": round_,
        "organizes": seen.organizes,
        "rates": seen.rates,
        "is_unused": seen.organizes and is_unused(round_),
        "own": own_round_topics(user, round_id=round_.pk),
        "sheet": score_sheet(round_) if seen.rates else None,
        "link": request.build_absolute_uri(path) if path and seen.organizes else "",
    }
    return render(request, "assessment/rounds/sample_detail.html", context)


@pages.action(f"{TASK}rounds/sample-<int:number>/change/", "sample-change", access=sample_or_404)
def sample_change(request: HttpRequest, seen: SeenSample) -> HttpResponse:
    """Renew the link of a sample task, or with `action=close` close it."""
    if not seen.organizes:
        raise Http404
    by, round_ = signed_in(request), seen.round
    if request.POST.get("action") == "close":
        close_link(round_=round_, by=by)
        messages.success(request, "The link is closed. Applicants who opened it can continue.")
    else:
        renew_link(round_=round_, by=by)
        messages.success(request, "The sample task has a new link. The old one no longer works.")
    task = round_.task
    return redirect("assessment:sample-detail", task.lab.slug, task.slug, round_.number)


@pages.form(
    f"{TASK}rounds/sample-<int:number>/applicants/<int:person>/",
    "sample-rate",
    access=sample_or_404,
    sign_in=True,
)
def sample_rate(request: HttpRequest, seen: SeenSample, person: int) -> HttpResponse:
    """Score an applicant, and decide about them as an organizer."""
    user, task = signed_in(request), seen.round.task
    if not seen.rates:
        raise Http404
    applicants = Applicant.objects.select_related("user", "round__task__lab")
    applicant = get_object_or_404(applicants, round=seen.round, user=person)

    def known() -> dict[str, Any]:
        return {"score": applicant.score, "note": applicant.note, "decision": applicant.decision}

    def save(form: RatingForm) -> HttpResponse:
        rating = Rating(**known() | form.cleaned_data)
        rate_applicant(applicant=applicant, rating=rating, by=user, at=timezone.now())
        messages.success(request, f"Saved for {applicant.user.name}.")
        return redirect("assessment:sample-detail", task.lab.slug, task.slug, seen.round.number)

    form, answer = edited(
        request,
        applicant,
        lambda data: RatingForm(data, decides=seen.organizes, initial=known()),
        save,
        events=task.lab.audit_events.filter(verb="round.rate-applicant", target=applicant),
    )
    place = {"task": task, "lab": task.lab, "round": seen.round, "organizes": seen.organizes}
    context = place | {"applicant": applicant, "form": form}
    return answer or render(request, "assessment/rounds/sample_rate.html", context)


@pages.read(
    f"{TASK}rounds/sample-<int:number>/votes/", "sample-votes", access=sample_or_404, sign_in=True
)
@never_cache
def sample_votes(request: HttpRequest, seen: SeenSample) -> HttpResponse:
    """Return the votes of a sample task as TSV to organizers, after the expert's judgments.

    The expert does not get the ids of items: that of a generated answer names its run.
    """
    if not seen.organizes or not score_sheet(seen.round).is_open:
        raise Http404
    return votes_response(seen.round, real_names(seen.round))


@pages.form("samples/<str:token>/", "sample-join")
def sample_join(request: HttpRequest, token: str) -> HttpResponse:
    """Show a sample task to whoever has its link, and let a signed-in user start it."""
    rounds = Round.objects.select_related("pool", "task__lab")
    round_ = get_object_or_404(rounds, token=token, kind=Round.Kind.SAMPLE)
    if request.method == "POST":
        return _join(request, round_)
    expert = round_.pool.items.filter(assessor=round_.source["expert"])
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
    task = round_.task
    return redirect("assessment:sample-detail", task.lab.slug, task.slug, round_.number)

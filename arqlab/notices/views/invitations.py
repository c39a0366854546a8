"""The organizers' page of invitations, and the page that an invited person opens."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from arqlab.core.errors import UserError
from arqlab.core.models import Lab
from arqlab.core.permissions import organized_lab_or_404, signed_in
from arqlab.notices import selectors
from arqlab.notices.forms import InvitationForm, InvitationListForm
from arqlab.notices.models import Invitation
from arqlab.notices.services.invitations import (
    Invited,
    accept_invitation,
    invite_new_team,
    invite_people,
    resend_invitation,
    withdraw_invitation,
)


@require_http_methods(["GET", "HEAD", "POST"])
def invitation_list(request: HttpRequest, lab: str) -> HttpResponse:
    """Show the invitations of a lab with their links, and invite people."""
    found = organized_lab_or_404(request.user, lab)
    form = InvitationForm(request.POST or None, lab=found)
    if request.method == "POST" and form.is_valid():
        try:
            messages.success(request, _summary(_invite(request, found, form)))
        except UserError as error:
            form.refuse(error)
        else:
            return redirect("notices:invitation-list", lab=lab)
    listing = InvitationListForm(request.GET)
    page = listing.page_of(selectors.invitations_of(found))
    rows = [(invitation, _link(request, invitation)) for invitation in page]
    context = {"lab": found, "form": form, "listing": listing, "page": page, "rows": rows}
    context["sends_mail"] = settings.SENDS_MAIL
    return render(request, "notices/invitation_list.html", context)


def _invite(request: HttpRequest, lab: Lab, form: InvitationForm) -> Invited:
    addresses, by = form.cleaned_data["addresses"], signed_in(request)
    if name := form.cleaned_data["team_name"]:
        confirmed = request.POST.get("confirm", "")
        return invite_new_team(lab=lab, addresses=addresses, name=name, confirmed=confirmed, by=by)
    role, team = form.place
    return invite_people(lab=lab, addresses=addresses, role=role, team=team, by=by)


@require_POST
def invitation_resend(request: HttpRequest, lab: str, invitation: int) -> HttpResponse:
    """Send the email of an invitation again."""
    found = organized_lab_or_404(request.user, lab)
    known = get_object_or_404(found.invitations, pk=invitation)
    try:
        resend_invitation(invitation=known, by=signed_in(request))
    except UserError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"The invitation to {known.address} is queued again.")
    return redirect("notices:invitation-list", lab=lab)


@require_POST
def invitation_withdraw(request: HttpRequest, lab: str, invitation: int) -> HttpResponse:
    """Withdraw an invitation."""
    found = organized_lab_or_404(request.user, lab)
    known = get_object_or_404(found.invitations.select_related("team"), pk=invitation)
    try:
        withdraw_invitation(invitation=known, by=signed_in(request))
    except UserError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"The link of {known.address} no longer works.")
    return redirect("notices:invitation-list", lab=lab)


@require_http_methods(["GET", "HEAD", "POST"])
def invitation_accept(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation to whoever has its link, and let a signed-in user accept it once."""
    invitations = Invitation.objects.select_related("lab", "team__lab", "invited_by")
    found = get_object_or_404(invitations, token=token)
    if request.method == "POST":
        return _accept(request, found)
    context: dict[str, Any] = {"invitation": found, "lab": found.lab}
    return render(request, "notices/invitation_accept.html", context)


@login_required
def _accept(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    try:
        accept_invitation(invitation=invitation, user=signed_in(request))
    except UserError as error:
        messages.error(request, error.message)
        return redirect("notices:invitation-accept", token=invitation.token)
    lab, team = invitation.lab, invitation.team
    messages.success(request, f"You are now {invitation.words_with_article} in {lab}.")
    if team:
        return redirect("core:team-detail", lab=lab.slug, team=team.pk)
    return redirect("desk:lab-detail", lab=lab.slug)


def _link(request: HttpRequest, invitation: Invitation) -> str:
    path = reverse("notices:invitation-accept", args=[invitation.token])
    return request.build_absolute_uri(path)


def _summary(invited: Invited) -> str:
    """Return what happened to the addresses, in sentences."""
    count = len(invited.new)
    people = "1 person" if count == 1 else f"{count} people"
    after = (
        "The emails are queued."
        if settings.SENDS_MAIL
        else "Nothing was sent. Pass on the links below."
    )
    sentences = [f"{people} invited. {after}" if count else "Nobody was invited."]
    if invited.waiting:
        sentences.append(f"Already invited: {', '.join(invited.waiting)}.")
    if invited.having:
        sentences.append(f"Already have the role: {', '.join(invited.having)}.")
    return " ".join(sentences)

"""Invitations to a lab: sent, withdrawn, and accepted with their link."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import capfirst

from arqlab.core.models import Lab, Role
from arqlab.core.views import refused, signed_in, told
from arqlab.labs.permissions import organized_lab_or_404
from arqlab.notices.addresses import PastedAddress
from arqlab.notices.forms import InvitationForm
from arqlab.notices.models import Invitation
from arqlab.notices.services.invitations import (
    Invited,
    accept_invitation,
    invite_new_team,
    invite_people,
    resend_invitation,
    withdraw_invitation,
)
from arqlab.web import LAB, Column, Empty, Filter, Pages, Table, answer, cells, url_of

pages = Pages(access=organized_lab_or_404, section="messages")


@pages.form(f"{LAB}invitations/", "invitation-list", shows="invitations")
def invitation_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the invitations of a lab with their links, and invite people."""
    form = InvitationForm(request.POST or None, lab=lab)
    if request.method == "POST" and form.is_valid():
        with refused(form):
            messages.success(request, _summary(_invite(request, lab, form), form.repeated))
            return redirect("notices:invitation-list", lab=lab.slug)
    context = {"form": form, "sends_mail": settings.SENDS_MAIL}
    return answer(request, "notices/invitation_list.html", context, _invitations(request, lab))


def _invitations(request: HttpRequest, lab: Lab) -> Table[Invitation]:
    return Table[Invitation](
        "invitations",
        [
            Column(
                "Address", lambda row: row.address, cells.ADDRESS, by=Lower("address"), is_head=True
            ),
            Column("Role", lambda row: capfirst(row.words), by="role", css="wrap"),
            Column(
                "State",
                lambda row: row.state,
                cells.CHIP,
                note=lambda row: f"by {row.accepted_by.name}" if row.accepted_by else "",
            ),
            Column(
                "Email",
                lambda row: cells.chip(row.mail.state) if row.mail else "not emailed",
                note=lambda row: row.mail and row.mail.error,
            ),
            Column("Invited", lambda row: row.invited_at, cells.TIME, by="pk"),
            Column("Link", template="notices/_invitation_link.html"),
            Column("Change", template="notices/_invitation_buttons.html", hides_heading=True),
        ],
        lab.invitations.select_related("team", "mail", "accepted_by", "invited_by"),
        asked=request.GET,
        order="-invited",
        searched=("address", "team__name"),
        filters=[Filter("role", "Role", "role", Role.choices)],
        has_tools=True,
        empty=Empty(
            "No invitations yet", "Paste email addresses above and choose what the people become."
        ),
    )


def _invite(request: HttpRequest, lab: Lab, form: InvitationForm) -> Invited:
    addresses, by = form.cleaned_data["addresses"], signed_in(request)
    if name := form.cleaned_data["team_name"]:
        confirmed = request.POST.get("confirm", "")
        return invite_new_team(lab=lab, addresses=addresses, name=name, confirmed=confirmed, by=by)
    role, team = form.place
    return invite_people(lab=lab, addresses=addresses, role=role, team=team, by=by)


@pages.action(f"{LAB}invitations/<number:invitation>/resend/", "invitation-resend")
def invitation_resend(request: HttpRequest, lab: Lab, invitation: int) -> HttpResponse:
    """Send the email of an invitation again."""
    pending = get_object_or_404(lab.invitations, pk=invitation)
    with told(request):
        resend_invitation(invitation=pending, by=signed_in(request))
        messages.success(request, f"The invitation to {pending.address} is queued again.")
    return redirect("notices:invitation-list", lab=lab.slug)


@pages.action(f"{LAB}invitations/<number:invitation>/withdraw/", "invitation-withdraw")
def invitation_withdraw(request: HttpRequest, lab: Lab, invitation: int) -> HttpResponse:
    """Withdraw an invitation."""
    pending = get_object_or_404(lab.invitations.select_related("team"), pk=invitation)
    with told(request):
        withdraw_invitation(invitation=pending, by=signed_in(request))
        messages.success(request, f"The link of {pending.address} no longer works.")
    return redirect("notices:invitation-list", lab=lab.slug)


@pages.form("invitations/<str:token>/", "invitation-accept", access=None)
def invitation_accept(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation to whoever has its link, and let a signed-in user accept it once."""
    invitations = Invitation.objects.select_related("lab", "team__lab", "invited_by")
    invitation = get_object_or_404(invitations, token=token)
    if request.method == "POST":
        return _accept(request, invitation)
    context: dict[str, object] = {"invitation": invitation, "lab": invitation.lab}
    return render(request, "notices/invitation_accept.html", context)


@login_required
def _accept(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    with told(request):
        accept_invitation(invitation=invitation, user=signed_in(request))
        lab, team = invitation.lab, invitation.team
        messages.success(request, f"You are now {invitation.words_with_article} in {lab}.")
        if team:
            return redirect("teams:team-detail", lab=lab.slug, team=team.pk)
        return redirect(url_of("lab", lab=lab.slug))
    return redirect("notices:invitation-accept", token=invitation.token)


def _summary(invited: Invited, repeated: list[PastedAddress]) -> str:
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
    if repeated:
        listed = ", ".join(f"{address.text} (line {address.line})" for address in repeated)
        sentences.append(f"Listed again, and invited once: {listed}.")
    return " ".join(sentences)

"""The pages of teams: create, invite, join and leave."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arqlab.core import permissions, selectors
from arqlab.core.errors import UserError
from arqlab.core.forms.people import TeamEditForm, TeamForm
from arqlab.core.models import Team, User
from arqlab.core.services.teams import (
    create_team,
    describe_team,
    join_team,
    leave_team,
    remove_member,
    rename_team,
    renew_invitation,
)
from arqlab.core.views.editing import edited


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def team_create(request: HttpRequest, lab: str) -> HttpResponse:
    """Create a team in a lab, with the user as its first member."""
    found, by = permissions.lab_or_404(request.user, lab), permissions.signed_in(request)
    form = TeamForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            team = create_team(
                lab=found,
                by=by,
                confirmed=request.POST.get("confirm", ""),
                **form.cleaned_data,
            )
        except UserError as error:
            form.refuse(error)
        else:
            messages.success(
                request, f"{team} was created. Send the invitation link to the other members."
            )
            return redirect("core:team-detail", lab=lab, team=team.pk)
    context = {"form": form, "lab": found, "refusal": permissions.refusal_of_new_team(by, found)}
    return render(request, "core/team_create.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def team_edit(request: HttpRequest, lab: str, team: int) -> HttpResponse:
    """Edit the name, affiliation and publication of a team, as a member or an organizer."""
    found = permissions.team_or_404(request.user, lab, team)
    by, name = permissions.signed_in(request), found.name

    def save(form: TeamEditForm) -> HttpResponse:
        given, confirmed = form.cleaned_data, request.POST.get("confirm", "")
        rename_team(team=found, name=given.pop("name"), by=by, confirmed=confirmed)
        describe_team(team=found, details=given, by=by)
        messages.success(request, f"Team {found.name} saved.")
        return redirect("core:team-detail", lab=lab, team=team)

    form, answer = edited(
        request,
        found,
        lambda data: TeamEditForm(data, initial=model_to_dict(found)),
        save,
        events=found.lab.audit_events.filter(
            verb__in=("team.rename", "team.change"), target=found.name
        ),
    )
    context = {"form": form, "lab": found.lab, "team": found, "name": name}
    return answer or render(request, "core/team_edit.html", context)


@login_required
@require_safe
def team_detail(request: HttpRequest, lab: str, team: int) -> HttpResponse:
    """Show a team: its members, its invitation link and the button to leave."""
    found = permissions.team_or_404(request.user, lab, team)
    link = request.build_absolute_uri(reverse("core:team-join", args=[found.invitation_token]))
    context = {
        "team": found,
        "lab": found.lab,
        "link": link,
        "members": found.memberships.select_related("user").order_by("created_at"),
        "standing": selectors.roles_in(request.user, found.lab),
        "is_member": permissions.is_team_member(request.user, found),
    }
    return render(request, "core/team_detail.html", context)


@login_required
@require_POST
def team_renew(request: HttpRequest, lab: str, team: int) -> HttpResponse:
    """Replace the invitation link of a team."""
    found = permissions.team_or_404(request.user, lab, team)
    renew_invitation(team=found, by=permissions.signed_in(request))
    messages.success(request, "The team has a new invitation link. The old link no longer works.")
    return redirect("core:team-detail", lab=lab, team=team)


@login_required
@require_POST
def team_leave(request: HttpRequest, lab: str, team: int) -> HttpResponse:
    """Leave a team."""
    found = permissions.team_or_404(request.user, lab, team)
    try:
        leave_team(team=found, user=permissions.signed_in(request))
    except UserError as error:
        messages.error(request, error.message)
        return redirect("core:team-detail", lab=lab, team=team)
    messages.success(request, f"You left {found.name}.")
    return redirect("desk:lab-detail", lab=lab)


@login_required
@require_POST
def team_remove(request: HttpRequest, lab: str, team: int, user: int) -> HttpResponse:
    """Remove a member from a team, as an organizer."""
    organized = permissions.organized_lab_or_404(request.user, lab)
    found = get_object_or_404(organized.teams.select_related("lab"), pk=team)
    person = get_object_or_404(User, pk=user, memberships__team=found)
    try:
        remove_member(team=found, user=person, by=permissions.signed_in(request))
    except UserError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{person.name} is no longer a member of {found.name}.")
    return redirect("core:people-list", lab=lab)


@require_http_methods(["GET", "HEAD", "POST"])
def team_join(request: HttpRequest, token: str) -> HttpResponse:
    """Show the team of an invitation link, and add the signed-in user to it."""
    found = get_object_or_404(Team.objects.select_related("lab"), invitation_token=token)
    if request.method == "POST":
        return _join(request, found)
    context = {
        "team": found,
        "lab": found.lab,
        "members": found.memberships.count(),
        "is_member": permissions.is_team_member(request.user, found),
    }
    return render(request, "core/team_join.html", context)


@login_required
def _join(request: HttpRequest, team: Team) -> HttpResponse:
    try:
        join_team(team=team, user=permissions.signed_in(request))
    except UserError as error:
        messages.error(request, error.message)
        return redirect("core:team-join", token=team.invitation_token)
    messages.success(request, f"You are now a member of {team}.")
    return redirect("core:team-detail", lab=team.lab.slug, team=team.pk)

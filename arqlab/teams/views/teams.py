"""The pages of teams: create, invite, join and leave."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from arqlab.core.models import Lab, Membership, Team, User
from arqlab.core.views import edited, refused, signed_in, told
from arqlab.labs.permissions import lab_or_404, organized_lab_or_404, refusal_of_membership
from arqlab.labs.selectors import roles_in
from arqlab.teams.forms import TeamEditForm, TeamForm
from arqlab.teams.permissions import is_team_member, refusal_of_new_team, team_or_404
from arqlab.teams.services import (
    create_team,
    describe_team,
    join_team,
    leave_team,
    rename_team,
    renew_invitation,
)
from arqlab.web import LAB, Column, Empty, Pages, Table, answer, cells, url_of

pages = Pages(access=team_or_404, section="people", sign_in=True)


@pages.form(f"{LAB}teams/new/", "team-create", access=lab_or_404)
def team_create(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Create a team in a lab, with the user as its first member."""
    by = signed_in(request)
    form = TeamForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refused(form):
            team = create_team(
                lab=lab, by=by, confirmed=request.POST.get("confirm", ""), **form.cleaned_data
            )
            messages.success(
                request, f"{team} was created. Send the invitation link to the other members."
            )
            return redirect("teams:team-detail", lab=lab.slug, team=team.pk)
    context = {"form": form, "refusal": refusal_of_new_team(by, lab)}
    return render(request, "teams/team_create.html", context)


@pages.form(f"{LAB}teams/<number:team>/edit/", "team-edit")
def team_edit(request: HttpRequest, team: Team) -> HttpResponse:
    """Edit the name, affiliation and publication of a team, as a member or an organizer."""
    by, name = signed_in(request), team.name

    def save(form: TeamEditForm) -> HttpResponse:
        details, confirmed = form.cleaned_data, request.POST.get("confirm", "")
        rename_team(team=team, name=details.pop("name"), by=by, confirmed=confirmed)
        describe_team(team=team, details=details, by=by)
        messages.success(request, f"Team {team.name} saved.")
        return redirect("teams:team-detail", lab=team.lab.slug, team=team.pk)

    form, answer = edited(
        request,
        team,
        lambda data: TeamEditForm(data, initial=model_to_dict(team)),
        save,
        events=team.lab.audit_events.filter(
            verb__in=("team.rename", "team.change"), target=team.name
        ),
    )
    context = {"form": form, "team": team, "name": name}
    return answer or render(request, "teams/team_edit.html", context)


@pages.read(f"{LAB}teams/<number:team>/", "team-detail")
def team_detail(request: HttpRequest, team: Team) -> HttpResponse:
    """Show a team: its members, its invitation link and the button to leave."""
    link = request.build_absolute_uri(reverse("teams:team-join", args=[team.invitation_token]))
    standing = roles_in(request.user, team.lab)
    context = {
        "team": team,
        "link": link,
        "standing": standing,
        "is_member": is_team_member(request.user, team),
    }
    members = _members_table(request, team, organizes=standing.organizes)
    return answer(request, "teams/team_detail.html", context, members)


def _members_table(request: HttpRequest, team: Team, *, organizes: bool) -> Table[Membership]:
    change = Column[Membership]("Change", template="teams/_member_remove.html", hides_heading=True)
    return Table[Membership](
        "members",
        [
            Column("Person", lambda row: row.user.name, is_head=True),
            Column("Email address", lambda row: row.user.email),
            Column("Since", lambda row: row.created_at, cells.TIME),
            *([change] if organizes else []),
        ],
        list(team.memberships.select_related("user").order_by("created_at")),
        row_css=lambda row: "is-own" if row.user_id == request.user.pk else "",
        empty=Empty("No members", "Send the invitation link above to the people who should join."),
    )


@pages.action(f"{LAB}teams/<number:team>/renew/", "team-renew")
def team_renew(request: HttpRequest, team: Team) -> HttpResponse:
    """Replace the invitation link of a team."""
    renew_invitation(team=team, by=signed_in(request))
    messages.success(request, "The team has a new invitation link. The old link no longer works.")
    return redirect("teams:team-detail", lab=team.lab.slug, team=team.pk)


@pages.action(f"{LAB}teams/<number:team>/leave/", "team-leave")
def team_leave(request: HttpRequest, team: Team) -> HttpResponse:
    """Leave a team."""
    with told(request):
        by = signed_in(request)
        leave_team(team=team, user=by, by=by)
        messages.success(request, f"You left {team.name}.")
        return redirect(url_of("lab", lab=team.lab.slug))
    return redirect("teams:team-detail", lab=team.lab.slug, team=team.pk)


@pages.action(
    f"{LAB}teams/<number:team>/members/<number:user>/remove/",
    "team-remove",
    access=organized_lab_or_404,
)
def team_remove(request: HttpRequest, lab: Lab, team: int, user: int) -> HttpResponse:
    """Remove a member from a team, as an organizer."""
    member_team = get_object_or_404(lab.teams.select_related("lab"), pk=team)
    person = get_object_or_404(User, pk=user, memberships__team=member_team)
    with told(request):
        leave_team(team=member_team, user=person, by=signed_in(request))
        messages.success(request, f"{person.name} is no longer a member of {member_team.name}.")
    return redirect("teams:people-list", lab=lab.slug)


@pages.form("join/<str:token>/", "team-join", access=None, sign_in=False)
def team_join(request: HttpRequest, token: str) -> HttpResponse:
    """Show the team of an invitation link, and add the signed-in user to it."""
    team = get_object_or_404(Team.objects.select_related("lab"), invitation_token=token)
    if request.method == "POST":
        return _join(request, team)
    context = {
        "team": team,
        "lab": team.lab,
        "members": team.memberships.count(),
        "is_member": is_team_member(request.user, team),
        "refusal": request.user.is_authenticated and refusal_of_membership(signed_in(request)),
    }
    return render(request, "teams/team_join.html", context)


@login_required
def _join(request: HttpRequest, team: Team) -> HttpResponse:
    with told(request):
        join_team(team=team, user=signed_in(request))
        messages.success(request, f"You are now a member of {team}.")
        return redirect("teams:team-detail", lab=team.lab.slug, team=team.pk)
    return redirect("teams:team-join", token=team.invitation_token)

"""The people and teams of a lab."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from arqlab.core.models import Lab, Membership, Role, Team, User
from arqlab.core.models.roles import duties, people_in_words
from arqlab.core.views import refused, signed_in, told
from arqlab.labs.forms.people import RevokeForm, RoleForm
from arqlab.labs.permissions import organized_lab_or_404
from arqlab.labs.selectors import staff_of
from arqlab.labs.services.people import allow_team, grant_role, revoke_role
from arqlab.teams.selectors import teams_with_members
from arqlab.web import LAB, ROWS, Column, Empty, Pages, Tab, Table, answer, cells, organizers, to

pages = Pages(access=organized_lab_or_404)


@pages.form(
    f"{LAB}people/",
    "people-list",
    tabs=(Tab("lab", "People", 50, organizers),),
    api=ROWS,
    section="people",
)
def people_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the people of a lab, and grant roles."""
    form = RoleForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        person, role = form.cleaned_data["person"], form.cleaned_data["role"]
        by, confirmed = signed_in(request), request.POST.get("confirm", "")
        with refused(form):
            grant_role(lab=lab, user=person, role=role, by=by, confirmed=confirmed)
            messages.success(request, f"{person.name} is now {role} of {lab}.")
            return redirect("teams:people-list", lab=lab.slug)
    context: dict[str, object] = {"form": form}
    context |= {"duties": duties(), "granted": people_in_words(Role.granted())}
    return answer(request, "teams/people_list.html", context, _staff_table(lab), _teams_table(lab))


def _staff_table(lab: Lab) -> Table[Membership]:
    return Table[Membership](
        "staff",
        [
            Column("Person", lambda row: row.user.name, is_head=True),
            Column("", lambda row: row.user.username, name="username"),
            Column("Email address", lambda row: row.user.email),
            Column(
                "Role",
                lambda row: row.get_role_display(),
                note=lambda row: "may be in a team" if row.may_join_team else "",
            ),
            Column("Since", lambda row: row.created_at, cells.TIME),
            Column("Change", template="teams/_staff_buttons.html", hides_heading=True, name=None),
        ],
        staff_of(lab),
        empty=Empty("No roles granted yet", "Grant a user the organizer role below."),
    )


def _teams_table(lab: Lab) -> Table[Team]:
    return Table[Team](
        "teams",
        [
            Column(
                "Team",
                lambda row: row.name,
                link=to("teams:team-detail", lab.slug, of=lambda row: row.pk),
                is_head=True,
            ),
            Column("", lambda row: row.pk, name="id"),
            Column("", lambda row: row.affiliation, name="affiliation"),
            Column("Members", lambda team: len(team.memberships.all()), cells.COUNT),
            Column(
                "Names", lambda team: ", ".join(row.user.name for row in team.memberships.all())
            ),
            Column("Since", lambda row: row.created_at, cells.TIME),
        ],
        teams_with_members(lab),
        empty=Empty("No teams yet", "Users create teams on the lab page."),
    )


@pages.rows(f"{LAB}teams/", "team-list", section="people")
def team_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """List the teams of a lab with their members, for its organizers."""
    return answer(request, "", {}, _teams_table(lab))


@pages.action(f"{LAB}people/<number:person>/allow-team/", "people-allow-team", section="people")
def people_allow_team(request: HttpRequest, lab: Lab, person: int) -> HttpResponse:
    """Allow an assessor to be in a team."""
    user = get_object_or_404(User, pk=person, memberships__in=staff_of(lab))
    allow_team(lab=lab, user=user, by=signed_in(request))
    messages.success(request, f"{user.name} may now be in a team of {lab}.")
    return redirect("teams:people-list", lab=lab.slug)


@pages.action(f"{LAB}people/revoke/", "people-revoke", section="people")
def people_revoke(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Revoke a role."""
    form = RevokeForm(request.POST)
    if not form.is_valid():
        messages.error(request, "No person selected. Press “Revoke” next to a person.")
        return redirect("teams:people-list", lab=lab.slug)
    person, role = form.cleaned_data["person"], form.cleaned_data["role"]
    with told(request):
        revoke_role(lab=lab, user=person, role=role, by=signed_in(request))
        messages.success(request, f"{person.name} is no longer {role} of {lab}.")
    return redirect("teams:people-list", lab=lab.slug)

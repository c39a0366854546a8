"""Who may do what: one function for each question, asked at every door. What one may not see is 404
there.
"""

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from arqlab.core.models import Lab, Membership, Task, Team, User, Visitor

# Whoever asks, signed in or not.


def signed_in(request: HttpRequest) -> User:
    """Return the person who is signed in, for a door behind `login_required`; raises
    `PermissionDenied` for a visitor.
    """
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def has_role(user: Visitor, lab: Lab, role: str) -> bool:
    """Return whether a person has a role in a lab."""
    return (
        user.is_authenticated
        and Membership.objects.filter(lab=lab, user_id=user.pk, role=role).exists()
    )


def may_organize(user: Visitor, lab: Lab) -> bool:
    """Organizers of the lab run it; so may the site's superusers."""
    return user.is_authenticated and (
        user.is_superuser or has_role(user, lab, Membership.Role.ORGANIZER)
    )


def is_team_member(user: Visitor, team: Team) -> bool:
    """Return whether a person belongs to a team."""
    return user.is_authenticated and Membership.objects.filter(team=team, user_id=user.pk).exists()


def may_see_team(user: Visitor, team: Team) -> bool:
    """A team is seen by its members and by the organizers."""
    return is_team_member(user, team) or may_organize(user, team.lab)


def labs_visible_to(user: Visitor) -> QuerySet[Lab]:
    """Return the labs that a person sees: everybody the public ones, and a draft the people of it."""
    if user.is_authenticated and user.is_superuser:
        return Lab.objects.all()
    seen = Q(is_public=True)
    if user.is_authenticated:
        seen |= Q(pk__in=Membership.objects.filter(user_id=user.pk).values("lab"))
    return Lab.objects.filter(seen)


def lab_or_404(user: Visitor, slug: str) -> Lab:
    """Return the lab, for a door; what one may not see does not exist."""
    return get_object_or_404(labs_visible_to(user), slug=slug)


def task_or_404(user: Visitor, lab_slug: str, task_slug: str) -> Task:
    """Return the task with its lab, for a door; what one may not see does not exist."""
    tasks = Task.objects.select_related("lab").filter(lab__in=labs_visible_to(user))
    return get_object_or_404(tasks, lab__slug=lab_slug, slug=task_slug)


def organized_lab_or_404(user: Visitor, slug: str) -> Lab:
    """Return the lab to its organizers, for a door; to anybody else it does not exist there."""
    lab = lab_or_404(user, slug)
    if not may_organize(user, lab):
        raise Http404
    return lab


def organized_task_or_404(user: Visitor, lab_slug: str, task_slug: str) -> Task:
    """Return the task to its lab's organizers, for a door; to anybody else it does not exist there."""
    task = task_or_404(user, lab_slug, task_slug)
    if not may_organize(user, task.lab):
        raise Http404
    return task


def team_or_404(user: Visitor, lab_slug: str, team_id: int) -> Team:
    """Return the team with its lab to its members and to the organizers, for a door; to others it
    does not exist.
    """
    team = get_object_or_404(Team.objects.select_related("lab"), lab__slug=lab_slug, pk=team_id)
    if not may_see_team(user, team):
        raise Http404
    return team


def may_look_up(user: Visitor, lab: Lab) -> bool:
    """Organizers and assessors search the lab's collection; for a team it would be a way around its
    own system.
    """
    return may_organize(user, lab) or has_role(user, lab, Membership.Role.ASSESSOR)


def looked_up_lab_or_404(user: Visitor, slug: str) -> Lab:
    """Return the lab to those who may search its collection, for a door; to anybody else it does not
    exist there.
    """
    lab = lab_or_404(user, slug)
    if not may_look_up(user, lab):
        raise Http404
    return lab

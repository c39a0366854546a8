"""Who may see, look up and organize labs and tasks: a function for each question."""

from allauth.account.models import EmailAddress
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone

from arqlab.core.errors import ConfirmationError, UserError
from arqlab.core.models import Lab, Membership, Role, Task, Topic, User, Visitor
from arqlab.core.permissions import allowed, organizing_roles, signed_in
from arqlab.web import for_organizers


def has_role(user: Visitor, lab: Lab, *roles: str) -> bool:
    """Return whether a user has one of the roles in a lab."""
    return (
        user.is_authenticated
        and Membership.objects.filter(lab=lab, user_id=user.pk, role__in=roles).exists()
    )


def may_organize(user: Visitor, lab: Lab) -> bool:
    """Return whether a user may organize the lab: its organizers and superusers may.

    An observer may in a request that only reads: every change asks again.
    """
    return user.is_authenticated and (user.is_superuser or has_role(user, lab, *organizing_roles()))


def labs_organized_by(user: Visitor) -> QuerySet[Lab]:
    """Return the labs that a user organizes; a superuser organizes all labs."""
    return _labs_of(user, organizing_roles())


def labs_observed_by(user: Visitor) -> QuerySet[Lab]:
    """Return the labs that a user sees as their organizers do, and does not organize."""
    observed = _labs_of(user, Role.that(lambda rights: rights.observes))
    return observed.exclude(pk__in=_labs_of(user, Role.organizing()))


def labs_staffed_by(user: Visitor) -> QuerySet[Lab]:
    """Return the labs in which a user was granted a role; a superuser organizes all labs."""
    return _labs_of(user, Role.granted())


def _labs_of(user: Visitor, roles: list[Role]) -> QuerySet[Lab]:
    if not user.is_authenticated:
        return Lab.objects.none()
    if user.is_superuser:
        return Lab.objects.all()
    memberships = Membership.objects.filter(user_id=user.pk, role__in=roles)
    return Lab.objects.filter(pk__in=memberships.values("lab"))


def may_create_labs(user: Visitor) -> bool:
    """Return whether a user may create labs: superusers, and users with "Can add lab"."""
    return user.has_perm("core.add_lab")


def require_lab_creator(request: HttpRequest) -> User:
    """Return the signed-in user if they may create labs; raise `PermissionDenied` otherwise."""
    user = signed_in(request)
    if not may_create_labs(user):
        raise PermissionDenied
    return user


def has_verified_address(user: User) -> bool:
    """Return whether a user has confirmed an email address."""
    return bool(EmailAddress.objects.filter(user_id=user.pk, verified=True).exists())


def owns_address(user: User, address: str) -> bool:
    """Return whether an account is that of the owner of an address, whoever signed up with it.

    Superusers are made on the command line of the server. Who wants to sign in to an account
    without a password, such as a restored one, must read the email that is sent to its address.
    """
    if user.is_superuser or not user.has_usable_password():
        return True
    confirmed = EmailAddress.objects.filter(user_id=user.pk, verified=True)
    return bool(confirmed.filter(email__iexact=address).exists())


def refusal_of_membership(user: User) -> UserError | None:
    """Return why a user may get no role and join no team, or None if they may.

    Anybody can sign up as anybody, so the account must have confirmed an address.
    """
    if has_verified_address(user) or owns_address(user, user.email):
        return None
    return UserError(
        f"{user.name} has not confirmed an email address. Roles and teams need one: open the link "
        "in the email that was sent to it, or ask the administrator to confirm it with `manage.py "
        f"confirm_address {user.username}`.",
        code="unconfirmed-address",
    )


def refusal_of_both_sides(user: User, lab: Lab, *, role: str) -> UserError | None:
    """Return why a user may not get a role, or None if they may.

    An assessor cannot be in a team of the same lab, unless an organizer allows it. Every entry
    point that adds a member or an assessor asks this.
    """
    memberships = Membership.objects.filter(lab=lab, user_id=user.pk).select_related("team")
    rights = Role(role).rights
    if rights.has_team:
        if not any(membership.avoids_teams for membership in memberships):
            return None
        return UserError(
            f"{user.name} is an assessor of {lab}. Assessors do not join or create teams, unless "
            "an organizer allows it on the People page.",
            code="is-assessor",
        )
    member = memberships.filter(team__isnull=False).first()
    if not rights.avoids_teams or member is None:
        return None
    return ConfirmationError(
        f"{user.name} is a member of the team {member.team}. Team members do not judge, unless an"
        " organizer confirms it on the People page.",
        code="is-member",
        question=f"{user.name} may judge, although they are in the team {member.team}",
    )


def labs_visible_to(user: Visitor) -> QuerySet[Lab]:
    """Return the labs a user may see: public labs, and drafts in which the user has a role."""
    if user.is_authenticated and user.is_superuser:
        return Lab.objects.all()
    is_visible = Q(is_public=True)
    if user.is_authenticated:
        is_visible |= Q(pk__in=Membership.objects.filter(user_id=user.pk).values("lab"))
    return Lab.objects.filter(is_visible)


def tasks_visible_to(user: Visitor) -> QuerySet[Task]:
    """Return the tasks a user may see, in order.

    Before a task opens, only organizers and assessors see it: teams must not have its topics early.
    """
    has_opened = Q(opens_at=None) | Q(opens_at__lte=timezone.now())
    return Task.objects.filter(
        has_opened | Q(lab__in=labs_staffed_by(user)), lab__in=labs_visible_to(user)
    )


def lab_or_404(user: Visitor, lab_slug: str) -> Lab:
    """Return the lab, or raise 404 if the user may not see it."""
    return get_object_or_404(labs_visible_to(user), slug=lab_slug)


def task_or_404(user: Visitor, lab_slug: str, task_slug: str) -> Task:
    """Return the task with its lab, or raise 404 if the user may not see it."""
    tasks = tasks_visible_to(user).select_related("lab")
    return get_object_or_404(tasks, lab__slug=lab_slug, slug=task_slug)


@for_organizers
def organized_lab_or_404(user: Visitor, lab_slug: str) -> Lab:
    """Return the lab for one of its organizers; raise 404 for anyone else."""
    lab = lab_or_404(user, lab_slug)
    return allowed(lab, may_organize(user, lab))


@for_organizers
def organized_task_or_404(user: Visitor, lab_slug: str, task_slug: str) -> Task:
    """Return the task for an organizer of its lab; raise 404 for anyone else."""
    task = task_or_404(user, lab_slug, task_slug)
    return allowed(task, may_organize(user, task.lab))


def may_see_thread(user: Visitor, topic: Topic) -> bool:
    """Return whether a user may see the thread of a topic, with its answers and links.

    Organizers and assessors may. Others may when every task of the lab with this thread has opened
    it: a thread contains the answers, and its duplicates are the strongest oracle ("not available
    to participants", seed 000, §4.3).
    """
    lab = topic.task.lab_id
    same = Q(pk=topic.pk) | Q(task__lab=lab, thread_id=topic.thread_id) & ~Q(thread_id="")
    closed = Topic.objects.filter(same).exclude(task__threads=Task.Threads.OPEN)
    return labs_staffed_by(user).filter(pk=lab).exists() or not closed.exists()


def may_look_up(user: Visitor, lab: Lab) -> bool:
    """Return whether a user may search the collection, which could replace a team's system."""
    roles = Role.that(lambda rights: rights.looks_up)
    return may_organize(user, lab) or has_role(user, lab, *roles)


def looked_up_task_or_404(user: Visitor, lab_slug: str, task_slug: str) -> Task:
    """Return a task of a lab that the user judges in or organizes; raise 404 otherwise."""
    task = task_or_404(user, lab_slug, task_slug)
    return allowed(task, may_look_up(user, task.lab))


def looked_up_lab_or_404(user: Visitor, lab_slug: str) -> Lab:
    """Return the lab for users who may search its collection; raise 404 for anyone else."""
    lab = lab_or_404(user, lab_slug)
    return allowed(lab, may_look_up(user, lab))

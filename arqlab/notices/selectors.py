"""Queries about notices, mail and messages."""

from django.db.models import Count, Q, QuerySet

from arqlab.core.models import Lab, Membership, Role, Team, User, Visitor
from arqlab.notices.models import Mail, Message, Notice


def notices_of(user: User) -> QuerySet[Notice]:
    """Return a user's notices with their labs, newest first."""
    return user.notices.select_related("lab")


def unread_notices(user: Visitor) -> QuerySet[Notice]:
    """Return the notices that a user has not opened, with their labs; a visitor has none."""
    if not isinstance(user, User):
        return Notice.objects.none()
    return notices_of(user).filter(read_at=None)


def members_of(team: Team) -> QuerySet[User]:
    """Return the members of a team."""
    return User.objects.filter(memberships__team=team)


def message_recipients(lab: Lab, audience: str) -> QuerySet[User]:
    """Return the users who get a message to an audience, each once, by user name."""
    audiences = set(Message.Audience) if audience == Message.Audience.BOTH else {audience}
    roles = Role.that(lambda rights: rights.audience in audiences)
    having = Membership.objects.filter(lab=lab, role__in=roles)
    people = User.objects.filter(pk__in=having.values("user"), is_active=True)
    return people.order_by("username")


def gets_mail(people: QuerySet[User]) -> QuerySet[User]:
    """Return the users who have an address and have not turned off email."""
    return people.exclude(email="").filter(mail_opt_out=None)


def messages_of(lab: Lab) -> QuerySet[Message]:
    """Return the messages of a lab, newest first, with counts of their notices and mail."""
    counts = {
        "recipients": Count("notices"),
        "read": Count("notices", filter=Q(notices__read_at__isnull=False)),
    }
    counts |= {
        f"mail_{state}": Count("notices", filter=Q(notices__mail__state=state))
        for state in Mail.State
    }
    return lab.messages.select_related("sent_by").annotate(**counts).order_by("-pk")

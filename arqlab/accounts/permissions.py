"""Who must set up a second factor."""

from allauth.mfa.models import Authenticator
from django.conf import settings

from arqlab.core.models import Membership, Role, User, Visitor
from arqlab.labs.permissions import may_create_labs

NO_SECOND_FACTOR = (
    "Organizers, observers and administrators of this server sign in with a second factor. Set one"
    " up under Your account."
)


def needs_second_factor(user: Visitor) -> bool:
    """Return whether a user must set up a second factor first: an organizer, observer or
    administrator without one, on a server that demands it. Pages and the API ask this.
    """
    if not (settings.SECOND_FACTOR and isinstance(user, User)):
        return False
    memberships = Membership.objects.filter(user_id=user.pk, role__in=Role.seeing_all())
    administers = user.is_superuser or user.is_staff or may_create_labs(user)
    return (administers or memberships.exists()) and not (
        Authenticator.objects.filter(user_id=user.pk).exists()
    )

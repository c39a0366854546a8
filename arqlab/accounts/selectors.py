"""Queries about accounts."""

from django.db.models import Q, QuerySet

from arqlab.core.models import AuditEvent, User


def account_history(user: User) -> QuerySet[AuditEvent]:
    """Return the events of a user's account, roles and tokens, with lab and actor."""
    kinds = Q(verb__startswith="person.") | Q(verb__startswith="role.")
    about = AuditEvent.objects.filter(kinds | Q(verb__startswith="token."), person=user)
    return about.select_related("lab", "actor")

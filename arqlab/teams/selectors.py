"""Queries about teams."""

import unicodedata

from django.db.models import Prefetch, QuerySet

from arqlab.core.models import Lab, Membership, Team


def team_key(name: str) -> str:
    """Return a team's name without case, spaces and punctuation, to find names that look alike."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    # Categories of Unicode: P is punctuation, Z is spaces.
    letters = "".join(sign for sign in folded if unicodedata.category(sign)[0] not in "PZ")
    return letters or folded


def teams_with_members(lab: Lab) -> QuerySet[Team]:
    """Return the participating teams of a lab with prefetched `memberships` and users."""
    members = Membership.objects.select_related("user").order_by("created_at")
    return lab.teams.participating().prefetch_related(Prefetch("memberships", queryset=members))

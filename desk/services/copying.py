"""Copies of labs for another year."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from arqlab.core.models import Lab, Membership, User
from arqlab.core.services.creating import copy_tasks, create_lab
from arqlab.core.services.people import grant_role
from assessment.guidelines.services.copying import copy_guidelines
from collection.selectors.collections import collection_of
from collection.services.loading import assign_collection


@transaction.atomic
def copy_lab(
    *, source: Lab, slug: str, name: str, with_people: bool, at: datetime, by: User
) -> Lab:
    """Create a draft with the tasks, rules, guidelines and collection of a lab.

    Dates, topics, teams, runs and judgments are not copied. `with_people` copies the organizers and
    assessors. Raise `UserError` (`taken`) if another lab has the address.
    """
    lab = create_lab(
        slug=slug,
        name=name,
        protocol=source.protocol,
        description=source.description,
        is_public=False,
        copy_of=source,
        by=by,
    )
    copy_tasks(source=source, to=lab)
    for task in lab.tasks.all():
        copy_guidelines(source=source.tasks.get(slug=task.slug), to=task, at=at, by=by)
    if collection := collection_of(source):
        assign_collection(lab=lab, collection=collection)
    people = source.memberships.filter(role__in=Membership.Role.granted()).select_related("user")
    for membership in people if with_people else ():
        grant_role(lab=lab, user=membership.user, role=membership.role, by=by)
    return lab

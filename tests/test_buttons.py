"""Every button of every page works for the role that sees it, right after a plain GET request."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.urls import NoReverseMatch

from arqlab.core.models import Job, Lab, Team, User
from desk.views.loads import FORMS
from tests.buttons import Visitor, make_loads
from tests.desk.services.test_lab_archives import whole_lab
from tests.factories import Scene, UserFactory
from tests.test_access import ROLES, address, cookies_of, rows

__all__ = ["whole_lab"]
pytestmark = pytest.mark.once
PRESSED = {"organizer": 200, "superuser": 200}
"""How many buttons a role has at least, if not 40: a crawler that sees no page finds no fault."""


@pytest.fixture(scope="module")
def scene(whole_lab: Lab) -> Scene:
    """Return the demo lab with its people, and a load of each kind in each state."""
    person = {name: User.objects.get(username=name) for name in "mira giulia visitor".split()}
    staff = [User.objects.get(username=name) for name in ("assessor", "organizer")]
    make_loads(whole_lab, by=staff[1])
    teams = Team.objects.filter(lab=whole_lab)
    return Scene(
        whole_lab,
        whole_lab.tasks.first(),
        teams.get(memberships__user=person["mira"]),
        teams.get(memberships__user=person["giulia"]),
        person["visitor"],
        person["mira"],
        person["giulia"],
        *staff,
        UserFactory(username="super", is_superuser=True, is_staff=True),
    )


def addresses(scene: Scene) -> Iterator[str]:
    """Yield an address of every page that the lab has, and those of all loads."""
    run = scene.task.runs.first()
    for method, name, _ in rows():
        if method == "GET" and "api-" not in name:
            # What the demo lacks, such as invitations, is a page of `filled` in test_access.
            with suppress(NoReverseMatch, ObjectDoesNotExist):
                yield address(name, scene, run.pk)
    yield from (job.get_absolute_url() for job in Job.objects.filter(kind__in=FORMS))


@pytest.mark.parametrize("role", ROLES)
def test_every_button_works_for_the_role_that_sees_it(role, scene, db):
    visitor = Visitor(cookies_of(scene.people[role]))

    for path, page in visitor.pages(addresses(scene)):
        visitor.press_all(page, path)

    assert visitor.faults == []
    assert len(visitor.kinds) > PRESSED.get(role, 40)

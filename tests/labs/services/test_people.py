"""Granting and revoking the roles of a lab."""

import pytest

from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent, Membership
from arqlab.labs.permissions import has_role, may_organize
from arqlab.labs.services.people import change_name, grant_role, revoke_role
from tests.factories import OrganizerFactory, UserFactory


def test_a_granted_organizer_organizes(lab, organizer):
    person = UserFactory()

    grant_role(lab=lab, user=person, role="organizer", by=organizer)

    assert may_organize(person, lab)
    event = AuditEvent.objects.get(verb="role.grant")
    assert (event.actor, event.lab, event.detail) == (organizer, lab, {"role": "organizer"})


def test_a_role_is_granted_once(lab, organizer, assessor):
    grant_role(lab=lab, user=assessor, role="assessor", by=organizer)

    assert Membership.objects.filter(lab=lab, user=assessor).count() == 1
    assert not AuditEvent.objects.exists()


def test_membership_of_a_team_is_not_granted(lab, organizer, outsider):
    with pytest.raises(UserError, match="join through an invitation link"):
        grant_role(lab=lab, user=outsider, role="member", by=organizer)


def test_a_revoked_assessor_is_not_an_assessor(lab, organizer, assessor):
    revoke_role(lab=lab, user=assessor, role="assessor", by=organizer)

    assert not has_role(assessor, lab, "assessor")
    assert AuditEvent.objects.get().verb == "role.revoke"


def test_the_last_organizer_cannot_be_revoked(lab, organizer):
    with pytest.raises(UserError, match="last organizer"):
        revoke_role(lab=lab, user=organizer, role="organizer", by=organizer)

    assert may_organize(organizer, lab)


def test_one_of_two_organizers_can_be_revoked(lab, organizer):
    OrganizerFactory(lab=lab)

    revoke_role(lab=lab, user=organizer, role="organizer", by=organizer)

    assert not may_organize(organizer, lab)


def test_revoking_a_missing_role_is_refused(lab, organizer, outsider):
    with pytest.raises(UserError, match="does not have the role assessor"):
        revoke_role(lab=lab, user=outsider, role="assessor", by=organizer)


def test_others_see_a_changed_name(outsider):
    change_name(user=outsider, first_name="Emmy", last_name="Noether")

    outsider.refresh_from_db()
    assert outsider.name == "Emmy Noether"

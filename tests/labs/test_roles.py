"""What a role may do is said once; what grants, invites, lists or addresses people asks there."""

import re

import pytest

from arqlab.core.models import Role
from arqlab.core.models.roles import duties
from arqlab.labs.forms.people import RevokeForm, RoleForm
from arqlab.labs.selectors import organizers_of, roles_in
from arqlab.labs.services.people import grant_role
from arqlab.notices.forms import InvitationForm
from arqlab.notices.models import Message
from arqlab.notices.selectors import message_recipients
from arqlab.notices.services.invitations import invite_people
from assessment.assignments.selectors.grid import judging_staff
from tests.paths import PACKAGES, ROOT

NAMES = re.compile(rf"\bRole\.(?:{'|'.join(Role.names)})\b|role == \"")
NAMING = {
    "arqlab/core/models/roles.py": "says what each may do",
    "arqlab/labs/services/creating.py": "grants one",
    "arqlab/labs/services/loading.py": "grants one",
    "arqlab/teams/services.py": "grants one",
    "arqlab/notices/forms.py": "invites to a team",
    "arqlab/notices/services/invitations.py": "invites to a team",
    "assessment/management/commands/load_lab.py": "grants one",
    "assessment/rounds/services/rounds.py": "grants one",
    "desk/services/archive_documents.py": "names the organizers in citations",
}
every_granted_role = pytest.mark.parametrize("role", Role.granted())


def test_no_other_module_or_template_names_a_role():
    files = [
        file for folder in PACKAGES[1:] for file in (ROOT / folder).rglob("*.py") if file.is_file()
    ]
    files += (ROOT / "templates").rglob("*.html")
    naming = {
        str(file.relative_to(ROOT))
        for file in files
        if NAMES.search(file.read_text(encoding="utf-8"))
    }

    assert naming == set(NAMING)


@every_granted_role
def test_a_granted_role_is_offered_for_grants_and_invitations(role, scene):
    choices = [
        dict(RoleForm().fields["role"].choices),
        dict(RevokeForm().fields["role"].choices),
        dict(InvitationForm(lab=scene.lab).fields["role"].choices),
    ]

    assert all(offered[role] == role.label for offered in choices)


@every_granted_role
def test_a_person_with_a_role_has_its_rights(role, scene):
    person, lab, rights = scene.outsider, scene.lab, role.rights
    grant_role(lab=lab, user=person, role=role, by=None)
    roles = roles_in(person, lab)

    assert (roles.words, roles.organizes, roles.assesses) == (
        role.value,
        rights.organizes,
        rights.assesses,
    )
    assert (person in organizers_of(lab)) == rights.organizes
    assert (person in judging_staff(lab)) == rights.judges
    assert (person in message_recipients(lab, Message.Audience.BOTH)) == bool(rights.audience)


@every_granted_role
def test_an_invitation_names_its_role(role, scene):
    place = {"lab": scene.lab, "role": role, "team": None, "by": scene.organizer}
    (invitation,) = invite_people(addresses=["new@example.org"], **place).new

    assert invitation.words == role.value


def test_the_people_page_says_what_the_people_of_each_role_do():
    assert all(f"{role.plural} {role.rights.does}" in duties().lower() for role in Role)

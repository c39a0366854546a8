"""A role and a place in a team go to accounts that own an address, through whichever door."""

import ast
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.test import Client

from arqlab.core.models import Lab, Membership, Role, User
from arqlab.labs.services.memberships import store_memberships
from arqlab.notices.models import Invitation
from arqlab.web.archive_tables import archive_tables
from desk.services.lab_archives import archive_lab
from tests.assessment.factories import make_pool
from tests.assessment.rounds.factories import round_of
from tests.desk.views.test_home import text_of
from tests.factories import OrganizerFactory, Scene, UserFactory
from tests.labs.services.test_loading import write
from tests.paths import ROOT
from tests.test_structure import product_files

MAKER = "arqlab/labs/services/memberships.py"
CREATING = {"create", "bulk_create", "get_or_create", "update_or_create", "add", "set", "save"}
ClientOf = Callable[[User], Client]


@pytest.fixture
def impostor(db: None) -> User:
    """Somebody who signed up with the address of another person."""
    person = UserFactory(username="eve", email="ada@example.org", has_verified_address=False)
    person.user_permissions.add(Permission.objects.get(codename="add_lab"))
    return person


class Doors:
    """Each way to a role or a team, tried by or for an impostor."""

    def __init__(self, scene: Scene, client_of: ClientOf, impostor: User, folder: Path) -> None:
        self.scene, self.client_of, self.folder = scene, client_of, folder
        self.impostor, self.browser = impostor, client_of(impostor)

    def role_granted_on_the_people_page(self) -> None:
        sent = {"person": "eve", "role": "organizer"}
        self.client_of(self.scene.organizer).post("/labs/arqmath-x/people/", sent)

    def team_link(self) -> None:
        self.browser.post(f"/join/{self.scene.team.invitation_token}/")

    def new_team(self) -> None:
        self.browser.post("/labs/arqmath-x/teams/new/", {"name": "Gamma"})

    def new_lab(self) -> None:
        fields = {"name": "Mine", "slug": "mine", "protocol": "arqmath-3", "description": ""}
        self.browser.post("/new-lab/", fields)

    def lab_loaded_from_files(self) -> None:
        folder = write(self.folder)
        with (folder / "lab.toml").open("rb") as file:
            self.browser.post("/load-lab/", {"file": file})

    def copied_lab(self) -> None:
        OrganizerFactory(lab=self.scene.lab, user=self.impostor)
        self.client_of(self.scene.superuser).post(
            "/labs/arqmath-x/copy/", {"name": "Next", "slug": "next", "with_people": "on"}
        )
        Membership.objects.filter(lab=self.scene.lab, user=self.impostor).delete()

    def accepted_applicant(self) -> None:
        make_pool(self.scene.task, {"A.1": ["10", "11"]})
        round_ = round_of(self.scene.task, "sample", self.scene.organizer)
        round_.token = "the-link-of-the-samples"
        round_.save()
        self.browser.post(f"/samples/{round_.token}/")
        page = f"/labs/arqmath-x/tasks/task1/rounds/{round_.key}/applicants/{self.impostor.pk}/"
        self.client_of(self.scene.organizer).post(page, {"decision": "accepted"})
        assert round_.applicants.get().user == self.impostor

    def invitation_of_a_role(self) -> None:
        self._accept(role="organizer")

    def invitation_to_a_team(self) -> None:
        self._accept(role="member", team=self.scene.team)

    def _accept(self, **fields: object) -> None:
        invitation = Invitation.objects.create(
            lab=self.scene.lab,
            address="grace@example.org",
            invited_by=self.scene.organizer,
            invited_at=self.scene.lab.created_at,
            **fields,
        )
        self.browser.post(f"/invitations/{invitation.token}/")

    def restored_lab(self) -> None:
        organizer = self.scene.organizer
        User.objects.filter(pk=organizer.pk).update(email="ada@example.org", username="ada")
        path = archive_lab(self.scene.lab, path=self.folder / "lab.zip").path
        User.objects.filter(pk=organizer.pk).update(email="other@example.org")
        User.objects.filter(pk=self.impostor.pk).update(email="ada@example.org")
        Lab.objects.update(slug="earlier")
        with pytest.raises(CommandError, match=r"not confirmed them: eve \(ada@example\.org\)"):
            call_command("restore_archive", str(path), stdout=StringIO())


DOORS = [name for name in vars(Doors) if not name.startswith("_")]
CALLERS = {
    "arqlab/labs/services/creating.py create_lab": "new_lab",
    "arqlab/labs/services/loading.py _lab_of": "lab_loaded_from_files",
    "arqlab/labs/services/people.py grant_role": "role_granted_on_the_people_page",
    "arqlab/teams/services.py create_team": "new_team",
    "arqlab/teams/services.py join_team": "team_link",
    "arqlab/teams/views/people.py people_list": "role_granted_on_the_people_page",
    "arqlab/teams/views/teams.py _join": "team_link",
    "arqlab/notices/services/invitations.py accept_invitation": "invitation_of_a_role",
    "assessment/rounds/services/rounds.py _accept": "accepted_applicant",
    "desk/services/archive_tables.py": "restored_lab",
    "desk/services/labs.py copy_lab": "copied_lab",
    # The operator's own command confirms the address first.
    "assessment/management/commands/load_lab.py load": "",
}
"""Whoever asks for a membership, and the door that is tried below."""


@pytest.mark.parametrize("door", DOORS)
def test_an_unconfirmed_account_gets_no_role_and_no_team(
    scene: Scene, client_of: ClientOf, impostor: User, tmp_path: Path, media: Path, door: str
) -> None:
    impostor.email = "" if door == "restored_lab" else impostor.email
    impostor.save()

    getattr(Doors(scene, client_of, impostor, tmp_path), door)()

    assert not Membership.objects.filter(user=impostor).exists()


@pytest.mark.parametrize("door", ["team_link", "new_lab", "new_team"])
def test_the_same_door_opens_with_a_confirmed_address(
    scene: Scene, client_of: ClientOf, impostor: User, tmp_path: Path, door: str
) -> None:
    call_command("confirm_address", "eve", stdout=StringIO())

    getattr(Doors(scene, client_of, impostor, tmp_path), door)()

    assert Membership.objects.filter(user=impostor).exists()


def test_the_page_of_a_team_says_what_is_missing(
    scene: Scene, client_of: ClientOf, impostor: User
) -> None:
    page = client_of(impostor).get(f"/join/{scene.team.invitation_token}/")

    assert "eve has not confirmed an email address." in text_of(page)
    assert f"Join {scene.team}</button>" not in page.text
    assert "/accounts/email/" in page.text


def test_a_restored_person_sets_a_password_by_email(scene: Scene, tmp_path: Path) -> None:
    path = archive_lab(scene.lab, path=tmp_path / "lab.zip").path
    User.objects.filter(pk=scene.organizer.pk).update(email="", username="earlier")
    scene.organizer.emailaddress_set.all().delete()
    Lab.objects.update(slug="earlier")

    call_command("restore_archive", str(path), stdout=StringIO())

    restored = Membership.objects.get(lab__slug="arqmath-x", role=Role.ORGANIZER).user
    assert (restored.email, restored.has_usable_password()) == (scene.organizer.email, False)


def test_a_restored_role_goes_to_the_account_that_confirmed_the_address(
    scene: Scene, tmp_path: Path
) -> None:
    path = archive_lab(scene.lab, path=tmp_path / "lab.zip").path
    Lab.objects.update(slug="earlier")

    call_command("restore_archive", str(path), stdout=StringIO())

    restored = Membership.objects.get(lab__slug="arqmath-x", role=Role.ORGANIZER)
    assert restored.user == scene.organizer


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """Yield each call in the product, with its file and its function."""
    for path in product_files():
        file, tree = str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for function in functions:
            yield from (
                (file, function.name, node)
                for node in ast.walk(function)
                if isinstance(node, ast.Call)
            )


def makes_memberships(call: ast.Call) -> bool:
    """Return whether a call stores memberships, or rows of any model."""
    *path, name = ast.unparse(call.func).split(".")
    names = set(path) | {f"{part}(" for part in path}
    of_model = bool(names & {"Membership", "membership", "memberships", "_base_manager"})
    return name in CREATING and of_model


def test_one_function_stores_memberships() -> None:
    stored = {file for file, _, call in calls() if makes_memberships(call)}
    raw = {
        str(path.relative_to(ROOT))
        for path in product_files()
        if "INTO core_membership" in path.read_text(encoding="utf-8")
    }

    assert stored | raw == {MAKER}


def test_whoever_stores_rows_of_any_model_asks_the_maker_for_memberships() -> None:
    generic = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in product_files()
        if "_base_manager.bulk_create" in path.read_text(encoding="utf-8")
    }

    assert list(generic) == ["desk/services/archive_tables.py"]
    assert all("archive_tables().stored_by.get(model, " in text for text in generic.values())
    assert archive_tables().stored_by[Membership] is store_memberships


def test_every_door_is_tried() -> None:
    asking = {
        f"{file} {function}"
        for file, function, call in calls()
        if ast.unparse(call.func) in {"store_memberships", "grant_role", "join_team"}
    }

    assert asking | {"desk/services/archive_tables.py"} == set(CALLERS)
    assert set(CALLERS.values()) <= {*DOORS, ""}

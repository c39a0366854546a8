"""No command changes an archived lab or task, and those that read one go on."""

from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class

from arqlab.core.models import AuditEvent, Lab, Task
from arqlab.labs.management.labcommand import LabCommand
from arqlab.notices.models import Invitation
from submissions.models import Run
from tests.installed import installed_commands
from tests.labs.services.test_loading import LAB, write

NOW = datetime(2026, 11, 23, tzinfo=UTC)
PATH = "arqmath-x/task1"
EDIT_TASK = "arqmath-x/tasks/task1/edit/"
RUN = "A.1\t10\t1\t2.5\tours\n"
CHANGING = {
    "assign_topics": [PATH, "FILE"],
    "build_pool": [PATH, "--yes"],
    "check_again": [PATH],
    "choose_qrels": [PATH, "official"],
    "close_task": [PATH, "--yes"],
    "freeze_qrels": [PATH, "official", "--yes"],
    "import_judgments": [PATH, "FILE"],
    "import_posts": ["FILE", "--collection", "posts", "--lab", "arqmath-x"],
    "load_runs": [PATH, "FILE"],
    "make_baseline": [PATH, "--system", "random"],
    "release_board": [PATH, "--yes"],
    "submit_run": ["FILE", "--task", PATH, "--team", "Alpha"],
}
LOADING = {"load_lab"}  # the lab is named in the folder
READING = {
    "build_pool": [PATH, "--dry-run"],
    "check_run": ["FILE", "--task", PATH],
    "archive": ["arqmath-x", "--out", "FOLDER"],
    "export_pool": [PATH],
    "export_qrels": [PATH],
    "leaderboard": [PATH],
}
COLLECTIONS = {
    "clean_posts",
    "export_collection",
    "export_visual_ids",
    "import_formulas",
    "index_posts",
    "make_topics",
    "make_visual_ids",
}
"""Commands of collections, which several labs may search."""
DEMO = {"build_demo"}
ACCOUNTS = {"confirm_address", "delete_account", "remove_second_factor"}
SERVER = {"backup", "restore", "restore_archive"}
ARCHIVED = "is archived, so it cannot be changed. An organizer can restore it on its Settings page"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "Alpha-task1-ours-auto-both-A.tsv"
    path.write_text(RUN)
    return path


def call(name: str, arguments: list[str], file: Path) -> None:
    places = {"FILE": str(file), "FOLDER": str(file.parent / "out")}
    filled = [places.get(one, one) for one in arguments]
    call_command(name, *filled, stdout=StringIO(), stderr=StringIO())


def test_every_command_on_labs_is_in_a_list():
    own = {
        name
        for name, app in get_commands().items()
        if not str(app).startswith("django")
        and isinstance(load_command_class(app, name), LabCommand)
    }

    listed = set(CHANGING) | LOADING | set(READING) | COLLECTIONS | DEMO | ACCOUNTS | SERVER
    assert own == set(installed_commands(listed))


@pytest.mark.parametrize("name", installed_commands(CHANGING))
def test_no_command_changes_an_archived_lab(scene, file, name):
    Lab.objects.update(archived_at=NOW)
    with pytest.raises(CommandError) as refused:
        call(name, CHANGING[name], file)

    assert str(refused.value) == f"The lab {scene.lab} {ARCHIVED} (/labs/arqmath-x/edit/)."
    assert not Run.objects.exists()
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize(
    "name", [name for name in installed_commands(CHANGING) if PATH in CHANGING[name]]
)
def test_no_command_changes_an_archived_task(scene, file, name):
    Task.objects.update(archived_at=NOW)
    with pytest.raises(CommandError) as refused:
        call(name, CHANGING[name], file)

    assert str(refused.value) == f"The task {PATH} {ARCHIVED} (/labs/{EDIT_TASK})."
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize("name", installed_commands(READING))
def test_commands_that_read_an_archive_end_as_they_do_without_it(scene, file, name):
    def ended() -> str:
        try:
            return str(call(name, READING[name], file))
        except (CommandError, SystemExit) as error:
            return f"{type(error)} {error}"

    before = ended()
    (file.parent / "out").unlink(missing_ok=True)
    Lab.objects.update(archived_at=NOW)

    assert ended() == before


def test_an_archived_lab_is_not_loaded(db, tmp_path):
    folder = str(write(tmp_path))
    call_command("load_lab", folder, stdout=StringIO())
    Lab.objects.update(archived_at=NOW)

    with pytest.raises(CommandError, match=ARCHIVED):
        call_command("load_lab", folder, stdout=StringIO(), stderr=StringIO())


def test_a_folder_with_an_archived_task_is_loaded_if_the_task_stays_as_it_is(db, tmp_path):
    folder = str(write(tmp_path))
    call_command("load_lab", folder, stdout=StringIO())
    Task.objects.update(archived_at=NOW)
    call_command("load_lab", folder, stdout=StringIO())

    write(tmp_path, lab=LAB + "limit = 7\n")
    with pytest.raises(CommandError, match=ARCHIVED):
        call_command("load_lab", folder, stdout=StringIO(), stderr=StringIO())
    assert Task.objects.get().overrides == {}


def test_an_invitation_to_an_archived_lab_is_not_accepted(scene, client_of):
    invitation = Invitation.objects.create(
        lab=scene.lab, address="ann@example.org", role="organizer", invited_at=NOW
    )
    Lab.objects.update(archived_at=NOW)

    page = client_of(scene.outsider).post(f"/invitations/{invitation.token}/", follow=True).text

    assert ARCHIVED in page
    assert not scene.lab.memberships.filter(user=scene.outsider).exists()

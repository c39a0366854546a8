"""A demo lab that cannot be built leaves nothing behind."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from arqlab.core.models import Lab
from tests.factories import PASSWORD, LabFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _files_of_its_own(tmp_path: Path, settings) -> None:
    settings.DATA_DIR = tmp_path


def test_a_demo_that_fails_leaves_no_lab_behind(monkeypatch):
    monkeypatch.setattr("desk.services.demo.confirm_address", lambda user: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        call_command("build_demo")
    assert not Lab.objects.exists()


def test_the_demo_is_built_in_no_database_with_labs():
    LabFactory()
    with pytest.raises(CommandError, match="This database has labs already"):
        call_command("build_demo")


def test_the_demo_leaves_an_account_of_the_same_name_alone():
    own = UserFactory(username="organizer", is_superuser=True)
    with pytest.raises(CommandError, match="The account organizer exists already"):
        call_command("build_demo")

    own.refresh_from_db()
    assert own.check_password(PASSWORD)
    assert not Lab.objects.exists()

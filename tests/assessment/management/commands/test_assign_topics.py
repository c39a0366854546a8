"""`manage.py assign_topics`: all of a file is assigned, or nothing."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from assessment.models import Assignment
from tests.assessment.factories import assign

pytestmark = pytest.mark.django_db


def run(path, *options: str) -> str:
    out = StringIO()
    call_command("assign_topics", "arqmath-x/task1", str(path), *options, stdout=out)
    return out.getvalue()


@pytest.fixture
def file(tmp_path, assessor):
    path = tmp_path / "who.tsv"
    path.write_text(f"A.1\t{assessor.username}\nA.2\t{assessor.email.upper()}\n")
    return path


def test_topics_are_assigned(file, task, assessor, organizer):
    assert run(file, "--by", organizer.username) == "2 assignments made, 0 ended.\n"
    assert set(Assignment.objects.values_list("assessor", "assigned_by")) == {
        (assessor.pk, organizer.pk)
    }


def test_with_replace_others_lose_the_topics(file, task, organizer):
    assign(organizer, *task.topics.all())

    with pytest.raises(CommandError, match="add --yes"):
        run(file, "--replace")
    assert Assignment.objects.filter(ended_at=None).count() == 2

    assert run(file, "--replace", "--yes") == "2 assignments made, 2 ended.\n"


def test_one_bad_line_and_nothing_is_assigned(file, task):
    file.write_text(file.read_text() + "A.7\tnobody\n")

    with pytest.raises(
        CommandError,
        match=r"(?s)Nothing was loaded: 2 problems\..*who\.tsv:3: found the topic 'A\.7'",
    ):
        run(file)
    assert not Assignment.objects.exists()


def test_a_file_that_is_not_there_is_reported(tmp_path, task):
    with pytest.raises(CommandError, match="No such file"):
        run(tmp_path / "none.csv")

"""Assessors are notified of the topics assigned to them."""

from datetime import timedelta

import pytest

from arqkit.loads import LoadChoice
from arqlab.notices.models import Notice
from assessment.assignments.services.assigning import assign_topics
from tests.assessment.factories import NOW
from tests.factories import AssessorFactory


@pytest.fixture
def assign_all(task, organizer):
    """Return a function that assigns all topics of the task to people."""

    def assign_all(*people, by=organizer, at=NOW):
        pairs = [(topic, person) for topic in task.topics.all() for person in people]
        choice = LoadChoice(confirmed=True)
        assign_topics(task=task, pairs=pairs, replaces=True, at=at, by=by, choice=choice)

    return assign_all


def test_each_assessor_is_notified_once_of_all_new_topics(lab, assessor, organizer, assign_all):
    other = AssessorFactory(lab=lab).user
    assign_all(assessor, other)

    assert {notice.user for notice in Notice.objects.all()} == {assessor, other}
    notice = Notice.objects.get(user=assessor)
    assert notice.subject == "Answer retrieval: 2 topics to judge"
    assert f"{organizer.name} assigned 2 topics of Answer retrieval" in notice.text
    assert "\n\nA.1, A.2\n\n" in notice.text
    assert notice.path == "/labs/arqmath-x/judging/"


def test_only_new_topics_are_notified(lab, assessor, assign_all):
    assign_all(assessor)
    assign_all(assessor, at=NOW + timedelta(hours=1))

    assert Notice.objects.count() == 1


def test_organizers_are_not_notified_of_topics_they_assign_to_themselves(organizer, assign_all):
    assign_all(organizer)

    assert not Notice.objects.exists()


def test_topics_assigned_by_a_command_are_notified(assessor, assign_all):
    assign_all(assessor, by=None)

    assert Notice.objects.get().text.startswith("An organizer assigned 2 topics")

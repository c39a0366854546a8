"""Edits of topic information override the folder's values, but never another user's edit."""

import pytest

from arqkit.topics import InfoChange
from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent, Topic
from arqlab.labs.services.topic_loading import change_topic_information

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _folder(task):
    task.topics.update(info={"difficulty": "easy", "category": "riddle"})


def change(task, *changes, by=None):
    return change_topic_information(task=task, changes=[InfoChange(*one) for one in changes], by=by)


def facts(number):
    return Topic.objects.get(query_id=number).facts


def test_an_edit_overrides_the_folders_value(task):
    assert change(task, ("A.1", "difficulty", "easy", "hard")) == 1

    topic = Topic.objects.get(query_id="A.1")
    assert (topic.info["difficulty"], topic.info_edits) == ("easy", {"difficulty": "hard"})
    assert facts("A.2") == {"difficulty": "easy", "category": "riddle"}


def test_the_folders_value_removes_the_edit(task):
    change(task, ("A.1", "difficulty", "easy", "hard"))
    change(task, ("A.1", "difficulty", "hard", "easy"))

    assert Topic.objects.get(query_id="A.1").info_edits == {}


def test_a_value_can_be_removed_and_free_text_entered(task):
    change(task, ("A.1", "difficulty", "easy", ""), ("A.1", "dependency", "", "Both,  mostly"))

    assert facts("A.1") == {"category": "riddle", "dependency": "both, mostly"}


def test_the_audit_event_has_old_and_new_values(task, organizer):
    change(
        task, ("A.1", "multi_part", "", "yes"), ("A.2", "difficulty", "easy", "easy"), by=organizer
    )

    event = AuditEvent.objects.get(verb="topics.change-information")
    assert (event.actor, event.detail["changes"]) == (organizer, {"A.1 multi part": ["", "yes"]})


def test_saving_current_values_changes_nothing(task):
    assert change(task, ("A.1", "difficulty", "easy", "easy")) == 0
    assert not AuditEvent.objects.filter(verb="topics.change-information").exists()


def test_two_organizers_may_change_different_fields_of_one_topic(task):
    change(task, ("A.1", "difficulty", "easy", "hard"))
    change(task, ("A.1", "category", "riddle", "proof"))

    assert facts("A.1") == {"difficulty": "hard", "category": "proof"}


def test_a_value_changed_by_another_user_is_kept_and_nothing_is_saved(task):
    change(task, ("A.1", "difficulty", "easy", "hard"))

    with pytest.raises(UserError, match=r"^A\.1 was changed by another user") as refused:
        change(task, ("A.2", "difficulty", "easy", "hard"), ("A.1", "difficulty", "easy", "medium"))

    assert refused.value.code == "changed-meanwhile"
    assert (facts("A.1")["difficulty"], facts("A.2")["difficulty"]) == ("hard", "easy")


def test_the_same_change_by_two_organizers_is_no_conflict(task):
    change(task, ("A.1", "difficulty", "easy", "hard"))

    assert change(task, ("A.1", "difficulty", "easy", "hard")) == 0


def test_two_changed_topics_are_named_together(task):
    change(task, ("A.1", "difficulty", "easy", "hard"), ("A.2", "difficulty", "easy", "hard"))

    with pytest.raises(UserError, match=r"^A\.1 and A\.2 were changed"):
        change(task, ("A.1", "difficulty", "easy", ""), ("A.2", "difficulty", "easy", ""))


def test_at_most_ten_changed_topics_are_named(task):
    Topic.objects.bulk_create(Topic(task=task, query_id=f"A.{n}", position=n) for n in range(3, 15))
    task.topics.update(info_edits={"difficulty": "hard"})

    with pytest.raises(UserError, match=r"^A\.3, .*A\.12 and 2 more topics were changed"):
        change(task, *((f"A.{n}", "difficulty", "", "easy") for n in range(3, 15)))


def test_a_missing_topic_and_a_long_value_are_refused(task):
    with pytest.raises(UserError, match="A\\.9 was removed from this task"):
        change(task, ("A.9", "difficulty", "", "hard"))
    with pytest.raises(UserError, match="more than 100 characters"):
        change(task, ("A.1", "difficulty", "easy", "x" * 101))


def test_a_field_of_another_kind_of_task_raises_a_value_error(task):
    with pytest.raises(ValueError, match="complexity"):
        change(task, ("A.1", "complexity", "", "low"))

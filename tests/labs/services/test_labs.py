"""Organizers change labs and tasks."""

from datetime import UTC, datetime

import pytest

from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent, Task
from arqlab.labs.services.labs import change_lab, change_task

MAY = datetime(2027, 5, 1, tzinfo=UTC)
JUNE = datetime(2027, 6, 1, tzinfo=UTC)


def change(task, *, protocol=None, **changes):
    change_task(task=task, changes=changes, protocol=protocol or {}, by=None, at=MAY)
    return Task.objects.get(pk=task.pk)


def test_a_change_of_a_lab_is_audited_with_old_and_new_values(lab, organizer):
    change_lab(lab=lab, changes={"name": "ARQMath-X", "is_public": True}, by=organizer)

    assert AuditEvent.objects.get().detail == {
        "changes": {"name": ["The lab arqmath-x", "ARQMath-X"]}
    }


def test_saving_an_unchanged_lab_records_no_event(lab, organizer):
    change_lab(lab=lab, changes={"name": lab.name}, by=organizer)

    assert not AuditEvent.objects.exists()


def test_a_field_that_nobody_may_change_is_refused(lab):
    with pytest.raises(ValueError, match="slug"):
        change_lab(lab=lab, changes={"slug": "other"}, by=None)


def test_a_deadline_is_set_and_audited(task):
    assert change(task, deadline=JUNE).deadline == JUNE
    assert AuditEvent.objects.get().detail["changes"]["deadline"] == [
        None,
        "2027-06-01T00:00:00+00:00",
    ]


def test_a_task_cannot_open_after_its_deadline(task):
    with pytest.raises(UserError, match="opens after its deadline"):
        change(task, opens_at=JUNE, deadline=MAY)


def test_only_values_that_differ_from_the_preset_are_overrides(task):
    changed = change(
        task, protocol={"quota": 7, "limit": 1000, "measures": list(task.preset.measures)}
    )

    assert changed.overrides == {"quota": 7}
    assert changed.protocol.quota == 7


def test_returning_to_the_preset_removes_the_override(task):
    change(task, protocol={"quota": 7})

    assert change(task, protocol={"quota": 5}).overrides == {}


def test_other_overrides_are_kept(task):
    Task.objects.filter(pk=task.pk).update(overrides={"relevant_from": 1})

    assert change(task, protocol={"quota": 7}).overrides == {"relevant_from": 1, "quota": 7}


def test_measures_are_kept_as_they_were_written(task):
    changed = change(task, protocol={"measures": ["P@5", "AP"]})

    assert changed.protocol.measures == ("P@5", "AP")


def test_an_invalid_protocol_is_refused(task):
    with pytest.raises(UserError, match="limit = 0"):
        change(task, protocol={"limit": 0})


def test_saving_a_task_twice_records_one_event(task):
    change(task, protocol={"measures": ["P@5"]}, name="Task 1")
    change(task, protocol={"measures": ["P@5"]}, name="Task 1")

    assert AuditEvent.objects.count() == 1

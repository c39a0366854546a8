"""Labels that arrive when their assessor may no longer judge the item."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from arqkit.judgments.qrels import Level
from arqlab.core.models import AuditEvent, User
from arqlab.labs.services.people import revoke_role
from arqlab.notices.models import Notice
from assessment.models import Assignment, Judgment, LateLabel, PoolItem, Ticket
from assessment.models.kinds import kinds_that
from assessment.qrels.selectors.drafts import draft_of
from tests.assessment.factories import assign, make_pool
from tests.assessment.judging.desk import Desk, body_for, label_for, name_of
from tests.assessment.rounds.factories import round_of
from tests.factories import AssessorFactory

PAGE = "/labs/arqmath-x/tasks/task1/late-labels/"
Way = Callable[[Any, User, Callable[[], None]], Any]


@pytest.fixture
def judged(task, assessor):
    """A pool of three items whose topic is the assessor's."""
    make_pool(task, {"A.1": ["10", "11", "12"]})
    assign(assessor, task.topics.get(query_id="A.1"))
    return task


@pytest.fixture
def revoke(lab, assessor, organizer):
    return lambda: revoke_role(lab=lab, user=assessor, role="assessor", by=organizer)


def old_lease(task, assessor, end):
    desk = Desk(assessor)
    item = desk.next()
    end()
    return desk.submit(item, 3)


def expired_lease(task, assessor, end):
    desk = Desk(assessor)
    item = desk.next()
    PoolItem.objects.update(leased_until=timezone.now())
    end()
    return desk.submit(item, 3)


def trip(task, assessor, end):
    desk = Desk(assessor)
    [first, *_] = desk.post("trip/", {"hours": 168})["items"]
    item = desk.get(f"items/{first}/")
    end()
    return desk.submit(item, 3)


def outbox_sent_twice(task, assessor, end):
    desk = Desk(assessor)
    item = desk.next()
    body = body_for(item, [label_for(item["instances"][0], 3)])
    end()
    desk.post("judgments/", body)
    return desk.post("judgments/", body)


def change(task, assessor, end):
    desk = Desk(assessor)
    item = desk.next()
    desk.submit(item, 0)
    again = desk.get(f"items/{item['item']}/")
    end()
    return desk.submit(again, 3)


def change_while_the_first_is_sent(task, assessor, end):
    desk, key = Desk(assessor), str(uuid4())
    item = desk.next()
    desk.submit(item, 0, key=key)
    end()
    return desk.submit(item, 3, after=key)


def report(task, assessor, end):
    desk = Desk(assessor)
    item = desk.next()
    end()
    return desk.submit(item, 5)


def in_round(kind: str) -> Way:
    def way(task, assessor, end):
        desk = Desk(assessor, round=round_of(task, kind, assessor).key)
        item = desk.next()
        end()
        return desk.submit(item, 3)

    way.__name__ = kind
    return way


def change_in_round(task, assessor, end):
    desk = Desk(assessor, round=round_of(task, "second", assessor).key)
    item = desk.next()
    desk.submit(item, 0)
    again = desk.get(f"items/{item['item']}/")
    end()
    return desk.submit(again, 3)


OFFICIAL = [old_lease, expired_lease, trip, outbox_sent_twice, change, report]
OFFICIAL += [change_while_the_first_is_sent]
KINDS = kinds_that(is_for_applicants=False, asks=False)
WAYS = [*OFFICIAL, *map(in_round, KINDS), change_in_round]


def counts(answer: Any) -> bool:
    return answer["saved"][0]["counts"]


def drafted(task) -> dict[str, int]:
    rows = draft_of(task).qrels(Level.INSTANCES, complete=True, with_dropped=True)
    return dict(rows.select("item", "label").iter_rows())


@pytest.mark.parametrize("way", WAYS)
def test_a_label_counts_while_its_assessor_has_the_role(judged, assessor, way):
    assert counts(way(judged, assessor, lambda: None))
    assert not LateLabel.objects.exists()


@pytest.mark.parametrize("way", WAYS)
def test_a_label_that_arrives_after_the_role_ended_is_stored_and_does_not_count(
    judged, assessor, organizer, revoke, way
):
    answer = way(judged, assessor, revoke)
    late = LateLabel.objects.get()

    assert not counts(answer)
    assert answer["saved"][0]["message"].startswith("You may no longer judge this topic, so")
    assert answer["next"] is None
    assert (late.judgment.pk, late.cause) == (answer["saved"][0]["judgment"], "role")
    assert not late.judgment.is_current
    assert 3 not in drafted(judged).values()
    [notice] = Notice.objects.filter(kind="late-labels")
    assert (notice.user, notice.path) == (organizer, PAGE)


@pytest.mark.parametrize("way", OFFICIAL)
def test_a_label_that_arrives_after_the_topic_was_unassigned_does_not_count(judged, assessor, way):
    answer = way(judged, assessor, lambda: Assignment.objects.update(ended_at=timezone.now()))

    assert not counts(answer)
    assert LateLabel.objects.get().cause == "topic"


def test_a_late_change_leaves_the_earlier_label_as_it_was(judged, assessor, revoke):
    change(judged, assessor, revoke)

    assert drafted(judged) == {"10": 0}


def test_an_applicant_needs_no_role_for_a_sample_task(judged, outsider):
    desk = Desk(outsider, round=round_of(judged, "sample", outsider).key)

    assert counts(desk.submit(desk.next(), 3))


def decide(client, decision: str, *labels: LateLabel, reason: str = "Judged before.") -> Any:
    form = {"labels": [one.pk for one in labels], "decision": decision, "reason": reason}
    return client.post(PAGE, form, follow=True)


def test_an_organizer_keeps_late_labels_with_a_reason(
    judged, assessor, organizer, revoke, client_of
):
    trip(judged, assessor, revoke)
    late = LateLabel.objects.get()
    page = decide(client_of(organizer), "kept", late).text

    assert "1 label kept." in page
    assert drafted(judged) == {"10": 3}
    assert PoolItem.official.get(item="10").done_at
    late.refresh_from_db()
    assert (late.decision, late.decided_by, late.reason) == ("kept", organizer, "Judged before.")
    assert AuditEvent.objects.get(verb="late-labels.kept").detail["reason"] == "Judged before."
    assert "1 label kept" in Notice.objects.get(user=assessor).text


def test_a_kept_change_replaces_the_label_that_it_changed(
    judged, assessor, organizer, revoke, client_of
):
    change(judged, assessor, revoke)
    decide(client_of(organizer), "kept", LateLabel.objects.get())

    assert drafted(judged) == {"10": 3}
    assert Judgment.objects.get(is_current=True).supersedes.label == 0


def test_an_excluded_label_stays_stored_and_its_assessor_is_told_when_it_is_sent_again(
    judged, assessor, organizer, revoke, client_of
):
    desk = Desk(assessor)
    item = desk.next()
    body = body_for(item, [label_for(item["instances"][0], 3)])
    revoke()
    desk.post("judgments/", body)
    decide(client_of(organizer), "excluded", LateLabel.objects.get())

    assert "organizers excluded it" in desk.post("judgments/", body)["saved"][0]["message"]
    assert (Judgment.objects.get().is_current, drafted(judged)) == (False, {})


def test_a_late_label_is_not_kept_over_the_label_of_another_assessor(
    judged, lab, assessor, organizer, revoke, client_of
):
    other = AssessorFactory(lab=lab).user
    assign(other, judged.topics.get(query_id="A.1"))
    old_lease(judged, assessor, revoke)
    second = Desk(other)
    second.submit(second.next(), 1)
    page = decide(client_of(organizer), "kept", LateLabel.objects.get()).text

    assert "1 label left undecided" in page
    assert drafted(judged) == {"10": 1}


def test_late_labels_are_decided_with_a_reason_and_once(
    judged, assessor, organizer, revoke, client_of
):
    old_lease(judged, assessor, revoke)
    late, browser = LateLabel.objects.get(), client_of(organizer)

    assert "Write why you keep or exclude" in decide(browser, "kept", late, reason=" ").text
    decide(browser, "excluded", late)
    assert decide(browser, "kept", late).status_code == 422
    assert drafted(judged) == {}


def test_the_organizers_see_late_labels_in_the_list_and_on_the_assignments_page(
    judged, assessor, organizer, revoke, client_of
):
    old_lease(judged, assessor, revoke)
    browser = client_of(organizer)

    assert "The assessor no longer has a role in the lab" in browser.get(PAGE).text
    assert "1 late label</a>" in browser.get("/labs/arqmath-x/tasks/task1/assignments/").text


def test_a_late_report_waits_for_an_answer_as_others_do(judged, assessor, revoke):
    report(judged, assessor, revoke)

    assert Ticket.objects.get().state == "open"


@pytest.mark.parametrize("hours", [None, 168])
def test_leases_end_with_the_role(judged, lab, assessor, organizer, revoke, client_of, hours):
    desk, other = Desk(assessor), AssessorFactory(lab=lab).user
    assign(other, judged.topics.get(query_id="A.1"))
    item = desk.post("trip/", {"hours": hours})["items"][0] if hours else desk.next()["item"]
    revoke()

    page = client_of(organizer).get("/labs/arqmath-x/tasks/task1/assignments/").text
    assert "Offline trips" not in page
    second = Desk(other)
    assert second.get(f"items/{item}/")["state"] == "waiting"
    PoolItem.objects.update(leased_to=assessor)
    assert name_of(second.next()) == "10"

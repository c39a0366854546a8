"""Offline trips: items leased for longer, who may do so, and how they return."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arqlab.core.models import AuditEvent, User
from arqlab.labs.services.people import revoke_role
from assessment.judging.services import leases as lease_services
from assessment.models import Judgment, Pool, PoolItem
from tests.assessment.factories import assign, make_pool
from tests.assessment.judging.desk import Desk, name_of
from tests.factories import Scene, make_lab

DAY = timedelta(hours=24)


def leases() -> dict[str, float]:
    """Return the hours left of the leases of A.1, by item."""
    rows = PoolItem.objects.filter(topic__query_id="A.1", leased_until__gt=timezone.now())
    return {
        row.item: round((row.leased_until - timezone.now()) / timedelta(hours=1), 1)
        for row in rows
        if row.leased_until
    }


def test_a_trip_leases_the_items_for_the_hours_and_no_other_assessor_gets_them(
    desk: Desk, second: Desk
) -> None:
    trip = desk.post("trip/", {"hours": 24})

    assert [PoolItem.objects.get(pk=pk).item for pk in trip["items"]] == ["10", "11", "12"]
    assert leases() == {"10": 24, "11": 24, "12": 24}
    assert "/static/js/judge/page.js" in trip["files"]
    assert not any("echarts" in name for name in trip["files"])
    assert second.next() is None
    assert desk.get("trip/")["items"] == trip["items"]
    assert second.get("trip/") == {"items": [], "until": None}


def test_a_trip_has_the_items_of_its_topic_only(desk: Desk, scene: Scene) -> None:
    topic = scene.task.topics.get(query_id="A.2")
    assign(scene.assessor, topic)
    other = Desk(scene.assessor, "A.2")
    trips = desk.post("trip/", {"hours": 24}), other.post("trip/", {"hours": 72})

    assert trips[0]["items"]
    assert trips[1]["items"]
    assert (desk.get("trip/")["items"], other.get("trip/")["items"]) == (
        trips[0]["items"],
        trips[1]["items"],
    )
    assert desk.get("trip/")["until"] < other.get("trip/")["until"]
    assert leases() == {"10": 24, "11": 24, "12": 24}
    assert other.post("trip/end/", {"have": []}) == {"returned": len(trips[1]["items"])}
    assert leases() == {"10": 24, "11": 24, "12": 24}


def test_what_the_page_does_keeps_the_longer_lease(desk: Desk) -> None:
    items = desk.post("trip/", {"hours": 24})["items"]
    first = desk.next()
    desk.post("lease/", {"item": first["item"], "lease": first["lease"]})
    following = desk.submit(first, 3, have=[items[2]])["next"]

    assert name_of(following) == "11"
    assert leases() == {"11": 24, "12": 24}
    assert desk.get("trip/")["items"] == items[1:]


def test_an_ended_trip_frees_the_items_but_those_on_the_page(desk: Desk, second: Desk) -> None:
    items = desk.post("trip/", {"hours": 72})["items"]

    assert desk.post("trip/end/", {"have": items[:1]}) == {"returned": 2}
    assert leases() == {"10": 0.5}
    assert PoolItem.objects.get(leased_to=desk.user).item == "10"
    assert name_of(second.next()) == "11"
    assert desk.post("trip/end/", {"have": []}) == {"returned": 0}  # an open page's lease stays


def test_a_trip_that_nobody_ended_frees_its_items_at_its_end(desk: Desk, second: Desk) -> None:
    item = desk.next()
    desk.post("trip/", {"hours": 24})
    PoolItem.objects.update(leased_until=timezone.now() - timedelta(seconds=1))

    theirs = second.next()
    second.submit(theirs, 1)
    late = desk.submit(item, 3)

    assert theirs["item"] == item["item"]
    assert late["saved"][0]["counts"] is False
    assert list(Judgment.objects.order_by("pk").values_list("label", "is_current")) == [
        (1, True),
        (3, False),
    ]


def test_items_that_another_assessor_has_are_not_prepared(desk: Desk, second: Desk) -> None:
    taken = second.next()

    assert taken["item"] not in desk.post("trip/", {"hours": 1})["items"]
    assert leases()["10"] == 0.5


def test_a_trip_prepared_again_has_no_more_items(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_services, "MAX_ITEMS", 1)
    [first] = desk.post("trip/", {"hours": 24})["items"]
    desk.post("skip/", {"item": first, "lease": desk.get(f"items/{first}/")["lease"]})
    desk.post("trip/", {"hours": 168})
    desk.post("trip/", {"hours": 24})

    assert leases() == {"11": 24}


def test_a_trip_leaves_that_of_another_assessor_of_the_topic_as_it_is(
    desk: Desk, second: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_services, "MAX_ITEMS", 1)
    second.post("trip/", {"hours": 72})
    desk.post("trip/", {"hours": 24})

    assert leases() == {"10": 72, "11": 24}


def test_skipped_items_are_the_last_of_a_trip_in_the_order_of_skipping(desk: Desk) -> None:
    for _ in range(2):
        item = desk.next()
        desk.post("skip/", {"item": item["item"], "lease": item["lease"]})
    trip = desk.post("trip/", {"hours": 24})

    assert [PoolItem.objects.get(pk=pk).item for pk in trip["items"]] == ["12", "10", "11"]


@pytest.mark.parametrize("hours", [0, 169, "24", None])
def test_the_time_of_a_trip_is_limited(desk: Desk, hours: object) -> None:
    refused = desk.post("trip/", {"hours": hours})

    assert desk.last.status_code == 400
    assert refused["errors"][0]["expected"] == "a whole number from 1 to 168"
    assert leases() == {}


def test_only_the_assessor_of_the_topic_prepares_and_ends_trips(
    desk: Desk, scene: Scene, outsider: User
) -> None:
    for stranger in (Desk(outsider), Desk(scene.organizer), Desk(scene.assessor, "A.3")):
        stranger.post("trip/", {"hours": 24})
        assert stranger.last.status_code == 404
        stranger.post("trip/end/", {"have": []})
        assert stranger.last.status_code == 404
    assert leases() == {}


def test_a_closed_pool_has_nothing_to_prepare(desk: Desk, pool: Pool) -> None:
    Pool.objects.update(closed_at=timezone.now())

    assert desk.post("trip/", {"hours": 24})["items"] == []


@pytest.mark.parametrize("count", [3, 60])
def test_a_trip_takes_as_many_queries_for_many_items(db: None, count: int) -> None:
    scene = make_lab("far")
    assign(scene.assessor, scene.task.topics.get(query_id="A.1"))
    make_pool(scene.task, {"A.1": [str(number) for number in range(100, 100 + count)]})
    desk = Desk(scene.assessor, lab="far")
    with CaptureQueriesContext(connection) as prepared:
        items = desk.post("trip/", {"hours": 24})["items"]
    with CaptureQueriesContext(connection) as ended:
        desk.post("trip/end/", {"have": items[:1]})

    assert len(items) == min(count, 50)
    asked = [query["sql"].split()[0] for query in (*prepared, *ended)]
    assert sum(map(asked.count, ("SELECT", "EXECUTE", "UPDATE"))) == 10


def test_an_organizer_sees_and_ends_trips(
    desk: Desk, second: Desk, client_of, scene: Scene
) -> None:
    desk.post("trip/", {"hours": 24})
    organizer = client_of(scene.organizer)
    page = "/labs/arqmath-x/tasks/task1/assignments/"
    shown = organizer.get(page).content.decode()
    organizer.post(f"{page}trips/A.1/{scene.assessor.pk}/end/")

    assert "Offline trips" in shown
    assert AuditEvent.objects.get(verb="trips.end").detail == {
        "taken": {scene.assessor.username: ["A.1"]}
    }
    assert "Offline trips" not in organizer.get(page).content.decode()
    assert name_of(second.next()) == "10"


def test_a_topic_taken_from_its_assessor_is_free_for_others(
    desk: Desk, second: Desk, client_of, scene: Scene
) -> None:
    desk.post("trip/", {"hours": 168})
    client_of(scene.organizer).post(
        "/labs/arqmath-x/tasks/task1/assignments/",
        {"topics": ["A.1"], "person": scene.assessor.pk, "action": "take"},
    )

    assert name_of(second.next()) == "10"


def test_an_item_of_the_trip_of_who_lost_their_role_is_leased_as_briefly_as_any(
    desk: Desk, second: Desk, scene: Scene
) -> None:
    [first, *_] = desk.post("trip/", {"hours": 168})["items"]
    revoke_role(lab=scene.lab, user=scene.assessor, role="assessor", by=scene.organizer)
    second.get(f"items/{first}/")

    assert leases()["10"] == 0.5

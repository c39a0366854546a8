"""Active time counts as far as the server saw it, whatever the page reports."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from arqlab.core.models import Topic, User
from assessment.judging.selectors.items import TopicPath
from assessment.judging.services.leases import Seat, signed_lease
from assessment.models import Judgment, Pool, PoolItem
from tests.assessment.factories import judge, make_formula_pool
from tests.assessment.judging.desk import Desk, body_for, label_for
from tests.assessment.rounds.factories import round_of
from tests.factories import Scene

PAGE = "/labs/arqmath-x/tasks/task1/judge/A.1/"
MINUTE, HOURS = 60_000, 3 * 3_600_000  # ms


def send(desk: Desk, item: Any, *, ms: int | None = HOURS, **fields: Any) -> Any:
    """Send a label for each instance of an item, without waiting."""
    rows = [label_for(one, 1, active_ms=ms, **fields) for one in item["instances"]]
    answer = desk.post("judgments/", body_for(item, rows))
    assert desk.last.status_code == 200, answer
    return answer


def minutes() -> list[float]:
    """Return the active minutes of all labels as they arrived; a test itself takes seconds."""
    times = Judgment.objects.order_by("pk").values_list("active_ms", flat=True)
    return [round((active_ms or 0) / MINUTE, 1) for active_ms in times]


def near(*wanted: float) -> Any:
    return pytest.approx(wanted, abs=0.15)


def lease_of(item: Any, desk: Desk, **ago: float) -> str:
    """Return the lease of an item as it was signed some time ago."""
    seat = Seat(desk.user, TopicPath("arqmath-x", "task1", "A.1"))
    return signed_lease(item["item"], seat, timezone.now() - timedelta(**ago)).lease


def test_three_hours_reported_a_minute_after_the_lease_count_a_minute(desk: Desk) -> None:
    item = desk.next()
    desk.work(minutes=1)
    send(desk, item)

    assert minutes() == near(1)
    assert Judgment.objects.get().reported_ms == HOURS


def test_a_time_that_the_server_saw_counts_as_reported(desk: Desk) -> None:
    item = desk.next()
    desk.work(minutes=1)
    send(desk, item, ms=59_999)

    assert Judgment.objects.values_list("active_ms", "reported_ms").get() == (59_999, 59_999)


def test_a_label_without_a_time_keeps_none(desk: Desk) -> None:
    send(desk, desk.next(), ms=None)

    assert Judgment.objects.values_list("active_ms", "reported_ms").get() == (None, None)


def test_items_that_come_with_the_page_are_leased_from_then_on(desk: Desk) -> None:
    page = desk.client.get(PAGE).text
    [config] = re.findall('id="judge-config"[^>]*>(.*?)</script>', page, re.S)
    first, second = json.loads(config)["items"]
    desk.work(minutes=2)
    send(desk, first, ms=MINUTE)
    send(desk, second)

    assert minutes() == near(1, 0)


def test_three_hours_reported_a_minute_after_the_label_before_count_a_minute(desk: Desk) -> None:
    first = desk.next()
    second = desk.next([first["item"]])
    desk.work(hours=5)
    send(desk, first, ms=20_000)
    desk.work(minutes=1)
    send(desk, second)

    assert minutes() == near(0.3, 1)


def test_labels_together_never_take_longer_than_the_server_saw(desk: Desk) -> None:
    """A browser whose clock runs backwards would make each time the first."""
    first = desk.next()
    second = desk.next([first["item"]])
    desk.work(hours=4)
    now = timezone.now()
    send(desk, first, at=now.isoformat())
    send(desk, second, at=(now - timedelta(minutes=1)).isoformat())

    assert minutes() == near(180, 60)


def test_labels_of_a_lost_connection_keep_their_times(desk: Desk) -> None:
    items = [desk.next()]
    items += [desk.next([items[0]["item"]])]
    desk.work(minutes=40)
    for ago, item in zip((35, 33), items, strict=True):
        at = timezone.now() - timedelta(minutes=ago)
        send(desk, item, ms=2 * MINUTE, at=at.isoformat())

    assert minutes() == near(2, 2)


def test_the_labels_of_a_trip_share_its_time(desk: Desk) -> None:
    trip = desk.post("trip/", {"hours": 24})["items"]
    items = [desk.get(f"items/{pk}/") for pk in trip]
    desk.work(hours=5)
    for item, ms in zip(items, (MINUTE, 2 * MINUTE, 10 * HOURS), strict=True):
        send(desk, item, ms=ms)

    assert minutes() == near(1, 2, 5 * 60 - 3)


def test_a_trip_that_ended_and_whose_item_another_assessor_took_is_not_forgotten(
    desk: Desk, second: Desk
) -> None:
    item = desk.next()
    PoolItem.objects.update(leased_until=timezone.now())
    second.next()
    send(desk, item | {"lease": lease_of(item, desk, hours=1)}, ms=30 * MINUTE)

    assert minutes() == near(30)


def test_a_lease_that_is_renewed_keeps_its_beginning(desk: Desk) -> None:
    item = desk.next()
    desk.work(minutes=10)
    lease = desk.post("lease/", {"item": item["item"], "lease": item["lease"]})["lease"]
    again = desk.get(f"items/{item['item']}/")
    send(desk, again | {"lease": lease}, ms=9 * MINUTE)

    assert minutes() == near(9)


def test_a_trip_keeps_the_beginning_of_the_lease_before(desk: Desk) -> None:
    item = desk.next()
    desk.work(minutes=10)
    desk.post("trip/", {"hours": 6})
    send(desk, item, ms=9 * MINUTE)

    assert minutes() == near(9)


def test_a_trip_with_an_item_that_another_had_begins_then(desk: Desk, second: Desk) -> None:
    second.next()
    second.work(hours=12)
    PoolItem.objects.update(leased_until=timezone.now())
    [first, *_] = desk.post("trip/", {"hours": 6})["items"]
    desk.work(minutes=1)
    send(desk, desk.get(f"items/{first}/"))

    assert minutes() == near(1)


def test_an_item_that_another_skipped_is_leased_from_then_on(desk: Desk, second: Desk) -> None:
    item = second.next()
    second.work(hours=12)
    second.post("skip/", {"item": item["item"], "lease": item["lease"]})
    again = desk.get(f"items/{item['item']}/")
    desk.work(minutes=1)
    send(desk, again)

    assert minutes() == near(1)


def test_a_lease_after_one_that_ended_begins_then(desk: Desk) -> None:
    desk.next()
    desk.work(hours=12)
    PoolItem.objects.update(leased_until=timezone.now())
    item = desk.next()
    desk.work(minutes=1)
    send(desk, item)

    assert minutes() == near(1)


def test_the_next_item_of_an_answer_is_leased_from_then_on(desk: Desk) -> None:
    following = send(desk, desk.next())["next"]
    desk.work(minutes=1)
    send(desk, following)

    assert minutes() == near(0, 1)


def test_three_hours_reported_for_a_change_a_minute_after_the_item_was_opened_count_a_minute(
    desk: Desk, assessor: User
) -> None:
    instance = PoolItem.objects.filter(item="10").first().instances.get()
    judge(assessor, instance, 3, active_ms=0)
    item = desk.get(f"items/{instance.item_id}/")
    send(desk, item | {"lease": lease_of(item, desk, minutes=1)})

    assert minutes() == near(0, 1)


def test_a_change_in_between_leaves_the_time_before_it(desk: Desk) -> None:
    first = desk.next()
    second = send(desk, first)["next"]
    desk.work(minutes=5)
    send(desk, desk.get(f"items/{first['item']}/"), ms=0)
    send(desk, second, ms=4 * MINUTE)

    assert minutes() == near(0, 0, 4)


def test_the_time_before_an_item_was_skipped_counts(desk: Desk) -> None:
    first = desk.next()
    second = desk.next([first["item"]])
    desk.work(minutes=3)
    desk.post("skip/", {"item": first["item"], "lease": first["lease"]})
    again = send(desk, second, ms=MINUTE)["next"]
    again = desk.post("skip/", {"item": again["item"], "lease": again["lease"]})["next"]
    assert again["item"] == first["item"]
    send(desk, again, ms=2 * MINUTE)

    assert minutes() == near(1, 2)


def test_the_instances_of_an_item_share_its_time(scene: Scene, desk: Desk) -> None:
    Pool.objects.update(closed_at=timezone.now())
    make_formula_pool(scene.task, {"A.1": {"70": [("8", "10"), ("9", "12")]}})
    item = desk.next()
    desk.work(minutes=3)
    rows = [
        label_for(one, 1, active_ms=ms)
        for one, ms in zip(item["instances"], (2 * HOURS, HOURS), strict=True)
    ]
    desk.post("judgments/", body_for(item, rows))

    assert minutes() == near(2, 1)


def test_imported_labels_take_no_time_from_others(desk: Desk, assessor: User, topic: Topic) -> None:
    item = desk.next()
    imported = PoolItem.objects.get(item="12", topic=topic).instances.get()
    desk.work(minutes=2)
    judge(assessor, imported, 1, active_ms=HOURS, is_imported=True, judged_at=timezone.now())
    send(desk, item, ms=MINUTE)

    assert minutes() == near(180, 1)


def test_times_of_rounds_are_capped_too(desk: Desk, scene: Scene) -> None:
    made = round_of(scene.task, "training", scene.assessor)
    training = Desk(scene.assessor, round=made.key)
    item = training.next()
    training.work(minutes=1)
    send(training, item)

    assert minutes() == near(1)

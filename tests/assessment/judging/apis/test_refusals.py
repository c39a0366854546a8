"""What is refused: clearly, all problems at once, and nothing of it is stored."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from arqlab.core.models import Task, User
from assessment.models import Judgment, Pool, PoolItem
from tests.assessment.factories import assign, make_pool
from tests.assessment.judging.desk import Desk, body_for, label_for
from tests.factories import AssessorFactory, Scene


def refused(desk: Desk, body: Any, path: str = "judgments/") -> tuple[int, str]:
    """Send something that is refused, and give status and code; nothing is stored."""
    answer = desk.post(path, body)
    assert answer["message"].endswith(".")
    assert not Judgment.objects.exists()
    return desk.last.status_code, answer["code"]


def one_label(desk: Desk, **fields: Any) -> dict[str, Any]:
    """Return a good submit with some fields of its label changed."""
    item = desk.next()
    return body_for(item, [label_for(item["instances"][0], 2) | fields])


@pytest.mark.parametrize(
    ("scale", "taken", "not_taken"), [("0-1", 1, 2), ("0-4", 4, 7), ("1-3", 1, 0)]
)
def test_the_labels_of_the_task_and_no_others_are_taken(
    desk: Desk, scene: Scene, scale: str, taken: int, not_taken: int
) -> None:
    Task.objects.filter(pk=scene.task.pk).update(overrides={"labels": scale})
    rows = Task.objects.get(pk=scene.task.pk).protocol.labels.rows()
    Pool.objects.update(scale=rows)
    page = desk.client.get("/labs/arqmath-x/tasks/task1/judge/A.1/").content.decode()

    assert refused(desk, one_label(desk, label=not_taken)) == (400, "bad-label")
    assert desk.submit(desk.next(), taken)["saved"][0]["label"] == taken
    assert f'data-label="{taken}"' in page
    assert f'data-label="{not_taken}"' not in page
    assert {'data-label="5"', 'data-label="6"'} <= set(page.split())


@pytest.mark.parametrize("label", [4, 7, -1, "3", None, True, 2.0, [], 10**30])
def test_a_label_that_is_none_is_refused(desk: Desk, label: Any) -> None:
    assert refused(desk, one_label(desk, label=label)) == (400, "bad-label")


@pytest.mark.parametrize("field", ["comment", "reason"])
def test_a_megabyte_of_comment_is_refused_with_its_length(desk: Desk, field: str) -> None:
    assert refused(desk, one_label(desk, **{field: "x" * 2**20})) == (400, "bad-comment")
    [error] = desk.last.json()["errors"]
    assert (error["field"], error["found"]) == (field, "1,048,576 characters")


def test_what_is_too_large_to_be_read_is_refused(desk: Desk) -> None:
    assert refused(desk, one_label(desk, shown="x" * 5 * 2**20)) == (413, "too-large")


@pytest.mark.parametrize(
    "change",
    [
        {"judgments": []},
        {"judgments": "3"},
        {"judgments": [3]},
        {"item": "1"},
        {"item": 2**63},
        {"have": ["1"]},
        {"have": list(range(1, 300))},
        {"lease": 7},
        {"guideline": 99},
    ],
)
def test_a_body_of_another_form_is_refused(desk: Desk, change: dict[str, Any]) -> None:
    assert refused(desk, one_label(desk) | change) == (400, "malformed")


@pytest.mark.parametrize(
    "fields",
    [
        {"key": "no uuid"},
        {"key": 5},
        {"seen": "x"},
        {"after": "x"},
        {"active_ms": -1},
        {"active_ms": 2**31},
        {"instance": 0},
    ],
)
def test_a_field_of_another_form_is_refused(desk: Desk, fields: dict[str, Any]) -> None:
    assert refused(desk, one_label(desk, **fields)) == (400, "malformed")


def test_an_empty_label_is_reported(desk: Desk) -> None:
    refused(desk, one_label(desk) | {"judgments": [{}]})

    assert {error["field"] for error in desk.last.json()["errors"]} == {"instance", "label", "key"}


def test_a_body_that_is_no_json_is_refused(desk: Desk) -> None:
    assert refused(desk, "{not json") == (400, "malformed")
    assert refused(desk, []) == (400, "malformed")
    assert refused(desk, "[" * 200_000) == (400, "malformed")


def test_all_problems_are_reported_at_once(desk: Desk) -> None:
    body = one_label(desk, label=100, comment="x" * 10_001, key="?")

    refused(desk, body | {"have": "all"})

    assert {error["field"] for error in desk.last.json()["errors"]} == {
        "label",
        "comment",
        "key",
        "have",
    }


def told(desk: Desk) -> set[tuple[int | None, str, str]]:
    """Return instance, field and what was found of each problem in the last answer."""
    return {
        (error["instance"], error["field"], error["found"]) for error in desk.last.json()["errors"]
    }


def test_an_unknown_label_is_reported_with_all_other_problems_at_once(desk: Desk) -> None:
    body = one_label(desk, label=7, seen="x", comment="x" * 10_001)
    instance = body["judgments"][0]["instance"]

    assert refused(desk, body | {"have": "all", "guideline": 99}) == (400, "bad-label")
    assert told(desk) == {
        (instance, "label", "7"),
        (instance, "seen", "x"),
        (instance, "comment", "10,001 characters"),
        (None, "have", "all"),
        (None, "guideline", "99"),
    }


def test_unknown_labels_are_reported_with_an_unknown_version_of_the_guidelines(desk: Desk) -> None:
    assert refused(desk, one_label(desk, label=7) | {"guideline": 99}) == (400, "bad-label")
    assert {field for _, field, _ in told(desk)} == {"label", "guideline"}


def test_an_unknown_label_in_a_row_without_an_instance_is_reported(desk: Desk) -> None:
    refused(desk, one_label(desk) | {"judgments": [3, {"label": 7}]})

    assert told(desk) == {
        (None, "", "int"),
        (None, "instance", "None"),
        (None, "label", "7"),
        (None, "key", "None"),
    }


def test_a_malformed_request_without_a_genuine_lease_learns_nothing_of_the_item(desk: Desk) -> None:
    body = one_label(desk, label=7, key="?") | {"lease": "forged"}

    assert refused(desk, body) == (400, "malformed")
    assert {field for _, field, _ in told(desk)} == {"key"}


@pytest.mark.parametrize("field", ["item", "lease"])
@pytest.mark.parametrize("path", ["judgments/", "skip/", "lease/"])
def test_a_body_without_its_item_or_lease_is_malformed(desk: Desk, field: str, path: str) -> None:
    body = one_label(desk)
    del body[field]

    assert refused(desk, body, path) == (400, "malformed")
    assert told(desk) == {(None, field, "None")}


def test_an_instance_and_a_key_are_each_sent_once(desk: Desk) -> None:
    body = one_label(desk)
    [row] = body["judgments"]
    again = row | {"key": row["key"].upper()}

    assert refused(desk, body | {"judgments": [row, again]}) == (400, "malformed")
    assert told(desk) == {
        (None, "instance", f"{row['instance']} twice"),
        (None, "key", f"{row['key']} twice"),
    }


def test_a_comment_with_characters_that_no_database_takes_is_kept_without_them(desk: Desk) -> None:
    desk.post("judgments/", one_label(desk, comment="a\0b\ud800c √"))

    assert Judgment.objects.get().comment == "ab?c √"


def test_an_instance_of_another_item_is_refused(desk: Desk) -> None:
    first = desk.next()
    other = desk.next(have=[first["item"]])

    assert refused(desk, body_for(first, [label_for(other["instances"][0], 2)])) == (
        409,
        "not-in-pool",
    )


def test_an_item_of_a_discarded_pool_is_refused(desk: Desk) -> None:
    body = one_label(desk)
    Pool.objects.all().delete()

    assert refused(desk, body) == (409, "not-in-pool")


def test_a_forged_lease_is_refused(desk: Desk, second: Desk) -> None:
    body, others = one_label(desk), second.next()

    assert refused(desk, body | {"lease": body["lease"][:-1] + "_"}) == (409, "forged-lease")
    assert refused(desk, body | {"lease": ""}) == (409, "forged-lease")
    assert refused(desk, body | {"lease": others["lease"]}) == (409, "forged-lease")
    assert refused(desk, body_for(others | {"lease": body["lease"]}, body["judgments"])) == (
        409,
        "forged-lease",
    )


def test_a_lease_is_worth_nothing_at_another_topic(scene: Scene, desk: Desk) -> None:
    assign(scene.assessor, scene.task.topics.get(query_id="A.2"))

    assert refused(Desk(scene.assessor, "A.2"), one_label(desk)) == (409, "forged-lease")


def test_a_topic_that_is_not_mine_does_not_exist(scene: Scene, desk: Desk) -> None:
    stranger = Desk(AssessorFactory(lab=scene.lab).user)

    assert refused(stranger, one_label(desk)) == (404, "not-found")
    assert stranger.get("next/")["code"] == "not-found"
    assert stranger.get("judgments/")["code"] == "not-found"


@pytest.mark.parametrize("query_id", ["A.99", "A.1%00", "%F0%9F%92%A5"])
def test_a_topic_that_there_is_not_does_not_exist(
    desk: Desk, assessor: User, query_id: str
) -> None:
    nowhere = Desk(assessor, query_id)

    nowhere.get("next/")

    assert nowhere.last.status_code == 404


def test_an_item_of_another_topic_does_not_exist(scene: Scene, desk: Desk) -> None:
    other = PoolItem.objects.get(topic__query_id="A.2")

    assert desk.get(f"items/{other.pk}/")["code"] == "not-found"
    assert desk.get(f"items/{10**30}/")["code"] == "not-found"


def test_a_closed_pool_takes_no_label_and_confirms_again_what_it_took(desk: Desk) -> None:
    body = one_label(desk)
    stored = desk.post("judgments/", body)
    following = body_for(stored["next"], [label_for(stored["next"]["instances"][0], 3)])
    Pool.objects.update(closed_at=timezone.now())

    assert desk.post("judgments/", following)["code"] == "pool-closed"
    assert desk.last.status_code == 409
    assert desk.post("judgments/", body)["saved"] == stored["saved"]
    assert desk.next() is None
    assert Judgment.objects.count() == 1


def test_an_item_of_a_closed_pool_is_shown_to_who_judged_it_and_given_to_nobody(desk: Desk) -> None:
    item = desk.next()
    waiting = desk.submit(item, 3)["next"]["item"]
    PoolItem.objects.update(leased_to=None, leased_until=None)
    Pool.objects.update(closed_at=timezone.now())

    assert desk.get(f"items/{item['item']}/")["state"] == "done"
    assert desk.get(f"items/{waiting}/")["code"] == "pool-closed"
    assert desk.last.status_code == 409
    page = desk.client.get(f"/labs/arqmath-x/tasks/task1/judge/A.1/?item={waiting}")
    assert "The pool of this item is closed" in page.content.decode()
    assert not PoolItem.objects.filter(leased_to__isnull=False).exists()


def test_a_key_that_was_used_for_another_item_is_refused(desk: Desk) -> None:
    body = one_label(desk)
    following = desk.post("judgments/", body)["next"]
    row = label_for(following["instances"][0], 3) | {"key": body["judgments"][0]["key"]}

    assert desk.post("judgments/", body_for(following, [row]))["code"] == "key-used"
    assert Judgment.objects.count() == 1


def test_a_label_that_is_known_makes_no_other_item_done(desk: Desk) -> None:
    body = one_label(desk)
    following = desk.post("judgments/", body)["next"]

    assert desk.post("judgments/", body_for(following, body["judgments"]))["code"] == "not-in-pool"
    assert PoolItem.objects.get(pk=following["item"]).done_at is None


def test_the_label_of_another_assessor_cannot_be_superseded(desk: Desk, second: Desk) -> None:
    item = desk.next()
    PoolItem.objects.update(leased_until=timezone.now())
    same = second.next()
    judgment = desk.submit(item, 3)["saved"][0]["judgment"]

    [saved] = second.submit(same, 0, seen=judgment)["saved"]

    assert saved["counts"] is False
    assert Judgment.objects.get(pk=judgment).is_current


def test_who_is_signed_out_is_asked_to_sign_in(desk: Desk) -> None:
    body = one_label(desk)
    desk.client.logout()

    assert refused(desk, body) == (401, "signed-out")


@pytest.mark.parametrize("path", ["judgments/", "next/", "items/", "skip/", "lease/"])
def test_the_page_of_another_user_is_asked_to_sign_in_and_gets_nothing(
    scene: Scene, desk: Desk, second: Desk, path: str
) -> None:
    body, before = (
        one_label(desk),
        list(PoolItem.objects.values_list("pk", "leased_to", "leased_until")),
    )
    # The browser is the first one's, and somebody else has signed in with it since.
    desk.client = Client(headers={"X-Judging-User": str(scene.assessor.pk)})
    desk.client.cookies = second.client.cookies

    if path in ("next/", "items/"):
        answer = desk.get(path if path == "next/" else f"items/{body['item']}/")
    else:
        answer = desk.post(path, body)

    assert (desk.last.status_code, answer["code"]) == (401, "signed-out")
    assert list(PoolItem.objects.values_list("pk", "leased_to", "leased_until")) == before
    assert not Judgment.objects.exists()


def test_the_page_of_who_is_signed_in_is_served(scene: Scene, desk: Desk) -> None:
    desk.client.defaults["HTTP_X_JUDGING_USER"] = str(scene.assessor.pk)

    assert desk.submit(desk.next(), 3)["done"] is True


def test_a_request_from_another_site_is_refused(desk: Desk, assessor: User) -> None:
    body = one_label(desk)
    desk.client = Client(enforce_csrf_checks=True)
    desk.client.force_login(assessor)

    assert refused(desk, body) == (403, "csrf")


@pytest.mark.parametrize("have", ["x", "1,-2", "9" * 30, "9" * 5_000])
def test_items_at_hand_that_are_no_numbers_are_refused(desk: Desk, have: str) -> None:
    assert desk.get("next/", have=have)["code"] == "malformed"


def test_an_item_of_a_closed_pool_is_refused_while_another_pool_of_its_topic_is_open(
    desk: Desk, pool: Pool
) -> None:
    waiting = pool.items.filter(topic__query_id="A.1").values_list("pk", flat=True)[0]
    Pool.objects.update(closed_at=timezone.now())
    supplement = make_pool(pool.task, {"A.1": ["20"]})

    assert desk.get(f"items/{waiting}/")["code"] == "pool-closed"
    assert desk.next()["item"] == supplement.items.get().pk

"""Judging over HTTP, as the page does it."""

from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone

from arqlab.core.models import Topic, User
from assessment.models import Assignment, Judgment, Pool, PoolInstance, PoolItem, Ticket
from assessment.tickets.services.answers import answer_ticket
from collection.models import Post
from tests.assessment.factories import (
    assign,
    judge,
    make_formula_pool,
    make_pool,
    make_written_pool,
)
from tests.assessment.judging.desk import Desk, body_for, doc_id_of, label_for, name_of
from tests.collection.factories import POSTS, load_small
from tests.factories import Scene


def end_leases() -> None:
    """End all leases."""
    PoolItem.objects.update(leased_until=timezone.now() - timedelta(minutes=1))


def labels() -> list[tuple[str, int, bool]]:
    """Return what is stored: document, label, whether it counts."""
    return list(
        Judgment.objects.order_by("pk").values_list("instance__doc_id", "label", "is_current")
    )


def test_the_next_item_is_the_first_that_waits_with_its_post_typeset(desk: Desk) -> None:
    item = desk.next()

    assert (name_of(item), item["position"], item["state"]) == ("10", 1, "waiting")
    [instance] = item["instances"]
    assert (doc_id_of(instance), instance["judgment"]) == ("10", None)
    assert "<math" in instance["html"]
    assert instance["thread_url"] == "/labs/arqmath-x/posts/10/#post-10"


def test_posts_are_shown_as_the_collection_has_them_however_often_it_is_loaded(
    desk: Desk, scene: Scene, tmp_path: Path
) -> None:
    load_small(
        scene.lab, tmp_path, posts=POSTS.replace("$a=2b$", "$a=2c$").replace('Id="11"', 'Id="15"')
    )

    item = desk.next()

    assert "a=2c" in item["instances"][0]["html"]
    assert (
        "The text of this item is missing" in desk.submit(item, 3)["next"]["instances"][0]["html"]
    )
    load_small(scene.lab, tmp_path)
    assert "See" in desk.next()["instances"][0]["html"]
    assert (
        "a=2b"
        in desk.client.get("/labs/arqmath-x/tasks/task1/judge/A.1/judgments/").content.decode()
    )


def test_a_submit_stores_the_label_and_answers_with_the_next_item(desk: Desk) -> None:
    answer = desk.submit(desk.next(), 3, comment="Good.")

    [saved] = answer["saved"]
    assert (saved["label"], saved["counts"], saved["message"]) == (3, True, "")
    assert (answer["done"], name_of(answer["next"])) == (True, "11")
    judgment = Judgment.objects.get()
    assert (judgment.pk, judgment.label, judgment.comment, judgment.active_ms) == (
        saved["judgment"],
        3,
        "Good.",
        20_000,
    )
    assert PoolItem.objects.get(item="10", topic__query_id="A.1").done_at is not None


def test_a_topic_is_judged_to_its_end(desk: Desk) -> None:
    item, seen = desk.next(), []
    while item:
        seen.append(name_of(item))
        item = desk.submit(item, 0)["next"]

    assert seen == ["10", "11", "12"]
    assert desk.get("next/") == {"item": None, "progress": {"total": 3, "done": 3, "skipped": 0}}


def test_items_that_the_page_has_do_not_come_again(desk: Desk) -> None:
    first, second = desk.next(), desk.next(have=[desk.next()["item"]])

    assert [name_of(first), name_of(second)] == ["10", "11"]
    assert name_of(desk.submit(first, 2, have=[second["item"]])["next"]) == "12"


def test_an_item_of_several_posts_is_done_when_each_has_its_label(scene: Scene, desk: Desk) -> None:
    Pool.objects.all().update(closed_at=timezone.now())
    make_formula_pool(scene.task, {"A.1": {"70": [("8", "10"), ("9", "12")]}})
    item = desk.next()

    first = desk.post("judgments/", body_for(item, [label_for(item["instances"][0], 3)]))
    second = desk.post("judgments/", body_for(item, [label_for(item["instances"][1], 1)]))

    assert [first["done"], second["done"]] == [False, True]


def test_the_formula_that_is_judged_is_shown_above_and_marked_in_its_post(
    scene: Scene, desk: Desk
) -> None:
    Pool.objects.all().update(closed_at=timezone.now())
    make_formula_pool(scene.task, {"A.1": {"70": [("8", "10"), ("7", "1"), ("9", "12")]}})
    item = desk.next()

    answer, question, without = item["instances"]
    assert item["formula_html"].count("<math") == 1
    assert 'class="math-container is-highlighted" data-formula-id="8"' in answer["html"]
    assert 'id="formula-7"' in question["title_html"]
    assert (question["heading"], answer["heading"]) == ("Question post 1", "Answer post 10")
    assert answer["thread_url"] == "/labs/arqmath-x/posts/10/?formula=8#formula-8"
    assert "was not found in this post" in without["html"]


def test_a_generated_answer_keeps_its_lines(scene: Scene, desk: Desk) -> None:
    Pool.objects.all().update(closed_at=timezone.now())
    text = "Let $a < b$:\nso\n\n$$x\n=1$$ <b>is</b>"
    make_written_pool(scene.task, {"A.1": {"SecretRun:A.1": text}})

    [instance] = desk.next()["instances"]

    assert instance["html"].count("<math") == 2
    assert "<p>so</p> <p>" in instance["html"]
    assert "&lt;b&gt;is" in instance["html"]


def test_a_post_that_is_not_in_the_collection_asks_to_be_reported(scene: Scene, desk: Desk) -> None:
    Pool.objects.all().update(closed_at=timezone.now())
    make_pool(scene.task, {"A.1": ["A4711"]})

    [instance] = desk.next()["instances"]

    assert (instance["heading"], instance["thread_url"]) == ("Answer", "")
    assert "Report it to the organizers" in instance["html"]


def test_a_link_to_a_post_of_the_collection_opens_its_thread_and_others_are_dead(
    desk: Desk,
) -> None:
    body = '<p><a href="https://math.stackexchange.com/q/2">there</a> <a href="https://example.org/">out</a></p>'
    Post.objects.filter(post_id="10").update(body=body, rules=0)

    [instance] = desk.next()["instances"]

    assert '<a href="/labs/arqmath-x/posts/2/#post-2">there</a>' in instance["html"]
    assert 'class="dead-link"' in instance["html"]


def test_a_hostile_post_is_shown_without_what_could_run(desk: Desk) -> None:
    [instance] = desk.next(have=[desk.next()["item"]])["instances"]

    assert doc_id_of(instance) == "11"
    assert "script" not in instance["html"]
    assert "onclick" not in instance["html"]


def test_a_label_is_changed_with_a_reason_and_both_are_kept(desk: Desk) -> None:
    item = desk.next()
    desk.submit(item, 3)
    again = desk.get(f"items/{item['item']}/")

    answer = desk.submit(again, 1, reason="Misread.")

    assert again["state"] == "done"
    assert again["instances"][0]["judgment"]["label"] == 3
    assert answer["saved"][0]["counts"] is True
    assert labels() == [("10", 3, False), ("10", 1, True)]
    newer = Judgment.objects.get(label=1)
    assert (newer.reason, newer.supersedes.label) == ("Misread.", 3)


def test_a_change_of_a_label_that_was_on_its_way_names_it_by_its_key(
    desk: Desk, second: Desk
) -> None:
    item, first = desk.next(), str(uuid4())
    end_leases()
    same = second.next()
    desk.submit(item, 3, key=first)

    answers = [
        second.submit(same, 0, after=first),
        desk.submit(item, 1, after=first),
        desk.submit(item, 2, after=first),
    ]

    assert [answer["saved"][0]["counts"] for answer in answers] == [False, True, False]
    assert labels() == [("10", 3, False), ("10", 0, False), ("10", 1, True), ("10", 2, False)]


def test_own_judgments_are_listed_in_the_order_of_the_items(desk: Desk, topic: Topic) -> None:
    first = desk.next()
    later = desk.next(have=[first["item"]])
    desk.submit(later, 2)
    desk.submit(first, 0, comment="No.")

    rows = desk.get("judgments/")["judgments"]

    assert [(name_of(row), row["position"], row["label"], row["comment"]) for row in rows] == [
        ("10", 1, 0, "No."),
        ("11", 2, 2, ""),
    ]


def test_a_skipped_item_comes_after_all_others(desk: Desk) -> None:
    item = desk.next()

    following = desk.post("skip/", {"item": item["item"], "lease": item["lease"]})["next"]

    assert name_of(following) == "11"
    assert desk.get("next/")["progress"] == {"total": 3, "done": 0, "skipped": 1}
    assert name_of(desk.submit(desk.submit(following, 1)["next"], 1)["next"]) == "10"
    assert desk.next()["state"] == "skipped"


def test_a_system_failure_raises_a_ticket_with_what_was_seen(desk: Desk) -> None:
    desk.submit(desk.next(), 5, comment="Broken.", shown="<p>raw</p>")

    ticket = Ticket.objects.get()
    assert (ticket.html, ticket.browser, ticket.judgment.label) == (
        "<p>raw</p>",
        "Test browser 1",
        5,
    )


def test_the_moment_of_a_label_that_waited_in_the_browser_is_kept(desk: Desk) -> None:
    given = timezone.now() - timedelta(hours=5)
    desk.submit(desk.next(), 5, at=given.isoformat().replace("+00:00", "Z"))

    judgment = Judgment.objects.get()
    assert judgment.given_at == given
    assert judgment.judged_at > given


@pytest.mark.parametrize(
    "said",
    [
        "",
        "yesterday",
        5,
        None,
        ["2026-01-01T00:00Z"],
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "2026-11-21T12:00:00",
        timedelta(days=-31),
        timedelta(days=1),
    ],
)
def test_a_moment_that_cannot_be_is_passed_over(desk: Desk, said: object) -> None:
    desk.submit(
        desk.next(),
        3,
        at=(timezone.now() + said).isoformat() if isinstance(said, timedelta) else said,
    )

    assert Judgment.objects.get().given_at is None


def test_the_version_of_the_guidelines_is_kept_with_the_label(scene: Scene, desk: Desk) -> None:
    version = scene.task.guidelines.create(version=3, text="Judge.", written_at=timezone.now())
    item = desk.next()

    desk.post("judgments/", body_for(item, [label_for(item["instances"][0], 2)]) | {"guideline": 3})

    assert Judgment.objects.get().guideline == version


def test_a_label_sent_twice_is_stored_once_with_the_same_answer(desk: Desk) -> None:
    item = desk.next()
    body = body_for(item, [label_for(item["instances"][0], 3)])

    first, second = desk.post("judgments/", body), desk.post("judgments/", body)

    assert first["saved"] == second["saved"]
    assert [answer["next"]["item"] for answer in (first, second)] == [first["next"]["item"]] * 2
    assert labels() == [("10", 3, True)]


def test_a_label_sent_again_after_it_was_changed_is_answered_as_at_first(desk: Desk) -> None:
    item = desk.next()
    body = body_for(item, [label_for(item["instances"][0], 3)])
    first = desk.post("judgments/", body)
    judged = desk.get(f"items/{item['item']}/")
    desk.post("judgments/", body_for(judged, [label_for(judged["instances"][0], 0)]))

    assert desk.post("judgments/", body)["saved"] == first["saved"]
    assert labels() == [("10", 3, False), ("10", 0, True)]


def test_a_label_sent_again_after_the_item_was_given_back_leaves_the_item_waiting(
    desk: Desk, organizer: User
) -> None:
    item = desk.next()
    body = body_for(item, [label_for(item["instances"][0], 5)])
    assert desk.post("judgments/", body)["done"] is True
    answer_ticket(
        ticket=Ticket.objects.get(),
        answer="Again.",
        returns_item=True,
        at=timezone.now(),
        by=organizer,
    )

    again = desk.post("judgments/", body)

    [saved] = again["saved"]
    assert (again["done"], saved["counts"], saved["message"].split(" to ")[0]) == (
        False,
        False,
        "The organizers returned this item",
    )
    assert PoolItem.objects.get(pk=item["item"]).done_at is None
    assert desk.submit(desk.get(f"items/{item['item']}/"), 2)["done"] is True
    assert labels() == [("10", 5, False), ("10", 2, True)]


def test_a_second_tab_that_judges_the_same_item_gets_a_message_and_its_label_is_kept(
    desk: Desk, assessor: User
) -> None:
    tab = Desk(assessor)
    item, same = desk.next(), tab.next()
    desk.submit(item, 3)

    [saved] = tab.submit(same, 0)["saved"]

    assert same["item"] == item["item"]
    assert saved["counts"] is False
    assert "kept" in saved["message"]
    assert labels() == [("10", 3, True), ("10", 0, False)]


def test_two_assessors_of_a_topic_get_different_items(desk: Desk, second: Desk) -> None:
    assert [name_of(desk.next()), name_of(second.next())] == ["10", "11"]
    assert name_of(desk.next()) == "10"


def test_neither_of_two_assessors_sees_what_the_other_judged(desk: Desk, second: Desk) -> None:
    item = desk.next()
    desk.submit(item, 3)

    second.get(f"items/{item['item']}/")

    assert second.last.status_code == 404
    assert second.get("judgments/") == {"judgments": []}


def test_the_rest_of_an_item_is_given_without_what_another_judged(
    scene: Scene, desk: Desk, second: Desk
) -> None:
    Pool.objects.all().update(closed_at=timezone.now())
    make_formula_pool(scene.task, {"A.1": {"70": [("8", "10"), ("9", "12")]}})
    item = desk.next()
    desk.post("judgments/", body_for(item, [label_for(item["instances"][0], 3)]))
    end_leases()

    rest = second.next()

    assert [(doc_id_of(one), one["judgment"]) for one in rest["instances"]] == [("9", None)]
    assert second.submit(rest, 1)["done"] is True


def test_a_lease_that_ended_gives_the_item_to_the_next_assessor(desk: Desk, second: Desk) -> None:
    item = desk.next()
    end_leases()

    assert second.next()["item"] == item["item"]


def test_a_label_after_the_lease_ended_counts_when_nobody_else_judged(
    desk: Desk, second: Desk
) -> None:
    item = desk.next()
    end_leases()
    other = second.next()

    answers = [desk.submit(item, 3), second.submit(other, 1)]

    assert [answer["saved"][0]["counts"] for answer in answers] == [True, False]
    assert labels() == [("10", 3, True), ("10", 1, False)]


def test_a_lease_is_renewed_until_another_has_the_item(desk: Desk, second: Desk) -> None:
    item = desk.next()
    place = {"item": item["item"], "lease": item["lease"]}
    renewed = desk.post("lease/", place)
    end_leases()
    second.next()

    refused = desk.post("lease/", place)

    assert renewed["until"] >= item["until"]
    assert renewed["progress"] == {"total": 3, "done": 0, "skipped": 0}
    assert (desk.last.status_code, refused["code"]) == (409, "leased-elsewhere")
    assert desk.get(f"items/{item['item']}/")["code"] == "leased-elsewhere"


def test_no_lease_is_renewed_on_an_item_that_another_has_judged(desk: Desk, second: Desk) -> None:
    item = desk.next()
    end_leases()
    second.submit(second.next(), 3)

    refused = desk.post("lease/", {"item": item["item"], "lease": item["lease"]})

    assert (desk.last.status_code, refused["code"]) == (409, "leased-elsewhere")
    assert PoolItem.objects.get(pk=item["item"]).leased_to != desk.user


def test_renewing_a_lease_extends_it_but_shortens_none(desk: Desk) -> None:
    item = desk.next()
    place = {"item": item["item"], "lease": item["lease"]}
    row = PoolItem.objects.filter(pk=item["item"])
    for soon in (timedelta(minutes=1), timedelta(hours=24)):
        until = timezone.now() + soon
        row.update(leased_until=until)
        desk.post("lease/", place)

        extended = timezone.now() + timedelta(minutes=29)
        assert row.get().leased_until >= max(until, extended)
        assert (row.get().leased_until == until) == (until > extended)


def test_the_lease_of_an_item_that_one_has_judged_is_renewed_and_proves_a_change(
    desk: Desk, second: Desk
) -> None:
    item = desk.next()
    desk.submit(item, 3)
    item = desk.get(f"items/{item['item']}/")
    place = {"item": item["item"], "lease": item["lease"]}
    renewed = desk.post("lease/", place)
    changed = desk.submit(item | {"lease": renewed["lease"]}, 1, reason="A second look.")
    refused = second.post("lease/", place)

    assert renewed["until"] >= item["until"]
    assert changed["saved"][0]["counts"]
    assert second.last.status_code in (403, 409), refused
    assert labels() == [("10", 3, False), ("10", 1, True)]


def test_the_lease_of_an_item_of_which_one_has_judged_a_part_is_extended(
    scene: Scene, desk: Desk
) -> None:
    formulas = make_formula_pool(scene.task, {"A.1": {"70": [("7", "10"), ("8", "11")]}})
    row = PoolItem.objects.filter(pool=formulas)
    judge(scene.assessor, PoolInstance.objects.get(item__pool=formulas, doc_id="7"), 2)
    item = desk.get(f"items/{row.get().pk}/")
    row.update(leased_until=timezone.now() + timedelta(minutes=1))
    desk.post("lease/", {"item": item["item"], "lease": item["lease"]})

    assert desk.last.status_code == 200
    assert row.get().leased_until >= timezone.now() + timedelta(minutes=29)


def test_a_part_that_one_has_judged_renews_no_lease_that_another_has(
    scene: Scene, desk: Desk, second: Desk
) -> None:
    formulas = make_formula_pool(scene.task, {"A.1": {"70": [("7", "10"), ("8", "11")]}})
    item = PoolItem.objects.get(pool=formulas)
    judge(scene.assessor, PoolInstance.objects.get(item=item, doc_id="7"), 2)
    held = desk.get(f"items/{item.pk}/")
    end_leases()
    second.get(f"items/{item.pk}/")

    refused = desk.post("lease/", {"item": held["item"], "lease": held["lease"]})

    assert (desk.last.status_code, refused["code"]) == (409, "leased-elsewhere")


def test_after_a_label_for_a_topic_taken_away_in_mid_work_nothing_comes_next(
    desk: Desk, second: Desk
) -> None:
    item = desk.next()
    Assignment.objects.filter(assessor__username__startswith="assessor").update(
        ended_at=timezone.now()
    )

    answer = desk.submit(item, 2)

    assert (answer["saved"][0]["counts"], answer["next"]) == (False, None)
    desk.get("next/")
    assert desk.last.status_code == 404


def test_who_has_no_role_in_the_lab_any_more_gets_nothing(desk: Desk, assessor: User) -> None:
    assessor.memberships.all().delete()

    desk.get("next/")

    assert desk.last.status_code == 404


def test_a_supplement_comes_after_the_pool(scene: Scene, desk: Desk) -> None:
    make_pool(scene.task, {"A.1": ["2"]}, reason="A late run.")
    for item in PoolItem.objects.filter(pool__number=1, topic__query_id="A.1"):
        judge(scene.assessor, PoolInstance.objects.get(item=item), 1)

    assert name_of(desk.next()) == "2"


def test_the_item_of_an_organizer_who_judges_too_is_given(
    scene: Scene, pool: Pool, topic: Topic
) -> None:
    assign(scene.organizer, topic)

    assert name_of(Desk(scene.organizer).next()) == "10"

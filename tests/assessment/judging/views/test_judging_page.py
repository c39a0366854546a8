"""The judging page and the list of one's own judgments, as the server gives them."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from arqkit import records
from arqlab.labs.services.topic_pages import topic_pages
from assessment.guidelines.services.versions import write_guideline
from assessment.models import Judgment, Pool, PoolInstance, PoolItem
from collection.models import Post
from tests.assessment.factories import NOW, assign, judge, make_formula_pool, make_pool
from tests.collection.factories import load_small
from tests.factories import FormulaTaskFactory, Scene, TopicFactory

PAGE = "/labs/arqmath-x/tasks/task1/judge/A.1/"
CONFIG = re.compile(r'<script id="judge-config" type="application/json">(.*?)</script>', re.DOTALL)


@pytest.fixture
def client(scene: Scene, client_of, tmp_path: Path) -> Client:
    """The assessor's browser; A.1 with three answers is theirs."""
    load_small(scene.lab, tmp_path)
    make_pool(scene.task)
    assign(scene.assessor, scene.task.topics.get(query_id="A.1"))
    return client_of(scene.assessor)


def config_of(client: Client, path: str = PAGE) -> Any:
    """Return what the page's scripts begin with."""
    return json.loads(CONFIG.search(client.get(path).content.decode())[1])


def instances() -> list[Any]:
    """Return the instances of A.1 in their order."""
    return [item.instances.get() for item in PoolItem.objects.filter(topic__query_id="A.1")]


def test_the_page_comes_with_the_first_two_items_so_that_nothing_is_fetched_for_the_first_paint(
    client,
):
    config = config_of(client)

    assert [item["position"] for item in config["items"]] == [1, 2]
    assert config["progress"] == {"total": 3, "done": 0}


def test_what_the_page_comes_with_is_leased_to_the_assessor(client, assessor):
    config_of(client)

    assert PoolItem.objects.filter(leased_to=assessor).count() == 2


def test_nothing_is_leased_to_who_only_looks_whether_the_page_is_there(client):
    assert client.head(PAGE).status_code == 200
    prefetched = client.get(PAGE, headers={"Sec-Purpose": "prefetch;prerender"})
    assert (prefetched.status_code, "no-store" in prefetched.headers["Cache-Control"]) == (
        503,
        True,
    )
    item, api = PoolItem.objects.first(), "/api/v1/labs/arqmath-x/tasks/task1/topics/A.1/judging/"
    assert [client.head(f"{api}{path}").status_code for path in ("next/", f"items/{item.pk}/")] == [
        405,
        405,
    ]

    assert not PoolItem.objects.filter(leased_to__isnull=False).exists()


def test_the_page_shows_the_pace_so_far(client, assessor):
    judge(assessor, instances()[0], 3)

    assert "20 s each · 40 s left" in client.get(PAGE).content.decode()


def test_an_own_item_can_be_asked_for(client, assessor):
    judged = instances()[1]
    judge(assessor, judged, 2)

    shown = config_of(client, f"{PAGE}?item={judged.item_id}")["shown"]

    assert (shown["position"], shown["instances"][0]["judgment"]["label"]) == (2, 2)


@pytest.mark.parametrize("asked_for", ["0", "no", "999999", "٣", "9" * 30])
def test_an_item_that_is_none_is_passed_over(client, asked_for):
    assert config_of(client, f"{PAGE}?item={asked_for}")["shown"] is None


def test_an_item_that_another_assessor_has_is_not_shown_and_the_page_shows_the_reason(
    client, organizer
):
    item = PoolItem.objects.get(topic__query_id="A.1", position=1)
    PoolItem.objects.filter(pk=item.pk).update(
        leased_to=organizer, leased_until=timezone.now() + timedelta(minutes=20)
    )

    config = config_of(client, f"{PAGE}?item={item.pk}")

    assert config["shown"] is None
    assert "Another assessor has this item now" in config["refusal"]


def test_the_page_holds_the_guidelines_of_the_protocol_or_the_organizers_newest(
    client, task, organizer
):
    assert "imagine a professor of" in client.get(PAGE).content.decode()
    write_guideline(task=task, text="<p>Think of $x$.</p>", at=NOW, by=organizer)

    page = client.get(PAGE).content.decode()

    assert "Think of <span" in page
    assert config_of(client)["guideline"] == 1


def test_a_finished_topic_shows_what_was_done_and_the_next_topic_of_the_task(
    client, assessor, task
):
    for instance, label in zip(instances(), (3, 0, 0), strict=True):
        judge(assessor, instance, label)
    assign(assessor, task.topics.get(query_id="A.2"))

    page = client.get(PAGE).content.decode()

    assert "All 3 items of this topic are judged." in page
    assert 'href="/labs/arqmath-x/tasks/task1/judge/A.2/"' in page


def test_the_last_finished_topic_leads_to_the_own_topics(client, assessor):
    for instance in instances():
        judge(assessor, instance, 0)

    page = client.get(PAGE).content.decode()

    assert 'href="/labs/arqmath-x/judging/">View your topics</a>' in page


def test_a_topic_whose_last_items_others_have_shows_a_message(client, organizer):
    until = timezone.now() + timedelta(minutes=20)
    PoolItem.objects.filter(topic__query_id="A.1").update(leased_to=organizer, leased_until=until)

    assert "Other assessors are judging the last 3 items" in client.get(PAGE).content.decode()


def test_a_topic_without_an_open_pool_shows_what_will_be_there(client):
    Pool.objects.update(closed_at=NOW)

    assert "Nothing to judge in this topic yet" in client.get(PAGE).content.decode()


def test_the_page_asks_the_database_no_more_often_for_a_larger_pool(
    client, task, assessor, django_assert_max_num_queries
):
    topic = TopicFactory(task=task, query_id="A.9")
    make_pool(task, {"A.9": [str(number) for number in range(200, 300)]})
    assign(assessor, topic)

    with django_assert_max_num_queries(24):
        client.get(PAGE.replace("A.1", "A.9"))


def test_links_of_the_question_lead_to_the_threads_of_posts_that_the_collection_holds(client, task):
    site, span = (
        "https://math.stackexchange.com",
        '<span class="math-container" id="q_1">$x^2$</span>',
    )
    body = (
        f'<p>{span}: see <a href="{site}/questions/1/why">this {span}</a>,'
        f' <a href="{site}/q/999">that</a></p>'
    )
    source = records.TopicRecord("A.1", "Even squares", body, formula_id="q_1", latex="x^2")
    [page] = topic_pages([source])
    task.topics.filter(query_id="A.1").update(
        title=source.title,
        body=body,
        title_html=page.title,
        body_html=page.body,
        formula_id="q_1",
        latex="x^2",
    )

    question = (
        client.get(PAGE)
        .content.decode()
        .partition('id="judge-question"')[2]
        .partition("</section>")[0]
    )

    assert '<a href="/labs/arqmath-x/posts/1/#post-1">this <mark' in question
    assert question.count("dead-link") == 1
    assert f"Leads to {site}/q/999" in question
    assert question.count("is-highlighted") == page.body.count("is-highlighted") == 2


def test_the_list_has_the_own_judgments_newest_first_and_nobody_elses(client, assessor, organizer):
    first, second, third = instances()
    judge(assessor, first, 3, comment="A proof.")
    judge(assessor, second, 0, judged_at=NOW + timedelta(hours=1))
    judge(organizer, third, 1)

    page = client.get(f"{PAGE}judgments/").content.decode()

    assert re.findall(r"Answer, position (\d+)", page) == ["2", "1"]
    assert "You judged 2 items at 20 s per item" in page


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        ("label=3", ["1"]),
        ("label=0", ["2"]),
        ("marked=commented", ["1"]),
        ("marked=changed", ["2"]),
        ("label=x", ["2", "1"]),
    ],
)
def test_the_list_is_filtered_by_label_comment_and_change(client, assessor, chosen, found):
    first, second, _ = instances()
    judge(assessor, first, 3, comment="A proof.")
    before = judge(assessor, second, 2, is_current=False)
    judge(
        assessor,
        second,
        0,
        supersedes=before,
        reason="It restates.",
        judged_at=NOW + timedelta(hours=1),
    )

    page = client.get(f"{PAGE}judgments/?{chosen}").content.decode()

    assert re.findall(r"Answer, position (\d+)", page) == found


def test_a_label_that_does_not_count_stays_in_the_list_and_is_marked(client, assessor, organizer):
    first, second, _ = instances()
    judge(organizer, first, 1)
    judge(assessor, first, 3, is_current=False)
    judge(assessor, second, 2, judged_at=NOW + timedelta(hours=1))

    page = client.get(f"{PAGE}judgments/").text
    beside = client.get(f"{PAGE}judgments/?marked=beside").text

    assert re.findall(r"Answer, position (\d+)", page) == ["2", "1"]
    assert page.count("does not count") == 1
    assert re.findall(r"Answer, position (\d+)", beside) == ["1"]
    assert "Low" not in re.sub(r'(?s)<nav class="choices".*?</nav>', "", beside)


def test_a_long_formula_at_the_start_of_an_answer_is_in_the_list(client, assessor):
    first = instances()[0]
    latex = f"x={'y+' * 60}z"
    body = f'<p><span class="math-container" id="q_900">${latex}$</span> by induction.</p>'
    Post.objects.filter(post_id=first.post_id).update(body=body)
    judge(assessor, first, 3)

    page = client.get(f"{PAGE}judgments/").text
    assert f'data-latex="{latex}"' in page
    assert "by induction" not in page


def test_skipped_items_are_listed_until_they_are_judged(client, assessor):
    judged, waiting, _ = instances()
    later = PoolItem.objects.filter(instances__in=[judged, waiting])
    later.update(later_at=NOW)
    PoolItem.objects.filter(instances=judged).update(done_at=NOW)

    page = client.get(f"{PAGE}judgments/").text

    [listed] = re.findall(r"(?s)<p>\s*Skipped,(.*?)</p>", page)
    assert re.findall(r'data-item="(\d+)"', listed) == [str(waiting.item_id)]


def test_the_panel_of_the_judging_page_gets_the_list_without_its_frame(client, assessor):
    judge(assessor, instances()[0], 3)

    panel = client.get(f"{PAGE}judgments/", headers={"HX-Request": "true"})

    assert "<html" not in panel.content.decode()
    assert f'data-item="{Judgment.objects.get().instance.item_id}"' in panel.content.decode()
    assert "HX-Request" in panel.headers["Vary"]


def test_a_very_long_comment_leaves_room_for_the_other_rows(client, assessor):
    judge(assessor, instances()[0], 3, comment="long " * 2_000)

    page = client.get(f"{PAGE}judgments/").content.decode()

    assert 50 < page.count("long ") < 100


def test_the_list_asks_the_database_no_more_often_for_more_judgments(
    client, assessor, django_assert_num_queries
):
    judge(assessor, instances()[0], 3)
    path = f"{PAGE}judgments/"
    assert "<math" in client.get(path).content.decode()  # its formulas are typeset and kept
    with django_assert_num_queries(13):
        client.get(path)
    judge(assessor, instances()[1], 3)

    with django_assert_num_queries(13):
        client.get(path)


def test_a_long_list_comes_in_pages_that_keep_what_was_chosen(client, task, assessor):
    make_pool(task, {"A.1": [str(number) for number in range(500, 605)]})
    for item in PoolItem.objects.filter(pool__number=2):
        judge(assessor, item.instances.get(), 3)
    path = f"{PAGE}judgments/"

    first = client.get(f"{path}?label=3").content.decode()
    assert f'href="{path}?label=3&amp;page=2"' in first
    panel = client.get(f"{path}?label=3&page=2", headers={"HX-Request": "true"}).content.decode()

    assert f'href="{path}?label=3&amp;page=1"' in panel
    assert 'hx-boost="true"' in panel
    shown = [re.findall(r'data-item="(\d+)"', text) for text in (first, panel)]
    assert ([len(part) for part in shown], len({*shown[0], *shown[1]})) == ([100, 5], 105)


def test_a_long_list_is_searched_and_sorted(client, task, assessor, django_assert_max_num_queries):
    make_pool(task, {"A.1": [str(number) for number in range(500, 620)]})
    PoolItem.objects.filter(pool__number=2, position=1).update(text="By Stirling, $n!$.")
    for item in PoolItem.objects.filter(pool__number=2):
        comment = "A Needle" if item.position == 1 else ""
        judge(assessor, item.instances.get(), 3, comment=comment, active_ms=item.position * 1000)

    def found(query: str) -> tuple[bool, str]:
        with django_assert_max_num_queries(17):
            html = client.get(f"{PAGE}judgments/?{query}").text
        return "A Needle" in html, re.findall(r"(\d+) rows?", html)[0]

    assert [found(query) for query in ("", "page=2")] == [(False, "120"), (True, "120")]
    assert [found(f"sort={order}seconds") for order in ("", "-")] == [(True, "120"), (False, "120")]
    assert found("q=needle&label=3&marked=commented") == (True, "1")
    assert found("q=n!+stirling+a+needle") == (True, "1")
    assert found("q=answer") == (False, "120")
    for hidden in ("500", "<b>", "span"):  # ids and markup tell answers apart
        assert found(f"q={hidden}") == (False, "0")


def test_a_judged_formula_is_found_by_its_latex_and_its_post(scene, client, assessor):
    task = FormulaTaskFactory(lab=scene.lab, slug="task2")
    topic = TopicFactory(task=task, query_id="B.1")
    make_formula_pool(task, {"B.1": {"70": [("7", "1"), ("9", "12")], "71": [("8", "10")]}})
    assign(assessor, topic)
    for instance in PoolInstance.objects.filter(item__topic=topic):
        judge(assessor, instance, 3)

    def found(words: str) -> list[str]:
        page = client.get("/labs/arqmath-x/tasks/task2/judge/B.1/judgments/", {"q": words}).text
        return sorted(re.findall(r">(\w+ post \d+)</a>", page))

    assert found("A=2B") == found("post 10") == ["Answer post 10"]
    assert found("a^2") == ["Question post 1"]
    assert found("even") == []  # of the post, not of the formula

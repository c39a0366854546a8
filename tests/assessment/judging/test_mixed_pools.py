"""A pool with posts and generated answers: its assessor cannot tell which item is which.

The post and the generated answer have the same text, so that whatever differs reveals the kind.
"""

import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from arqkit.protocols.presets import PoolProtocol
from arqlab.core.models import Task, User
from assessment.models import PoolItem, Ticket
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.services.freezing import freeze_pool
from collection.models import Post
from tests.assessment.factories import NOW, assign, make_pool
from tests.assessment.judging.desk import Desk, body_for, label_for, name_of
from tests.ceremonies import seen
from tests.collection.factories import load_small
from tests.evaluation.factories import make_run
from tests.factories import Scene, WrittenTaskFactory

PAGE = "/labs/arqmath-x/tasks/task1/judge/A.1/"
FORMULA = '<span class="math-container" id="424242">$x^2$</span>'
IDS = re.compile("SecretRun|424242|98765")
SECRETS = re.compile(rf"{IDS.pattern}|[Gg]enerated|[Ww]ritten|\b[Pp]osts?\b")
MIXED = PoolProtocol(primary=1, alternate=1, includes_generated_answers=True)
# What numbers an item, or changes from one request to the next.
NUMBERS = (
    "item",
    "instance",
    "text_of",
    "position",
    "lease",
    "until",
    "judgment",
    "judged_at",
    "key",
)
Pair = tuple[PoolItem, PoolItem]


@pytest.fixture
def third(task: Task) -> Task:
    return WrittenTaskFactory(lab=task.lab, slug="task3")


@pytest.fixture
def pair(scene: Scene, task: Task, third: Task, tmp_path: Path) -> Pair:
    """Return the post and the generated answer of a frozen pool."""
    load_small(scene.lab, tmp_path)
    Post.objects.filter(post_id="10").update(
        post_id="98765", body=f"<p>Because {FORMULA}.</p>", rules=0
    )
    make_run(scene.team, task, {"A.1": ["98765"]})
    text = {"A.1": "Because $x^2$."}
    make_run(scene.team, third, {"A.1": ["A.1"]}, tag="SecretRun", answers=text)
    pool = freeze_pool(task=task, choice=PoolChoice(MIXED, 1), by=None, at=NOW)
    assign(scene.assessor, task.topics.get(query_id="A.1"))
    return pool.items.get(kind="posts"), pool.items.get(kind="answers")


@pytest.fixture
def desk(pair: Pair, assessor: User) -> Desk:
    return Desk(assessor)


@pytest.fixture
def browser(assessor: User, client_of) -> Client:
    return client_of(assessor)


def masked(value: Any) -> Any:
    """Return JSON without the numbers of its item."""
    if isinstance(value, list):
        return [masked(each) for each in value]
    if isinstance(value, dict):
        return {
            key: "#" if key in NUMBERS and not isinstance(each, dict) else masked(each)
            for key, each in value.items()
        }
    return value


def rows_of(html: str) -> list[str]:
    """Return the rows of a page's last table, with a # for every number."""
    rows = html.rpartition("<tbody")[2].partition(">")[2].split("</tr>")[:-1]
    return [re.sub(r"\d+", "#", " ".join(row.split())) for row in rows]


def test_both_items_have_the_same_json(desk: Desk, pair: Pair) -> None:
    post, generated = (desk.get(f"items/{item.pk}/") for item in pair)

    assert {name_of(post), name_of(generated)} == {"98765", "SecretRun:A.1"}
    assert masked(post) == masked(generated)
    [instance] = post["instances"]
    assert (instance["heading"], instance["thread_url"]) == ("Answer", "")
    assert "Because <span" in instance["html"]


def test_the_next_item_and_a_saved_label_reveal_nothing(desk: Desk) -> None:
    first = desk.next()
    answer = desk.submit(first, 3)
    seen = [first, answer, desk.submit(answer["next"], 3), desk.get("judgments/")]

    one, other = seen[-1]["judgments"]
    assert masked(one) == masked(other)
    assert masked(first) == masked(answer["next"])
    assert not SECRETS.findall(str(seen))


def test_the_judging_page_links_to_the_thread_of_the_question_only(
    pair: Pair, browser: Client
) -> None:
    for item in pair:
        page = browser.get(f"{PAGE}?item={item.pk}").content.decode()
        links = re.findall(
            r'(?:href="|hx-get="|"thread_url": ")([^"]*(?:thread|posts)/[^"]*)"', page
        )

        assert links == ["/labs/arqmath-x/tasks/task1/topics/A.1/thread/"]
        assert f'"shown": {{"item": {item.pk}, "kind": "answers"' in page
        assert not IDS.findall(page)


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_the_list_of_judgments_has_the_same_row_for_both(
    desk: Desk, browser: Client, headers: dict[str, str]
) -> None:
    while item := desk.next():
        desk.submit(item, 2, comment="So.")

    page = browser.get(f"{PAGE}judgments/", headers=headers).content.decode()

    one, other = rows_of(page)
    assert one == other
    assert ">Answer</a>" in one
    assert "<math" in one
    assert not IDS.findall(page)


def test_the_answers_to_tickets_are_listed_alike(
    desk: Desk, browser: Client, organizer: User, client_of
) -> None:
    while item := desk.next():
        desk.submit(item, 5, comment="Broken.", shown=item["instances"][0]["html"])
    for ticket in Ticket.objects.all():
        address = f"/labs/arqmath-x/tickets/{ticket.pk}/"
        assert client_of(organizer).post(address, {"answer": "Reload."}).status_code == 302

    page = browser.get("/labs/arqmath-x/judging/").content.decode()

    one, other = rows_of(page)
    assert one == other
    assert "A.#, item #" in one
    assert not IDS.findall(page)


def test_organizers_still_see_what_a_ticket_is_about(
    desk: Desk, pair: Pair, organizer: User, client_of
) -> None:
    while item := desk.next():
        desk.submit(item, 5, comment="Broken.", shown=item["instances"][0]["html"])

    for item, ids in zip(pair, ("98765", "SecretRun:A.1"), strict=True):
        ticket = Ticket.objects.get(judgment__instance__item=item)
        page = client_of(organizer).get(f"/labs/arqmath-x/tickets/{ticket.pk}/").content.decode()
        assert ids in page
        assert ("/labs/arqmath-x/posts/98765/" in page) == (item.kind == "posts")


@pytest.mark.parametrize("gap", ["\n\n", "\n", "\r\n", "  ", "   \n"])
def test_a_generated_answer_is_set_in_paragraphs_like_a_post(
    desk: Desk, pair: Pair, gap: str
) -> None:
    paragraphs = "<p>First.</p> <p>Then $a  b$.</p> <p>So.</p>"
    Post.objects.filter(post_id="98765").update(body=paragraphs, clean_body="", rules=0)
    text = gap.join(("First.", "Then $a  b$.", "So."))
    PoolItem.objects.filter(pk=pair[1].pk).update(text=text)

    post, generated = (desk.get(f"items/{item.pk}/")["instances"][0]["html"] for item in pair)

    assert post.count("<p>") == 3
    assert generated == post


def test_a_pool_may_keep_the_threads_of_posts_and_keeps_that_when_it_is_frozen(
    scene: Scene, task: Task, third: Task, organizer: User, tmp_path: Path, client_of
) -> None:
    load_small(scene.lab, tmp_path)
    make_run(scene.team, task, {"A.1": ["10"]})
    make_run(scene.team, third, {"A.1": ["A.1"]}, answers={"A.1": "So."})
    browser, address = client_of(organizer), "/labs/arqmath-x/tasks/task1/pools/"
    planner = browser.get(f"{address}plan/")
    assert "so the links tell assessors which answers are posts" in planner.text
    form = planner.context["form"]
    values = {
        field.html_name: field.value() for field in form if field.value() or field.value() == 0
    }
    shown = browser.get(f"{address}freeze/", values | {"shows_threads": "on"})
    sent = seen(shown) | {"expected": shown.context["computed"].sha256}
    browser.post(f"{address}freeze/", values | {"shows_threads": "on"} | sent)

    assign(scene.assessor, task.topics.get(query_id="A.1"))
    desk, items = Desk(scene.assessor), PoolItem.objects.order_by("kind")
    links = [desk.get(f"items/{one.pk}/")["instances"][0]["thread_url"] for one in items]
    assert links == ["", "/labs/arqmath-x/posts/10/#post-10"]
    assert "beside posts with thread links" in browser.get(f"{address}1/").text


@pytest.mark.parametrize("is_mixed", [True, False])
def test_a_mixed_supplement_hides_the_threads_of_the_whole_task(
    scene: Scene, task: Task, third: Task, tmp_path: Path, is_mixed: bool
) -> None:
    load_small(scene.lab, tmp_path)
    assign(scene.assessor, task.topics.get(query_id="A.1"))
    make_pool(task)
    settings = asdict(replace(MIXED, includes_generated_answers=is_mixed))
    make_pool(task, {"A.2": ["11"]}, settings=settings, reason="Late answers.")

    [instance] = Desk(scene.assessor).next()["instances"]

    assert instance["thread_url"] == ("" if is_mixed else "/labs/arqmath-x/posts/10/#post-10")


def test_posts_keep_their_threads_in_a_lab_without_generated_answers(
    scene: Scene, tmp_path: Path
) -> None:
    load_small(scene.lab, tmp_path)
    assign(scene.assessor, scene.task.topics.get(query_id="A.1"))
    make_pool(scene.task, settings=asdict(MIXED))

    [instance] = Desk(scene.assessor).next()["instances"]

    assert instance["thread_url"] == "/labs/arqmath-x/posts/10/#post-10"


def test_a_missing_post_is_not_called_a_post(desk: Desk, pair: Pair) -> None:
    Post.objects.filter(post_id="98765").delete()

    item = desk.get(f"items/{pair[0].pk}/")

    assert "The text of this item is missing" in item["instances"][0]["html"]
    assert not SECRETS.findall(str(item))


@pytest.mark.django_db(transaction=True)
def test_a_submit_takes_no_query_more_than_in_other_pools(desk: Desk, pair: Pair) -> None:
    for item in pair:
        desk.get(f"items/{item.pk}/")  # its formula is typeset and stored
    item = desk.next()
    body = body_for(item, [label_for(item["instances"][0], 2)])

    with CaptureQueriesContext(connection) as queries:
        answer = desk.post("judgments/", body)

    assert answer["next"]
    asked = [query["sql"] for query in queries if not query["sql"].startswith(("BEGIN", "COMMIT"))]
    assert len(asked) == 6  # as in tests/assessment/judging/apis/test_views.py


def test_the_qrels_page_says_where_the_generated_answers_count(
    pair: Pair, organizer: User, client_of
):
    page = client_of(organizer).get("/labs/arqmath-x/tasks/task1/qrels/").text

    assert "0 of 1 pool items have a label." in page
    assert "The pool's 1 answer of Task 3 counts in the qrels of that task." in page


def test_tasks_pooled_together_say_so_before_a_pool_is_frozen_and_after(
    scene: Scene, task: Task, third: Task, organizer: User, tmp_path: Path, client_of
) -> None:
    browser = client_of(organizer)
    paths = [
        f"/labs/arqmath-x/tasks/{slug}/{page}"
        for slug in ("task1", "task3")
        for page in ("", "pools/", "pools/plan/")
    ]
    said = "into the pool of"
    assert [path for path in paths if said not in browser.get(path).text] == []

    make_run(scene.team, third, {"A.1": ["A.1"]}, answers={"A.1": "So."})
    freeze_pool(task=task, choice=PoolChoice(MIXED, 1), by=None, at=NOW)

    pages = {path: browser.get(path).text for path in paths}
    has = f"The pool of this task has the answers of {third.name}."
    host = f"The answers are in the pool of {task.name}."
    assert [has in page for page in pages.values()] == [True] * 3 + [False] * 3
    assert [host in page for page in pages.values()] == [False] * 3 + [True] * 3
    assert "Freeze pool…" not in pages[paths[-1]]

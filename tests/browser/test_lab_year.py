"""A whole lab year in the browser alone: from an empty database to a released leaderboard."""

from __future__ import annotations

from math import log2

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from arqlab.core.models import Lab, Task, Topic, User
from arqlab.pages.demo.posts import FOLDER as DEMO
from arqlab.pages.tasks import run_waiting_loads
from assessment.models import PoolInstance, QrelSet
from evaluation.services.scoring import score_waiting
from tests.browser.judging import SHOWN, STANDING, Assessor
from tests.browser.test_first_path import DROP, sign_in
from tests.factories import PASSWORD, UserFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LAB, TASK = "/labs/arqmath-4/", "/labs/arqmath-4/tasks/task1/"
TOPIC = (
    '<Topic number="A.{0}"><Title>Sum {0}</Title><Question>Add them.</Question>'
    "<Tags>sums</Tags></Topic>"
)
TOPICS = f"<Topics>{TOPIC.format(401)}{TOPIC.format(402)}</Topics>"
RUN = (
    "A.401\t1004\t1\t3\tours\nA.401\t1008\t2\t2\tours\nA.401\t1011\t3\t1\tours\n"
    "A.402\t1013\t1\t2\tours\nA.402\t1039\t2\t1\tours\n"
)
LABELS = {
    "A.401": {"1004": 3, "1008": 0, "1011": 2},
    "A.402": {"1013": 2, "1039": 3},
}


def sign_up(page: Page, name: str) -> None:
    """Sign a new person up, and the last one out."""
    page.context.clear_cookies()
    page.goto("/accounts/signup/")
    page.get_by_label("Email address").fill(f"{name}@example.org")
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign up").click()
    expect(page.get_by_role("navigation").get_by_text(name)).to_be_visible()


def go_back_to(page: Page, name: str) -> None:
    """Sign a person in who has an account, and the last one out."""
    page.context.clear_cookies()
    sign_in(page, User(username=name))
    expect(page.get_by_role("navigation").get_by_text(name)).to_be_visible()


def tab(page: Page, name: str) -> None:
    """Open a tab."""
    page.locator(".tabs").get_by_role("link", name=name).click()


def press(page: Page, name: str) -> None:
    """Press a button or a link of the page."""
    main = page.get_by_role("main")
    main.get_by_role("button", name=name).or_(main.get_by_role("link", name=name)).first.click()


def perform(page: Page, ceremony: str, done: Locator) -> None:
    """Press the button of a ceremony, and again on its own page if it has one."""
    press(page, ceremony)
    button = page.get_by_role("button", name=ceremony)
    expect(done.or_(button).first).to_be_visible()
    if not done.is_visible():
        button.click()
    expect(done).to_be_visible()


def create_lab(page: Page, look) -> None:
    page.goto("/")
    press(page, "Create lab")
    page.get_by_label("Name", exact=True).fill("ARQMath 4")
    look("year-1-lab")
    press(page, "Create lab")
    expect(page.get_by_text("was created. Add its tasks.")).to_be_visible()


def create_task(page: Page, look) -> None:
    press(page, "Create task")
    page.get_by_label("Name", exact=True).fill("Answer retrieval")
    page.get_by_label("Address").fill("task1")
    page.get_by_label("Deadline").fill("2099-06-05T23:59:59")
    expect(page.get_by_text("= 2099-06-06 11:59 UTC")).to_be_visible()
    look("year-2-task")
    press(page, "Create task")
    expect(page.get_by_text("was created. Load its topics.")).to_be_visible()
    assert Task.objects.get().deadline.isoformat() == "2099-06-06T11:59:59+00:00"


def load_collection(page: Page, look) -> None:
    page.goto(LAB)
    tab(page, "Collection")
    press(page, "Load files")
    page.get_by_label("Collection", exact=True).fill("mse-2027")
    page.get_by_label("Data dump").set_input_files(DEMO / "Posts.xml")
    look("year-3-collection")
    press(page, "Load collection files")
    expect(page.get_by_text("Waiting for a worker.")).to_be_visible()
    run_waiting_loads()  # as the schedule does
    expect(page.get_by_role("link", name="View collection")).to_be_visible()
    look("year-4-loaded")


def load_topics(page: Page, look) -> None:
    page.goto(TASK)
    tab(page, "Topics")
    press(page, "Load topics")
    page.get_by_label("Topics", exact=True).set_input_files(
        {"name": "topics.xml", "mimeType": "text/xml", "buffer": TOPICS.encode()}
    )
    look("year-5-topics")
    press(page, "Load topics")
    expect(page.get_by_text("2 topics: 2 new, 0 deleted.")).to_be_visible()
    press(page, "View topics")
    assert list(Topic.objects.values_list("query_id", flat=True)) == ["A.401", "A.402"]


def make_public(page: Page) -> None:
    page.goto(LAB)
    tab(page, "Settings")
    page.get_by_label("This lab is public").check()
    press(page, "Save lab")
    expect(page.get_by_text("Lab saved.")).to_be_visible()
    assert Lab.objects.get().is_public


def submit_run(page: Page) -> None:
    page.goto(LAB)
    press(page, "Create team")
    page.get_by_label("Team name").fill("Ours")
    press(page, "Create team")
    page.goto(TASK)
    press(page, "Upload runs")
    page.evaluate(DROP, ["Ours-task1-sums-auto-text-P.tsv", RUN])
    press(page, "Submit runs")
    expect(page.get_by_text("Valid", exact=True).first).to_be_visible()


def close_task(page: Page) -> None:
    page.goto(TASK)
    tab(page, "Settings")
    page.get_by_label("Deadline").fill("2020-06-05T23:59:59")
    press(page, "Save task")
    expect(page.locator(".chip-closed").first).to_be_visible()


def freeze_pool(page: Page) -> None:
    tab(page, "Pools")
    page.goto(f"{TASK}pools/plan/")
    press(page, "Freeze pool")
    perform(page, "Freeze pool", page.get_by_role("button", name="Close judging"))


def assign_topics(page: Page) -> None:
    page.goto(LAB)
    tab(page, "People")
    page.get_by_label("Email address or user name").fill("emmy")
    page.get_by_label("Role", exact=True).select_option("assessor")
    press(page, "Grant role")
    page.goto(TASK)
    tab(page, "Judging")
    page.get_by_label("All", exact=True).check()
    page.get_by_label("Assessor for the selected topics").select_option(label="emmy")
    page.get_by_role("button", name="Assign", exact=True).click()
    expect(page.get_by_text("2 assignments made.")).to_be_visible()


def judge(page: Page, topic: str) -> None:
    page.goto(f"{TASK}judge/{topic}/")
    for _ in LABELS[topic]:
        expect(page.locator(SHOWN)).to_have_count(1)
        [instance] = page.evaluate(STANDING)[0]
        item = PoolInstance.objects.get(pk=instance).doc_id
        page.keyboard.press(str(LABELS[topic][item]))
        page.keyboard.press("Enter")
        expect(page.locator(f"{SHOWN} #instance-{instance}")).to_have_count(0)
    Assessor(page).expect_saved()


def freeze_qrels(page: Page) -> None:
    page.goto(TASK)
    tab(page, "Qrels")
    page.get_by_role("link", name="Freeze qrels").first.click()
    page.get_by_label("Name", exact=True).fill("official")
    page.get_by_role("button", name="Freeze qrels").click()
    expect(page.get_by_role("main").get_by_text("official").first).to_be_visible()
    assert QrelSet.objects.get().name == "official"


def release(page: Page) -> None:
    score_waiting(at=timezone.now())  # as the schedule does
    page.goto(TASK)
    tab(page, "Leaderboard")
    perform(page, "Release leaderboard", page.locator(".chip-released").first)


def prepare(page: Page, look) -> None:
    """Make the lab, as its organizer."""
    go_back_to(page, "organizer")
    create_lab(page, look)
    create_task(page, look)
    load_collection(page, look)
    load_topics(page, look)
    make_public(page)


def take_part(page: Page) -> None:
    """Sign up a team with a run, and an assessor."""
    sign_up(page, "ada")
    submit_run(page)
    sign_up(page, "emmy")


def judge_all(page: Page, look) -> None:
    """Close the task and have the pool of its run judged."""
    go_back_to(page, "organizer")
    close_task(page)
    freeze_pool(page)
    assign_topics(page)
    page.goto("/")
    look("year-6-home-while-judging")
    go_back_to(page, "emmy")
    for topic in LABELS:
        judge(page, topic)


def test_a_lab_year_in_the_browser(page: Page, look) -> None:
    UserFactory(username="organizer", is_superuser=True)
    prepare(page, look)
    take_part(page)
    judge_all(page, look)
    go_back_to(page, "organizer")
    freeze_qrels(page)
    release(page)
    page.context.clear_cookies()
    page.goto(f"{TASK}leaderboard/")
    look("year-7-leaderboard")
    # 3 0 2 against the best order 3 2 0, and 2 3 against 3 2.
    best = 3 + 2 / log2(3)
    expected = ((3 + 2 / log2(4)) / best + (2 + 3 / log2(3)) / best) / 2
    expect(page.get_by_role("row").filter(has_text="sums")).to_contain_text(f"{expected:.4f}")

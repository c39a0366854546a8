"""Rounds in the browser: sample tasks behind a link, meetings, and special questions."""

import pytest
from playwright.sync_api import Page, expect

from assessment.models import Applicant, Judgment, PoolInstance
from assessment.rounds.services.rounds import renew_link, reveal_round
from tests.assessment.factories import NOW, judge, make_pool
from tests.assessment.rounds.factories import questions_of, round_of, vote
from tests.browser.judging import SHOWN, Assessor
from tests.browser.test_every_page import enter
from tests.browser.test_judging_aids import HIGHLIGHTED
from tests.collection.factories import load_small
from tests.factories import AssessorFactory, TopicFactory, make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SINCE = [{"exact": "Since \ufffc", "formulas": ["a=2b"], "ordinal": 1, "prefix": "", "suffix": "."}]
EVEN = [
    {"exact": "\ufffc", "formulas": ["a = 2b"], "ordinal": 1, "prefix": "Since ", "suffix": "."}
]
# The text that each assessor marked, without formulas, and the assessor's letter.
MARKED = """(rows) => rows.map((row) => [
  row.querySelector(".marks").innerText.trim().split(" ").find((word) => word === "Since") ?? "",
  row.querySelector("th").textContent.trim().split(" ").at(-1),
])"""
ROUNDS = "/labs/arqmath-x/tasks/task1/rounds/"


@pytest.fixture
def scene(transactional_db, tmp_path):
    scene = make_lab()
    load_small(scene.lab, tmp_path)
    make_pool(scene.task, {"A.1": ["10", "11", "12"]})
    return scene


def test_topics_of_a_round_are_searched_and_picked_by_range_and_by_keyboard(
    page: Page, scene, look
):
    for number in range(3, 7):
        TopicFactory(task=scene.task, query_id=f"A.{number}", position=number)
    make_pool(scene.task, {f"A.{number}": ["10"] for number in range(2, 7)})
    page.goto("/health/live")
    enter(page, scene.organizer)
    page.goto(f"{ROUNDS}training/new/")
    page.get_by_label("A.2", exact=True).click()
    page.get_by_label("A.5", exact=True).click(modifiers=["Shift"])
    page.get_by_label("A.3", exact=True).press("Space")
    page.get_by_label("Search topics").fill("A.6")
    page.get_by_label("All", exact=True).press("Space")

    expect(page.get_by_text("4 topics selected")).to_be_visible()
    page.get_by_label("Search topics").press("Enter")
    look("picker")
    page.get_by_role("button", name="Start round").press("Enter")
    expect(page.get_by_text("Choose at least one assessor.").first).to_be_visible()
    checked = page.locator("[name=topics]:checked")
    assert [box.get_attribute("aria-label") for box in checked.all()] == [
        "A.2",
        "A.4",
        "A.5",
        "A.6",
    ]


def test_n_and_p_turn_the_pages_of_a_meeting(page: Page, scene, look):
    other = AssessorFactory(lab=scene.lab).user
    made = round_of(scene.task, "training", scene.assessor, other)
    for doc_id, labels in {"10": (3, 0), "11": (2, 0), "12": (1, 0)}.items():
        marks = {"10": (SINCE, EVEN)}.get(doc_id, ([], []))
        vote(made, scene.assessor, doc_id, labels[0], comment="Line 2.", marks=marks[0])
        vote(made, other, doc_id, labels[1], marks=marks[1])
    reveal_round(round_=made, by=scene.organizer, at=NOW)
    page.goto("/health/live")
    enter(page, scene.organizer)
    page.goto(f"{ROUNDS}training-1/meeting/")
    look("marked")
    letters = dict(page.locator("tr:has(.marks)").evaluate_all(MARKED))
    long, short = letters["Since"], letters[""]
    assert page.locator(".mark-letter").all_text_contents() == [
        *(f"[{long} ", f"[{short} ", f" {short}]", f" {long}]")
    ]
    assert page.evaluate(HIGHLIGHTED, "judge-marks") == [f"[{long} Since "]
    expect(page.locator(".post .math-container.is-decisive")).to_have_count(1)
    place = page.get_by_role("navigation", name="Disagreements")
    for key, where in (("n", "2 of 3"), ("N", "3 of 3"), ("n", "3 of 3"), ("p", "2 of 3")):
        page.keyboard.press(key)
        expect(place).to_contain_text(where)
    page.get_by_label("Question of interpretation").press_sequentially("no panic")
    expect(page.get_by_label("Question of interpretation")).to_have_value("no panic")
    expect(place).to_contain_text("2 of 3")
    look("meeting")


def test_an_applicant_judges_the_samples_behind_the_link(page: Page, scene, look):
    source = {"expert": scene.organizer.pk}
    made = round_of(scene.task, "sample", scene.organizer, source=source)
    renew_link(round_=made, by=scene.organizer)
    page.goto("/health/live")
    enter(page, scene.outsider)
    page.goto(f"/samples/{made.token}/")
    page.get_by_role("button", name="Start the sample task").click()
    page.get_by_role("link", name="A.1").click()
    expect(page.get_by_role("link", name="Thread")).to_have_count(0)
    applicant = Assessor(page)
    for _ in range(2):
        applicant.judge(2)
    applicant.press("2", "Enter")  # after the last item, no other is shown
    applicant.expect_saved()
    page.get_by_role("link", name="View your topics").click()
    expect(page.locator("#round-topics")).to_contain_text("Done")
    look("sample")
    assert Applicant.objects.get().user == scene.outsider
    assert Judgment.objects.filter(assessor=scene.outsider, label=2).count() == 3


def test_special_questions_are_answered_with_one_key_each(page: Page, scene, look):
    judge(scene.assessor, PoolInstance.official.get(doc_id="10"), 3)
    questions_of(scene.task, scene.assessor, keys=["MG", "UI"])
    page.goto("/health/live")
    enter(page, scene.assessor)
    person = Assessor(page)
    person.open(f"{ROUNDS}questions-1/judge/A.1/")
    expect(page.locator(f"{SHOWN} .judge-asked")).to_have_text(["Is it MG?", "Is it UI?"])
    expect(page.locator(f"{SHOWN} .judge-asked:visible")).to_have_count(2)
    expect(page.locator(f"{SHOWN} .judge-own-label")).to_have_text("Your label: High")
    look("questions")
    person.press("1", "0", "Enter")
    expect(page.locator(f"{SHOWN} .judge-own-label")).to_be_hidden()  # nobody judged the next one
    second = page.get_by_role("group", name="Is it UI?").and_(page.locator(f"{SHOWN} *"))
    second.get_by_role("button", name="Yes").click()
    person.press("0")  # the question that still lacks an answer is next
    person.press("Enter")
    person.expect_saved()
    found = Judgment.objects.filter(instance__item__assessor=scene.assessor)
    answers = found.order_by("instance__item__position", "instance__position")
    assert list(answers.values_list("instance__doc_id", "label")) == [
        *(("MG", 1), ("UI", 0)),
        *(("MG", 0), ("UI", 1)),
    ]

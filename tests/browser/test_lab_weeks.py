"""The judging weeks of a lab in the browser: from guidelines and bids to frozen qrels.

One assessor judges with keys in the browser. The others judge over the judging API, signed in, as
the page does; the bids of all are keys in the browser. Every figure on the pages is compared with
one that is computed from the tables that the organizer downloads from these pages, by scikit-learn,
statsmodels, krippendorff, scipy and pytrec_eval. Confidence intervals come from random samples:
here they only have to contain their value, `tests/arqkit/agreement` checks them.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.weeks_figures import close, current
from tests.browser.weeks_lab import (
    AGAIN,
    FIRST,
    ITEMS,
    LAB,
    OFFICIAL,
    ORGANIZER,
    PEOPLE,
    SECOND,
    TASK,
    Weeks,
    judge_by_requests,
    make_weeks,
)
from tests.browser.weeks_outcome import (
    adjudicate,
    freeze,
    read_disagreements,
    read_second_labels,
    read_time_sheet,
)
from tests.browser.weeks_training import (
    bid,
    invite_assessors,
    meet,
    plan,
    read_training,
    train,
    write_guidelines,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def judge(it: Weeks) -> None:
    """Judge the pool; ada cannot judge one answer, and reports it."""
    for name, topic in (("bo", "A.2"), ("cleo", "A.3"), ("dan", "A.4")):
        judge_by_requests(name, OFFICIAL, [topic], guidelines=2)
    it.become("ada")
    it.see("10 items left", "The guidelines of Answer retrieval have changed")
    it.press("Start judging A.1")
    it.judge_topic(OFFICIAL, 5)
    it.press("Judge A.5")
    it.judge_topic(OFFICIAL, 5, {"55": "The answer is cut off."})


def resolve_ticket(it: Weeks) -> None:
    """Answer the ticket, and let ada judge the answer again."""
    it.become(ORGANIZER)
    it.tab(LAB, "Tickets")
    it.see("1 ticket about items that assessors could not judge.", "The answer is cut off.")
    it.page.locator("tbody").get_by_role("link", name="Ticket").click()
    it.fill(Your_answer="The answer is complete: it has one line.")
    it.page.get_by_label("Return the item for another judgment").check()
    it.press("Send answer")
    it.see("Ticket answered.", "No open tickets")
    it.tab(TASK, "Judging")
    it.see("24 of 25 items judged.")
    it.become("ada")
    it.see("1 item left", "The answer is complete: it has one line.")
    it.press("A.5, item")
    it.judge_topic({"55": 2}, 1)


def read_progress(it: Weeks) -> None:
    """Compare the progress with the exported judgments."""
    it.become(ORGANIZER)
    now = current(it.exported("judgments-with-names.tsv"))
    assert {doc_id: int(row["label"]) for (_, doc_id), row in now.items()} == {**OFFICIAL, "55": 2}
    assert {row["guidelines"] for row in now.values()} == {"2"}
    it.tab(TASK, "Judging")
    it.see("25 of 25 items judged.")
    people, topics = it.rows("people"), it.rows("assignments")
    for name in PEOPLE:
        own = [row for row in now.values() if row["assessor"] == name]
        seconds = sum(int(row["active_ms"]) for row in own) / 1000
        judged, left, pace = (
            people[name][people["Assessor"].index(head)]
            for head in ("Judged", "Items left", "s per label")
        )
        assert (judged, left) == (str(len(own)), "0")
        close(pace, seconds / int(judged), digits=1)
    for topic in ITEMS:
        head = topics["Topic"]
        assert [topics[topic][head.index(one)] for one in ("Items", "Judged")] == ["5", "5"]


def judge_again(it: Weeks) -> None:
    """Have four topics judged again by the planned assessors, who see nothing of the labels."""
    it.tab(TASK, "Rounds")
    it.press("Plan second judgments")
    it.see("25 officially judged items can be judged again.")
    expect(it.page.get_by_label("Whole topics")).to_be_checked()
    chosen = it.page.locator("[name=topics]:checked")
    assert [box.get_attribute("aria-label") for box in chosen.all()] == list(SECOND)
    it.press("Show plan")
    it.see("20 items to judge again.")
    planned = it.rows("second-plan")
    assert planned.pop("Second assessor") == [*PEOPLE, "Items"]
    for name, counts in planned.items():
        firsts = [FIRST[topic] for topic, one in SECOND.items() if one == name]
        own = [str(5 * firsts.count(first)) if first in firsts else "–" for first in PEOPLE]
        assert counts == [*own, str(5 * len(firsts))]
    it.press("Start round")
    it.see("0 of 20 items judged again.")
    for topic, name in SECOND.items():
        if name != "ada":
            judge_by_requests(name, AGAIN, [topic], guidelines=2, round_key="second-1")
    it.page.reload()
    it.see("15 of 20 items judged again.", "The results appear when all items are judged")
    expect(it.page.locator("#first-second")).to_have_count(0)
    it.become("ada")
    it.page.locator("#round-topics").get_by_role("link", name="A.4").click()
    it.judge_topic(AGAIN, 5)


def read_own_work(it: Weeks) -> None:
    """Compare ada's own page with her own time sheet."""
    it.page.goto(f"{LAB}judging/")
    it.press("Your work")
    sheet, shown = it.saved("Download time sheet"), it.rows("tasks")
    assert {row["username"] for row in sheet} == {"ada"}
    keys = {"": "official", "First training": "training-1", "Second judgments 1": "second-1"}
    for title, key in keys.items():
        own = [row for row in sheet if row["round"] == key]
        _, items, hours, pace, left, _ = shown[f"Answer retrieval {title}".strip()]
        assert items == str(sum(int(row["items"]) for row in own))
        active = sum(float(row["active_hours"]) for row in own)
        close(hours, active, digits=2)
        timed = sum(int(row["labels"]) - int(row["labels_without_time"]) for row in own)
        close(pace, 3600 * active / timed, digits=1, error=0.002)
        assert left == ("–" if title else "0")
    it.look_at("own-work")


def test_the_weeks_of_a_lab_in_the_browser(page: Page, look, tmp_path: Path) -> None:
    make_weeks(tmp_path)
    it = Weeks(page, look)
    write_guidelines(it)
    invite_assessors(it)
    for name in PEOPLE:
        bid(it, name)
    plan(it)
    train(it)
    read_training(it)
    meet(it)
    judge(it)
    resolve_ticket(it)
    read_progress(it)
    judge_again(it)
    read_own_work(it)
    read_second_labels(it)
    read_disagreements(it)
    adjudicate(it)
    freeze(it)
    read_time_sheet(it)

"""The judging weeks up to the meeting: guidelines, bids, plan, training."""

import re
from collections import defaultdict
from collections.abc import Mapping

from playwright.sync_api import expect

from assessment.rounds.tasks import reveal_complete_rounds
from tests.browser.weeks_figures import WORDS, Row, check_agreement, close, label_of, votes_of
from tests.browser.weeks_lab import (
    FIRST,
    HOURS,
    ITEMS,
    ORGANIZER,
    PEOPLE,
    SECOND,
    TASK,
    TRAINING,
    Weeks,
    judge_by_requests,
)

SECONDS = 44.1  # ARQMath-3's mean for an answer (protocol §6)


def write_guidelines(it: Weeks) -> None:
    it.become(ORGANIZER)
    it.tab(TASK, "Overview")
    it.press("Guidelines")
    it.see("This task has no guidelines of its own yet.")
    it.page.get_by_label("Guidelines", exact=True).fill("<p>High, Medium, Low or Not relevant.</p>")
    it.press("Preview guidelines")
    it.see("Nothing has been saved yet.")
    it.press("Save new version")
    it.see("version 1")


def invite_assessors(it: Weeks) -> None:
    it.tab(TASK, "Judging")
    it.press("Roster and plan")
    it.see("Add the assessors who judge in this task.")
    for name in PEOPLE:
        it.page.get_by_label(name, exact=True).check()
    it.press("Add to roster")
    it.see("Added ada, bo, cleo, dan.", "4 have not marked topics yet.")


def bid(it: Weeks, name: str) -> None:
    """Mark one's topics gladly, one more if needed, and no other, with keys; offer hours."""
    it.become(name)
    it.press("Mark topics of Answer retrieval")
    it.fill(Hours_you_can_offer=str(HOURS[name]))
    it.press("Save hours and note")
    it.see("Your hours and note are saved.")
    it.page.wait_for_load_state()  # the keys of the page need its script
    it.page.get_by_role("group", name="A.1").get_by_label("No mark").focus()
    for topic in ITEMS:
        it.page.keyboard.press(key_of(name, topic))
    it.see("You marked 5 of 5 topics")


def key_of(name: str, topic: str) -> str:
    if FIRST[topic] == name:
        return "g"
    return "i" if SECOND.get(topic) == name else "n"


def plan(it: Weeks) -> None:
    """Plan with the marks; the expected hours are those of the items in the pool."""
    it.become(ORGANIZER)
    it.tab(TASK, "Pools")
    it.page.get_by_role("link", name="Pool", exact=True).click()
    items = {(row["topic"], row["item"]) for row in it.saved("Download TSV")}
    assert items == {(topic, item) for topic, own in ITEMS.items() for item in own}
    it.tab(TASK, "Judging")
    it.press("Roster and plan")
    it.see("4 assessors, 11.5 hours offered. All have marked topics.")
    roster = it.rows("roster")
    for name in PEOPLE:
        keys = "".join(key_of(name, topic) for topic in ITEMS)
        assert roster[name][1:6] == ["0", *(str(keys.count(key)) for key in "gin"), "0"]
    it.press("Plan assignments")
    needed = (len(items) + 4 * len(items) / len(ITEMS)) * SECONDS / 3600
    it.see(f"offer 11.5 hours; the topics need about {needed:.1f} hours")
    it.press("Propose a plan")
    planned = it.rows("plan-people")
    for name in PEOPLE:
        first, second = ([t for t, one in side.items() if one == name] for side in (FIRST, SECOND))
        hours, offered, *counts = planned[name]
        close(hours, sum(topic in first + second for topic, _ in items) * SECONDS / 3600, digits=1)
        assert float(offered) == HOURS[name]
        marks = [len(first), len(second), 0, 0]  # gladly, if needed, no mark, no
        assert counts == [str(each) for each in (0, len(first), len(second), *marks)]
    it.look_at("plan")
    it.press("Assign topics as planned")
    it.see("5 topics assigned, 4 second assessors changed.", "0 of 25 items judged.")


def train(it: Weeks) -> None:
    it.tab(TASK, "Rounds")
    it.press("New training round")
    it.fill(Title="First training", Seed="7")
    for topic in ("A.1", "A.2"):
        it.page.get_by_label(topic, exact=True).check()
    it.page.get_by_label("Items per topic").fill("4")
    for name in PEOPLE:
        expect(it.page.get_by_label(name, exact=True)).to_be_checked()
    it.press("Start round")
    it.see("First training is open. Assessors are notified.")
    for name in PEOPLE[1:]:
        judge_by_requests(
            name, TRAINING[name], ["A.1", "A.2"], guidelines=1, round_key="training-1"
        )
    it.page.reload()
    assert it.rows("progress") == {
        "Assessor": ["State", "Judged", "Items"],
        "ada": ["Not started", "0", "8"],
        **{name: ["Done", "8", "8"] for name in PEOPLE[1:]},
    }
    expect(it.page.locator("#assessors-table")).to_have_count(0)
    it.become("ada")
    it.page.locator("#round-topics").get_by_role("link", name="A.1").click()
    it.judge_topic(TRAINING["ada"], 4)
    it.press("Judge A.2")
    it.judge_topic(TRAINING["ada"], 4)
    it.press("View your topics")


def read_training(it: Weeks) -> None:
    """Compare the agreement with that of the downloaded votes."""
    it.become(ORGANIZER)
    it.tab(TASK, "Rounds")
    reveal_complete_rounds()
    it.press("First training")
    it.see("votes revealed")
    rows = it.saved("Download votes with names")
    assert len(rows) == 32
    assert all(int(row["label"]) == TRAINING[row["assessor"]][row["item"]] for row in rows)
    assert {row["guidelines"] for row in rows} == {"1"}
    votes = votes_of(((r["topic"], r["item"]), r["assessor"], int(r["label"])) for r in rows)
    check_agreement(it.rows("assessors-table"), votes)
    it.look_at("agreement")


def meet(it: Weeks) -> None:
    """Discuss each disagreement, and record a decision as a case of the next guidelines."""
    votes: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in it.saved("Download votes"):
        assert row["assessor"] not in PEOPLE
        votes[row["item"]][row["assessor"]] = row
    disputed = {
        item: cast for item, cast in votes.items() if len({*map(label_of, cast.values())}) > 1
    }
    it.press("Disagreements")
    it.see(f"{len(disputed)} items of First training with different labels")
    it.look_at("meeting")
    seen = set()
    for place in range(1, len(disputed) + 1):
        it.see(f"{place} of {len(disputed)}")
        it.page.wait_for_load_state()  # the keys of the page need its script
        item = re.search(r"The sum is (\d+)\.", it.page.locator(".meeting").inner_text())[1]
        check_disagreement(it, place, disputed[item])
        seen.add(item)
        it.page.keyboard.press("n")
    assert seen == disputed.keys()
    it.fill(Question_of_interpretation="Does a sum without a proof count?", Decision="It does.")
    it.press("Record decision")
    it.see("Collected for the next version of the guidelines.", "Does a sum without a proof count?")
    it.press("Collected cases")
    it.press("Publish version 2")
    it.see("Nothing to publish", "version 2")


def check_disagreement(it: Weeks, place: int, cast: Mapping[str, Row]) -> None:
    """Compare the votes on a page of the meeting, and their summary, with the downloaded ones."""
    shown = it.rows("votes")
    del shown["Assessor"]
    assert shown.keys() == cast.keys()
    for name, row in cast.items():
        label, comment, seconds = shown[name]
        assert (label, comment) == (WORDS[label_of(row)], row["comment"] or "–")
        close(seconds, float(row["seconds"]), digits=1)
    labels = [label_of(row) for row in cast.values()]
    ends = min(labels), max(labels)
    relevance = "disputed" if ends[0] < 2 <= ends[1] else "agreed"
    summary = [*(WORDS[label] for label in ends), relevance, str(len(labels))]
    assert it.rows("disagreements")[str(place)][1:] == summary

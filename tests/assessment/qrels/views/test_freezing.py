"""The page and the command that freeze qrels: oddities, topics and runs left out, undo."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from arqkit.standings import OUT_OF_COMPETITION
from arqlab.core.models import AuditEvent, Task, Topic
from assessment.models import Judgment, Pool, PoolInstance, QrelSet
from assessment.qrels.selectors.versions import qrels_frame
from evaluation.models import TopicScore
from evaluation.selectors.boards import live_board, released_board, released_leaderboard
from evaluation.services.releasing import hide_leaderboard, release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.assessment.factories import NOW, judge, make_pool, raise_ticket
from tests.ceremonies import confirmed, seen, sentences
from tests.evaluation.factories import make_run
from tests.factories import TopicFactory

QRELS = "/labs/arqmath-x/tasks/task1/qrels/"
FREEZE = f"{QRELS}freeze/"
BOARD = "/labs/arqmath-x/tasks/task1/leaderboard/"


@pytest.fixture
def browser(client_of, organizer):
    return client_of(organizer)


@pytest.fixture
def runs(task, team, other_team):
    lists = {"A.1": ["10", "11"], "A.2": ["12"]}
    own = make_run(team, task, lists, tag="own", is_primary=True, sha256="a")
    late = make_run(other_team, task, lists, tag="late", is_primary=True, sha256="b")
    return {"own": own, "late": late}


@pytest.fixture(autouse=True)
def judged(task, assessor, runs) -> None:
    """Judge all items of a closed task in a closed pool of both runs: nothing is odd."""
    Task.objects.filter(pk=task.pk).update(deadline=timezone.now() - timedelta(days=1))
    make_pool(task, runs=[{"run": run.pk} for run in runs.values()], closed_at=NOW)
    for instance in PoolInstance.objects.order_by("pk"):
        judge(assessor, instance, 3)


def command(*arguments: str) -> str:
    out = StringIO()
    call_command("freeze_qrels", "arqmath-x/task1", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_the_page_lists_everything_odd(browser, task, team, assessor):
    Task.objects.filter(pk=task.pk).update(deadline=None)
    Pool.objects.update(closed_at=None)
    first, *_, last = PoolInstance.objects.order_by("item__topic__query_id", "pk")
    Judgment.objects.filter(instance__in=[first, last]).delete()
    raise_ticket(assessor, last)
    make_run(team, task, {"A.1": ["10"]}, tag="new", sha256="a")

    assert sentences(browser.get(FREEZE)) == [
        "Submission is open and has no deadline.",
        "1 pool accepts judgments.",
        "1 valid run is in no pool: Alpha new.",
        "1 topic is not fully judged: A.1 (2 of 3 labels).",
        "1 ticket is open.",
        "1 group of runs is byte-identical: Alpha own = Alpha new.",
    ]


def test_one_click_leaves_out_the_topics_that_are_not_fully_judged(browser):
    Judgment.objects.filter(instance=PoolInstance.objects.first()).delete()
    [red] = browser.get(FREEZE).context["ceremony"].rows[:1]

    page = browser.post(FREEZE, {"leave_out": red.leave_out})

    assert page.status_code == 200
    assert 'name="topics-A.1" value="Not fully judged."' in page.content.decode()
    assert page.context["ceremony"].reds == []


def test_a_version_is_frozen_with_one_button_and_one_audit_entry(browser, organizer):
    assert sentences(browser.get(FREEZE)) == []

    assert (
        "official is frozen as version 1"
        in confirmed(browser, FREEZE, name="official").content.decode()
    )

    assert not QrelSet.objects.get().is_current
    assert AuditEvent.objects.get(verb="qrels.freeze").actor == organizer


def test_nothing_is_frozen_by_somebody_who_has_not_seen_the_list(browser):
    answer = browser.post(FREEZE, {"name": "official"})

    assert answer.status_code == 422
    assert "This list has changed" in answer.content.decode()
    assert not QrelSet.objects.exists()


def test_a_second_click_freezes_nothing(browser):
    shown = seen(browser.get(FREEZE))
    for _ in range(2):
        answer = browser.post(FREEZE, {"name": "official", **shown})

    assert "already has qrels named official" in answer.content.decode()
    assert QrelSet.objects.count() == 1


def test_topics_are_picked_and_left_out_with_one_reason(browser):
    confirmed(browser, FREEZE, name="official", picked=["A.2"], picked_reason="Edited.")

    assert AuditEvent.objects.get(verb="qrels.freeze").detail["topics"] == {"A.2": "Edited."}


def test_a_topic_is_left_out_by_hand_with_a_reason_that_the_version_records(browser):
    confirmed(browser, FREEZE, name="official", **{"topics-A.2": "The question was edited."})

    made = QrelSet.objects.get()
    assert set(qrels_frame(made)["topic"]) == {"A.1"}
    left_out = {"topic": "A.2", "relevant": 1, "reason": "The question was edited."}
    assert left_out | {"by_hand": True} in made.dropped
    assert AuditEvent.objects.get(verb="qrels.freeze").detail["topics"] == {
        "A.2": "The question was edited."
    }
    assert (
        "The question was edited. (left out by hand)" in browser.get(f"{QRELS}1/").content.decode()
    )
    assert 'value="The question was edited."' in browser.get(FREEZE).content.decode()


def test_a_run_out_of_competition_is_scored_and_listed_apart(browser, runs, task, client_of, scene):
    reason = {f"runs-{runs['late'].pk}": "Submitted after the deadline."}
    confirmed(browser, FREEZE, name="official", **reason)
    score_waiting(at=NOW)

    made = QrelSet.objects.select_related("task__lab").get()
    assert made.out_of_competition == [
        {
            "run": runs["late"].pk,
            "team": "Beta",
            "tag": "late",
            "reason": "Submitted after the deadline.",
        }
    ]
    rows = live_board(made).rows
    assert [(row.run.tag, OUT_OF_COMPETITION in row.run.standings) for row in rows] == [
        ("own", False),
        ("late", True),
    ]
    assert rows[0].cells[0].value == rows[1].cells[0].value
    release_leaderboard(qrel_set=made, by=None, at=NOW)
    page = client_of(scene.people["visitor"]).get(BOARD)
    assert "Out of competition" in page.content.decode()
    assert "Submitted after the deadline." not in page.content.decode()


def test_a_release_takes_the_runs_of_the_qrels_and_can_change_them(browser, runs, task):
    confirmed(browser, FREEZE, name="official", **{f"runs-{runs['late'].pk}": "Late."})

    confirmed(browser, f"{BOARD}release/", qrels="official")
    first = released_board(released_leaderboard(task))
    confirmed(browser, f"{BOARD}release/", qrels="official", **{f"runs-{runs['late'].pk}": ""})
    second = released_board(released_leaderboard(task))

    assert [OUT_OF_COMPETITION in row.run.standings for row in first.rows] == [False, True]
    assert [OUT_OF_COMPETITION in row.run.standings for row in second.rows] == [False, False]
    assert task.leaderboards.count() == 2
    assert "Beta late: Late." in browser.get(f"{BOARD}?live=1").content.decode()


def test_a_reason_that_is_too_long_is_refused(browser):
    page = confirmed(browser, FREEZE, name="official", **{"topics-A.2": "x" * 301})

    message = "Shorten the reason for A.2 to 300 characters."
    assert page.context["refusals"] == [message]
    assert page.content.decode().count(message) == 2  # in the summary and at the field
    assert not QrelSet.objects.exists()


def test_an_unused_version_is_deleted_with_its_scores(browser, organizer):
    confirmed(browser, FREEZE, name="official")
    score_waiting(at=NOW)
    assert TopicScore.objects.exists()

    page = browser.post(f"{QRELS}1/delete/", follow=True).content.decode()

    assert "official was deleted" in page
    assert not QrelSet.objects.exists()
    assert not TopicScore.objects.exists()
    event = AuditEvent.objects.get(verb="qrels.delete")
    assert (event.actor, event.detail["version"]) == (organizer, 1)


def test_the_current_version_and_one_that_was_released_are_kept(browser, task):
    confirmed(browser, FREEZE, name="official")
    browser.post(f"{QRELS}1/current/")
    assert (
        "is the current version" in browser.post(f"{QRELS}1/delete/", follow=True).content.decode()
    )
    qrel_set = QrelSet.objects.select_related("task__lab").get()
    release_leaderboard(qrel_set=qrel_set, by=None, at=NOW)
    hide_leaderboard(task=task, by=None, at=NOW)
    QrelSet.objects.update(is_current=False)

    page = browser.post(f"{QRELS}1/delete/", follow=True).content.decode()

    assert "A leaderboard was released with official" in page
    assert QrelSet.objects.count() == 1


def test_runs_that_are_being_scored_against_a_deleted_version_are_skipped(
    browser, task, monkeypatch
):
    confirmed(browser, FREEZE, name="official")

    def delete_first(*args: object, **kwargs: object) -> object:
        QrelSet.objects.all().delete()
        return None

    monkeypatch.setattr("evaluation.services.scoring.visual_ids", delete_first)
    Task.objects.update(trec_items="visual-ids")
    QrelSet.objects.update(items="visual-ids")
    Run.objects.update(report={"items": "visual-ids", "order": "score"})

    assert score_waiting(at=NOW) == 0
    assert not TopicScore.objects.exists()


def test_the_command_freezes_as_the_page_does(organizer, runs):
    printed = command(
        "official",
        "--without-topic", "A.2", "Edited.",
        "--out-of-competition", "Beta late", "Late.",
        "--current",
        "--by", organizer.username,
    )  # fmt: skip

    made = QrelSet.objects.get()
    assert f"official is frozen as version 1 of arqmath-x/task1.\nsha256 {made.sha256}" in printed
    assert (made.is_current, made.made_by) == (True, organizer)
    assert set(qrels_frame(made)["topic"]) == {"A.1"}
    assert [(row["run"], row["reason"]) for row in made.out_of_competition] == [
        (runs["late"].pk, "Late.")
    ]


@pytest.mark.parametrize("does_page", [True, False])
def test_a_version_has_the_topics_of_one_split(browser, does_page):
    assert 'name="split"' not in browser.get(FREEZE).content.decode()
    Topic.objects.filter(query_id="A.2").update(info={"split": "train"})
    Topic.objects.filter(query_id="A.1").update(info_edits={"split": "test"})

    if does_page:
        confirmed(browser, FREEZE, name="official", split="test")
    else:
        command("official", "--split", "test")

    made = QrelSet.objects.get()
    assert set(qrels_frame(made)["topic"]) == {"A.1"}
    reasons = {row["topic"]: row["reason"] for row in made.dropped if row.get("by_hand")}
    assert reasons == {"A.2": "Not in the split test."}


@pytest.mark.parametrize("does_page", [True, False])
def test_a_split_without_judged_topics_is_refused(browser, task, does_page):
    Topic.objects.filter(query_id__in=["A.1", "A.2"]).update(info={"split": "train"})
    TopicFactory(task=task, query_id="A.9", position=9, info={"split": "test"})

    if does_page:
        page = confirmed(browser, FREEZE, name="official", split="test")
        assert "No topic in the pools of arqmath-x/task1 has the split test" in page.text
    else:
        with pytest.raises(CommandError, match="has the split test"):
            command("official", "--split", "test")
    assert not QrelSet.objects.exists()


def test_the_command_asks_before_it_freezes_what_is_odd(task):
    Pool.objects.update(closed_at=None)
    errors = StringIO()

    with pytest.raises(CommandError, match="add --yes"):
        call_command("freeze_qrels", str(task), "official", stderr=errors)
    assert errors.getvalue() == "1 pool accepts judgments.\n"
    assert not QrelSet.objects.exists()
    assert "is frozen" in command("official", "--yes")


def test_the_command_deletes_an_unused_version():
    command("official")

    assert command("official", "--delete") == "official was deleted.\n"
    assert not QrelSet.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--without-topic", "A.9", "Edited."], "No pool of arqmath-x/task1 has the topic A.9"),
        (["--split", "dev"], "No topic in the pools of arqmath-x/task1 has the split dev"),
        (["--without-topic", "A.2", " "], "Enter a reason to leave out A.2"),
        (["--out-of-competition", "Beta x", "Late."], "one of Alpha own, Beta late"),
        (["--out-of-competition", "Beta late", ""], "Enter a reason to leave out Beta late"),
    ],
)
def test_the_command_refuses_unknown_topics_and_runs_and_empty_reasons(arguments, message):
    with pytest.raises(CommandError, match=message):
        command("official", *arguments)
    assert not QrelSet.objects.exists()


def test_a_run_is_left_out_among_1500_others(browser, task, runs):
    late = runs["late"]
    same = {"task": task, "team": late.team, "upload": late.upload, "index": late.index.name}
    state = {"status": "valid", "submitted_at": NOW, "status_changed_at": NOW}
    names = [f"r{number}" for number in range(1500)]
    Run.objects.bulk_create(
        Run(tag=name, identifier=name, sha256=name, report=late.report, **same, **state)
        for name in names
    )

    confirmed(browser, FREEZE, name="official", **{f"runs-{late.pk}": "Late."})

    [left_out] = QrelSet.objects.get().out_of_competition
    assert (left_out["run"], left_out["reason"]) == (late.pk, "Late.")

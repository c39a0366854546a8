"""Disagreements are decided in a meeting or by a third opinion, and the decision counts."""

import pytest

from arqkit.judgments.qrels import Level
from arqlab.notices.models import Notice
from assessment.models import GuidelineEntry, Judgment, PoolInstance, Round, Ticket
from assessment.qrels.selectors.drafts import draft_of
from tests.assessment.factories import assign, judge, make_formula_pool, make_pool, raise_ticket
from tests.assessment.judging.desk import Desk, doc_id_of
from tests.assessment.rounds.factories import round_of, vote
from tests.factories import AssessorFactory, FormulaTaskFactory, TopicFactory
from tests.page_forms import form_data

QUEUE = "/labs/arqmath-x/tasks/task1/adjudication/"
QUEUE2 = QUEUE.replace("task1", "task2")
OFFICIAL = {"10": 3, "11": 0, "12": 2}
SECOND = {"10": 0, "11": 1, "12": 2}


@pytest.fixture
def other(lab):
    return AssessorFactory(lab=lab).user


@pytest.fixture
def third(lab):
    return AssessorFactory(lab=lab, user__first_name="Third").user


@pytest.fixture
def doubled(task, assessor, other):
    """A topic judged twice."""
    make_pool(task, {"A.1": ["10", "11", "12"]})
    assign(assessor, task.topics.get(query_id="A.1"))
    for doc_id, label in OFFICIAL.items():
        judge(assessor, PoolInstance.official.get(doc_id=doc_id), label, comment=f"Own {doc_id}.")
    made = round_of(task, "second", other)
    for doc_id, label in SECOND.items():
        vote(made, other, doc_id, label, comment=f"Second {doc_id}.")
    return task


@pytest.fixture
def office(client, organizer):
    """The browser of an organizer."""
    client.force_login(organizer)
    return client


def page_of(doc_id: str, queue: str = QUEUE) -> str:
    return f"{queue}{PoolInstance.official.get(doc_id=doc_id).pk}/"


def queue(office, **query) -> list[list[str]]:
    """Return the rows of the queue as the TSV has them, without its head."""
    text = office.get(QUEUE, {"format": "tsv", **query}).content.decode()
    return [line.split("\t") for line in text.splitlines()[1:]]


def drafted(task) -> dict[str, int]:
    rows = draft_of(task).qrels(Level.INSTANCES, complete=True, with_dropped=True)
    return dict(rows.select("item", "label").iter_rows())


def decide(office, doc_id: str, label: int, queue: str = QUEUE, **fields):
    values = {"action": "decide", "label": label, "reason": "It shows the proof."}
    return office.post(page_of(doc_id, queue), values | fields)


def decision(doc_id: str) -> Judgment:
    return Judgment.objects.get(
        is_current=True, instance__doc_id=doc_id, instance__item__pool__round__kind="adjudication"
    )


def test_the_queue_lists_differences_the_largest_first(doubled, office):
    rows = queue(office)

    assert [row[:5] for row in rows] == [["A.1", "10", "3", "0", "3"], ["A.1", "11", "0", "1", "1"]]
    assert {row[-1] for row in rows} == {"open"}


def test_labels_of_a_round_are_in_the_queue_when_it_is_completed_or_revealed(doubled, office):
    Round.objects.get().pool.items.filter(item="12").update(done_at=None)
    assert queue(office) == []

    Round.objects.update(revealed_at=Round.objects.get().made_at)
    assert len(queue(office)) == 2


def test_a_disagreement_is_shown_with_its_labels_and_comments_but_no_names(
    doubled, office, assessor, other
):
    html = office.get(page_of("10")).content.decode()

    assert "Own 10." in html
    assert "Second 10." in html
    assert "A text to judge." in html
    assert assessor.name not in html.split('id="opinions"')[1].split("</table>")[0]


def test_the_marks_of_each_label_are_shown_beside_it(doubled, office):
    for row in Judgment.objects.filter(instance__doc_id="10"):
        exact = f"What made it {row.label}"
        Judgment.objects.filter(pk=row.pk).update(marks=[{"exact": exact, "formulas": []}])
    page = office.get(page_of("10"))
    first, second = page.content.decode().split("<tr>")[2:4]

    painted = [(one["letter"], one["marks"][0]["exact"]) for one in page.context["marks"]]
    assert painted == [("A", "What made it 3"), ("B", "What made it 0")]
    assert f"What made it {OFFICIAL['10']}</q>" in first
    assert f"What made it {SECOND['10']}</q>" in second


def test_the_label_of_a_meeting_counts_with_who_and_why(doubled, office, organizer):
    assert drafted(doubled) == OFFICIAL

    assert decide(office, "10", 1).status_code == 302
    assert drafted(doubled) == OFFICIAL | {"10": 1}
    made = decision("10")
    assert (made.assessor, made.reason) == (organizer, "It shows the proof.")
    assert [row[-2:] for row in queue(office)] == [["1", "decided"], ["", "open"]]
    assert Judgment.official.get(is_current=True, instance__doc_id="10").label == 3


def test_a_later_decision_supersedes_the_earlier_one(doubled, office):
    decide(office, "10", 1)
    first = decision("10")

    decide(office, "10", 2)
    assert drafted(doubled)["10"] == 2
    assert decision("10").supersedes == first


def test_two_decisions_at_once_are_shown_beside_each_other(doubled, office):
    page = office.get(page_of("10")).text
    decide(office, "10", 1)
    values = {"action": "decide", "label": "2", "reason": "It does not."}
    answer = office.post(page_of("10"), form_data(page, page_of("10"), **values))

    assert decision("10").label == 1
    assert answer.status_code == 409
    assert "Keep yours: It does not." in answer.text
    assert "Use the stored value: It shows the proof." in answer.text


def test_a_decision_needs_a_reason(doubled, office):
    assert decide(office, "10", 1, reason=" ").status_code == 422
    assert drafted(doubled) == OFFICIAL


def test_a_withdrawn_decision_leaves_the_official_label_and_its_history(doubled, office):
    decide(office, "10", 1)
    office.post(page_of("10"), {"action": "withdraw", "seen": decision("10").pk})

    assert drafted(doubled) == OFFICIAL
    html = office.get(page_of("10")).content.decode()
    assert "It shows the proof." in html
    assert "withdrew a decision" in html


def test_the_organizer_is_told_that_the_case_of_an_earlier_decision_is_kept(doubled, office):
    told = "The case of the earlier decision is still among"
    decide(office, "10", 1, question="Does a proof count?")
    assert told not in office.get(QUEUE).text

    decide(office, "10", 2)
    assert told in office.get(QUEUE).text
    office.post(page_of("10"), {"action": "withdraw", "seen": decision("10").pk})
    assert told in office.get(QUEUE).text
    decide(office, "11", 2)
    assert told not in office.get(QUEUE).text


def test_a_decision_can_answer_a_question_of_the_guidelines(doubled, office, organizer):
    decide(office, "10", 1, question="Does a proof count?")

    case = GuidelineEntry.objects.get()
    assert (case.question, case.label, case.item) == ("Does a proof count?", 1, "10")
    assert (case.origin, case.decided_by) == (GuidelineEntry.Origin.ADJUDICATION, organizer)


def test_a_third_opinion_is_judged_blind_and_counts(doubled, office, third):
    decide(office, "11", 2)
    office.post(page_of("10"), {"action": "ask", "person": third.pk})
    assert drafted(doubled)["10"] == 3
    assert queue(office)[0][-1] == "third opinion"

    desk = Desk(third, round="adjudication-1")
    item = desk.next()
    assert [doc_id_of(each) for each in item["instances"]] == ["10"]
    assert "Own 10." not in str(item)
    assert desk.submit(item, 2)["next"] is None
    assert drafted(doubled) == OFFICIAL | {"10": 2, "11": 2}
    assert decision("10").assessor == third


def test_the_assessor_of_a_third_opinion_gets_a_notice(doubled, office, third, organizer):
    office.post(page_of("10"), {"action": "ask", "person": third.pk})

    notice = Notice.objects.get()
    assert notice.user == third
    assert f"{organizer.name} asks you to judge 1 item" in notice.text


def test_a_third_opinion_is_asked_for_the_open_instances_of_a_formula(
    lab, office, assessor, other, third
):
    task = FormulaTaskFactory(lab=lab, slug="task2")
    TopicFactory(task=task, query_id="B.1", position=1)
    made_of = {"v1": [("1", "10"), ("2", "10"), ("3", "11"), ("4", "11")]}
    make_formula_pool(task, {"B.1": made_of})
    for instance in PoolInstance.official.filter(item__pool__task=task):
        judge(assessor, instance, 3)
    made = round_of(task, "second", other)
    for formula_id, label in (("1", 0), ("2", 3), ("3", 1), ("4", 2)):
        vote(made, other, formula_id, label)
    decide(office, "4", 2, queue=QUEUE2)
    office.post(page_of("1", QUEUE2), {"action": "ask", "person": third.pk})

    desk = Desk(third, "B.1", task="task2", round="adjudication-1")
    item = desk.next()
    assert [doc_id_of(each) for each in item["instances"]] == ["1", "3"]
    desk.submit(item, 1, 2)
    assert drafted(task) == {"1": 1, "2": 3, "3": 2, "4": 2}


def test_a_request_after_a_withdrawn_decision_is_judged_again(doubled, office, third):
    decide(office, "10", 1)
    office.post(page_of("10"), {"action": "withdraw", "seen": decision("10").pk})
    office.post(page_of("10"), {"action": "ask", "person": third.pk})

    desk = Desk(third, round="adjudication-1")
    desk.submit(desk.next(), 2)
    assert drafted(doubled)["10"] == 2


def test_only_somebody_who_judged_neither_gives_a_third_opinion(doubled, office, assessor, other):
    for person in (assessor, other):
        answer = office.post(page_of("10"), {"action": "ask", "person": person.pk})
        assert answer.status_code == 422
    assert not Round.objects.filter(kind="adjudication").exists()


def test_a_meeting_ends_the_wait_for_a_third_opinion(doubled, office, third):
    office.post(page_of("10"), {"action": "ask", "person": third.pk})
    decide(office, "10", 1)

    assert Desk(third, round="adjudication-1").get("next/")["code"] == "not-found"
    assert drafted(doubled)["10"] == 1


def test_a_withdrawn_request_is_no_longer_judged(doubled, office, third):
    office.post(page_of("10"), {"action": "ask", "person": third.pk})
    office.post(page_of("10"), {"action": "withdraw", "seen": ""})

    assert Desk(third, round="adjudication-1").get("next/")["code"] == "not-found"
    assert queue(office)[0][-1] == "open"


@pytest.mark.parametrize("role", ["third", "organizer"])
def test_a_label_that_comes_after_a_withdrawn_request_is_kept_but_does_not_count(
    doubled, office, role, request
):
    person = request.getfixturevalue(role)
    office.post(page_of("10"), {"action": "ask", "person": person.pk})
    desk = Desk(person, round="adjudication-1")
    item = desk.next()
    office.post(page_of("10"), {"action": "withdraw", "seen": ""})

    saved = desk.submit(item, 2)["saved"][0]
    assert not saved["counts"]
    assert "Your label is kept, but does not count." in saved["message"]
    assert Judgment.objects.get(assessor=person).label == 2
    assert drafted(doubled) == OFFICIAL


def test_a_changed_label_does_not_count_after_it_was_withdrawn(doubled, office, third):
    office.post(page_of("10"), {"action": "ask", "person": third.pk})
    desk = Desk(third, round="adjudication-1")
    item = desk.next()
    desk.submit(item, 2)
    judged = desk.get(f"items/{item['item']}/")
    office.post(page_of("10"), {"action": "withdraw", "seen": decision("10").pk})

    assert not desk.submit(judged, 1)["saved"][0]["counts"]
    assert drafted(doubled) == OFFICIAL


@pytest.fixture
def proposed(doubled, assessor, third):
    """A reported item for which an expert proposes Medium."""
    Judgment.objects.filter(instance__doc_id="12").update(is_current=False)
    raised = raise_ticket(assessor, PoolInstance.official.get(doc_id="12"))
    Ticket.objects.filter(pk=raised.pk).update(
        expert=third, opinion="It follows from Hölder.", proposed_label=2
    )
    return doubled


def test_a_proposed_label_is_offered_and_counts_when_decided(proposed, office):
    html = office.get(QUEUE).content.decode().split('id="proposals"')[1]
    assert page_of("12") in html
    assert "It follows from Hölder." in html
    page = office.get(page_of("12"))
    assert page.context["ruling_form"].initial == {"label": 2, "reason": "It follows from Hölder."}
    assert drafted(proposed)["12"] == 5

    decide(office, "12", 2)
    assert drafted(proposed)["12"] == 2
    assert 'id="proposals"' not in office.get(QUEUE).content.decode()


def test_a_proposed_label_that_is_official_by_now_is_not_offered(proposed, office, assessor):
    Judgment.official.filter(instance__doc_id="12").update(is_current=False)
    judge(assessor, PoolInstance.official.get(doc_id="12"), 2)

    assert 'id="proposals"' not in office.get(QUEUE).content.decode()

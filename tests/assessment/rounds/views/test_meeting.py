"""The meeting about a training round: disagreements, anonymous votes, and decisions."""

import re

import pytest

from assessment.models import GuidelineEntry, Judgment
from assessment.rounds.tasks import reveal_complete_rounds
from tests.assessment.factories import make_formula_pool, make_pool
from tests.assessment.rounds.factories import round_of, vote
from tests.assessment.rounds.views.test_training import cells
from tests.collection.factories import load_small
from tests.factories import AssessorFactory

ROUND = "/labs/arqmath-x/tasks/task1/rounds/training-1/"
MEETING = f"{ROUND}meeting/"
DECIDED = {"question": "Does it count?", "decision": "It does.", "label": "2", "reason": "So."}


@pytest.fixture
def other(lab):
    return AssessorFactory(lab=lab).user


@pytest.fixture
def voted(task, lab, assessor, other, tmp_path):
    """A judged round of two assessors, who differ most on 12 and least on 10."""
    load_small(lab, tmp_path)
    make_pool(task, {"A.1": ["10", "11", "12"]})
    made = round_of(task, "training", assessor, other)
    for doc_id, one, two in (("10", 1, 0), ("11", 2, 2), ("12", 3, 0)):
        vote(made, assessor, doc_id, one, comment=f"One on {doc_id}.")
        vote(made, other, doc_id, two)
    return made


@pytest.fixture
def client(voted, organizer, client_of):
    reveal_complete_rounds()
    return client_of(organizer)


def test_the_largest_disagreement_comes_first_with_its_post(client):
    page = client.get(MEETING).text

    assert list(cells(page, "disagreements").values())[1][0] == "A.1, item 3"
    assert "The question of A.1" in page
    assert "One on 12." in page
    assert "One on 11." not in page
    assert 'href="?at=2"' in page
    assert 'rel="next"' not in client.get(MEETING, {"at": "2"}).text


def test_each_vote_is_shown_with_the_passages_that_decided_it(client, voted):
    for judgment in Judgment.objects.filter(instance__doc_id="12"):
        exact = f"What made it {judgment.label}"
        Judgment.objects.filter(pk=judgment.pk).update(marks=[{"exact": exact, "formulas": []}])
    votes = cells(client.get(MEETING).text, "votes").values()
    others = client.get(MEETING, {"at": "2"}).text

    assert {(row[0], row[1]) for row in list(votes)[1:]} == {
        ("H High", "One on 12. What made it 3"),
        ("N Not relevant", "What made it 0"),
    }
    assert "What made it" not in others


def test_votes_have_no_names(client, assessor, other):
    page = client.get(MEETING).text

    assert set(cells(page, "votes")) == {"Assessor", "Assessor A", "Assessor B"}
    main = page.partition("<main")[2]
    assert assessor.name not in main
    assert other.name not in main


def test_a_decision_becomes_a_case_of_the_next_guidelines(client, voted, organizer):
    page = client.post(f"{MEETING}?at=2", DECIDED, follow=True).text

    case = GuidelineEntry.objects.get()
    assert (case.kind, case.origin, case.place) == ("case", "training", "Training 1")
    assert (case.topic, case.item, case.label) == ("A.1", "10", 2)
    assert case.decided_by == organizer
    assert "It does." in page
    assert "It does." not in client.get(MEETING).text


def test_a_decision_without_its_question_is_refused(client):
    answer = client.post(MEETING, DECIDED | {"question": ""})

    assert answer.status_code == 422
    assert not GuidelineEntry.objects.exists()


def test_assessors_read_along_and_decide_nothing(client, assessor, client_of):
    reader = client_of(assessor)
    page = reader.get(MEETING).text

    assert re.search(r"Assessor [AB] \(you\)|You \(Assessor [AB]\)", page)
    assert "Record decision" not in page
    assert reader.post(MEETING, DECIDED).status_code == 404


def test_reports_are_no_disagreement(task, assessor, other, organizer, client_of):
    make_pool(task, {"A.1": ["10"]})
    made = round_of(task, "training", assessor, other)
    vote(made, assessor, "10", 3)
    vote(made, other, "10", 6)
    client = client_of(organizer)
    reveal_complete_rounds()

    assert "No disagreements" in client.get(MEETING).text


def test_the_judged_formula_is_marked_in_its_post(
    lab, task, assessor, other, organizer, client_of, tmp_path
):
    load_small(lab, tmp_path)
    make_formula_pool(task, {"A.1": {"80": [("8", "10")]}})
    made = round_of(task, "training", assessor, other)
    vote(made, assessor, "8", 3)
    vote(made, other, "8", 0)
    client = client_of(organizer)
    reveal_complete_rounds()

    shown = client.get(MEETING).text.partition('aria-label="Item"')[2].partition("</section>")[0]
    assert "highlight" in shown
    assert "Answer post 10" in shown

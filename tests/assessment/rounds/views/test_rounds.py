"""The list of rounds, for organizers."""

import re

import pytest

from arqlab.core.models import AuditEvent
from assessment.models import Judgment, PoolInstance, Round
from tests.assessment.factories import make_pool
from tests.assessment.judging.desk import Desk
from tests.assessment.rounds.factories import round_of, vote
from tests.factories import AssessorFactory

HOME = "/labs/arqmath-x/judging/"
LIST = "/labs/arqmath-x/tasks/task1/rounds/"


def test_the_list_shows_each_round_with_its_progress(task, lab, assessor, organizer, client_of):
    make_pool(task)
    other = AssessorFactory(lab=lab).user
    made = round_of(task, "training", assessor, other, title="Warm-up")
    round_of(task, "second", assessor, topics=["A.2"])
    vote(made, other, "10", 2)

    page = client_of(organizer).get(LIST).text
    rows = re.findall("<tr>(.*?)</tr>", page.partition("<tbody>")[2], re.DOTALL)
    words = [re.sub("<[^>]+>|\\s+", " ", row).split() for row in rows]

    assert [" ".join(row[:3]) for row in words] == ["Second judgments 1", "Warm-up Training 1"]
    assert words[1][-6:] == ["2", "2", "8", "1", "Open", "hidden"]


def test_the_list_tells_that_the_labels_of_a_completed_second_round_are_shown(
    task, assessor, organizer, client_of
):
    make_pool(task)
    made = round_of(task, "second", assessor, topics=["A.2"])
    assert re.search(r">\s*hidden\s*<", client_of(organizer).get(LIST).text)

    vote(made, assessor, "12", 2)
    assert re.search(r">\s*shown\s*<", client_of(organizer).get(LIST).text)


@pytest.fixture
def made(task, assessor):
    make_pool(task, {"A.1": ["10", "11"]})
    return round_of(task, "training", assessor, title="Warm-up")


@pytest.fixture
def office(organizer, client_of):
    return client_of(organizer)


def change(office, action: str, key: str = "training-1"):
    return office.post(f"{LIST}{key}/state/", {"action": action}, follow=True)


@pytest.mark.parametrize("kind", ["training", "sample", "second"])
def test_a_round_is_closed_and_reopened(task, assessor, office, kind):
    make_pool(task, {"A.1": ["10"]})
    source = {"expert": assessor.pk}
    made = round_of(task, kind, assessor, source=source)
    desk = Desk(assessor, round=made.key)
    item = desk.next()

    assert "Judging in this round is closed." in change(office, "close", made.key).text
    assert desk.submit(item, 2)["code"] == "pool-closed"
    assert "open again" in change(office, "open", made.key).text
    assert desk.submit(item, 2)["done"]


def test_a_round_that_nobody_judged_is_removed(made, office):
    page = change(office, "discard")

    assert "Warm-up was removed" in page.text
    assert not Round.objects.exists()
    assert PoolInstance.objects.count() == PoolInstance.official.count() == 2
    assert AuditEvent.objects.get(verb="round.discard").detail["items"] == 2


def test_a_judged_round_is_archived_not_removed(made, office, assessor, client_of):
    vote(made, assessor, "10", 2)
    assert "Archive it instead." in change(office, "discard").text
    change(office, "archive")

    assert Judgment.objects.get().label == 2
    assert [row.state for row in office.get(LIST).context["rounds"].rows] == ["archived"]
    assert Desk(assessor, round=made.key).get("next/")["item"] is None
    assert "nobody can judge in it" in change(office, "open").text
    home = client_of(assessor).get(HOME)
    assert (home.context["round_topics"].rows, home.context["earlier"]) == ([], 1)
    change(office, "restore")
    assert "open again" in change(office, "open").text


def test_an_assessor_sees_open_rounds_first_and_earlier_ones_by_a_link(
    made, office, assessor, client_of, task
):
    round_of(task, "second", assessor)
    change(office, "reveal")
    client = client_of(assessor)

    assert [str(row.round) for row in client.get(HOME).context["round_topics"].rows] == [
        "Second judgments 1"
    ]
    assert 'href="?earlier=yes#rounds"' in client.get(HOME).text
    everything = client.get(HOME, {"earlier": "yes"}).context
    assert (len(everything["round_topics"].rows), everything["earlier"]) == (2, 0)

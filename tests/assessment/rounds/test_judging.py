"""Rounds are judged as the official pool is, each assessor their own copies."""

import pytest

from arqkit.judgments.qrels import Level
from assessment.models import Judgment, PoolItem, Round
from assessment.qrels.selectors.drafts import draft_of
from tests.assessment.factories import assign, judge, make_pool
from tests.assessment.judging.desk import Desk, name_of
from tests.assessment.rounds.factories import round_of, vote
from tests.factories import AssessorFactory

KINDS = ["training", "second"]


@pytest.fixture
def other(lab):
    return AssessorFactory(lab=lab).user


@pytest.fixture
def pooled(task, assessor):
    make_pool(task, {"A.1": ["10", "11", "12"]})
    assign(assessor, task.topics.get(query_id="A.1"))
    return task


def sit(user, made: Round) -> Desk:
    return Desk(user, round=made.key)


def drafted(task) -> dict[str, int]:
    rows = draft_of(task).qrels(Level.INSTANCES, complete=True, with_dropped=True)
    return dict(rows.select("item", "label").iter_rows())


def test_everyone_judges_their_own_copy_of_the_same_items(pooled, assessor, other):
    made = round_of(pooled, "training", assessor, other)

    seen = {}
    for person in (assessor, other):
        desk = sit(person, made)
        item, seen[person] = desk.next(), []
        while item:
            seen[person].append(name_of(item))
            item = desk.submit(item, 3)["next"]
    assert seen[assessor] == seen[other] == ["10", "11", "12"]
    assert Judgment.objects.filter(is_current=True).count() == 6
    assert Desk(assessor).get("next/")["progress"] == {"total": 3, "done": 0, "skipped": 0}


@pytest.mark.parametrize("kind", KINDS)
def test_an_item_of_a_round_is_closed_to_everyone_else(pooled, kind, assessor, other, organizer):
    made = round_of(pooled, kind, assessor)
    item = sit(assessor, made).next()

    for person in (other, organizer):
        stranger = sit(person, made)
        assert stranger.get("next/")["code"] == "not-found"
        assert stranger.submit(item, 3)["code"] == "not-found"
    official = Desk(assessor)
    assert official.get(f"items/{item['item']}/")["code"] == "not-found"
    assert official.submit(item, 3)["code"] == "forged-lease"
    assert not Judgment.objects.exists()


def test_an_assessor_who_left_the_lab_no_longer_judges(pooled, assessor, lab):
    made = round_of(pooled, "second", assessor)
    lab.memberships.filter(user=assessor).delete()

    assert sit(assessor, made).get("next/")["code"] == "not-found"


def test_an_applicant_judges_sample_tasks_without_a_role(pooled, outsider):
    made = round_of(pooled, "sample", outsider)

    assert sit(outsider, made).submit(sit(outsider, made).next(), 2)["done"]
    assert Desk(outsider).get("next/")["code"] == "not-found"


def test_a_round_takes_labels_while_the_official_pool_is_closed(pooled, assessor):
    made = round_of(pooled, "second", assessor)
    pooled.pools.filter(round=None).update(closed_at=made.made_at)
    desk = sit(assessor, made)

    assert desk.submit(desk.next(), 1)["done"]


def test_only_official_and_adjudicated_labels_reach_the_qrels(pooled, assessor, other, organizer):
    for doc_id, label in (("10", 3), ("11", 0)):
        judge(assessor, PoolItem.official.get(item=doc_id).instances.get(), label)
    for kind in ("training", "sample", "second"):
        made = round_of(pooled, kind, other)
        for doc_id in ("10", "11", "12"):
            vote(made, other, doc_id, 2)
    assert drafted(pooled) == {"10": 3, "11": 0}

    decided = round_of(pooled, "adjudication", organizer)
    vote(decided, organizer, "11", 1, is_current=False)
    assert drafted(pooled) == {"10": 3, "11": 0}
    vote(decided, organizer, "11", 2)
    vote(decided, organizer, "10", 6)  # Do not know decides nothing
    assert drafted(pooled) == {"10": 3, "11": 2}


@pytest.mark.parametrize("page", ["", "judgments/"])
def test_the_pages_of_a_round_are_its_assessors(pooled, page, client, assessor, other):
    made = round_of(pooled, "training", assessor, title="First training")
    address = f"/labs/arqmath-x/tasks/task1/rounds/{made.key}/judge/A.1/{page}"

    client.force_login(assessor)
    shown = client.get(address)
    client.force_login(other)
    assert "First training" in shown.content.decode()
    assert client.get(address).status_code == 404

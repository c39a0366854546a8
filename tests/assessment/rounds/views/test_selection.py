"""Sample tasks: a link, an application, and the score sheet of the expert."""

import re

import pytest

from arqlab.core.models import AuditEvent, Membership
from arqlab.notices.models import Notice
from assessment.models import Applicant, PoolInstance, PoolItem, Round
from tests.assessment.factories import judge, make_pool
from tests.assessment.judging.desk import Desk, doc_id_of
from tests.assessment.rounds.factories import round_of
from tests.assessment.rounds.views.test_training import cells
from tests.collection.factories import load_small
from tests.factories import UserFactory

ROUNDS = "/labs/arqmath-x/tasks/task1/rounds/"
ROUND = f"{ROUNDS}sample-1/"


@pytest.fixture
def organized(task, lab, organizer, client_of, tmp_path):
    """The browser of an organizer and expert, after they made a sample task of three items."""
    load_small(lab, tmp_path)
    make_pool(task, {"A.1": ["10", "11", "12"]})
    client = client_of(organizer)
    topics = list(task.topics.filter(query_id="A.1").values_list("pk", flat=True))
    given = {"topics": topics, "count": 3, "seed": 1, "expert": organizer.pk, "title": "Try it"}
    assert client.post(f"{ROUNDS}sample/new/", given).status_code == 302
    return client


def link() -> str:
    return f"/samples/{Round.objects.get().token}/"


def judge_all(user, **labels: int) -> None:
    """Label a person's samples, in the order of the ids."""
    for doc_id, label in labels.items():
        instance = PoolInstance.objects.get(
            item__pool__round__isnull=False, item__assessor=user, doc_id=doc_id[1:]
        )
        judge(user, instance, label, comment=f"{user.username} on {doc_id[1:]}")


def test_who_has_the_link_and_an_account_judges_the_samples(organized, outsider, client_of):
    client = client_of(outsider)
    assert "3 items" in client.get(link()).text
    page = client.post(link(), follow=True).text
    client.post(link())

    assert cells(page, "round-topics")["A.1"][-2:] == ["0", "3"]
    assert Applicant.objects.get().user == outsider
    desk, seen = Desk(outsider, round="sample-1"), []
    item = desk.next()
    while item:
        seen += map(doc_id_of, item["instances"])
        item = desk.submit(item, 2)["next"]
    assert sorted(seen) == ["10", "11", "12"]


def test_without_an_account_the_link_leads_to_the_sign_up_and_back(organized, client_of, visitor):
    page = client_of(visitor).get(link()).text

    assert f"/accounts/signup/?next={link()}" in page
    assert client_of(visitor).post(link()).status_code == 302
    assert not Applicant.objects.exists()


def test_applicants_get_no_links_into_the_lab(organized, outsider, client_of, lab):
    client = client_of(outsider)
    client.post(link())
    lab.is_public = False
    lab.save()
    page = client.get(f"{ROUND}judge/A.1/").text

    assert "The question of A.1" in page
    assert not re.search(r'<a class="judge-thread"\s+href', page)
    shown = Desk(outsider, round="sample-1").next()
    assert all(one["thread_url"] == "" for one in shown["instances"])
    assert client.get(ROUND).status_code == 200
    for closed in ("/labs/arqmath-x/", "/labs/arqmath-x/judging/", ROUNDS, f"{ROUND}votes/"):
        assert client.get(closed).status_code == 404
    assert client.post(f"{ROUND}applicants/{outsider.pk}/", {"score": 99}).status_code == 404


def test_assessors_keep_their_thread_links_in_other_rounds(organized, assessor, task):
    round_of(task, "training", assessor)
    shown = Desk(assessor, round="training-1").next()
    assert shown["instances"][0]["thread_url"]


def test_a_link_is_renewed_and_closed(organized, outsider, client_of):
    old = link()
    organized.post(f"{ROUND}link/", {"action": "renew"})
    assert client_of(outsider).get(old).status_code == 404
    new = link()
    client_of(outsider).post(new)
    organized.post(f"{ROUND}link/", {"action": "close"})

    assert client_of(outsider).get(new).status_code == 404
    assert client_of(outsider).get(ROUND).status_code == 200
    verbs = AuditEvent.objects.filter(verb__startswith="round.").order_by("pk")
    assert list(verbs.values_list("verb", flat=True)) == [
        "round.make", "round.renew-link", "round.renew-link", "round.apply", "round.close-link",
    ]  # fmt: skip


def test_the_expert_does_not_apply(organized, organizer, client_of):
    page = client_of(organizer).post(link(), follow=True).text

    assert "You are the expert" in page
    assert PoolItem.objects.filter(assessor=organizer).count() == 3
    assert not Applicant.objects.exists()


def test_the_expert_judges_before_seeing_labels(organized, organizer, outsider, client_of):
    client_of(outsider).post(link())
    judge_all(outsider, _10=3, _11=0, _12=2)
    page = organized.get(ROUND).text
    assert "outsider-arqmath-x on 10" not in page
    assert cells(page, "scores")[outsider.name][0] == "3 of 3"
    assert organized.get(f"{ROUND}votes/").status_code == 302

    judge_all(organizer, _10=3, _11=1, _12=0)
    row = cells(organized.get(ROUND).text, "scores")[outsider.name]
    assert row[:4] == ["3 of 3", "1 of 3", "2 of 3", "1 min"]
    assert "outsider-arqmath-x on 10" in " ".join(row)
    assert organized.get(f"{ROUND}votes/").text.count("sample-1") == 6


def test_the_best_applicant_comes_first(organized, organizer, client_of):
    people = [UserFactory(username=name) for name in ("ada", "bob", "eve")]
    judge_all(organizer, _10=3, _11=1, _12=0)
    for person, labels in zip(people, ((0, 0, 3), (3, 1, 0), (3, 0, 0)), strict=True):
        client_of(person).post(link())
        judge_all(person, _10=labels[0], _11=labels[1], _12=labels[2])

    rows = cells(organized.get(ROUND).text, "scores")
    assert list(rows)[2:] == ["bob", "eve", "ada"]
    assert [rows[name][1] for name in ("bob", "eve", "ada")] == ["3 of 3", "2 of 3", "0 of 3"]


def test_an_accepted_applicant_becomes_an_assessor(organized, outsider, client_of, lab):
    client_of(outsider).post(link())
    given = {"score": 80, "note": "Careful.", "decision": "accepted"}
    address = f"{ROUND}applicants/{outsider.pk}/"
    assert organized.post(address, given).status_code == 302
    organized.post(address, given)

    assert Membership.objects.get(user=outsider, lab=lab).role == "assessor"
    assert Notice.objects.get(kind="application-accepted").user == outsider
    row = cells(organized.get(ROUND).text, "scores")[outsider.name]
    assert row[1:] == ["80", "Careful.", "Accepted as assessor"]
    assert "Careful." not in client_of(outsider).get(ROUND).text


def test_an_expert_who_does_not_organize_scores_and_decides_nothing(
    organized, outsider, assessor, client_of, lab
):
    client_of(outsider).post(link())
    made = Round.objects.get()
    made.source["expert"] = assessor.pk
    made.save()
    given = {"score": 70, "note": "", "decision": "accepted"}
    client_of(assessor).post(f"{ROUND}applicants/{outsider.pk}/", given)

    assert Applicant.objects.values_list("score", "decision").get() == (70, "open")
    assert not Membership.objects.filter(user=outsider).exists()


def test_a_closed_sample_task_takes_no_applicants(organized, outsider, client_of):
    made = Round.objects.get()
    made.pool.closed_at = made.made_at
    made.pool.save()
    page = client_of(outsider).post(link(), follow=True).text

    assert re.search("This sample task is closed", page)
    assert not Applicant.objects.exists()

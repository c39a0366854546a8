"""A training round from the form to the votes: judged alone, revealed, and compared."""

import io
import json
import re
from itertools import combinations
from statistics import mean

import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

from arqlab.core.models import AuditEvent
from arqlab.notices.models import Notice
from assessment.models import Judgment, PoolItem, Round
from assessment.rounds.tasks import reveal_complete_rounds
from tests.assessment.factories import NOW, make_pool
from tests.assessment.judging.desk import Desk
from tests.assessment.rounds.factories import round_of, vote
from tests.factories import AssessorFactory

ROUNDS = "/labs/arqmath-x/tasks/task1/rounds/"
NEW, ROUND = f"{ROUNDS}training/new/", f"{ROUNDS}training-1/"
HOME = "/labs/arqmath-x/judging/"
LABELS = {"10": (3, 2, 0), "11": (0, 0, 0), "12": (1, 1, 2), "13": (3, 3, 3), "14": (2, 0, 1)}


@pytest.fixture
def people(lab, assessor):
    return [assessor, *(AssessorFactory(lab=lab).user for _ in range(2))]


@pytest.fixture
def made(task, people):
    """A round of three assessors with five items."""
    make_pool(task, {"A.1": list(LABELS)[:3], "A.2": list(LABELS)[3:]})
    return round_of(task, "training", *people, title="Warm-up")


@pytest.fixture
def voted(made, people):
    """The same round, completely judged and not yet looked at."""
    for doc_id, labels in LABELS.items():
        for person, label in zip(people, labels, strict=True):
            vote(made, person, doc_id, label, comment=f"{doc_id} by {person.username}")
    return made


def given(task, people, **fields):
    topics = task.topics.values_list("pk", flat=True)
    known = {"topics": list(topics), "people": [one.pk for one in people], "count": 2, "seed": 7}
    return known | fields


def exported(client, **query) -> pl.DataFrame:
    text = client.get(f"{ROUND}votes/", query).content
    return pl.read_csv(io.BytesIO(text), separator="\t", schema_overrides={"item": pl.String})


def cells(page: str, table: str) -> dict[str, list[str]]:
    """Return the texts of a table by the first cell of the row."""
    body = page.partition(f'id="{table}"')[2].partition("</table>")[0]
    rows = re.findall("<tr[^>]*>(.*?)</tr>", body, re.DOTALL)
    texts = [re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    clean = [[" ".join(re.sub("<[^>]+>", " ", cell).split()) for cell in row] for row in texts]
    return {row[0]: row[1:] for row in clean}


def test_topics_are_offered_with_typeset_titles_and_tags(task, organizer, client_of):
    make_pool(task, {"A.1": ["10"]})
    task.topics.filter(query_id="A.1").update(
        title_html="Is <math></math> <i>c</i>?", tags=["sums"]
    )

    page = client_of(organizer).get(NEW).text

    assert "Is <math></math> <i>c</i>?" in page
    assert cells(page, "pick-topics")["A.1"] == ["", "Is c ? sums"]


def test_everyone_gets_the_same_items_drawn_with_the_seed(task, people, organizer, client_of):
    make_pool(task, {"A.1": ["10", "11", "12", "13"], "A.2": ["14"]})
    client = client_of(organizer)
    for _ in range(2):
        assert client.post(NEW, given(task, people)).status_code == 302

    items = PoolItem.objects.filter(pool__round__isnull=False)
    rows = [
        list(items.filter(pool__round=one, assessor=person).values_list("topic__query_id", "item"))
        for one in Round.objects.all()
        for person in people
    ]
    assert len(rows) == 6
    assert rows == [rows[0]] * 6
    assert [topic for topic, _ in rows[0]] == ["A.1", "A.1", "A.2"]


def test_the_people_on_the_roster_are_chosen(task, people, organizer, client_of):
    make_pool(task)
    task.roster.create(user=people[1], added_at=NOW)
    page = client_of(organizer).get(NEW).text

    boxes = re.findall('<input type="checkbox" name="people" value="([0-9]+)"([^>]*)>', page)
    assert [value for value, rest in boxes if "checked" in rest] == [str(people[1].pk)]


def test_a_round_without_topics_or_people_is_refused(task, organizer, client_of):
    make_pool(task)
    answer = client_of(organizer).post(NEW, {"count": 2, "seed": 1})

    assert answer.status_code == 422
    assert "Choose at least one topic." in answer.text
    assert "Choose at least one assessor." in answer.text
    assert not Round.objects.exists()


def test_assessors_are_notified_and_see_their_topics(task, people, organizer, client_of):
    make_pool(task)
    client_of(organizer).post(NEW, given(task, people, title="Warm-up", note="Take your time."))

    notices = Notice.objects.filter(kind="round-started")
    assert {one.user for one in notices} == set(people)
    assert "3 items to judge in Warm-up" in notices[0].subject
    assert "Take your time." in notices[0].text
    page = client_of(people[0]).get(HOME).text
    assert f'href="{ROUND}judge/A.1/"' in page
    assert cells(page, "round-topics")["A.1"][-2:] == ["0", "2"]


def test_organizers_see_progress_and_no_label_before_the_reveal(made, people, organizer, client_of):
    vote(made, people[0], "10", 3, comment="Very good.")
    client = client_of(organizer)
    page = client.get(ROUND).text

    assert cells(page, "progress")[people[0].name][1:] == ["1", "5"]
    assert "Agreement" not in page
    assert "Very good." not in page
    assert client.get(f"{ROUND}meeting/").status_code == 404
    assert client.get(f"{ROUND}votes/").status_code == 302


def test_the_votes_are_revealed_when_the_last_is_in(voted, people, client_of):
    assert "Agreement" not in client_of(people[0]).get(ROUND).text
    assert Round.objects.get().revealed_at is None
    reveal_complete_rounds()

    assert "Agreement" in client_of(people[0]).get(ROUND).text
    voted.refresh_from_db()
    assert voted.revealed_at
    assert voted.pool.__class__.objects.get(round=voted).closed_at
    assert Notice.objects.filter(kind="round-revealed").count() == 3
    assert AuditEvent.objects.get(verb="round.reveal").detail["open_items"] == 0


def test_an_organizer_reveals_once_and_nobody_judges_after(made, people, organizer, client_of):
    client, desk = client_of(organizer), Desk(people[0], round="training-1")
    item = desk.next()
    page = client.post(f"{ROUND}state/", {"action": "reveal"}, follow=True).text
    assert "The votes are revealed." in page

    assert desk.submit(item, 3)["code"] == "pool-closed"
    for action in ("reveal", "open"):
        page = client.post(f"{ROUND}state/", {"action": action}, follow=True).text
        assert "revealed" in page.partition('class="messages"')[2]
    assert AuditEvent.objects.filter(verb="round.reveal").count() == 1
    assert Round.objects.get().pool.closed_at


def test_the_agreement_is_that_of_the_exported_votes(voted, people, organizer, client_of):
    reveal_complete_rounds()
    client = client_of(organizer)
    page = client.get(ROUND).text
    votes = exported(client, people="names")
    labels = {
        name: rows.sort("item")["label"].to_list() for (name,), rows in votes.group_by("assessor")
    }

    def mean_kappa(name, least=None):
        others = [labels[other] for other in labels if other != name]
        read = (lambda row: row) if least is None else (lambda row: [x >= least for x in row])
        return mean(cohen_kappa_score(read(labels[name]), read(other)) for other in others)

    shown = cells(page, "assessors-table")
    for person in people:
        expected = [f"{mean_kappa(person.name):.2f}", f"{mean_kappa(person.name, 2):.2f}"]
        assert [shown[person.name][1], shown[person.name][3]] == expected
    pairs = [
        mean(a == b for a, b in combinations(row, 2)) for row in zip(*labels.values(), strict=True)
    ]
    assert shown["Observed agreement"][1] == f"{mean(pairs):.2f}"


def test_exported_votes_have_their_marks(voted, organizer, client_of):
    mark = {"exact": "So", "formulas": []}
    one = Judgment.objects.filter(instance__item__pool=voted.pool).earliest("pk")
    Judgment.objects.filter(pk=one.pk).update(marks=[mark])
    client = client_of(organizer)
    reveal_complete_rounds()
    marks = exported(client, people="names")["marks"].drop_nulls().to_list()

    assert [json.loads(each) for each in marks if each] == [[mark]]


def test_an_assessor_sees_themselves_and_nobody_elses_name(voted, people, client_of):
    reveal_complete_rounds()
    page = client_of(people[1]).get(ROUND).text
    names = list(cells(page, "assessors-table"))

    assert re.fullmatch(r"You \(Assessor [ABC]\)", names[1])
    assert all(re.fullmatch("Assessor [ABC]", name) for name in names[2:4])
    main = page.partition("<main")[2]
    assert people[0].name not in main
    assert people[2].name not in main


def test_the_export_has_pseudonyms_unless_names_are_asked_for(voted, people, organizer, client_of):
    client = client_of(organizer)
    reveal_complete_rounds()

    votes = exported(client)
    assert votes.columns == [
        "topic", "item", "assessor", "label", "comment", "seconds", "guidelines", "round",
        "marks",
    ]  # fmt: skip
    assert set(votes["assessor"]) == {"Assessor A", "Assessor B", "Assessor C"}
    assert set(exported(client, people="names")["assessor"]) == {one.name for one in people}
    row = votes.filter(comment=f"14 by {people[2].username}").row(0, named=True)
    assert (row["topic"], row["item"], row["label"]) == ("A.2", "14", 1)
    assert (row["seconds"], row["round"]) == (20.0, "training-1")


def test_training_rounds_are_compared(voted, task, people, organizer, client_of):
    client = client_of(organizer)
    reveal_complete_rounds()
    assert 'id="rounds-table"' not in client.get(ROUND).text
    second = round_of(task, "training", *people)
    for doc_id in LABELS:
        for person in people:
            vote(second, person, doc_id, int(doc_id) % 4)
    reveal_complete_rounds()

    page = client.get(f"{ROUNDS}training-2/").text
    assert cells(page, "rounds-table")["Training 2"][1] == "1.00"
    data = re.search('<script id="rounds-table-data"[^>]*>(.*?)</script>', page)[1]
    assert [group["name"] for group in json.loads(data)["groups"]] == ["Warm-up", "Training 2"]


def test_assessors_see_their_own_agreement_on_their_page_after_the_reveal(
    voted, people, organizer, client_of
):
    work = client_of(people[0])
    assert 'id="own-agreement"' not in work.get(f"{HOME}work/").text
    reveal_complete_rounds()

    [row] = work.get(f"{HOME}work/").context["own_agreement"].rows
    own, *others = zip(*LABELS.values(), strict=True)
    kappas = [cohen_kappa_score(own, other) for other in others]
    assert (str(row.round), row.items) == ("Warm-up", 5)
    assert row.graded[0] == pytest.approx(sum(kappas) / 2)
    binary = [[label >= 2 for label in labels] for labels in (own, *others)]
    found = [cohen_kappa_score(binary[0], other) for other in binary[1:]]
    assert row.binary[0] == pytest.approx(sum(found) / 2)
    assert cells(work.get(f"{HOME}work/").text, "own-agreement")

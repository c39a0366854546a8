"""Special questions, from the form to the table of results (004 §6.4.3, Table 5).

Figures are computed from the labels that the test gives.
"""

import csv
import io
import re
from fractions import Fraction

import pytest
from lxml import html as lxml_html
from scipy.stats import pearsonr

from arqkit.judgments.qrels import Level
from assessment.models import Judgment, PoolInstance, PoolItem, Round
from assessment.qrels.selectors.drafts import draft_of
from evaluation.models import RunScore, TopicScore
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from tests.assessment.factories import judge, make_formula_pool, make_pool, make_written_pool
from tests.assessment.judging.desk import Desk, doc_id_of
from tests.evaluation.factories import NOW, make_qrels, make_run
from tests.factories import AssessorFactory, FormulaTaskFactory, TopicFactory, WrittenTaskFactory

ROUNDS = "/labs/arqmath-x/tasks/task1/rounds/"
NEW, PAGE = f"{ROUNDS}questions/new/", f"{ROUNDS}questions-1/"
TOPICS = ["A.1", "A.2", "A.3"]
# run: topic: official label, machine-generated, unrelated information; GPT leaves out A.3
ANSWERS = {
    "GPT": {"A.1": (3, 1, 0), "A.2": (0, 1, 1)},
    "Cut": {"A.1": (2, 0, 0), "A.2": (1, 0, 1), "A.3": (0, 1, 1)},
    "Mix": {"A.1": (2, 1, 6), "A.2": (3, 0, 0), "A.3": (0, 0, 1)},
}
TEXTS = {"text_1": "Machine-generated?", "key_1": "MG", "text_2": "Unrelated?", "key_2": "UI"}


@pytest.fixture
def other(lab):
    return AssessorFactory(lab=lab).user


@pytest.fixture
def office(client, organizer):
    """The browser of an organizer."""
    client.force_login(organizer)
    return client


@pytest.fixture
def judged(task, team, other_team, assessor, other):
    """Posts and the answers of three runs in the pool of Task 1, all judged: A.3 by the other."""
    TopicFactory(task=task, query_id="A.3", position=3)
    third = WrittenTaskFactory(lab=task.lab, slug="task3")
    for number, topic in enumerate(TOPICS, start=1):
        TopicFactory(task=third, query_id=topic, position=number)
    for tag, labels in ANSWERS.items():
        texts = {topic: f"{tag} on {topic}." for topic in labels}
        whose = other_team if tag == "Mix" else team
        lists = {topic: [topic] for topic in labels}
        fields = {"is_baseline": tag == "GPT", "is_manual": tag == "Cut"}
        make_run(whose, third, lists, tag=tag, answers=texts, answer_kind="generate", **fields)
    make_pool(task, {topic: ["10", "11"] for topic in TOPICS})
    items = {
        topic: {f"{tag}:{topic}": "An answer." for tag in ANSWERS if topic in ANSWERS[tag]}
        for topic in TOPICS
    }
    make_written_pool(task, items)
    for instance in PoolInstance.official.filter(item__pool__task=task):
        tag, _, topic = instance.doc_id.partition(":")
        label = ANSWERS[tag][topic][0] if topic else 3
        judge(other if instance.item.topic.query_id == "A.3" else assessor, instance, label)
    return task


def given(task, people, **fields):
    """Return what an organizer sends to make a round."""
    known = {
        "topics": list(task.topics.values_list("pk", flat=True)),
        "people": [one.pk for one in people],
        "count": 0,
        "seed": 7,
        "words": "Yes\nNo",
        **TEXTS,
    }
    return known | fields


def sit(person, topic: str) -> Desk:
    return Desk(person, topic, round="questions-1")


def answer_all(people) -> None:
    """Answer all questions of the first round as in `ANSWERS`."""
    for person in people:
        for topic in TOPICS:
            desk = sit(person, topic)
            item = desk.get("next/").get("item")
            while item:
                tag = PoolItem.objects.get(pk=item["item"]).item.partition(":")[0]
                item = desk.submit(item, *ANSWERS[tag][topic][1:])["next"]


def freeze(task) -> None:
    """Freeze the labels of the answers as qrels of Task 3, and score the runs."""
    third = task.lab.tasks.get(slug="task3")
    labels: dict[str, dict[str, int]] = {topic: {} for topic in TOPICS}
    for tag, answers in ANSWERS.items():
        for topic, (label, _, _) in answers.items():
            labels[topic][f"{tag}:{topic}"] = label
    make_qrels(third, labels, items="answers")
    score_waiting(at=NOW, task=third)


def items_of(made: Round) -> list[tuple[str, str, str]]:
    rows = made.pool.items.order_by("topic__position", "position")
    return list(rows.values_list("assessor__username", "topic__query_id", "item"))


def cells(page: str, table: str) -> list[list[str]]:
    """Return the texts of the rows of a table."""
    rows = lxml_html.fromstring(page).xpath(f'//table[@id="{table}"]/tbody/tr')
    return [[" ".join(cell.text_content().split()) for cell in row] for row in rows]


def share(tag: str, question: int) -> Fraction:
    """Return MG (1) or UI (2) of a run; 6 is no answer."""
    found = [labels[question] for labels in ANSWERS[tag].values() if labels[question] != 6]
    return Fraction(sum(found), len(found))


def test_each_assessor_gets_the_judged_answers_of_the_topics_they_judged(
    judged, assessor, other, office
):
    assert office.post(NEW, given(judged, [assessor, other])).status_code == 302
    made = Round.objects.get()

    names = dict.fromkeys(TOPICS, assessor.username) | {"A.3": other.username}
    expected = {
        (names[topic], topic, f"{tag}:{topic}") for tag in ANSWERS for topic in ANSWERS[tag]
    }
    assert set(items_of(made)) == expected
    assert len(items_of(made)) == len(expected)
    ids = PoolInstance.objects.filter(item__pool=made.pool).values_list("doc_id", flat=True)
    assert sorted(ids) == ["MG"] * len(expected) + ["UI"] * len(expected)


def test_the_seed_draws_the_same_items_and_topics_of_nobody_are_spread(
    judged, assessor, other, office
):
    third = AssessorFactory(lab=judged.lab).user
    for _ in range(2):
        office.post(NEW, given(judged, [assessor, third], count=1, answers=1))
    first, second = Round.objects.order_by("pk")

    assert items_of(first) == items_of(second)
    assert len(items_of(first)) == 6
    assert {name for name, topic, _ in items_of(first) if topic == "A.3"} == {third.username}


def test_reported_and_unjudged_items_are_not_drawn(judged, assessor, other, office):
    reported = PoolInstance.official.get(doc_id="GPT:A.1")
    reported.judgments.update(label=5)
    PoolItem.official.filter(item="Cut:A.1").update(done_at=None)
    office.post(NEW, given(judged, [assessor, other]))

    found = {item for _, topic, item in items_of(Round.objects.get()) if topic == "A.1"}
    assert found == {"Mix:A.1"}


def test_the_judging_page_asks_the_questions_and_shows_only_the_own_label(
    judged, assessor, other, office, client_of
):
    office.post(NEW, given(judged, [assessor], help_2="Background is related."))
    items = {}
    for topic in ("A.1", "A.3"):
        item = sit(assessor, topic).next()
        items[topic] = [each["question"] for each in item["instances"]]
        assert [doc_id_of(each) for each in item["instances"]] == ["MG", "UI"]
        assert [bool(each["html"]) for each in item["instances"]] == [True, False]

    assert [one["text"] for one in items["A.1"]] == ["Machine-generated?", "Unrelated?"]
    assert [one["help"] for one in items["A.1"]] == ["", "Background is related."]
    words = {"High", "Medium", "Low", "Not relevant"}
    assert {one["label"] for one in items["A.1"]} <= words
    assert {one["label"] for one in items["A.3"]} == {""}
    page = client_of(assessor).get(f"{PAGE}judge/A.1/").text
    shown = re.findall('data-label="([0-9]+)"\\s+data-word="([^"]+)"', page)
    assert shown == [("1", "Yes"), ("0", "No"), ("5", "System failure"), ("6", "Do not know")]
    assert not any(f"{tag}:" in page for tag in ANSWERS)


def test_answers_are_listed_with_their_question_and_are_no_related_labels(
    judged, assessor, office, client_of
):
    office.post(NEW, given(judged, [assessor], count=5))
    desk = sit(assessor, "A.1")
    item = desk.next()
    desk.submit(item, 1, 0)

    rows = cells(client_of(assessor).get(f"{PAGE}judge/A.1/judgments/").text, "judgments")
    assert sorted(row[0] for row in rows) == ["Machine-generated?", "Unrelated?"]
    assert sorted(row[2][1:] for row in rows) == ["No", "Yes"]
    related = sit(assessor, "A.1").get(f"items/{item['item']}/related/")
    assert related == {"threads": [], "formula": []}


def test_mg_and_ui_of_each_run_are_shares_of_its_answers(judged, assessor, other, office):
    office.post(NEW, given(judged, [assessor, other]))
    answer_all([assessor, other])
    unscored = office.get(PAGE).text
    freeze(judged)

    rows = cells(office.get(PAGE).text, "runs")
    assert sorted(row[3:] for row in cells(unscored, "runs")) == sorted(row[6:] for row in rows)
    ar = {"GPT": "1.500", "Cut": "1.000", "Mix": "1.667"}  # over the answered topics (004 Table 5)
    p1 = {"GPT": "0.500", "Cut": "0.333", "Mix": "0.667"}
    tags = [row[1].removesuffix(" Baseline") for row in rows]
    assert tags == ["GPT", "Mix", "Cut"]  # a baseline, then by AR
    assert [row[0] for row in rows] == ["Alpha", "Beta", "Alpha"]
    for tag, (*_, topics, ar_shown, p1_shown, items, mg, ui) in zip(tags, rows, strict=True):
        assert (topics, items) == (str(len(ANSWERS[tag])),) * 2
        assert (ar_shown, p1_shown) == (ar[tag], p1[tag])
        assert (mg, ui) == tuple(f"{float(share(tag, question)):.3f}" for question in (1, 2))
    for model in (RunScore, TopicScore):
        model.objects.filter(run__tag="Cut").delete()
    [cut] = [row for row in cells(office.get(PAGE).text, "runs") if row[1] == "Cut"]
    assert cut[3:6] == ["–"] * 3


def test_the_csv_has_the_same_figures(judged, assessor, other, office):
    office.post(NEW, given(judged, [assessor, other]))
    answer_all([assessor, other])

    text = b"".join(office.get(PAGE, {"format": "csv"})).decode("utf-8-sig")
    rows = {row["run"]: row for row in csv.DictReader(io.StringIO(text))}
    assert rows.keys() == ANSWERS.keys()
    for tag, row in rows.items():
        for question, key in ((1, "MG"), (2, "UI")):
            assert float(row[key]) == pytest.approx(float(share(tag, question)))
    assert rows["Mix"]["UI answers"] == "2"
    assert (rows["GPT"]["baseline"], rows["Cut"]["manual"]) == ("yes", "yes")


def test_the_page_compares_the_answers_with_the_relevance(judged, assessor, other, office):
    office.post(NEW, given(judged, [assessor, other]))
    answer_all([assessor, other])

    labels = [one for answers in ANSWERS.values() for one in answers.values() if one[2] != 6]
    irrelevant = [label < 2 for label, _, _ in labels]
    stuffed = [label < 2 for label, _, unrelated in labels if unrelated]
    row = next(row for row in cells(office.get(PAGE).text, "questions") if row[0] == "UI")
    assert row[2:4] == [str(len(stuffed)), str(len(labels) - len(stuffed))]
    assert row[4] == f"{len(stuffed) / len(labels):.3f}"
    assert row[5] == f"{100 * sum(stuffed) / len(stuffed):.1f}"
    assert row[6] == f"{100 * sum(irrelevant) / len(irrelevant):.1f}"


def test_runs_of_posts_have_the_shares_of_the_sampled_posts(
    task, team, assessor, office, client_of
):
    make_pool(task, {"A.1": ["10", "11", "12"], "A.2": ["12"]})
    for instance in PoolInstance.official.all():
        judge(assessor, instance, 2)
    make_run(team, task, {"A.1": ["11", "10", "99"], "A.2": ["12"]}, tag="Both")
    make_run(team, task, {"A.1": ["98"]}, tag="None")
    office.post(NEW, given(task, [assessor], count=9))
    answers = {("A.1", "10"): 1, ("A.1", "11"): 0, ("A.1", "12"): 1, ("A.2", "12"): 1}
    for (topic, post), label in answers.items():
        for instance in PoolInstance.objects.filter(
            item__pool__round__isnull=False, item__topic__query_id=topic, item__item=post
        ):
            judge(assessor, instance, label)

    rows = cells(office.get(PAGE).text, "runs")
    assert [(row[1], *row[3:]) for row in rows] == [("Both", "3", "0.667", "0.667")]


def test_answers_change_nothing_in_the_qrels(judged, assessor, other, office):
    def drafts():
        tasks = judged.lab.tasks.order_by("pk")
        return [
            draft_of(task).qrels(Level.INSTANCES, complete=True, with_dropped=True).sort("item")
            for task in tasks
        ]

    before = drafts()
    office.post(NEW, given(judged, [assessor, other], count=5))
    for instance in PoolInstance.objects.filter(item__pool__round__isnull=False):
        judge(instance.item.assessor, instance, 1)

    assert Judgment.objects.filter(instance__doc_id="UI").exists()
    assert [one.equals(two) for one, two in zip(before, drafts(), strict=True)] == [True, True]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"key_2": ""}, "Name the measure of the question"),
        ({"text_2": ""}, "Enter the question of UI."),
        ({"key_2": "mg"}, "mg is the measure of another question."),
        ({"key_1": "M G"}, "Use letters, digits and hyphens"),
        ({"words": "Yes"}, "Enter 2 to 5 answers"),
        ({"words": "Yes\nyes"}, "Two answers are the same."),
        ({"words": f"No\n{'x' * 41}"}, "has more than 40 characters"),
        (dict.fromkeys(TEXTS, ""), "Enter a question."),
        ({"answers": 0}, "The round has no items to judge."),
    ],
)
def test_a_round_that_asks_nothing_clear_is_refused(judged, assessor, office, fields, message):
    answer = office.post(NEW, given(judged, [assessor], **fields))

    assert answer.status_code == 422
    assert message in answer.text
    assert not Round.objects.exists()


def test_the_form_suggests_the_questions_of_arqmath(judged, office):
    page = lxml_html.fromstring(office.get(NEW).text)

    assert page.xpath('//input[@name="key_1" or @name="key_2"]/@value') == ["MG", "UI"]
    assert page.xpath('//textarea[@name="words"]')[0].value.split() == ["Yes", "No"]
    assert len(page.xpath('//input[@name="topics"][@checked]')) == 3


def test_the_form_says_where_answers_in_another_pool_are_asked_about(judged, office):
    page = office.get("/labs/arqmath-x/tasks/task3/rounds/questions/new/").text

    assert f'href="{NEW}"' in page


def test_formulas_have_no_special_questions(task, assessor, office):
    formulas = FormulaTaskFactory(lab=task.lab, slug="task2")
    TopicFactory(task=formulas, query_id="B.1", position=1)
    make_formula_pool(formulas, {"B.1": {"v1": [("1", "10")]}})
    judge(assessor, PoolInstance.official.get(), 3)

    page = office.get("/labs/arqmath-x/tasks/task2/rounds/questions/new/").text
    assert "Special questions are about answers and documents." in page


def test_organizers_see_how_the_answers_correlate_with_the_scores(
    judged, assessor, other, office, client_of, member
):
    office.post(NEW, given(judged, [assessor, other]))
    answer_all([assessor, other])
    freeze(judged)
    third = judged.lab.tasks.get(slug="task3")
    address = "/labs/arqmath-x/tasks/task3/leaderboard/correlations/"

    found = office.get(f"{address}?format=tsv").content.decode().splitlines()
    # AR is 1.5, 1 and 5/3; UI is 1/2, 2/3 and 1/2.
    means = {
        tag: sum(Fraction(labels[0]) for labels in answers.values()) / len(answers)
        for tag, answers in ANSWERS.items()
    }
    expected = pearsonr(
        [float(means[tag]) for tag in ANSWERS], [float(share(tag, 2)) for tag in ANSWERS]
    )
    [row] = [line.split("\t") for line in found if line.startswith("AR\tUI")]
    assert float(row[3]) == pytest.approx(expected.statistic, abs=1e-9)
    assert f"{PAGE}" in office.get(address).content.decode()

    release_leaderboard(qrel_set=third.qrel_sets.get(), by=None, at=NOW)
    shown = client_of(member).get(f"{address}?format=tsv").content.decode()
    assert "AR\tP@1" in shown
    assert "UI" not in shown

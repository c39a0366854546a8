"""A round of second judgments, from its plan to its effect on the leaderboard.

Figures are computed from the stored labels by scikit-learn, pytrec_eval and scipy.
"""

import csv
import io
import random
import re
from collections import Counter
from math import isnan
from statistics import fmean, median

import pytest
import pytrec_eval
from lxml import html as lxml_html
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from analyses.services.second_labels import second_effect
from arqkit.measures.names import parse_measures
from assessment.models import Judgment, PoolInstance, PoolItem, Round, SecondPlan
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.selectors.second import only_judged_pairs, second_pairs
from tests.assessment.factories import NOW, judge, make_formula_pool, make_pool
from tests.assessment.judging.desk import Desk, name_of
from tests.assessment.rounds.factories import round_of, vote
from tests.evaluation.factories import make_run
from tests.factories import AssessorFactory, FormulaTaskFactory, TopicFactory

PLAN = "/labs/arqmath-x/tasks/task1/rounds/second/new/"
PAGE = "/labs/arqmath-x/tasks/task1/rounds/second-1/"
ADJUDICATION = "/labs/arqmath-x/tasks/task1/adjudication/"
# Two instances of each of four formulas
LABELS = {"11": 3, "12": 1, "21": 2, "22": 1, "31": 0, "32": 1, "41": 2, "42": 2}
TOPICS = ["A.1", "A.2", "A.3"]
POSTS = [str(number) for number in range(100, 112)]


@pytest.fixture
def people(lab, assessor):
    return [assessor, *(AssessorFactory(lab=lab).user for _ in range(2))]


@pytest.fixture
def judged(task, people):
    """Three topics of twelve posts, each judged by another assessor, with labels 0 to 3."""
    TopicFactory(task=task, query_id="A.3", position=3)
    make_pool(task, dict.fromkeys(TOPICS, POSTS))
    for person, topic in zip(people, TOPICS, strict=True):
        for instance in PoolInstance.official.filter(item__topic__query_id=topic):
            label = (instance.pk * 7) % 4
            judge(person, instance, label, active_ms=1000 * (instance.pk % 9 + 1))
    return task


@pytest.fixture
def office(client, organizer):
    """The browser of an organizer."""
    client.force_login(organizer)
    return client


def start(office, people, **fields) -> Round:
    """Plan a round and start it."""
    values = {"by": "share", "share": 50, "seed": 3, "start": "yes"}
    chosen = {"people": [person.pk for person in people]}
    answer = office.post(PLAN, values | chosen | fields)
    assert answer.status_code == 302, answer.content.decode()
    return Round.objects.order_by("-pk").first()


def judge_again(made: Round, people, *, seed: int = 1) -> None:
    """Let all assessors judge their items of a round on the judging page, a third otherwise."""
    draw = random.Random(seed)
    for person in people:
        for topic in TOPICS:
            desk = Desk(person, topic, round=made.key)
            item = desk.get("next/").get("item")
            while item:
                first = first_label(topic, name_of(item))
                label = first if draw.random() < 0.6 else draw.randrange(4)
                item = desk.submit(item, label, active_ms=draw.randrange(1000, 9000))["next"]


def first_label(topic: str, doc_id: str) -> int:
    found = Judgment.official.filter(instance__item__topic__query_id=topic, is_current=True)
    return int(found.get(instance__doc_id=doc_id).label)


def pairs_of(made: Round) -> list[tuple[str, str, Judgment, Judgment]]:
    """Return topic, item, the official and the second judgment."""
    rows = []
    for second in Judgment.objects.filter(instance__item__pool=made.pool):
        topic = second.instance.item.topic.query_id
        official = Judgment.official.get(
            instance__item__topic__query_id=topic, instance__doc_id=second.instance.doc_id
        )
        rows.append((topic, second.instance.doc_id, official, second))
    return rows


def table(html: str, name: str) -> list[list[str]]:
    """Return the cells of a table of a page, its head first, percentages left out."""
    found = lxml_html.fromstring(html).get_element_by_id(name)
    return [
        [" ".join(cell.text_content().split()) for cell in row.xpath("./th|./td")]
        for row in found.iter("tr")
    ]


def test_a_share_of_the_items_of_each_is_judged_again_by_others(judged, office, people):
    made = start(office, people, share=50)

    copies = PoolItem.objects.filter(pool=made.pool)
    officials = {(one.topic_id, one.item): one for one in PoolItem.official.all()}
    firsts = Counter()
    for copy in copies:
        first = officials[copy.topic_id, copy.item].instances.get().judgments.get().assessor
        assert first != copy.assessor
        firsts[first] += 1
    assert set(firsts.values()) == {6}
    assert set(Counter(copy.assessor for copy in copies).values()) == {6}
    assert made.source == {"by": "share", "share": 50, "seed": 3}


def test_own_items_are_served_again_among_the_others_and_compared(judged, office, people):
    made = start(office, people, share=50, own_share=25)
    for person in people:
        own = [one.item for one in made.pool.items.filter(assessor=person)]
        assert len(own) == 9  # six of others, and a quarter of twelve
    judge_again(made, people)
    html = office.get(PAGE).content.decode()

    rows = {row[0]: row[1:] for row in table(html, "consistency")[1:]}
    twice = [each for each in pairs_of(made) if each[2].assessor == each[3].assessor]
    for person in people:
        first, second = zip(
            *[(a.label, b.label) for *_, a, b in twice if b.assessor == person], strict=True
        )
        assert rows[person.name][:2] == ["3", str(sum(map(int.__eq__, first, second)))]
        kappa = cohen_kappa_score(first, second)
        expected = "–" if isnan(kappa) else f"{kappa:.2f}"
        assert rows[person.name][2] == expected
    assert "18 labels with a first and a second judgment" in " ".join(html.split())


def test_the_plan_is_shown_before_the_round_is_made(judged, office, people):
    values = {"by": "share", "share": 25, "seed": 3, "people": [one.pk for one in people]}
    html = office.post(PLAN, values).content.decode()

    rows = table(html, "second-plan")
    assert [row[-1] for row in rows[1:]] == ["3", "3", "3"]
    assert [row[at] for at, row in enumerate(rows[1:], start=1)] == ["–"] * 3
    assert not Round.objects.exists()


def test_whole_topics_are_judged_again_by_one_other(judged, office, people):
    made = start(office, people, by="topics", topics=["A.1", "A.3"])

    rows = {(one.topic.query_id, one.assessor) for one in made.pool.items.all()}
    assert sorted(topic for topic, _ in rows) == ["A.1", "A.3"]
    assert made.pool.items.count() == 24


def test_a_planned_second_assessor_gets_the_topic(judged, office, people):
    for topic, person in (("A.1", people[2]), ("A.2", people[2]), ("A.3", people[0])):
        topic = judged.topics.get(query_id=topic)
        SecondPlan.objects.create(topic=topic, assessor=person, planned_at=NOW)
    made = start(office, people, by="topics", topics=TOPICS)

    rows = {(one.topic.query_id, one.assessor) for one in made.pool.items.all()}
    assert rows == {("A.1", people[2]), ("A.2", people[2]), ("A.3", people[0])}


def test_topics_with_a_planned_second_assessor_are_chosen_at_first(judged, office, people):
    topic = judged.topics.get(query_id="A.2")
    SecondPlan.objects.create(topic=topic, assessor=people[2], planned_at=NOW)
    page = lxml_html.fromstring(office.get(PLAN).content.decode())

    assert page.xpath("//input[@name='topics'][@checked]/@value") == ["A.2"]
    assert page.xpath("//input[@name='by'][@checked]/@value") == ["topics"]


def test_an_assessor_whom_nobody_checks_is_named(judged, office, people):
    values = {"by": "topics", "topics": ["A.1"], "share": 10, "seed": 3}
    values |= {"people": [one.pk for one in people]}
    html = office.post(PLAN, values).content.decode()

    unchecked = re.search(r"Not checked by anybody: (.*?)\.", html)[1]
    assert set(unchecked.split(", ")) == {people[1].name, people[2].name}


@pytest.mark.parametrize(
    ("field", "value"), [("share", ""), ("share", 101), ("people", []), ("by", "topics")]
)
def test_an_incomplete_plan_is_refused(judged, office, people, field, value):
    values = {"by": "share", "share": 50, "seed": 3, "people": [one.pk for one in people]}
    answer = office.post(PLAN, values | {field: value, "start": "yes"})

    assert answer.status_code == 422
    assert not Round.objects.exists()


def test_a_later_round_has_items_that_no_round_judged(judged, office, people):
    first = start(office, people, share=50)
    judge_again(first, people)
    second = start(office, people, share=100)

    keys = [{(one.topic_id, one.item) for one in made.pool.items.all()} for made in (first, second)]
    assert not keys[0] & keys[1]
    assert len(keys[0] | keys[1]) == 36


def test_second_assessors_see_nothing_of_the_first_label(judged, office, people):
    Judgment.official.update(comment="The first comment.")
    made = start(office, people)

    for person in people:
        topic = made.pool.items.filter(assessor=person).first().topic.query_id
        item = Desk(person, topic, round=made.key).next()
        assert "The first comment." not in str(item)
        assert [each["judgment"] for each in item["instances"]] == [None]


def test_the_page_shows_only_progress_until_the_round_is_completed(judged, office, people):
    made = start(office, people)
    judge_again(made, people[:2])
    html = office.get(PAGE).content.decode()
    assert "12 of 18 items judged again" in html
    assert 'id="first-second"' not in html

    judge_again(made, people[2:])
    assert 'id="first-second"' in office.get(PAGE).content.decode()


def test_a_reveal_shows_the_results_and_ends_judging(judged, office, people):
    made = start(office, people)
    judge_again(made, people[:2])
    office.post(f"{PAGE}state/", {"action": "reveal"})

    assert 'id="first-second"' in office.get(PAGE).content.decode()
    topic = made.pool.items.filter(assessor=people[2]).first().topic.query_id
    assert Desk(people[2], topic, round=made.key).next() is None


def test_both_assessors_of_a_revealed_round_see_their_own_agreement(
    judged, office, people, client_of
):
    made = start(office, people)
    judge_again(made, people)
    client = client_of(people[0])
    address = "/labs/arqmath-x/judging/work/"
    assert client.get(address).context["own_agreement"].rows == []

    office.post(f"{PAGE}state/", {"action": "close"})
    [row] = client.get(address).context["own_agreement"].rows
    shown = office.get(PAGE).context["assessors"]
    [own] = [each for each in shown.rows if each.name == people[0].name]
    assert row.items == own.items
    assert (row.graded[0], row.binary[0]) == tuple(each.value for each in own.figures)
    assert row.graded[1] == shown.foot[0][2]


def test_items_left_in_a_revealed_round_can_be_judged_in_another(judged, office, people):
    made = start(office, people, share=100)
    judge_again(made, people[:2])
    left = made.pool.items.filter(done_at=None).count()
    office.post(f"{PAGE}state/", {"action": "reveal"})

    assert start(office, people, share=100).pool.items.count() == left


def test_kappas_and_the_confusion_matrix_are_those_of_scikit_learn(judged, office, people):
    made = start(office, people, share=100)
    judge_again(made, people)
    html, pairs = office.get(PAGE).content.decode(), pairs_of(made)

    cells = table(html, "first-second")
    found = [[int(cell.split()[0]) for cell in row[1:5]] for row in cells[1:5]]
    labels = [[first.label for *_, first, _ in pairs], [second.label for *_, second in pairs]]
    assert found == confusion_matrix(*labels, labels=[3, 2, 1, 0]).tolist()

    rows = {row[0]: row for row in table(html, "assessors-table")}
    for person in people:
        for column, threshold in ((2, None), (4, 2)):
            expected = fmean(
                kappa(pairs, person, other, threshold) for other in people if other != person
            )
            assert float(rows[person.name][column]) == pytest.approx(expected, abs=0.00501)


def kappa(pairs, one, other, threshold) -> float:
    """Return Cohen's kappa of two assessors, whoever judged first, of binary labels if wanted."""
    mine, yours = [], []
    for *_, first, second in pairs:
        labels = {each.assessor: each.label for each in (first, second)}
        if labels.keys() == {one, other}:
            mine.append(labels[one])
            yours.append(labels[other])
    if threshold is not None:
        mine, yours = ([label >= threshold for label in side] for side in (mine, yours))
    return float(cohen_kappa_score(mine, yours))


def test_the_exported_labels_make_the_confusion_matrix(judged, office, people):
    made = start(office, people)
    judge_again(made, people[:2])
    assert exported(office, "second-judgments.tsv") == []

    judge_again(made, people[2:])
    first = {(row["topic"], row["doc_id"]): row for row in exported(office, "judgments.tsv")}
    second = exported(office, "second-judgments.tsv")
    pairs = [(first[row["topic"], row["doc_id"]], row) for row in second]
    assert all(one["assessor"] != other["assessor"] for one, other in pairs)
    sides = [[int(row["label"]) for row in side] for side in zip(*pairs, strict=True)]
    cells = table(office.get(PAGE).content.decode(), "first-second")
    found = [[int(cell.split()[0]) for cell in row[1:5]] for row in cells[1:5]]
    assert found == confusion_matrix(*sides, labels=[3, 2, 1, 0]).tolist()
    assert {row["round"] for row in second} == {"second-1"}


def test_decisions_are_exported_with_who_and_why(judged, office, people, organizer):
    judge_again(start(office, people), people)
    topic, doc_id = table(office.get(ADJUDICATION).content.decode(), "disagreements")[1][:2]
    found = PoolInstance.official.get(item__topic__query_id=topic, doc_id=doc_id)
    answer = {"action": "decide", "label": 1, "reason": "Agreed\tin the meeting."}
    office.post(f"{ADJUDICATION}{found.pk}/", answer)

    [row] = exported(office, "adjudications-with-names.tsv")
    assert (row["topic"], row["doc_id"], row["label"]) == (topic, doc_id, "1")
    assert (row["assessor"], row["reason"]) == (organizer.username, "Agreed\tin the meeting.")
    [row] = exported(office, "adjudications.tsv")
    assert row["assessor"].startswith("assessor-")


def exported(office, name: str) -> list[dict[str, str]]:
    """Return the rows of a file that organizers download."""
    answer = office.get(f"/labs/arqmath-x/tasks/task1/downloads/{name}")
    text = b"".join(answer.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text), delimiter="\t"))


def test_times_are_the_medians_of_first_and_second_judgments(judged, office, people):
    made = start(office, people, share=100)
    judge_again(made, people)
    rows = {row[0]: row for row in table(office.get(PAGE).content.decode(), "times")}

    pairs = pairs_of(made)
    for person in people:
        first = [one.active_ms for *_, one, _ in pairs if one.assessor == person]
        second = [one.active_ms for *_, one in pairs if one.assessor == person]
        expected = [len(first), median(first) / 1000, len(second), median(second) / 1000]
        assert [float(cell) for cell in rows[person.name][1:]] == pytest.approx(expected, abs=0.051)


@pytest.fixture
def runs(judged, team):
    """Six runs that rank the posts at random."""
    draw, made = random.Random(4), {}
    for number in range(6):
        lists = {topic: draw.sample([*POSTS, "900", "901"], 10) for topic in TOPICS}
        make_run(team, judged, lists, tag=f"run{number}")
        made[f"Alpha run{number}"] = lists
    return made


def trec_means(qrels, runs, topics) -> dict[str, float]:
    """Return the mean nDCG' of runs by trec_eval, over some topics."""
    means = {}
    for name, lists in runs.items():
        ranked = {
            topic: {
                item: float(100 - rank) for rank, item in enumerate(items) if item in qrels[topic]
            }
            for topic, items in lists.items()
        }
        scores = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"}).evaluate(ranked)
        means[name] = fmean(scores[topic]["ndcg"] for topic in topics)
    return means


@pytest.mark.parametrize(("by", "again"), [("share", TOPICS), ("topics", ["A.2", "A.3"])])
def test_the_effect_on_the_leaderboard_is_that_of_trec_eval_and_scipy(
    judged, office, people, runs, by, again
):
    made = start(office, people, by=by, share=60, topics=again)
    judge_again(made, people, seed=8)
    qrels = {topic: {doc_id: first_label(topic, doc_id) for doc_id in POSTS} for topic in TOPICS}
    changed = {topic: dict(labels) for topic, labels in qrels.items()}
    for topic, doc_id, _, second in pairs_of(made):
        changed[topic][doc_id] = second.label
    assert changed != qrels

    html = office.get(PAGE, {"effect": "yes"}).content.decode()
    row = next(row for row in table(html, "effect-measures") if row[0] == "nDCG′")
    for topics, cell in ((TOPICS, row[2]), (again, row[4])):
        first, second = (trec_means(side, runs, topics) for side in (qrels, changed))
        tau = kendalltau(list(first.values()), [second[name] for name in first]).statistic
        assert float(cell) == pytest.approx(tau, abs=0.000501)
    effect = second_effect(made, only_judged_pairs(second_pairs(made), task_scale(made.task)))
    name = parse_measures(judged.protocol.measures, relevant_from=2)[0].name
    found = {row.run: row.second for row in effect.rows if row.measure.name == name}
    assert found == pytest.approx(trec_means(changed, runs, TOPICS))


def test_equal_labels_change_nothing(judged, office, people, runs):
    made = start(office, people)
    for item in made.pool.items.all():
        label = first_label(item.topic.query_id, item.item)
        judge(item.assessor, item.instances.get(), label)

    html = office.get(PAGE, {"effect": "yes"}).content.decode()
    assert {row[3] for row in table(html, "effect-measures")[1:]} == {"0"}
    assert "1.000" in table(html, "effect-measures")[1][2]


def test_without_runs_there_is_no_effect(judged, office, people):
    judge_again(start(office, people), people)

    assert "No valid run" in office.get(PAGE, {"effect": "yes"}).content.decode()


def test_the_queue_can_be_sorted_by_the_effect_on_the_leaderboard(judged, office, people, runs):
    made = start(office, people)
    judge_again(made, people, seed=8)
    qrels = {topic: {doc_id: first_label(topic, doc_id) for doc_id in POSTS} for topic in TOPICS}
    before = trec_means(qrels, runs, TOPICS)
    expected = {}
    for topic, doc_id, first, second in pairs_of(made):
        if second.label != first.label:
            changed = qrels | {topic: qrels[topic] | {doc_id: second.label}}
            after = trec_means(changed, runs, TOPICS)
            expected[topic, doc_id] = max(abs(after[run] - before[run]) for run in runs)

    page = office.get(ADJUDICATION, {"sort": "-effect"}).content.decode()
    rows = table(page, "disagreements")[1:]
    assert [float(row[5]) for row in rows] == sorted(map(float, (r[5] for r in rows)), reverse=True)
    assert {(row[0], row[1]): float(row[5]) for row in rows} == pytest.approx(expected, abs=6e-5)
    assert len({row[5] for row in rows}) > 1


def test_a_decided_label_has_no_effect_left_to_decide(judged, office, people, runs):
    made = start(office, people)
    judge_again(made, people, seed=8)
    first = table(office.get(ADJUDICATION).content.decode(), "disagreements")[1]
    found = PoolInstance.official.get(item__topic__query_id=first[0], doc_id=first[1])
    answer = {"action": "decide", "label": 1, "reason": "Agreed in the meeting."}
    office.post(f"{ADJUDICATION}{found.pk}/", answer)

    rows = table(office.get(ADJUDICATION, {"sort": "-effect"}).content.decode(), "disagreements")
    assert [rows[-1][at] for at in (0, 1, 5, 6)] == [*first[:2], "–", "decided"]


def test_the_effect_of_a_formula_is_that_of_its_highest_label(lab, office, team, people):
    task = FormulaTaskFactory(lab=lab, slug="task2", trec_items="visual-ids")
    TopicFactory(task=task, query_id="B.1", position=1)
    formulas = {f"v{n}": [(f"{n}1", "10"), (f"{n}2", "11")] for n in range(1, 5)}
    make_formula_pool(task, {"B.1": formulas})
    labels = LABELS
    for instance in PoolInstance.official.filter(item__pool__task=task):
        judge(people[0], instance, labels[instance.doc_id])
    lists = {"one": ["v1", "v2", "v3", "v4"], "two": ["v4", "v1", "v3", "v2"]}
    for name, items in lists.items():
        make_run(team, task, {"B.1": items}, tag=name)
    made = round_of(task, "second", people[1])
    again = labels | {"12": 3, "21": 0, "32": 2}
    for doc_id, label in again.items():
        vote(made, people[1], doc_id, label)

    def ndcg(given, items):
        best = {name: max(given[doc] for doc, _ in each) for name, each in formulas.items()}
        ranked = {"B.1": {item: float(9 - rank) for rank, item in enumerate(items)}}
        evaluator = pytrec_eval.RelevanceEvaluator({"B.1": best}, {"ndcg"})
        return evaluator.evaluate(ranked)["B.1"]["ndcg"]

    expected = {
        doc: max(abs(ndcg(labels | {doc: label}, o) - ndcg(labels, o)) for o in lists.values())
        for doc, label in again.items()
        if label != labels[doc]
    }
    address = ADJUDICATION.replace("task1", "task2")
    rows = table(office.get(address, {"sort": "-effect"}).content.decode(), "disagreements")[1:]
    assert {row[1]: float(row[5]) for row in rows} == pytest.approx(expected, abs=6e-5)
    assert expected["12"] == 0 < expected["21"]
    effect = second_effect(made, only_judged_pairs(second_pairs(made), task_scale(made.task)))
    main = effect.measures[0].measure.name
    found = {row.run: row.second for row in effect.rows if row.measure.name == main}
    assert found == pytest.approx({f"Alpha {n}": ndcg(again, o) for n, o in lists.items()})


def test_the_effect_is_computed_for_the_largest_differences_only(
    judged, office, people, runs, monkeypatch
):
    judge_again(start(office, people), people, seed=8)
    monkeypatch.setattr("analyses.services.label_effects.MOST_CHANGES", 1)
    largest = table(office.get(ADJUDICATION).content.decode(), "disagreements")[1]

    html = office.get(ADJUDICATION, {"sort": "-effect"}).content.decode()
    first, *others = table(html, "disagreements")[1:]
    assert first[:2] == largest[:2]
    assert {row[5] for row in others} == {"–"} != {first[5]}

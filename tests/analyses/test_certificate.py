"""The certificate of a version, from the frozen pool to the page and its files.

Figures are compared with the stored scores against qrels whose lines were left out.
"""

import csv
import random
import re
from collections.abc import Iterable

import pytest

from analyses.services.certificates import certification_of, compute_certificate
from arqkit.protocols.presets import PoolProtocol
from arqlab.core.models import Job, Task
from arqlab.jobs.services.jobs import run_waiting_job
from arqlab.web.jobs import JOB_KINDS, JobKind
from assessment.models import PoolItem, QrelSet
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.services.freezing import freeze_pool
from evaluation.models import RunScore
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.collection.factories import FORMULAS, load_small
from tests.evaluation.factories import NOW, made_by_job, make_qrels, make_run
from tests.factories import FormulaTaskFactory, TeamFactory, TopicFactory, WrittenTaskFactory

PAGE = "/labs/arqmath-x/tasks/task1/qrels/1/certificate/"
CHOICE = PoolChoice(PoolProtocol(primary=6, alternate=3), seed=1)
TOPICS = ["A.1", "A.2"]
DEPTHS = {"first": 6, "second": 3, "other": 6, "third": 6}
MEASURE = "nDCG(judged_only=True)@1000"


@pytest.fixture
def office(client, organizer):
    """The browser of an organizer."""
    client.force_login(organizer)
    return client


@pytest.fixture
def lists():
    draw = random.Random(15)
    every = [f"p{number}" for number in range(24)]
    return {tag: {topic: draw.sample(every, 12) for topic in TOPICS} for tag in DEPTHS}


@pytest.fixture
def qrels(task, team, other_team, lab, lists):
    """Qrels of the pool of three teams' runs, all items of which are judged."""
    third = TeamFactory(lab=lab, name="Gamma")
    teams = {"first": team, "second": team, "other": other_team, "third": third}
    for tag, whose in teams.items():
        make_run(whose, task, lists[tag], tag=tag, is_primary=tag != "second")
    freeze_pool(task=task, choice=CHOICE, by=None, at=NOW)
    draw = random.Random(3)
    labels: dict[str, dict[str, int]] = {topic: {} for topic in TOPICS}
    for topic, item in PoolItem.official.order_by("pk").values_list("topic__query_id", "item"):
        labels[topic][item] = draw.randrange(4)
    return make_qrels(task, labels)


def labels_without(qrels: QrelSet, lists, tags: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the labels of the items that the other runs have in their tops."""
    others = DEPTHS.keys() - set(tags)
    found: dict[str, dict[str, int]] = {topic: {} for topic in TOPICS}
    for topic, item, label in qrels.qrels.values_list("query_id", "doc_id", "relevance"):
        if any(item in lists[tag][topic][: DEPTHS[tag]] for tag in others):
            found[topic][item] = label
    return found


def stored(qrels: QrelSet, tag: str, measure: str) -> float:
    return RunScore.objects.get(qrel_set=qrels, run__tag=tag, measure=measure).value


def rows_of(office, part: str) -> list[dict[str, str]]:
    text = office.get(f"{PAGE}?format=tsv&part={part}").text
    return list(csv.DictReader(text.splitlines(), delimiter="\t"))


@pytest.mark.parametrize(
    ("part", "parties"),
    [
        ("teams", {"first": ["first", "second"], "second": ["first", "second"]}),
        ("runs", {"first": ["first"], "second": ["second"]}),
    ],
)
def test_the_file_has_the_scores_against_qrels_without_the_lines(
    office, qrels, lists, part, parties
):
    made_by_job(office, PAGE)
    rows = rows_of(office, part)
    without = {
        tag: make_qrels(qrels.task, labels_without(qrels, lists, parties.get(tag, [tag])))
        for tag in DEPTHS
    }
    score_waiting(at=NOW)

    names = set(RunScore.objects.values_list("measure", flat=True))
    compared = [row for row in rows if row["measure"] in names]
    for row in compared:
        tag, measure = row["run"], row["measure"]
        assert float(row["value"]) == pytest.approx(stored(qrels, tag, measure), abs=1e-9)
        after = stored(without[tag], tag, measure)
        assert float(row["value_without"]) == pytest.approx(after, abs=1e-9)
        better = RunScore.objects.filter(
            qrel_set=without[tag], measure=measure, value__gt=after + 1e-12
        )
        assert int(row["rank_without"]) == 1 + better.count()
    assert len(compared) >= 4 * 6
    assert any(float(row["change"]) for row in compared)


def test_the_page_offers_to_compute_and_keeps_the_result(office, qrels):
    assert "Compute certificate" in office.get(PAGE).content.decode()

    made_by_job(office, PAGE)
    shown = office.get(PAGE).content.decode()

    assert "Compute certificate" not in shown
    assert re.search(r"Pool 1: the contribution of each of its 4 runs", shown)
    for table in ("findings", "primes", "teams", "runs", "depths"):
        assert f'id="{table}"' in shown


def test_the_page_shows_the_items_and_scores_of_each_team(office, qrels, lists):
    context = made_by_job(office, PAGE).context

    left = labels_without(qrels, lists, ["other"])
    lost = qrels.lines - sum(map(len, left.values()))
    [row] = [row for row in context["tables"]["teams"].rows if row.party == "Beta"]
    assert (row.items, lost > 0) == (lost, True)
    assert [row.depth for row in context["tables"]["depths"].rows] == [1, 2, 3, 5, 6]
    assert context["tables"]["depths"].rows[-1].items == qrels.lines


def test_a_pool_whose_runs_are_all_loaded_has_no_warning(office, qrels):
    answer = made_by_job(office, PAGE)

    assert answer.context["certificate"].orphans == 0
    assert "stay judged" not in answer.text


def test_the_page_shows_another_measure_on_demand(office, qrels):
    made_by_job(office, PAGE)

    assert office.get(f"{PAGE}?measure=AP(rel%3D2)").context["measure"].heading == "MAP"
    assert office.get(f"{PAGE}?measure=Nothing").status_code == 404


def test_an_unknown_part_has_no_file(office, qrels):
    made_by_job(office, PAGE)

    assert office.get(f"{PAGE}?format=tsv&part=nothing").status_code == 404
    assert {row["depth"] for row in rows_of(office, "depths")} == {"1", "2", "3", "5", "6"}


def test_organizers_stop_a_certificate_while_runs_are_read(office, qrels, monkeypatch):
    office.post(PAGE)
    job = Job.objects.get()
    assert f'action="/loads/{job.pk}/stop/"' in office.get(PAGE).text

    def stopped(work):
        office.post(f"/loads/{job.pk}/stop/", headers={"referer": f"http://testserver{PAGE}"})
        return compute_certificate(work)

    monkeypatch.setitem(JOB_KINDS, job.kind, JobKind("Certificate", stopped))
    run_waiting_job(job_id=job.pk, at=NOW)

    job.refresh_from_db()
    assert job.state == Job.State.STOPPED
    assert "It was stopped on request." in office.get(PAGE).text


def test_a_new_run_asks_for_a_new_certificate(qrels, team, lists):
    certification_of(qrels, computes=True)
    assert certification_of(qrels).certificate

    make_run(team, qrels.task, lists["first"], tag="late")

    assert certification_of(qrels).certificate is None


def test_what_a_withdrawn_run_contributed_too_is_no_teams_own(qrels, lists):
    Run.objects.filter(tag="other").update(withdrawn_at=NOW)

    found = certification_of(qrels, computes=True).certificate

    items = dict(found.teams.parties.select("party", "items").rows())
    left = labels_without(qrels, lists, ["third"])
    assert items == {"Alpha": items["Alpha"], "Gamma": qrels.lines - sum(map(len, left.values()))}


def test_without_a_pool_the_protocols_depths_count(office, task, team, other_team):
    below = [f"x{number}" for number in range(task.protocol.pool.alternate - 1)]
    make_run(team, task, {"A.1": ["p1", *below, "p2"]}, is_primary=True)
    make_run(other_team, task, {"A.1": ["p3", *below, "p4"]})
    make_qrels(task, {"A.1": {"p1": 3, "p2": 2, "p3": 0, "p4": 1}})

    answer = made_by_job(office, PAGE)

    assert "No pool lists its runs." in answer.content.decode()
    assert "Of the 4 judged items, 1 was contributed by no run listed here." in answer.text
    assert "They stay judged whatever is left out" in answer.text
    assert {row.party: row.items for row in answer.context["tables"]["teams"].rows} == {
        team.name: 2,
        other_team.name: 1,
    }


def test_formulas_count_by_their_visual_ids(lab, team, other_team):
    task = FormulaTaskFactory(lab=lab, slug="task2")
    TopicFactory(task=task, query_id="B.1", position=1)
    report = {"report": {"items": "visual-ids", "order": "score"}}
    make_run(team, task, {"B.1": ["v1", "v2"]}, is_primary=True, **report)
    make_run(other_team, task, {"B.1": ["v2", "v3"]}, is_primary=True, **report)
    found = certification_of(
        make_qrels(task, {"B.1": {"v1": 3, "v2": 2, "v3": 0}}, items="visual-ids"), computes=True
    )

    assert found.certificate.teams.parties.select("party", "items", "relevant").rows() == [
        (team.name, 1, 1),
        (other_team.name, 1, 0),
    ]


def test_instances_count_by_the_visual_ids_of_the_collection(lab, team, other_team, tmp_path):
    task = FormulaTaskFactory(lab=lab, slug="task2")
    TopicFactory(task=task, query_id="B.1", position=1)
    load_small(lab, tmp_path, formulas=FORMULAS.replace("\t\ta=2b", "\t71\ta=2b"))
    report = {"report": {"items": "formula-ids", "order": "score"}}
    make_run(team, task, {"B.1": ["7", "8"]}, is_primary=True, **report)
    make_run(other_team, task, {"B.1": ["9"]}, is_primary=True, **report)
    qrels = make_qrels(task, {"B.1": {"70": 3, "71": 2}}, items="visual-ids")

    found = certification_of(qrels, computes=True)

    # 7 and 9 show the formula 70, and 8 the formula 71.
    assert found.certificate.teams.parties.select("party", "items").rows() == [
        (team.name, 1),
        (other_team.name, 0),
    ]


def test_answers_of_task_3_have_no_certificate(lab, team):
    third = WrittenTaskFactory(lab=lab, slug="task3")
    qrels = make_qrels(third, {"A.1": {"gpt:A.1": 3}}, items="answers")

    assert certification_of(qrels).obstacle.startswith("Each answer of Task 3 belongs to one run.")


def test_without_valid_runs_or_known_measures_the_page_says_so(office, task, team):
    make_qrels(task)
    assert "no valid run" in office.get(PAGE).content.decode()

    make_run(team, task)
    Task.objects.filter(pk=task.pk).update(overrides={"measures": ["SetP"]})
    assert "can be certified" in office.get(PAGE).content.decode()

"""Scores by all instances of formulas beside those by visually distinct formulas."""

import pytest
from django.urls import reverse
from scipy import stats

from analyses.views.breakdown import instance_scores, other_version
from arqlab.core.models import Task
from assessment.models import QrelSet
from evaluation.models import RunScore, Scoring, TopicScore
from tests.evaluation.factories import NOW, make_qrels, make_run

MAIN = "nDCG(judged_only=True)@1000"
# run: by topic, the scores by instances and by visually distinct formulas; B.3 has no visual qrels.
VALUES = {
    "one": ([0.5, 0.25, 1.0], [0.25, 0.25]),
    "two": ([0.25, 0.25, 0.0], [0.5, 0.25]),
    "three": ([0.125, 0.0, 0.0], [0.125, 0.0]),
}


@pytest.fixture
def versions(scene):
    """Return qrels by instances and by visual ids with three runs that have scores by both."""
    Task.objects.filter(pk=scene.task.pk).update(kind=Task.Kind.FORMULAS)
    labels = {f"B.{number}": {"1": 3, "2": 2} for number in (1, 2, 3)}
    by_instances = make_qrels(scene.task, labels, items="formula-ids")
    visual = make_qrels(scene.task, {topic: labels[topic] for topic in ("B.1", "B.2")},
                        items="visual-ids")  # fmt: skip
    for tag, sides in VALUES.items():
        run = make_run(scene.team, scene.task, tag=tag)
        for version, values in zip((by_instances, visual), sides, strict=True):
            scored = {"run": run, "qrel_set": version}
            Scoring.objects.create(**scored, measures=[MAIN], scored_at=NOW)
            RunScore.objects.create(**scored, measure=MAIN, value=sum(values) / len(values))
            for number, value in enumerate(values, start=1):
                topic = {"query_id": f"B.{number}", "measure": MAIN, "value": value}
                TopicScore.objects.create(**scored, **topic)
    return by_instances, visual


def url(scene, **query):
    address = [scene.lab.slug, scene.task.slug]
    return reverse("analyses:breakdown-instances", args=address, query=query)


def test_both_sides_are_means_over_the_common_topics(versions):
    by_instances, visual = versions
    found = instance_scores(visual, by_instances)

    assert (found.versions, found.topics) == ([by_instances, visual], 2)
    [main, *_] = found.measures
    expected = {tag: (sum(one[:2]) / 2, sum(other) / 2) for tag, (one, other) in VALUES.items()}
    sides = zip(*(side.means for side in main.sides), strict=True)
    assert {run.tag: pair for run, pair in zip(found.runs, sides, strict=True)} == expected
    assert main.pair.tau == pytest.approx(
        stats.kendalltau(*zip(*expected.values(), strict=True)).statistic
    )


def test_the_other_version_is_the_newest_one_of_the_other_kind(versions, scene):
    by_instances, visual = versions
    newer = make_qrels(scene.task, {"B.1": {"1": 3}}, items="visual-ids")

    assert (other_version(visual), other_version(by_instances)) == (by_instances, newer)
    assert other_version(make_qrels(scene.task)) is None


def test_the_page_and_the_file_have_both_sides(versions, scene, client_of):
    client = client_of(scene.organizer)
    html = client.get(url(scene)).content.decode()
    rows = client.get(url(scene, format="tsv")).content.decode().splitlines()

    assert rows[0].startswith("team\trun\tstanding\tnDCG', all instances")
    two = next(row.split("\t") for row in rows if "\ttwo\t" in row)
    assert (two[3], two[6], two[4]) == ("0.25", "0.375", "")
    assert '<td class="num">0.3750</td>' in html
    assert "0.333" in html


def test_only_organizers_see_the_page(versions, scene, client_of):
    for role in ("member", "assessor", "outsider"):
        assert client_of(scene.people[role]).get(url(scene)).status_code == 404
    client = client_of(scene.organizer)
    assert client.get(url(scene, qrels="no")).status_code == 404
    assert (
        url(scene)
        in client.get(
            reverse("analyses:breakdown", args=[scene.lab.slug, scene.task.slug])
        ).content.decode()
    )


def test_with_one_kind_of_qrels_the_page_explains_what_is_missing(versions, scene, client_of):
    QrelSet.objects.filter(items="visual-ids").delete()
    client = client_of(scene.organizer)

    assert "Only one kind of qrels" in client.get(url(scene)).content.decode()
    assert client.get(url(scene, format="tsv")).status_code == 404


def test_without_scored_runs_the_page_is_empty(versions, scene, client_of):
    RunScore.objects.all().delete()

    assert "No scored runs yet" in client_of(scene.organizer).get(url(scene)).content.decode()

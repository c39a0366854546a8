"""The page of a leaderboard by groups of topics: its figures, and who sees which runs."""

from itertools import combinations
from types import SimpleNamespace

import pytest
from django.urls import reverse
from scipy import stats

from arqlab.core.models import Task, Topic
from evaluation.models import Leaderboard, TopicScore
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import NOW, make_qrels, make_run

ROLES = ("visitor", "outsider", "member", "other_member", "assessor", "organizer", "superuser")
# What each role sees: all runs, or no page.
SEEN = {
    "unreleased": "none none none none none all all",
    "unreleased, own shown": "none none none none none all all",
    "released": "all all all all all all all",
    "hidden again": "none none none none none all all",
}
# By topic: easy are A.1 and A.2, hard are A.3 and A.4; A.5 has no difficulty.
VALUES = {
    "alpha-one": [0.75, 0.5, 0.125, 0.0, 0.5],
    "alpha-two": [0.5, 0.25, 0.5, 0.25, 0.5],
    "alpha-three": [0.25, 0.0, 0.75, 0.5, 0.0],
    "beta-one": [0.125, 0.25, 0.25, 0.25, 0.25],
}


@pytest.fixture
def broken_down(scene):
    """Return the scene with scored runs of two teams, and topics with a difficulty."""
    task, topics = scene.task, [f"A.{number}" for number in range(1, 6)]
    for topic, difficulty in zip(topics, ["easy", "easy", "hard", "hard", ""], strict=True):
        place = topics.index(topic) + 1
        info = {"difficulty": difficulty, "elements": "sum", "notes": "secret"}
        fields = {"position": place, "info": info}
        Topic.objects.update_or_create(task=task, query_id=topic, defaults=fields)
    qrels = make_qrels(task, {topic: {"p1": 3, "p2": 2} for topic in topics})
    for tag in VALUES:
        make_run(scene.other_team if "beta" in tag else scene.team, task, tag=tag)
    score_waiting(at=NOW)
    for tag, values in VALUES.items():
        for topic, value in zip(topics, values, strict=True):
            TopicScore.objects.filter(run__tag=tag, query_id=topic).update(value=value)
    return SimpleNamespace(**vars(scene), people=scene.people, qrels=qrels)


def url(scene, **query):
    return reverse("analyses:breakdown", args=[scene.lab.slug, scene.task.slug], query=query)


def text_of(client, address):
    return " ".join(client.get(address).content.decode().split())


@pytest.mark.parametrize("format_", [{}, {"format": "tsv"}])
@pytest.mark.parametrize("state", SEEN)
def test_each_role_sees_the_runs_of_its_board(state, format_, broken_down, client_of):
    Task.objects.filter(pk=broken_down.task.pk).update(shows_own_scores="own shown" in state)
    if state in {"released", "hidden again"}:
        release_leaderboard(qrel_set=broken_down.qrels, by=None, at=NOW)
    if state == "hidden again":
        Leaderboard.objects.update(hidden_at=NOW)
    for role, expected in zip(ROLES, SEEN[state].split(), strict=True):
        answer = client_of(broken_down.people[role]).get(url(broken_down, **format_))

        assert answer.status_code == (404 if expected == "none" else 200)
        text = answer.content.decode()
        assert ("alpha-one" in text, "beta-one" in text) == (expected == "all",) * 2


def test_the_file_has_the_means_of_each_group(broken_down, client_of):
    address = url(broken_down, by="difficulty", format="tsv")
    rows = client_of(broken_down.organizer).get(address).content.decode().splitlines()

    assert rows[0] == "team\trun\tstanding\tall (5 topics)\teasy (2 topics)\thard (2 topics)"
    means = {row.split("\t")[1]: [float(one) for one in row.split("\t")[3:]] for row in rows[1:]}
    assert means == {
        tag: pytest.approx([sum(one) / 5, sum(one[:2]) / 2, sum(one[2:4]) / 2])
        for tag, one in VALUES.items()
    }


def test_the_page_has_gaps_and_taus_and_says_what_is_left_out(broken_down, client_of):
    text = text_of(client_of(broken_down.organizer), url(broken_down))

    easy, hard = ([sum(one[part]) for one in VALUES.values()] for part in (slice(2), slice(2, 4)))
    assert "Easy and hard" in text
    assert f'<td class="num">{stats.kendalltau(easy, hard).statistic:.3f}</td>' in text
    assert f'<td class="num">{(max(easy) - min(easy)) / 2 / 3:.4f}</td>' in text
    swaps = sum(
        (easy[one] - easy[other]) * (hard[one] - hard[other]) < 0
        for one, other in combinations(range(len(VALUES)), 2)
    )
    assert f'<td class="num">{swaps}</td>' in text
    assert swaps > 1
    assert "1 topic is in no group, because it has no difficulty." in text


def test_each_group_has_the_mean_number_of_items_with_each_label(broken_down, client_of):
    response = client_of(broken_down.organizer).get(url(broken_down))

    assert [list(row) for row in response.context["labels"].rows] == [
        ["easy", 2, {3: 1.0, 2: 1.0, 1: 0.0, 0: 0.0}],
        ["hard", 2, {3: 1.0, 2: 1.0, 1: 0.0, 0: 0.0}],
    ]


def test_topics_are_grouped_by_public_information_only(broken_down, client_of):
    client = client_of(broken_down.organizer)

    assert '<option value="difficulty" selected>Difficulty</option>' in text_of(
        client, url(broken_down)
    )
    for name in ("notes", "elements", "category"):
        assert client.get(url(broken_down, by=name)).status_code == 404


def test_without_groups_the_page_explains_why(broken_down, client_of):
    Topic.objects.update(info={})
    client = client_of(broken_down.organizer)

    assert "No groups yet" in text_of(client, url(broken_down))
    assert client.get(url(broken_down, format="tsv")).status_code == 404


def test_without_runs_the_page_explains_why(scene, client_of):
    make_qrels(scene.task)

    assert "No groups yet" in text_of(client_of(scene.organizer), url(scene))


def test_a_run_without_a_score_in_a_group_has_a_dash(broken_down, client_of):
    TopicScore.objects.filter(run__tag="beta-one", query_id__in=["A.3", "A.4"]).delete()
    client = client_of(broken_down.organizer)

    assert '<td class="num">–</td>' in text_of(client, url(broken_down))
    file = client.get(url(broken_down, format="tsv")).content.decode()
    assert next(row for row in file.splitlines() if "beta-one" in row).endswith("\t")


def test_forty_runs_and_more_are_not_drawn(broken_down, client_of):
    client = client_of(broken_down.organizer)
    assert 'data-chart="group-values"' in text_of(client, url(broken_down))

    for number in range(36):
        make_run(broken_down.team, broken_down.task, tag=f"further-{number}")
    score_waiting(at=NOW)

    assert 'data-chart="group-values"' not in text_of(client, url(broken_down))


def test_the_leaderboard_leads_to_its_breakdown(broken_down, client_of):
    board = reverse("evaluation:leaderboard", args=[broken_down.lab.slug, broken_down.task.slug])

    html = client_of(broken_down.organizer).get(board).content.decode()
    assert f'href="{url(broken_down)}?live=1&amp;qrels=v1"' in html

"""The pages that a score opens: rankings, topics, and the judgments of an item."""

import re
from copy import deepcopy
from types import SimpleNamespace

import pytest
from django.urls import reverse

from arqlab.core.models import Task
from assessment.models import PoolInstance
from assessment.rounds.services.rounds import reveal_round
from evaluation.models import TopicScore
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.assessment.factories import judge, make_pool
from tests.assessment.rounds.factories import round_of, vote
from tests.collection.factories import load_small
from tests.evaluation.factories import NOW, make_qrels, make_run
from tests.evaluation.test_views import bring_to, matrix
from tests.factories import FormulaTaskFactory, TopicFactory, WrittenTaskFactory, make_lab

QRELS = {"A.1": {"10": 3, "11": 0, "x": 5, "p2": 2}, "A.2": {"12": 2}}
ALPHA = {"A.1": ["11", "y", "10"], "A.2": ["12"]}
BETA = {"A.1": ["10", "p2", "x"]}
FORMULA_REPORT = {"items": "formula-ids", "order": "score"}
# The status of the ranking of Alpha's run, and of the topic, for each role.
RANKINGS = {
    "unreleased": "404 404 404 404 404 200 200",
    "unreleased, own shown": "404 404 404 404 404 200 200",
    "released": "404 404 200 404 404 200 200",
    "hidden again": "404 404 404 404 404 200 200",
}
TOPICS = {
    "unreleased": "404 404 404 404 404 200 200",
    "unreleased, own shown": "404 404 404 404 404 200 200",
    "released": "200 200 200 200 200 200 200",
    "hidden again": "404 404 404 404 404 200 200",
}


@pytest.fixture(scope="module")
def scored(kept_db, tmp_path_factory):
    """Make a lab with posts, qrels and a scored run of each team, once; `run` is team Alpha's.

    The task publishes no runs; tests/evaluation/test_published_runs.py has the other settings.
    """
    scene = make_lab("played")
    Task.objects.filter(pk=scene.task.pk).update(published_runs="none")
    load_small(scene.lab, tmp_path_factory.mktemp("small"), slug="played")
    qrels = make_qrels(scene.task, QRELS)
    run = make_run(scene.team, scene.task, ALPHA, tag="alpha-run")
    rival = make_run(scene.other_team, scene.task, BETA, tag="beta-run")
    score_waiting(at=NOW)
    return SimpleNamespace(**vars(scene), people=scene.people, qrels=qrels, run=run, rival=rival)


@pytest.fixture
def played(scored, db):
    """Return records of this test alone."""
    return deepcopy(scored)


def ranking_url(scene: SimpleNamespace, run: Run | None = None, topic="A.1", **query: str) -> str:
    address = [scene.lab.slug, scene.task.slug, (run or scene.run).pk, topic]
    return reverse("evaluation:run-ranking", args=address, query=query)


def topic_url(scene: SimpleNamespace, topic="A.1", **query: str) -> str:
    address = [scene.lab.slug, scene.task.slug, topic]
    return reverse("evaluation:topic-scores", args=address, query=query)


def judged_instance(scene: SimpleNamespace) -> PoolInstance:
    make_pool(scene.task)
    return PoolInstance.official.get(doc_id="10", item__topic__query_id="A.1")


def items_of(scene: SimpleNamespace) -> str:
    return f"items-{scene.run.pk}"


def judgments_url(scene: SimpleNamespace, item: str) -> str:
    address = [scene.lab.slug, scene.task.slug, "A.1", item]
    return reverse("assessment:item-judgments", args=address)


def table(html: str, name: str) -> list[list[str]]:
    """Return the cells of the rows in a table's body, without tags."""
    body = re.search(rf'id="{name}".*?<tbody>(.*?)</tbody>', html, re.DOTALL)[1]
    rows = re.findall("<tr>(.*?)</tr>", body, re.DOTALL)
    cells = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [[" ".join(re.sub("<[^>]*>", " ", cell).split()) for cell in row] for row in cells]


@pytest.mark.parametrize(("state", "role", "expected"), matrix(RANKINGS))
def test_only_its_team_and_organizers_open_a_ranking(state, role, expected, played, client_of):
    bring_to(state, played)

    assert client_of(played.people[role]).get(ranking_url(played)).status_code == int(expected)


@pytest.mark.parametrize(("state", "role", "expected"), matrix(TOPICS))
def test_a_topic_opens_for_those_who_see_a_board(state, role, expected, played, client_of):
    bring_to(state, played)

    assert client_of(played.people[role]).get(topic_url(played)).status_code == int(expected)


def test_a_ranking_has_the_labels_the_posts_and_the_places_in_the_best_run(played, client_of):
    html = client_of(played.organizer).get(ranking_url(played)).content.decode()

    assert table(html, f"items-{played.run.pk}") == [
        ["1", "11 See there.", "N Not relevant", "–"],
        ["2", "y", "unjudged", "–"],
        ["3", "10 Since a = 2 b .", "H High", "1"],
    ]
    assert [row[:1] for row in table(html, f"items-{played.rival.pk}")] == [["1"], ["2"], ["3"]]
    assert f'href="/labs/{played.lab.slug}/posts/10/#post-10">10</a>' in html


def test_a_report_is_unjudged_and_the_filter_leaves_such_items_out(played, client_of):
    client = client_of(played.organizer)
    all_of = table(client.get(ranking_url(played)).text, f"items-{played.rival.pk}")
    judged = table(client.get(ranking_url(played, judged="1")).text, f"items-{played.rival.pk}")

    assert all_of[2][1:3] == ["x", "unjudged"]
    assert [row[0] for row in judged] == ["1", "2"]


def test_the_values_are_the_stored_scores(played, client_of):
    html = client_of(played.organizer).get(ranking_url(played)).content.decode()
    [own, other] = table(html, "values")

    for row, run in ((own, played.run), (other, played.rival)):
        stored = TopicScore.objects.filter(run=run, query_id="A.1").values_list("value", flat=True)
        assert {f"{value:.4f}" for value in stored} == set(row[1:])


@pytest.mark.parametrize(
    ("beside", "tag"),
    [("best", "best-run"), ("median", "beta-run"), ("none", None), ("nonsense", None)],
)
def test_a_ranking_is_beside_the_best_or_the_median(beside, tag, scene, client_of):
    make_qrels(scene.task, QRELS)
    run = make_run(scene.team, scene.task, {"A.1": ["11", "p2"]}, tag="alpha-run")
    for name, items in (("best", ["10", "p2"]), ("beta", ["11", "10"]), ("worst", ["11"])):
        make_run(scene.other_team, scene.task, {"A.1": items}, tag=f"{name}-run")
    score_waiting(at=NOW)

    url = ranking_url(SimpleNamespace(lab=scene.lab, task=scene.task, run=run), beside=beside)
    html = client_of(scene.organizer).get(url).text
    assert re.findall(r'<h2 id="ranking-.*?>(.*?)</h2>', html)[1:] == ([tag] if tag else [])


def test_of_many_runs_the_best_can_be_chosen_and_the_one_that_is_beside(
    played, client_of, monkeypatch
):
    make_run(played.other_team, played.task, {"A.1": ["10"]}, tag="another-run")
    score_waiting(at=NOW)
    monkeypatch.setattr("evaluation.views.rankings.MOST_BESIDE", 0)
    url = ranking_url(played, beside=str(played.rival.pk))
    page = client_of(played.organizer).get(url).text

    assert f'<option value="{played.rival.pk}" selected>' in page
    assert page.count("<option value=") == 4
    assert "The best 1 of 2 runs" in page


def test_a_team_compares_with_its_own_runs_only(played, client_of):
    make_run(played.team, played.task, {"A.1": ["10"]}, tag="alpha-two")
    score_waiting(at=NOW)
    bring_to("released", played)
    client = client_of(played.member)

    assert "alpha-two" in client.get(ranking_url(played)).text
    for url in (ranking_url(played), ranking_url(played, beside=str(played.rival.pk))):
        assert "beta-run" not in client.get(url).text


def test_the_topic_lists_who_found_which_relevant_item(played, client_of):
    judge(played.assessor, judged_instance(played), 3)
    html = client_of(played.organizer).get(topic_url(played)).text

    assert [(row[0].split()[0], *row[2:]) for row in table(html, "relevant")] == [
        ("10", "2", "beta-run 1 , alpha-run 3"),
        ("p2", "1", "beta-run 2"),
    ]
    assert f'href="{judgments_url(played, "10")}"' in html


@pytest.mark.parametrize(
    ("role", "found"), [("member", ["alpha-run 3", "–"]), ("visitor", []), ("assessor", [])]
)
def test_after_the_release_others_see_labels_and_where_their_own_runs_found_them(
    role, found, played, client_of
):
    judge(played.assessor, judged_instance(played), 3)
    bring_to("released", played)
    html = client_of(played.people[role]).get(topic_url(played)).text
    rows = table(html, "relevant")

    assert [row[1] for row in rows] == ["H High", "M Medium"]
    assert [cell for row in rows for cell in row[3:]] == found
    assert "/judgments/" not in html
    assert played.assessor.username not in html or role == "assessor"


def test_a_run_withdrawn_after_the_release_stays_in_the_spread(played, client_of):
    bring_to("released", played)
    Run.objects.filter(pk=played.rival.pk).update(withdrawn_at=NOW)
    html = client_of(played.organizer).get(topic_url(played, measure="MAP'")).text

    assert table(html, "spread")[0][:2] == ["2", "1.0000"]
    assert [row[2] for row in table(html, "run-values")] == ["1.0000", "0.2500"]


def test_the_spread_has_the_median_and_the_deviation_of_the_runs(played, client_of):
    make_run(played.team, played.task, {"A.1": ["p2"]}, tag="third")
    score_waiting(at=NOW)
    client = client_of(played.organizer)

    # Relevant items at judged places 1 and 2; 2; 1: AP' of 1, 1/2 / 2 and 1 / 2.
    html = client.get(topic_url(played, measure="MAP'")).text
    assert table(html, "spread") == [["3", "1.0000", "0.5000", "0.5833", "0.2500", "0.3118"]]
    assert [row[2] for row in table(html, "run-values")] == ["1.0000", "0.5000", "0.2500"]


def test_a_closed_thread_hides_the_text_of_its_posts(played, client_of):
    played.task.topics.filter(query_id="A.2").update(thread_id="1")
    bring_to("released", played)
    Task.objects.update(threads=Task.Threads.CLOSED)

    hidden = table(client_of(played.member).get(ranking_url(played)).text, items_of(played))
    assert [row[1] for row in hidden] == ["11", "y", "10"]


def test_formulas_are_joined_by_their_visual_ids_and_typeset(scene, client_of, tmp_path):
    load_small(scene.lab, tmp_path)
    task = FormulaTaskFactory(lab=scene.lab)
    TopicFactory(task=task, query_id="B.1")
    make_qrels(task, {"B.1": {"70": 3}}, items="visual-ids")
    run = make_run(scene.team, task, {"B.1": ["8", "9", "7"]}, report=FORMULA_REPORT)
    score_waiting(at=NOW)
    place = SimpleNamespace(lab=scene.lab, task=task, run=run)
    client = client_of(scene.organizer)

    rows = client.get(ranking_url(place, topic="B.1")).text
    assert [row[0] for row in table(rows, items_of(place))] == ["1", "2"]
    assert re.search(r'posts/12/\?formula=9#formula-9">70</a>.*?<math', rows, re.DOTALL)
    [found] = table(client.get(topic_url(place, topic="B.1")).text, "relevant")
    assert found[2:] == ["1", f"{run.tag} 2"]


def test_a_generated_answer_is_shown_with_its_label(scene, client_of):
    task = WrittenTaskFactory(lab=scene.lab)
    TopicFactory(task=task, query_id="A.301")
    answers = {"A.301": "By $x^2$, obviously."}
    run = make_run(scene.team, task, {"A.301": ["A.301"]}, answers=answers, tag="gpt")
    make_qrels(task, {"A.301": {"gpt:A.301": 2}}, items="answers")
    score_waiting(at=NOW)
    place = SimpleNamespace(lab=scene.lab, task=task, run=run)

    [row] = table(
        client_of(scene.organizer).get(ranking_url(place, topic="A.301")).text, items_of(place)
    )
    assert row[1].startswith("gpt:A.301 By x 2")
    assert row[2] == "M Medium"


@pytest.mark.parametrize("name", ["ranking", "topic"])
def test_a_topic_that_the_qrels_lack_is_404(name, played, client_of):
    make = {"ranking": ranking_url, "topic": topic_url}[name]

    assert client_of(played.organizer).get(make(played, topic="A.9")).status_code == 404


def test_scores_link_to_rankings_and_topics(played, client_of):
    scores = reverse(
        "evaluation:run-scores", args=[played.lab.slug, played.task.slug, played.run.pk]
    )
    bring_to("released", played)
    own = client_of(played.member).get(scores).text
    other = client_of(played.other_member).get(scores).text

    assert f'href="{ranking_url(played)}?measure=' in own
    assert "/scores/A.1/" not in other
    assert f'href="{topic_url(played)}?measure=' in other


def test_the_judgments_of_an_item_have_their_comments_and_history(played, client_of):
    instance = judged_instance(played)
    first = judge(played.assessor, instance, 1, comment="Half an answer.", is_current=False)
    judge(played.assessor, instance, 3, reason="Read it again.", supersedes=first)

    rows = table(client_of(played.organizer).get(judgments_url(played, "10")).text, "judgments")
    assert [row[1:5] for row in rows] == [
        ["L Low", "replaced", played.assessor.name, "Half an answer."],
        ["H High", "current", played.assessor.name, "– Changed: Read it again."],
    ]


def test_the_page_of_an_unjudged_item_leads_to_the_pools(played, client_of):
    make_pool(played.task)
    client = client_of(played.organizer)

    assert "Not judged yet" in client.get(judgments_url(played, "10")).text
    assert client.get(judgments_url(played, "999")).status_code == 404


def test_labels_of_a_round_appear_when_it_is_revealed(played, client_of):
    make_pool(played.task)
    second = round_of(played.task, "second", played.assessor)
    vote(second, played.assessor, "10", 1)
    client, url = client_of(played.organizer), judgments_url(played, "10")
    hidden = client.get(url).text
    reveal_round(round_=second, by=played.organizer, at=NOW)

    assert "Not judged yet" in hidden
    assert "L Low" in " ".join(table(client.get(url).text, "judgments")[0])

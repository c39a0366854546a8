"""The pages that compare runs: their figures, and who sees which runs."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from django.urls import reverse
from scipy import stats

from analyses.services.comparison import compared_runs, run_pair, run_similarity
from arqkit.comparison.families import pair_family
from arqlab.core.models import Task
from evaluation.models import Leaderboard, RunScore, TopicScore
from evaluation.permissions import score_access_of, visible_board
from evaluation.selectors.boards import live_board, topic_matrix
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.evaluation.factories import GOOD, NOW, POOR, make_qrels, make_run

ROLES = ("visitor", "outsider", "member", "other_member", "assessor", "organizer", "superuser")
# What each role sees: both teams' runs (all), or no page.
SEEN = {
    "unreleased": "none none none none none all all",
    "unreleased, own shown": "none none none none none all all",
    "released": "all all all all all all all",
    "hidden again": "none none none none none all all",
}
PAGES = ("comparison", "comparison-matrix")
FIRST = [0.9, 0.5, 0.25, 0.0, 0.75, 0.5]
SECOND = [0.5, 0.5, 0.5, 0.0, 0.25, 0.125]


@pytest.fixture
def compared(scene):
    """Return the scene with two scored runs of each team; `alpha` and `beta` are their first."""
    labels = {f"A.{number}": {"p1": 3, "p2": 2} for number in range(1, 7)}
    qrels = make_qrels(scene.task, labels)
    runs = {
        tag: make_run(team, scene.task, lists, tag=tag)
        for team, name, lists in ((scene.team, "alpha", GOOD), (scene.other_team, "beta", POOR))
        for tag in (f"{name}-one", f"{name}-two")
    }
    score_waiting(at=NOW)
    for tag, values in (("alpha-one", FIRST), ("beta-one", SECOND)):
        for number, value in enumerate(values, start=1):
            TopicScore.objects.filter(run=runs[tag], query_id=f"A.{number}").update(value=value)
    return SimpleNamespace(
        **vars(scene),
        people=scene.people,
        qrels=qrels,
        alpha=runs["alpha-one"],
        beta=runs["beta-one"],
    )


def url(scene: SimpleNamespace, page: str = "comparison", **query: object) -> str:
    return reverse(f"analyses:{page}", args=[scene.lab.slug, scene.task.slug], query=query)


def both(scene: SimpleNamespace, **query: object) -> str:
    return url(scene, first=scene.alpha.pk, second=scene.beta.pk, **query)


def bring_to(state: str, scene: SimpleNamespace) -> None:
    Task.objects.filter(pk=scene.task.pk).update(shows_own_scores="own shown" in state)
    if state in {"released", "hidden again"}:
        release_leaderboard(qrel_set=scene.qrels, by=None, at=NOW)
    if state == "hidden again":
        Leaderboard.objects.update(hidden_at=NOW)


def teams_on(text: str) -> set[str]:
    return {team for team in ("alpha", "beta") if f"{team}-one" in text}


@pytest.mark.parametrize("format_", ["", "tsv"])
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("state", SEEN)
def test_each_role_sees_the_runs_of_its_board(state, page, format_, compared, client_of):
    bring_to(state, compared)
    for role, expected in zip(ROLES, SEEN[state].split(), strict=True):
        address = url(compared, page, **({"format": format_} if format_ else {}))
        answer = client_of(compared.people[role]).get(address)

        assert answer.status_code == (404 if expected == "none" else 200)
        if page == "comparison" and format_:
            continue  # The file has only the two best runs.
        teams = {"all": {"alpha", "beta"}, "none": set()}[expected]
        assert teams_on(answer.content.decode()) == teams


def test_a_team_cannot_name_a_run_of_another_team_before_the_release(compared, client_of):
    bring_to("unreleased, own shown", compared)
    client = client_of(compared.member)

    assert client.get(both(compared)).status_code == 404
    assert client.get(both(compared, format="tsv")).status_code == 404
    assert client.get(url(compared, second=compared.beta.pk)).status_code == 404


@pytest.mark.parametrize("page", PAGES)
def test_a_measure_or_qrels_that_the_board_lacks_are_not_found(page, compared, client_of):
    client = client_of(compared.organizer)

    for query in ({"measure": "no"}, {"qrels": "no"}):
        assert client.get(url(compared, page, **query)).status_code == 404


@pytest.mark.parametrize("query", [{"test": "sign"}, {"correction": "bonferroni"}])
def test_an_unknown_test_is_not_found(query, compared, client_of):
    address = url(compared, "comparison-matrix", **query)

    assert client_of(compared.organizer).get(address).status_code == 404


def pair_of(scene: SimpleNamespace):
    shown = visible_board(score_access_of(scene.organizer, scene.task))
    found = compared_runs(shown, shown.board.measures[0])
    places = {run.key: place for place, run in enumerate(found.runs)}
    return run_pair(found, places[scene.alpha.pk], places[scene.beta.pk])


def test_a_pair_has_the_differences_of_its_topics_and_their_tests(compared):
    pair = pair_of(compared)

    assert pair.means == pytest.approx((sum(FIRST) / 6, sum(SECOND) / 6))
    assert (pair.wins, pair.ties, pair.losses) == (3, 2, 1)
    assert [row.query_id for row in pair.topics] == ["A.5", "A.1", "A.6", "A.2", "A.4", "A.3"]
    assert pair.low < pair.difference < pair.high
    expected = {
        "t": stats.ttest_rel(FIRST, SECOND).pvalue,
        "wilcoxon": stats.wilcoxon(FIRST, SECOND).pvalue,
    }
    found = {row.test: row.plain for row in pair.tests}
    assert {test: found[test] for test in expected} == pytest.approx(expected, abs=1e-9)
    assert all(row.plain <= row.bh <= row.holm <= 1 for row in pair.tests)


def test_a_pair_is_compared_over_its_common_topics(compared):
    TopicScore.objects.filter(run=compared.alpha, query_id="A.3").delete()
    TopicScore.objects.filter(run=compared.beta, query_id="A.6").delete()

    assert {row.query_id for row in pair_of(compared).topics} == {"A.1", "A.2", "A.4", "A.5"}


def test_runs_without_common_topics_cannot_be_compared(compared, client_of):
    TopicScore.objects.filter(run=compared.alpha).delete()
    client = client_of(compared.organizer)

    assert "no topic in common" in client.get(both(compared)).content.decode()
    assert client.get(both(compared, format="tsv")).status_code == 404
    for test in ("t", "tukey"):
        address = url(compared, "comparison-matrix", test=test)
        assert ">–</a>" in client.get(address).content.decode()


def test_a_changed_score_changes_the_tests(compared):
    before = pair_of(compared)
    for scores in (TopicScore.objects.filter(query_id="A.3"), RunScore.objects):
        scores.filter(run=compared.alpha).update(value=0.5)

    assert pair_of(compared).tests != before.tests


def test_the_page_shows_what_the_file_has(compared, client_of):
    client = client_of(compared.organizer)
    html = client.get(both(compared)).content.decode()
    rows = client.get(both(compared, format="tsv")).content.decode().splitlines()

    assert rows[0] == "topic\talpha-one (1)\tbeta-one (2)\tdifference"
    assert rows[1] == "A.5\t0.75\t0.25\t0.5"
    assert "+0.5000" in html
    assert f'<option value="{compared.alpha.pk}" selected>' in html


def test_the_same_run_twice_is_explained(compared, client_of):
    address = url(compared, first=compared.alpha.pk, second=compared.alpha.pk)

    html = client_of(compared.organizer).get(address).content.decode()
    assert "Choose two different runs" in html


@pytest.mark.parametrize("chosen", ["first", "second"])
def test_one_chosen_run_is_compared_with_another(chosen, compared, client_of):
    for run in (compared.alpha, compared.beta):
        html = client_of(compared.organizer).get(url(compared, **{chosen: run.pk}))
        selected = re.findall(r'<option value="(\d+)" selected', html.content.decode())
        assert str(run.pk) in selected
        assert len(set(selected)) == 2


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("runs", [0, 1])
def test_less_than_two_runs_have_nothing_to_compare(page, runs, scene, client_of):
    make_qrels(scene.task)
    for _ in range(runs):
        make_run(scene.team, scene.task)
    score_waiting(at=NOW)

    for test in ("t", "tukey"):
        html = client_of(scene.organizer).get(url(scene, page, test=test)).content.decode()
        assert "Nothing to compare yet" in html


def test_the_parts_of_a_cached_test_are_those_of_all_pairs(compared, monkeypatch):
    monkeypatch.setattr("analyses.services.comparison.PART", 3)
    shown = visible_board(score_access_of(compared.organizer, compared.task))
    every = compared_runs(shown, shown.board.measures[0])
    expected = pair_family(every.matrix.scores, "t")

    for places in ([3, 0], [1], [], range(4)):
        found = every.family("t", places)
        np.testing.assert_array_equal(found, [values[list(places)] for values in expected])


def test_the_table_of_pairs_marks_what_is_significant(compared, client_of, monkeypatch):
    client = client_of(compared.organizer)
    html = client.get(url(compared, "comparison-matrix")).content.decode()

    assert "0 of 6 pairs differ significantly" in " ".join(html.split())
    monkeypatch.setattr("analyses.views.comparison.SIGNIFICANT", 1.1)
    html = client.get(url(compared, "comparison-matrix")).content.decode()
    assert html.count("*</a>") == 6


def test_a_long_table_has_the_best_runs_and_the_file_all(compared, client_of, monkeypatch):
    monkeypatch.setattr("analyses.views.comparison.ENOUGH", 3)
    client = client_of(compared.organizer)
    html = client.get(url(compared, "comparison-matrix")).content.decode()
    rows = client.get(url(compared, "comparison-matrix", format="tsv")).content.decode()

    assert "the 3 runs with the best means" in " ".join(html.split())
    assert len(rows.splitlines()) == 1 + 6
    assert rows.splitlines()[0].endswith("topics\tmean difference\tp\tp holm\tp bh")


def test_the_leaderboard_leads_to_the_comparison(compared, client_of):
    board = reverse("evaluation:leaderboard", args=[compared.lab.slug, compared.task.slug])

    html = client_of(compared.organizer).get(board).content.decode()
    assert f'href="{url(compared)}?live=1&amp;qrels=v1"' in html


def test_a_matrix_has_the_runs_in_their_order(compared):
    measure = "nDCG(judged_only=True)@1000"
    runs = [compared.beta.pk, compared.alpha.pk]

    board = live_board(compared.qrels)
    topics, scores = topic_matrix(board, runs=runs, qrel_set=compared.qrels, measure=measure)
    assert topics == [f"A.{number}" for number in range(1, 7)]
    assert scores.tolist() == [SECOND, FIRST]


def test_similarity_is_over_the_topics_of_both_rankings(compared):
    found = run_similarity(compared.qrels, compared.alpha.pk, compared.beta.pk)

    # A.1 of both: p1 p2 p9 p4 and p3 p4 p2. Two items are in common, p2 at depth 3 and p4 at 4.
    agreement = 1 / 3 * 0.9**3 + 2 / 4 * 0.9**4 + 1 * (4 - 3) / (3 * 4) * 0.9**4
    expected = 0.1 / 0.9 * agreement + ((2 - 1) / 4 + 1 / 3) * 0.9**4
    assert found.overlap == pytest.approx(expected)
    assert found.jaccard == pytest.approx(2 / 5)
    # The qrels have p1 and p2 only.
    assert found.judged == pytest.approx((2 / 4, 1 / 3))


def test_the_similarity_of_unreadable_or_disjoint_runs_is_unknown(compared):
    # A.9 is not in the qrels.
    other = make_run(compared.team, compared.task, {"A.2": ["p5"], "A.9": ["p1"]})
    third = make_run(compared.team, compared.task, {"A.9": ["p1"]})
    assert run_similarity(compared.qrels, third.pk, other.pk) is None
    assert run_similarity(compared.qrels, compared.beta.pk, other.pk) is None

    compared.beta.index.delete(save=False)
    assert run_similarity(compared.qrels, compared.alpha.pk, compared.beta.pk) is None


def test_answers_of_task_3_are_not_compared(compared):
    compared.qrels.items = "answers"

    assert run_similarity(compared.qrels, compared.alpha.pk, compared.beta.pk) is None


def test_only_those_who_may_see_both_runs_see_their_similarity(compared, client_of):
    bring_to("released", compared)
    Task.objects.update(published_runs="none")
    two = Run.objects.get(tag="alpha-two")
    own = url(compared, first=compared.alpha.pk, second=two.pk)
    for role in ROLES:
        client = client_of(compared.people[role])
        found = [
            'id="similarity"' in client.get(address).content.decode()
            for address in (both(compared), own)
        ]
        organizes = role in {"organizer", "superuser"}
        assert found == [organizes, organizes or role == "member"]


def several(scene: SimpleNamespace, **query: object) -> str:
    also = list(Run.objects.filter(tag__endswith="-two").values_list("pk", flat=True))
    return both(scene, also=also, **query)


def test_several_runs_have_their_scores_and_all_their_pairs(compared, client_of):
    client = client_of(compared.organizer)
    answer = client.get(several(compared, correction="plain"))
    rows = client.get(several(compared, format="tsv")).content.decode().splitlines()

    found = answer.context["several"]
    first = found.pairs[0]
    assert (len(found.runs), len(found.pairs)) == (4, 6)
    assert (first.first.tag, first.second.tag) == ("alpha-one", "beta-one")
    assert (first.wins, first.ties, first.losses) == (3, 2, 1)
    assert first.p == pytest.approx(stats.ttest_rel(FIRST, SECOND).pvalue, abs=1e-9)
    assert rows[0].split("\t")[:3] == ["topic", "alpha-one (1)", "beta-one (2)"]
    assert len(rows) == 1 + 6
    assert answer.content.decode().count('name="also"') == 2


def test_several_runs_have_no_unknown_run_test_or_correction(compared, client_of):
    client = client_of(compared.organizer)

    for query in ({"test": "sign"}, {"correction": "bonferroni"}):
        assert client.get(several(compared, **query)).status_code == 404
    assert client.get(both(compared, also="0")).status_code == 404


def test_a_team_cannot_add_a_run_of_another_team_before_the_release(compared, client_of):
    bring_to("unreleased, own shown", compared)
    two = Run.objects.get(tag="alpha-two").pk
    client = client_of(compared.member)

    for format_ in ("", "tsv"):
        address = url(compared, second=two, also=compared.beta.pk, format=format_)
        assert client.get(address).status_code == 404


def test_more_than_the_most_runs_are_cut(compared, client_of, monkeypatch):
    monkeypatch.setattr("analyses.views.comparison.MOST", 3)
    answer = client_of(compared.organizer).get(several(compared))

    assert len(answer.context["several"].runs) == 3
    assert "The page compares the first 3." in answer.content.decode()


def test_only_a_compared_post_hoc_run_adds_tests_to_the_family(compared, client_of):
    late = make_run(compared.team, compared.task, GOOD, tag="late", is_post_hoc=True)
    make_run(compared.team, compared.task, GOOD, tag="later", is_post_hoc=True)
    score_waiting(at=NOW)
    client = client_of(compared.organizer)

    official = client.get(both(compared)).context
    with_late = client.get(url(compared, first=compared.alpha.pk, second=late.pk)).context
    assert len(official["compared"].runs) == 6
    assert [len(page["family"].runs) for page in (official, with_late)] == [4, 5]
    assert official["pair"].tests == pair_of(compared).tests

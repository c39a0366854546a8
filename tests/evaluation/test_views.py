"""The pages and API of leaderboards and scores: who sees what, and what organizers can do."""

import re
from copy import deepcopy
from types import SimpleNamespace
from urllib.parse import urljoin

import pytest
from django.urls import reverse

from arqkit.leaderboard import COLUMNS, EVERYWHERE, BoardColumn, columns_in
from arqlab.core.models import Task
from arqlab.labs.services.labs import change_task
from evaluation.models import Leaderboard
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.ceremonies import confirmed
from tests.evaluation.factories import (
    GOOD,
    MORE_LISTS,
    MORE_QRELS,
    NOW,
    POOR,
    QRELS,
    make_qrels,
    make_run,
)
from tests.factories import Scene, make_lab

ROLES = ("visitor", "outsider", "member", "other_member", "assessor", "organizer", "superuser")
# The board that each role sees in every state, and the status of the scores of Alpha's run.
BOARDS = {
    "unreleased": "none none none none none live live",
    "unreleased, own shown": "none none own  own  none live live",
    "released": "all  all  all  all  all  all  all",
    "hidden again": "none none none none none live live",
}
SCORES = {
    "unreleased": "404 404 404 404 404 200 200",
    "unreleased, own shown": "404 404 404 404 404 200 200",
    "released": "200 200 200 200 200 200 200",
    "hidden again": "404 404 404 404 404 200 200",
}


def matrix(table):
    return [
        (state, role, cell)
        for state, cells in table.items()
        for role, cell in zip(ROLES, cells.split(), strict=True)
    ]


@pytest.mark.parametrize(("lists", "is_shown"), [({"A.1": ["x1", "x2"]}, True), (POOR, False)])
def test_a_run_without_an_item_in_the_qrels_gets_a_warning(scene, client_of, lists, is_shown):
    make_qrels(scene.task)
    run = make_run(scene.team, scene.task, lists)
    score_waiting(at=NOW)
    address = reverse("evaluation:run-scores", args=["arqmath-x", "task1", run.pk])

    page = client_of(scene.organizer).get(address).content.decode()

    assert ("This run scores 0 in every measure." in page) is is_shown


@pytest.fixture(scope="module")
def scored(kept_db):
    """Make a lab with qrels and a scored run of each team, once; `run` is team Alpha's."""
    scene = make_lab("played")
    qrels = make_qrels(scene.task, QRELS | MORE_QRELS)
    run = make_run(scene.team, scene.task, GOOD | MORE_LISTS, tag="alpha-run")
    make_run(scene.other_team, scene.task, POOR | MORE_LISTS, tag="beta-run")
    score_waiting(at=NOW)
    return SimpleNamespace(**vars(scene), people=scene.people, qrels=qrels, run=run)


@pytest.fixture
def played(scored, db):
    """Return records of this test alone."""
    return deepcopy(scored)


@pytest.fixture
def organizer(played):
    return played.organizer


def bring_to(state: str, scene: SimpleNamespace) -> None:
    Task.objects.filter(pk=scene.task.pk).update(shows_own_scores="own shown" in state)
    if state in {"released", "hidden again"}:
        release_leaderboard(qrel_set=scene.qrels, by=None, at=NOW)
    if state == "hidden again":
        Leaderboard.objects.update(hidden_at=NOW)


def board_url(scene: Scene | SimpleNamespace, **query: str) -> str:
    return reverse("evaluation:leaderboard", args=[scene.lab.slug, scene.task.slug], query=query)


def scores_url(scene: SimpleNamespace, **query: str) -> str:
    return reverse(
        "evaluation:run-scores", args=[scene.lab.slug, scene.task.slug, scene.run.pk], query=query
    )


def seen(html: str) -> str:
    """Return the runs on a page: none, live or all (both teams), or own (the user's team)."""
    runs = [tag for tag in ("alpha-run", "beta-run") if f">{tag}</a>" in html]
    if len(runs) == 1:
        return "own"
    return (
        "none"
        if not runs
        else "live"
        if "Only organizers can see this leaderboard" in html
        else "all"
    )


@pytest.mark.parametrize(
    ("query", "runs"),
    [
        ("", {"alpha-run", "beta-run", "alpha-more"}),
        ("primary=on", {"alpha-run"}),
        ("best=on", {"alpha-run", "beta-run"}),
        ("manual=manual", {"beta-run"}),
        ("data=Text", {"alpha-more"}),
    ],
)
def test_a_board_shows_some_of_its_runs(played, client_of, query, runs):
    make_run(played.team, played.task, POOR, tag="alpha-more", data_used="text")
    Run.objects.filter(tag="alpha-run").update(is_primary=True)
    Run.objects.filter(tag="beta-run").update(is_manual=True)
    score_waiting(at=NOW)

    page = client_of(played.organizer).get(f"{board_url(played)}?{query}")

    assert {line.row.run.tag for line in page.context["lines"]} == runs


def test_a_board_shows_its_main_measures_with_intervals_and_all_of_them_on_demand(
    played, client_of
):
    client = client_of(played.organizer)
    main, everything = (
        client.get(f"{board_url(played)}{query}") for query in ("", "?measures=all")
    )

    assert [measure.label for measure in main.context["measures"]] == ["nDCG'", "MAP'", "P'@10"]
    assert len(everything.context["measures"]) == len(main.context["visible"].board.measures) > 3
    assert main.text.count("<small>") == everything.text.count("<small>") == 6


def test_a_baseline_is_called_so_once_on_a_wide_and_a_narrow_leaderboard(played, client_of):
    Run.objects.filter(tag="beta-run").update(is_baseline=True)

    page = client_of(played.organizer).get(board_url(played)).content.decode()
    board = page.partition('id="board"')[2].partition("</table>")[0]
    [row] = [row for row in board.split("</tr>") if "beta-run" in row]

    assert row.count(">Baseline") == 1
    assert re.findall(r'data-below="(\w+)', board) == ["Baseline", "Alpha"]


@pytest.mark.parametrize(("state", "role", "expected"), matrix(BOARDS))
def test_each_role_sees_its_board(state, role, expected, played, client_of):
    bring_to(state, played)

    answer = client_of(played.people[role]).get(board_url(played))
    assert answer.status_code == 200
    assert seen(answer.content.decode()) == expected


@pytest.mark.parametrize(("state", "role", "expected"), matrix(SCORES))
def test_each_role_sees_the_scores_it_may_see(state, role, expected, played, client_of):
    bring_to(state, played)

    assert client_of(played.people[role]).get(scores_url(played)).status_code == int(expected)


@pytest.mark.parametrize(("state", "role", "expected"), matrix(SCORES))
def test_the_api_shows_scores_to_the_same_roles(state, role, expected, played, client_of):
    bring_to(state, played)
    answer = client_of(played.people[role]).get(f"/api/v1{scores_url(played)}")

    if (state, role) == ("unreleased, own shown", "member"):
        assert answer.json()["topics"] == {}
    else:
        assert answer.status_code == int(expected)


@pytest.mark.parametrize(("state", "role", "expected"), matrix(BOARDS))
def test_the_api_and_the_files_show_boards_to_the_same_roles(
    state, role, expected, played, client_of
):
    bring_to(state, played)
    client = client_of(played.people[role])

    answer = client.get(f"/api/v1{board_url(played)}")
    assert answer.status_code == (404 if expected == "none" else 200)
    assert expected == "none" or len(answer.json()["runs"]) == (1 if expected == "own" else 2)
    file = client.get(board_url(played, format="json"))
    assert file.status_code == (404 if expected in ("none", "own") else 200)


def test_the_page_of_a_hidden_board_explains_that_it_is_not_released(played, client_of, visitor):
    assert "is not released yet" in client_of(visitor).get(board_url(played)).content.decode()


def test_without_qrels_the_page_shows_organizers_how_to_get_them(scene, client_of):
    assert "Freeze qrels from" in client_of(scene.organizer).get(board_url(scene)).content.decode()


def test_scores_have_four_decimals_and_link_to_the_topics(played, client_of, organizer):
    client, end = client_of(organizer), f"{played.run.pk}/nDCG'"
    assert f'<a href="{end}">1.0000</a>' in client.get(board_url(played)).content.decode()

    answer = client.get(board_url(played) + end)
    assert answer.url == scores_url(played, measure="nDCG'")


def test_a_score_of_another_version_links_to_the_scores_of_that_version(played, client_of):
    bring_to("released", played)
    client, end = client_of(played.organizer), f"{played.run.pk}/nDCG'?qrels=v1"
    assert f'<a href="{end}">' in client.get(board_url(played, live="1")).content.decode()

    answer = client.get(board_url(played) + end)
    assert answer.url == scores_url(played, qrels="v1", measure="nDCG'")


@pytest.mark.parametrize(("role", "end"), [("member", ""), ("other_member", "scores/")])
def test_a_row_links_to_the_run_or_for_other_teams_to_its_scores(role, end, played, client_of):
    bring_to("released", played)
    client = client_of(played.people[role])
    html = client.get(board_url(played)).content.decode()

    link = re.search(r'href="([^"]+)">alpha-run', html)[1]
    assert link == f"../runs/{played.run.pk}/{end}"
    assert client.get(urljoin(board_url(played), link)).status_code == 200


def test_a_count_has_a_dash_for_its_best_possible_value(played, client_of, organizer):
    change_task(task=played.task, changes={}, protocol={"measures": ("NumRet",)}, by=None)
    score_waiting(at=NOW)

    html = client_of(organizer).get(board_url(played)).content.decode()

    assert re.search(r"<tfoot>.*<td>–</td>.*</tfoot>", html, re.DOTALL)


def test_a_new_column_reaches_the_page_and_the_api(played, client_of, organizer, monkeypatch):
    kind = BoardColumn("kind", "Kind", lambda run: f"by {run.tag}", EVERYWHERE)
    monkeypatch.setattr("arqkit.leaderboard.COLUMNS", (*COLUMNS, kind))

    page = client_of(organizer).get(board_url(played)).content.decode()
    run = client_of(organizer).get(f"/api/v1{board_url(played)}").json()["runs"][0]

    assert ">Kind<" in page
    assert f"<td>{run['kind']}</td>" in page


def test_the_columns_before_the_measures_are_those_that_the_style_sheet_counts():
    assert [column.key for column in columns_in("page")] == ["data", "primary", "manual"]


def test_a_board_sorts_without_javascript(played, client_of, organizer):
    html = client_of(organizer).get(board_url(played, sort="team")).content.decode()
    swapped = client_of(organizer).get(board_url(played, sort="nDCG'")).content.decode()

    assert html.index(">alpha-run<") < html.index(">beta-run<")
    assert swapped.index(">alpha-run<") < swapped.index(">beta-run<")


@pytest.mark.parametrize("query", [{"qrels": "nonsense"}, {"format": "pdf"}])
def test_unknown_qrels_and_formats_are_404(query, played, client_of, organizer):
    assert client_of(organizer).get(board_url(played, **query)).status_code == 404


def test_only_organizers_see_boards_of_other_qrels(played, client_of):
    make_qrels(played.task, {"A.1": {"p1": 3}})
    bring_to("released", played)

    assert client_of(played.member).get(board_url(played, qrels="v2")).status_code == 404
    assert client_of(played.organizer).get(board_url(played, qrels="v2")).status_code == 200


def test_an_organizer_releases_and_hides(played, client_of):
    client = client_of(played.organizer)
    release, hide = (f"{board_url(played)}{verb}/" for verb in ("release", "hide"))

    assert "Version 1 is released" in confirmed(client, release, qrels="v1").content.decode()
    assert "nothing has changed since" in confirmed(client, release, qrels="v1").content.decode()
    assert "is hidden" in client.post(hide, follow=True).content.decode()
    assert "is not released. Reload" in client.post(hide, follow=True).content.decode()


def test_a_run_withdrawn_after_the_release_has_an_erratum(played, client_of, visitor):
    bring_to("released", played)
    Run.objects.filter(pk=played.run.pk).update(withdrawn_at=NOW)

    html = client_of(visitor).get(board_url(played)).content.decode()
    assert '<small class="erratum">Withdrawn on 21 Nov 2026' in html
    assert "Errata of version 1" in html
    assert "is-struck" not in html


def test_organizers_see_why_a_run_is_not_on_the_board(played, client_of):
    make_run(played.team, played.task, tag="stray", report={"items": "formula-ids"})

    html = client_of(played.organizer).get(board_url(played)).content.decode()
    assert "Valid runs not on the leaderboard" in html
    assert "The run has formula ids, but the qrels v1 have posts." in html


def test_the_scores_page_has_the_chart_data_and_the_table(played, client_of, organizer):
    html = client_of(organizer).get(scores_url(played, measure="P'@10")).content.decode()

    assert '"measure": "P\\u2032@10"' in html
    assert "The title of A.2" in html
    assert client_of(organizer).get(scores_url(played, measure="nonsense")).status_code == 404


def test_the_number_of_queries_of_the_pages_is_fixed(played, client_of, django_assert_num_queries):
    client = client_of(played.organizer)
    for number in range(3):
        make_run(played.team, played.task, tag=f"more{number}")
    score_waiting(at=NOW)
    client.get(board_url(played))  # the facts of the qrels and the intervals are computed once

    with django_assert_num_queries(16):
        client.get(board_url(played))
    with django_assert_num_queries(14):
        client.get(scores_url(played))


def test_a_team_sees_the_means_of_a_run_submitted_after_the_release(played, client_of):
    bring_to("released", played)
    Task.objects.filter(pk=played.task.pk).update(shows_own_scores=True)
    played.run = make_run(played.team, played.task, GOOD | MORE_LISTS, tag="late")
    score_waiting(at=NOW)

    scores = f"/api/v1{scores_url(played)}"
    assert client_of(played.member).get(scores).json()["means"]["MAP'"] == 1
    assert client_of(played.other_member).get(scores).status_code == 404


def test_the_live_board_is_not_called_hidden_beside_a_released_one(played, client_of):
    client = client_of(played.organizer)
    pages = [board_url(played, live="1"), scores_url(played, qrels="v1")]
    assert all("chip-hidden" in client.get(page).text for page in pages)
    bring_to("released", played)

    assert not any("chip-hidden" in client.get(page).text for page in pages)
    assert all("chip-open" in client.get(page).text for page in pages)

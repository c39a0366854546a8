"""Only runs that count are in a family of tests, at each door that shows a test of the board."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from django.urls import reverse
from scipy import stats
from statsmodels.stats.multitest import multipletests

from arqkit.leaderboard import family_of
from arqkit.standings import STANDINGS
from contrib.papers.services.paper_kits import paper_kit
from evaluation.models import ReleasedRun, RunScore, TopicScore
from evaluation.permissions import score_access_of, visible_board
from evaluation.selectors.boards import certainties
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.changing import withdraw_run
from tests.evaluation.factories import GOOD, NOW, make_qrels, make_run
from tests.paths import PACKAGES, ROOT
from tests.test_standings import without

TOPICS, COUNTING = 24, 8
MEASURE = "nDCG(judged_only=True)@1000"
APART = {
    "apart-base": {"is_baseline": True, "out_of_competition": "late"},
    "apart-late": {"out_of_competition": "late"},
    "apart-copy": {"out_of_competition": "a copy"},
    "apart-gone": {},
    "apart-post-hoc": {"is_post_hoc": True},
}
"""The runs that do not count; `apart-gone` is withdrawn before the release."""
FORMATS = ("", "tsv", "csv", "json", "latex")


def fifteenths() -> np.ndarray:
    """Return scores of the runs that count, of which two are near the best one, and the others."""
    draw = np.random.default_rng(356)
    levels = np.array([11, 10.8, 9.2, 9, 8.9, 8.8, 8.7, 8.6, 14, 13, 12, 9, 5])
    noise = draw.normal(0, 2.6, (len(levels), TOPICS)) + draw.normal(0, 2, TOPICS)
    return np.clip(np.round(levels[:, None] + noise), 0, 15) / 15


@pytest.fixture
def tested(scene, settings):
    """Return a released board of eight runs that count and five that do not."""
    topics = [f"A.{number}" for number in range(1, TOPICS + 1)]
    qrels = make_qrels(scene.task, {topic: {"p1": 3, "p2": 0} for topic in topics})
    tags = [*(f"run{number}" for number in range(COUNTING)), *APART]
    for tag in tags:
        make_run(scene.team, scene.task, GOOD, tag=tag, **APART.get(tag, {}))
    score_waiting(at=NOW)
    scores = fifteenths()
    for tag, row in zip(tags, scores, strict=True):
        run = Run.objects.get(tag=tag)
        RunScore.objects.filter(run=run).update(value=row.mean())
        for topic, value in zip(topics, row, strict=True):
            TopicScore.objects.filter(run=run, query_id=topic).update(value=value)
    gone = Run.objects.get(tag="apart-gone")
    withdraw_run(run=gone, reason="A bug.", by=scene.member, at=NOW)
    release_leaderboard(qrel_set=qrels, by=None, at=NOW)
    return SimpleNamespace(
        **vars(scene), people=scene.people, qrels=qrels, scores=scores[:COUNTING]
    )


def lower_by_scipy(scores: np.ndarray) -> set[str]:
    """Return the runs that are significantly below the best of them."""
    best = int(scores.mean(axis=1).argmax())
    others = [place for place in range(len(scores)) if place != best]
    plain = [stats.ttest_rel(scores[place], scores[best]).pvalue for place in others]
    adjusted = multipletests(plain, method="holm")[1]
    return {f"run{place}" for place, p in zip(others, adjusted, strict=True) if p < 0.05}


def test_a_family_has_the_runs_that_count_and_those_that_somebody_compares(tested):
    board = visible_board(score_access_of(tested.member, tested.task)).board
    runs = [row.run for row in board.rows]
    late = next(run for run in runs if run.tag == "apart-late")

    assert {run.tag for run in family_of(runs, MEASURE)} == {f"run{n}" for n in range(COUNTING)}
    assert family_of(runs, MEASURE, also=[late.key])[-1] == late
    assert {run.standing for run in runs} < set(STANDINGS)


def test_the_board_marks_the_runs_that_scipy_marks_and_no_other(tested, client_of):
    expected = lower_by_scipy(tested.scores)
    board = visible_board(score_access_of(tested.member, tested.task)).board
    names = {row.run.key: row.run.tag for row in board.rows}
    measure = next(one for one in board.measures if one.name == MEASURE)
    certain = certainties(board, qrel_set=tested.qrels, measure=measure)

    assert {names[key] for key, one in certain.items() if one.is_lower} == expected
    assert len(expected) == 5  # tests of all 13 runs would mark one of them, and one other
    assert len(certain) == len(names)  # each has its interval


def doors(tested: SimpleNamespace) -> list[str]:
    """Return the addresses of all pages that show tests of a board."""
    at = [tested.lab.slug, tested.task.slug]
    keys = dict(Run.objects.values_list("tag", "pk"))
    two = {"first": keys["run0"], "second": keys["run6"]}
    several = {**two, "also": [keys["run3"], keys["run5"]]}
    tests = [{"test": name} for name in ("t", "wilcoxon", "randomization", "tukey")]
    return [
        reverse("evaluation:leaderboard", args=at),
        reverse("evaluation:leaderboard-version", args=[*at, 1]),
        reverse("analyses:comparison", args=at, query=two),
        *(reverse("analyses:comparison", args=at, query=several | one) for one in tests),
        *(reverse("analyses:comparison-matrix", args=at, query=one) for one in tests),
        reverse("evaluation:api-leaderboard", args=at),
    ]


ROW = re.compile(r"<tr.*?</tr>", re.DOTALL)
FIGURE = re.compile(r"0?\.\d{3,}†?\*?|†|▽")


def figures(text: str) -> list[list[str]]:
    """Return the figures and marks of the rows of tables that name no run that does not count."""
    if text.startswith("{"):
        return [FIGURE.findall(json.dumps(without(json.loads(text), list(APART))))]
    rows = ROW.findall(text) if "</html>" in text else text.splitlines()
    shown = [row for row in rows if not any(tag in row for tag in APART)]
    return [found for row in shown if (found := FIGURE.findall(row))]


def test_runs_that_do_not_count_change_no_test_at_any_door(tested, client_of):
    client = client_of(tested.organizer)
    addresses = [
        f"{url}{'&' if '?' in url else '?'}format={name}"
        for url in doors(tested)
        for name in FORMATS
    ]
    answers = {url: client.get(url) for url in addresses}
    before = {url: figures(answer.content.decode()) for url, answer in answers.items()}
    kit = paper_kit(tested.qrels, tested.organizer).texts["tables/results.tsv"]
    ReleasedRun.objects.filter(run__tag__in=APART).delete()
    Run.objects.filter(tag__in=APART).delete()

    for url in addresses:
        assert figures(client.get(url).content.decode()) == before[url], url
    assert figures(
        paper_kit(tested.qrels, tested.organizer).texts["tables/results.tsv"]
    ) == figures(kit)
    assert sum(answer.status_code == 200 for answer in answers.values()) > 20


def test_the_kit_marks_the_runs_of_the_board(tested):
    table = paper_kit(tested.qrels, tested.organizer).texts["tables/results.tsv"]
    head, *rows = (line.split("\t") for line in table.splitlines())
    lower = {row[head.index("run")] for row in rows if row[-1]}

    assert head[-1] == "significantly below the best run in"
    assert lower == lower_by_scipy(tested.scores)


TESTS = re.compile(
    r"\b(pair_family|p_values_against|tukey_hsd|paired_t|randomization|wilcoxon_signed_rank)\("
)
OWNERS = {"evaluation/selectors/boards.py", "analyses/services/comparison.py"}
"""The modules that test runs of a board, each on the rows of `family_of`."""


def test_only_modules_that_ask_for_the_family_test_runs():
    paths = [path for app in PACKAGES[1:] for path in (ROOT / app).glob("**/*.py")]
    paths += [
        path for path in (ROOT / "arqkit").glob("**/*.py") if path.parent.name != "comparison"
    ]
    testing = {path for path in paths if TESTS.search(path.read_text("utf-8"))}

    assert {str(path.relative_to(ROOT)) for path in testing} == OWNERS
    assert all("family_of(" in path.read_text("utf-8") for path in testing)

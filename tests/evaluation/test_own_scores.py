"""Before the release, a team sees means of few runs in steps, at every address and format.

What the steps may reveal is in `tests/arqkit/measures/test_disclosure.py`. The attack on the labels
submits made runs, withdraws them, and goes on with another team and another account. It may learn
no more than it knows before: most labels are 0.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import product
from math import log2
from random import Random
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Case, When
from django.test import Client
from django.urls import get_resolver, reverse

from arqkit.measures.names import parse_measures
from arqkit.measures.scoring import Scorer
from arqlab.core.models import Task, Team, User
from arqlab.labs.services.labs import change_task
from arqlab.teams.services import join_team
from assessment.models import QrelSet
from evaluation.models import RunScore, Scoring
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.changing import withdraw_run
from submissions.services.validation import validate_uploaded_run
from tests.evaluation.factories import NOW, index_of, make_qrels, make_run
from tests.factories import MemberFactory, Scene, TeamFactory, TopicFactory
from tests.test_access import address as address_of
from tests.test_access import fill, named_addresses
from tests.test_secrets import LIVE, OTHERS, SHOWN

TOPICS, ITEMS, RUNS = 50, 12, 4
LABELS = {
    f"A.{topic}": [f"{topic}{item:03}" for item in range(ITEMS)] for topic in range(1, TOPICS + 1)
}
STEP = 0.1
"""Of 50 topics with 600 labels."""
MEANS = {
    *("evaluation:leaderboard", "evaluation:api-leaderboard", "evaluation:api-run-scores"),
    "analyses:lab-counts",  # of what is released
}
"""The addresses of evaluation that a team may open before the release."""


@pytest.fixture
def shown(scene: Scene) -> Scene:
    """A lab that shows teams their means, with qrels."""
    Task.objects.filter(pk=scene.task.pk).update(shows_own_scores=True)
    make_qrels(scene.task, hidden_labels())
    return scene


def hidden_labels() -> dict[str, dict[str, int]]:
    """Return labels that nobody may learn: about one in five is relevant, and one at least."""
    draw = Random(29)
    labels = {
        topic: {item: 2 * (draw.random() < 0.2) for item in items}
        for topic, items in LABELS.items()
    }
    for topic, items in LABELS.items():
        labels[topic][draw.choice(items)] = 2
    return labels


def made_lists(seed: int, items: int = 4) -> dict[str, list[str]]:
    """Return a run with some of the judged items of each topic."""
    draw = Random(seed)
    return {topic: draw.sample(known, items) for topic, known in LABELS.items()}


LISTS = made_lists(0)


def means_of(scene: Scene, client: Client) -> dict[str, dict[str, float]]:
    """Return the means that a user gets from the API, by run and measure."""
    answer = client.get(f"/api/v1{board(scene)}")
    runs = answer.json()["runs"] if answer.status_code == 200 else []
    return {run["run"]: run["scores"] for run in runs}


def board(scene: Scene) -> str:
    return reverse("evaluation:leaderboard", args=_at(scene))


def _at(scene: Scene) -> list[str]:
    return [scene.lab.slug, scene.task.slug]


def figures(text: str) -> set[str]:
    """Return the decimal numbers in a text that have more than two decimals or lack the zero."""
    return set(re.findall(r"(?<![\w.])\d*\.\d{3,}(?![\w.])", text))


@pytest.mark.once
def test_a_team_reads_nothing_but_rounded_means(shown, client_of, tmp_path):
    fill(shown, tmp_path)
    QrelSet.objects.update(is_current=Case(When(lines=TOPICS * ITEMS, then=True), default=False))
    run = make_run(shown.team, shown.task, LISTS)
    score_waiting(at=NOW)
    allowed = set[str]()  # steps have one digit here
    client, opened = client_of(shown.member), set()
    names = [
        one
        for one in named_addresses(get_resolver().url_patterns)
        if re.search("evaluation:|analyses:", one)
    ]

    for name in names:
        path = address_of(name, shown, run.pk)
        for query in ("", LIVE, OTHERS, "measure=MAP'", *SHOWN):
            answer = client.get(f"{path}?{query}")
            if answer.status_code == 200:
                opened.add(name)
                if not query:
                    is_shown = f">{shown_value(run)}<" in answer.text
                    assert is_shown == (name == "evaluation:leaderboard")
                assert figures(answer.text) <= allowed, f"{path}?{query}"
                assert not re.search(r"\d [Jj]udged|Best possible|A\.1\b", answer.text), path

    assert opened == MEANS
    page = client.get(reverse("desk:run-detail", args=[*_at(shown), run.pk]))
    assert figures(page.text) <= allowed
    assert f"MAP′ {shown_value(run)}" in page.text


def shown_value(run: Run) -> str:
    exact = RunScore.objects.get(
        run=run, measure="AP(rel=2,judged_only=True)", qrel_set__is_current=True
    ).value
    return f"{round(round(exact / STEP) * STEP, 3):.2f}"


def test_only_the_main_measures_are_shown_in_steps(shown, client_of):
    make_run(shown.team, shown.task, LISTS, tag="one")
    score_waiting(at=NOW)

    [scores] = means_of(shown, client_of(shown.member)).values()
    exact = RunScore.objects.get(measure="nDCG(judged_only=True)@1000").value
    assert list(scores) == ["nDCG'", "MAP'", "P'@10"]
    assert scores["nDCG'"] == pytest.approx(round(exact / STEP) * STEP) != round(exact, 3)
    data = client_of(shown.member).get(f"/api/v1{board(shown)}").json()
    assert (data["topics"], data["qrels"]) == (0, "")
    assert {one["ceiling"] for one in data["measures"]} == {None}


def test_the_first_scored_submissions_count_withdrawn_or_not(shown, client_of):
    change_task(task=shown.task, changes={}, protocol={"scored_submissions": 2}, by=None)
    client = client_of(shown.member)
    for tag in ("one", "two", "three"):
        run = make_run(shown.team, shown.task, LISTS, tag=tag)
        score_waiting(at=NOW)
        if tag == "one":
            assert set(means_of(shown, client)) == {"one"}
            withdraw_run(run=run, reason="a bug", by=shown.member, at=NOW)

    assert set(means_of(shown, client)) == {"two"}
    scores = reverse("evaluation:api-run-scores", args=[*_at(shown), run.pk])
    assert client.get(scores).status_code == 404


def test_new_measures_change_neither_the_order_nor_the_number(shown, client_of):
    for tag in ("one", "two", "three", "four"):
        make_run(shown.team, shown.task, LISTS, tag=tag)
        score_waiting(at=NOW)
    Scoring.objects.filter(run__tag__in=["one", "two"]).update(measures=[])
    score_waiting(at=NOW)

    assert set(means_of(shown, client_of(shown.member))) == {"one", "two", "three"}


def test_a_person_with_two_teams_gets_no_more(shown, client_of):
    second = TeamFactory(lab=shown.lab)
    for number, team in enumerate([shown.team, shown.team, second, second]):
        make_run(team, shown.task, LISTS, tag=f"run{number}", submitted_by=shown.member)
        score_waiting(at=NOW)
    MemberFactory(team=second, user=shown.other_member)

    assert set(means_of(shown, client_of(shown.member))) == {"run0", "run1"}
    assert set(means_of(shown, client_of(shown.other_member))) == {"run2"}


def test_what_an_organizer_submits_counts_for_each_team(shown, client_of):
    for team in (shown.team, shown.other_team):
        for number in range(3):
            tag = f"{team}{number}"
            make_run(team, shown.task, LISTS, tag=tag, submitted_by=shown.organizer)
    score_waiting(at=NOW)

    assert len(means_of(shown, client_of(shown.member))) == 3
    assert len(means_of(shown, client_of(shown.other_member))) == 3


def test_the_items_of_an_earlier_run_have_its_means(shown, client_of):
    """In another order, of another team, with items that nobody judged, and once withdrawn."""
    draw = Random(5)
    others = {topic: [*draw.sample(items, 4), f"{topic}x"] for topic, items in LISTS.items()}
    first = make_run(shown.team, shown.task, LISTS, tag="first")
    score_waiting(at=NOW)
    seen = means_of(shown, client_of(shown.member))["first"]
    withdraw_run(run=first, reason="a bug", by=shown.member, at=NOW)
    make_run(shown.team, shown.task, others, tag="second")
    make_run(shown.other_team, shown.task, ideal(LISTS), tag="third")
    score_waiting(at=NOW)

    assert means_of(shown, client_of(shown.member)) == {"second": seen}
    assert means_of(shown, client_of(shown.other_member)) == {"third": seen}
    exact = RunScore.objects.get(run__tag="third", measure="nDCG(judged_only=True)@1000").value
    assert exact > seen["nDCG'"] + STEP


def ideal(lists: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the same items, those that are relevant first."""
    labels = hidden_labels()
    return {
        topic: sorted(items, key=lambda item: -labels[topic][item])
        for topic, items in lists.items()
    }


@pytest.mark.parametrize(("answered", "shows"), [(1, False), (44, False), (45, True)])
def test_a_run_of_too_few_topics_has_no_means(answered, shows, shown, client_of):
    """What it lists elsewhere does not help, as long as nobody judged it."""
    few = {topic: LISTS[topic] for topic in list(LISTS)[:answered]}
    junk = {topic: ["junk"] for topic in LISTS}
    run = make_run(shown.team, shown.task, junk | few, tag="few")
    score_waiting(at=NOW)
    client = client_of(shown.member)
    scores = client.get(reverse("evaluation:api-run-scores", args=[*_at(shown), run.pk]))
    page = client.get(reverse("desk:run-detail", args=[*_at(shown), run.pk])).text

    assert set(means_of(shown, client)) == ({"few"} if shows else set())
    assert scores.status_code == (200 if shows else 404)
    assert ("Means before the release" in page) == shows


@pytest.mark.parametrize("topics", [9, 16])
def test_a_task_of_few_topics_and_labels_shows_no_means(topics, scene, client_of):
    Task.objects.filter(pk=scene.task.pk).update(shows_own_scores=True)
    few = list(hidden_labels().items())[:topics]
    make_qrels(scene.task, {topic: dict(list(labels.items())[:6]) for topic, labels in few})
    make_run(scene.team, scene.task, LISTS)
    score_waiting(at=NOW)

    assert means_of(scene, client_of(scene.member)) == {}


# The attack.


class Attack(NamedTuple):
    """An account with its team and the runs that it submits, each a ranking for each topic."""

    user: User
    team: Team
    runs: list[dict[str, list[str]]]


def made_runs(seed: int) -> list[dict[str, list[str]]]:
    return [made_lists(100 * seed + number, ITEMS) for number in range(RUNS)]


def mined(scene: Scene, client: Client, attack: Attack) -> Iterator[tuple[str, Any, dict]]:
    """Submit each run, yield what is seen of it by topic and as means, and withdraw it."""
    at = _at(scene)
    for number, lists in enumerate(attack.runs):
        tag = f"{attack.team.pk}x{attack.user.pk}n{number}"
        lines = [
            f"{topic}\t{item}\t{rank}\t{100 - rank}\t{tag}\n"
            for topic, items in lists.items()
            for rank, item in enumerate(items, start=1)
        ]
        file = SimpleUploadedFile(f"{tag}.tsv", "".join(lines).encode())
        data = {"team": attack.team.pk, "file": file, "tag": tag}
        client.post(reverse("submissions:run-upload", args=at), data)
        run = Run.objects.latest("pk")
        validate_uploaded_run(run_id=run.pk, at=NOW)
        score_waiting(at=NOW)
        answer = client.get(reverse("evaluation:api-run-scores", args=[*at, run.pk]))
        if answer.status_code == 200:
            yield tag, lists, answer.json()
        reason = {"reason": "A bug."}
        client.post(reverse("submissions:run-withdraw", args=[*at, run.pk]), reason)


def decoded(seen: Sequence[tuple[str, Any, dict]]) -> dict[str, int]:
    """Return the labels by item: those that explain what is seen of a topic, else the commonest."""
    labels = {}
    cases = np.array(list(product([0, 2], repeat=ITEMS)))
    for topic, items in LABELS.items():
        fits = np.ones(len(cases), dtype=bool)
        for _, lists, answer in seen:
            place = [items.index(item) for item in lists[topic]]
            hits = (cases[:, place] > 0).astype(float)
            found = answer["topics"].get(topic, {})
            if "MAP'" in found:
                precision = hits.cumsum(axis=1) / np.arange(1, ITEMS + 1)
                average = (hits * precision).sum(axis=1) / np.maximum(hits.sum(axis=1), 1)
                fits &= np.abs(average - found["MAP'"]) < 1e-6
        best = cases[fits].sum(axis=1).argmin() if fits.any() else 0
        labels |= dict(zip(items, cases[fits][best] if fits.any() else cases[0], strict=True))
    return labels


def test_mining_decodes_no_more_labels_than_guessing(scene, client_of):
    Task.objects.filter(pk=scene.task.pk).update(shows_own_scores=True)
    for topic in range(3, TOPICS + 1):
        TopicFactory(task=scene.task, query_id=f"A.{topic}", position=topic)
    hidden = hidden_labels()
    make_qrels(scene.task, hidden)
    second = TeamFactory(lab=scene.lab)
    join_team(team=second, user=scene.member)
    attacks = [
        Attack(scene.member, scene.team, made_runs(1)),
        Attack(scene.member, second, made_runs(2)),
        Attack(scene.other_member, scene.other_team, made_runs(3)),
    ]

    seen = [one for attack in attacks for one in mined(scene, client_of(attack.user), attack)]
    labels = {item: label for items in hidden.values() for item, label in items.items()}
    guess = decoded(seen)

    right = sum(guess[item] == label for item, label in labels.items())
    by_base_rate = sum(label == 0 for label in labels.values())
    assert Run.objects.filter(withdrawn_at=None).count() == 0
    assert right <= by_base_rate
    figures_seen = [value for _, _, answer in seen for value in answer["means"].values()]
    assert len(figures_seen) <= 2 * 3 * 3  # accounts, submissions, measures
    assert len(figures_seen) * log2(1 / STEP + 1) < 70  # bits, if each told all that it can
    assert all(value == round(value, 1) for value in figures_seen)


def test_the_decoder_reads_all_labels_from_values_by_topic():
    """Without this, the attack above would prove nothing."""
    hidden = hidden_labels()
    rows = [(topic, *pair) for topic, items in hidden.items() for pair in items.items()]
    judged = pl.DataFrame(rows, schema=["topic", "item", "label"], orient="row")
    scorer = Scorer(judged, parse_measures(["AP(judged_only=True)"]), relevant_from=2)
    seen = []
    for lists in made_runs(1):
        scores = scorer.score(index_of(lists))
        topics = {topic: {"MAP'": value} for topic, _, value in scores.iter_rows()}
        seen.append(("", lists, {"topics": topics}))

    assert decoded(seen) == {
        item: label for items in hidden.values() for item, label in items.items()
    }

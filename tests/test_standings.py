"""Every page, file and API that names a run marks its standing, and only official runs and
baselines count.

The addresses are those of the URL configuration, in every format: one that forgets a mark fails.
"""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import pytest
from django.http import QueryDict
from django.urls import get_resolver

from arqkit.standings import BASELINE, OFFICIAL, OUT_OF_COMPETITION, POST_HOC, WITHDRAWN
from assessment.models import Pool, QrelSet
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.changing import withdraw_run
from tests.evaluation.factories import make_run
from tests.factories import Scene, make_lab
from tests.test_access import address, fill, named_addresses
from tests.test_secrets import LIVE, NOT_OF_A_TASK, client_for

pytestmark = pytest.mark.once
NOW = datetime(2026, 11, 22, tzinfo=UTC)
LISTS = {
    OFFICIAL: {"A.1": ["11", "10"], "A.2": ["12"]},
    BASELINE: {"A.1": ["10"], "A.2": ["11", "12"]},
    OUT_OF_COMPETITION: {"A.1": ["10", "47114711"], "A.2": ["11", "12"]},
    POST_HOC: {"A.1": ["10", "47114711"], "A.2": ["12"]},
    WITHDRAWN: {"A.1": ["10", "47114711"], "A.2": ["12", "11"]},
}
"""A run of each standing; those that do not count are the best."""
EXEMPT = {
    "core:audit-list": "has what was done to runs, with their names of that time",
    "desk:lab-download": "has what was done to runs, with their names of that time",
    "evaluation:score-link": "leads to another page",
}
FORMATS = [f"format={name}" for name in ("tsv", "csv", "json", "latex", "zip")]
LIVE_PARAMETERS = set(parse_qs(LIVE))
BLOCK = re.compile("</(?:tr|li|option|p|h1|h2|figcaption)>")
TAG = re.compile('<[^>]*title="([^"]*)"[^>]*>|<[^>]*>')
DATA = re.compile(r'<script id="[^"]*" type="application/json">(.*?)</script>', re.DOTALL)
ONCE = re.compile(r"<title>.*?</title>|<nav.*?</nav>", re.DOTALL)


class Standings(NamedTuple):
    """A filled lab with a run of each standing, by its word."""

    scene: Scene
    runs: dict[str, Run]


def tag_of(word: str) -> str:
    return f"run-{word.replace(' ', '')}x"


@pytest.fixture(scope="module")
def standings(kept_db: None, tmp_path_factory) -> Standings:
    scene = make_lab()
    fill(scene, tmp_path_factory.mktemp("standings"))
    runs = {
        one.word: make_run(
            scene.other_team,
            scene.task,
            lists,
            tag=tag_of(one.word),
            is_baseline=one is BASELINE,
            is_post_hoc=one is POST_HOC,
        )
        for one, lists in LISTS.items()
    }
    pooled = [
        {"run": run.pk, "team": run.team.name, "tag": run.tag, "kind": "alternate"}
        for run in runs.values()
    ]
    Pool.official.filter(task=scene.task).update(runs=pooled)
    score_waiting(at=NOW)
    apart = {runs[OUT_OF_COMPETITION.word].pk: "late"}
    qrels = QrelSet.objects.get(task=scene.task, name="v1")
    release_leaderboard(qrel_set=qrels, by=None, at=NOW, apart=apart)
    gone = runs[WITHDRAWN.word]
    withdraw_run(run=gone, reason="A bug.", by=scene.other_member, at=NOW)
    return Standings(scene, runs)


@pytest.fixture
def reads(monkeypatch) -> set[str]:
    """The names of the parameters that a request reads."""
    names, get = set(), QueryDict.get

    def noted(query: QueryDict, name: str, default: Any = None) -> Any:
        names.add(name)
        return get(query, name, default)

    monkeypatch.setattr(QueryDict, "get", noted)
    return names


def answers(scene: Scene, run: Run, person: Any, reads: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the text of what a user gets from each address, in each format if it reads one, and of
    files in archives.
    """
    client = client_for(person)
    for name in sorted(named_addresses(get_resolver().url_patterns)):
        if name.startswith(NOT_OF_A_TASK) or name in EXEMPT:
            continue
        reads.clear()
        path, queries = address(name, scene, run.pk), ["", LIVE]
        for query in queries:
            answer = client.get(f"{path}?{query}")
            if query == "" and not reads & LIVE_PARAMETERS:
                queries.remove(LIVE)
            if query == "" and "format" in reads:
                queries += FORMATS
            if answer.status_code == 200:
                yield from ((f"{path}?{query}", text) for text in contents(answer))


def contents(answer: Any) -> Iterator[str]:
    content = answer.getvalue() if answer.streaming else answer.content
    if content[:2] == b"PK":
        archive = zipfile.ZipFile(io.BytesIO(content))
        yield from (archive.read(name).decode("utf-8", "replace") for name in archive.namelist())
    else:
        yield content.decode("utf-8", "replace")


def unmarked(text: str, word: str) -> Iterator[str]:
    """Yield the parts of an answer that name the run of a standing without its word."""
    found = [text] if text[:1] in ("{", "[") else DATA.findall(text)
    for data in found:
        yield from unmarked_values(json.loads(data), word)
    rest = "" if found == [text] else ONCE.sub("", DATA.sub("", text))
    group = ""
    for part in BLOCK.split(rest) if "</" in rest else rest.splitlines():
        shown = html.unescape(TAG.sub(r" \1 ", part)).replace(tag_of(word), "\0")
        group = part if r"\multicolumn" in part else group  # of a table in LaTeX
        if "\0" in shown and not is_marked(shown + group, word):
            yield part


def unmarked_values(value: Any, word: str, around: str = "") -> Iterator[str]:
    """Yield the texts of JSON that name the run, if neither they nor their object has its word."""
    if isinstance(value, dict):
        around = " ".join(str(one) for one in value.values() if not isinstance(one, dict | list))
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from unmarked_values(one, word, around)
    elif tag_of(word) in str(value):
        shown = f"{value} {around}".replace(tag_of(word), "\0")
        yield from () if is_marked(shown, word) else [str(value)]


def is_marked(text: str, word: str) -> bool:
    shown = text.lower().replace(r"$^\dagger$", "withdrawn")  # as the caption says
    return word.replace("-", " ") in re.sub("[_-]", " ", shown)


@pytest.mark.parametrize("role", ["organizer", "visitor"])
def test_every_page_file_and_api_marks_the_standing_of_a_run(role, standings, reads, db):
    scene, runs = standings
    found, seen, gone = [], set(), runs[WITHDRAWN.word]
    for url, text in answers(scene, gone, scene.people[role], reads):
        named = {word for word in runs if tag_of(word) in text}
        seen |= named
        if (
            f"/runs/{gone.pk}/" in url and WITHDRAWN.word in named
        ):  # the page of the run says it once
            assert is_marked(TAG.sub("", text).replace(tag_of(WITHDRAWN.word), ""), "withdrawn"), (
                url
            )
            named -= {WITHDRAWN.word}
        found += [
            (url, word, part[-300:]) for word in named - {""} for part in unmarked(text, word)
        ]

    assert not found, "\n".join(map(str, found))
    assert seen == set(runs) - ({POST_HOC.word} if role == "visitor" else set())

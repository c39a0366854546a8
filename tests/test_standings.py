"""Every page, file and API that names a run marks its standing, and only official runs and
baselines count.

The addresses are those of the URL configuration, in every format: one that forgets a mark fails.
"""

import html
import io
import json
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import polars as pl
import pytest
from django.core.management import call_command, get_commands
from django.http import QueryDict
from django.urls import get_resolver

from analyses.services.certificates import certification_of
from arqkit.formats.tables import FILE_ENDINGS
from arqkit.standings import (
    BASELINE,
    CHECKED,
    OFFICIAL,
    OUT_OF_COMPETITION,
    POST_HOC,
    STANDINGS,
    WITHDRAWN,
)
from arqlab.core.models import Lab
from assessment.models import Pool, QrelSet
from contrib.papers.services.paper_kits import paper_kit
from desk.services.archive_documents import lab_documents
from evaluation.models import ReleasedRun
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.changing import withdraw_run
from tests.evaluation.factories import make_run
from tests.factories import Scene, make_lab
from tests.paths import ROOT
from tests.test_access import address, fill, named_addresses
from tests.test_secrets import LIVE, NOT_OF_A_TASK, client_for

pytestmark = pytest.mark.once
NOW = datetime(2026, 11, 22, tzinfo=UTC)
LISTS = {
    OFFICIAL: {"A.1": ["11", "10"], "A.2": ["12"]},
    BASELINE: {"A.1": ["10"], "A.2": ["11", "12"]},
    OUT_OF_COMPETITION: {"A.1": ["10", "47114711"], "A.2": ["11", "12"]},
    POST_HOC: {"A.1": ["10", "47114711"], "A.2": ["12"]},
    CHECKED: {"A.1": ["10", "47114711"], "A.2": ["11"]},
    WITHDRAWN: {"A.1": ["10", "47114711"], "A.2": ["12", "11"]},
}
"""A run of each standing; those that do not count are the best."""
COUNTING = {one.word for one in LISTS if one.counts}
EXEMPT = {
    "labs:audit-list": "has what was done to runs, with their names of that time",
    "labs:api-audit-list": "has what was done to runs, with their names of that time",
    "desk:lab-download": "has what was done to runs, with their names of that time",
    "desk:api-lab-download": "has what was done to runs, with their names of that time",
    "evaluation:score-link": "leads to another page",
}
TEXTS = tuple(f"format={name}" for name in ("tsv", "csv", "json", "latex"))
FORMATS = (*TEXTS, "format=zip")
LEGEND = re.compile(r"\\(caption|multicolumn)")
LIVE_PARAMETERS = set(parse_qs(LIVE))
BLOCK = re.compile("</(?:tr|li|option|p|h1|h2|figcaption)>")
TAG = re.compile('<[^>]*title="([^"]*)"[^>]*>|<[^>]*>')
ROW = re.compile("<tr.*?</tr>", re.DOTALL)
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
    for query_id, difficulty in (("A.1", "easy"), ("A.2", "hard")):
        scene.task.topics.filter(query_id=query_id).update(info={"difficulty": difficulty})
    fill(scene, tmp_path_factory.mktemp("standings"))
    runs = {
        one.word: make_run(
            scene.other_team,
            scene.task,
            lists,
            tag=tag_of(one.word),
            is_baseline=one is BASELINE,
            is_post_hoc=one is POST_HOC,
            check_only=one is CHECKED,
        )
        for one, lists in LISTS.items()
    }
    pooled = [
        {"run": run.pk, "team": run.team.name, "tag": run.tag, "kind": "alternate"}
        for run in runs.values()
        if not run.check_only
    ]
    Pool.official.filter(task=scene.task).update(runs=pooled)
    score_waiting(at=NOW)
    gone = runs[WITHDRAWN.word]
    withdraw_run(run=gone, reason="A bug.", by=scene.other_member, at=NOW)
    apart = {runs[OUT_OF_COMPETITION.word].pk: "late"}
    qrels = QrelSet.objects.get(task=scene.task, name="v1")
    release_leaderboard(qrel_set=qrels, by=None, at=NOW, apart=apart)
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


def answers(
    scene: Scene,
    run: Run,
    person: Any,
    reads: set[str],
    apps: tuple[str, ...] = ("",),
    formats: tuple[str, ...] = FORMATS,
) -> Iterator[tuple[str, str]]:
    """Yield the text of what a user gets from each address, in each format if it reads one, and of
    files in archives.
    """
    client = client_for(person)
    for name in sorted(named_addresses(get_resolver().url_patterns)):
        if name.startswith(NOT_OF_A_TASK) or name in EXEMPT or not name.startswith(apps):
            continue
        reads.clear()
        path, queries = address(name, scene, run.pk), ["", LIVE]
        for query in queries:
            answer = client.get(f"{path}?{query}")
            if query == "" and not reads & LIVE_PARAMETERS:
                queries.remove(LIVE)
            if query == "" and "format" in reads:
                queries += formats
            if answer.status_code == 200:
                yield from ((f"{path}?{query}", text) for text in contents(answer))


def contents(answer: Any) -> Iterator[str]:
    yield from texts_of(answer.getvalue() if answer.streaming else answer.content)


METADATA = ("ir_metadata.yml", "ir-metadata.yml")
"""Files about one run, in a format without standings; the manifest beside them has these."""


def texts_of(content: bytes) -> Iterator[str]:
    """Yield the text of a file, of the files in an archive, or of a table in Parquet."""
    if content[:2] == b"PK":
        archive = zipfile.ZipFile(io.BytesIO(content))
        for name in archive.namelist():
            if name.endswith(METADATA):
                continue
            yield from texts_of(archive.read(name))
    elif content[:4] == b"PAR1":
        yield pl.read_parquet(content).write_csv(separator="\t")
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


def test_there_is_a_run_of_every_standing():
    assert tuple(LISTS) == STANDINGS


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
    hidden = {POST_HOC.word, CHECKED.word, WITHDRAWN.word}
    assert seen == set(runs) - (hidden if role == "visitor" else set())


COMMANDS = {
    "build_pool": ["--dry-run", "--supplement"],
    "check_again": [],
    "export_pool": [],
    "export_qrels": ["--qrels", "v1"],
    "leaderboard": ["--format", "tsv"],
    "release_board": ["--hide"],
}
"""The commands about a task that may name runs, with their options."""
OTHERS = {
    "assign_topics",
    "make_baseline",
    "check_run",
    "choose_qrels",
    "close_task",
    "freeze_qrels",
    "import_judgments",
    "load_runs",
    "submit_run",
}
"""The commands about a task that name no run that the lab has."""


def test_every_command_about_a_task_is_in_one_of_the_lists():
    known = {
        name
        for name, app in get_commands().items()
        if (path := Path(import_module(app).__file__).parent / f"management/commands/{name}.py")
        and path.is_relative_to(ROOT)
        and ".venv" not in path.parts
        and "LAB/TASK" in path.read_text()
    }

    assert known == set(COMMANDS) | OTHERS


def printed(name: str, *arguments: str) -> str:
    out = io.StringIO()
    call_command(name, *arguments, stdout=out, stderr=out)
    return out.getvalue()


@pytest.mark.parametrize("name", [*COMMANDS, *(f"leaderboard {one}" for one in FILE_ENDINGS)])
def test_a_command_marks_the_standing_of_a_run(name, standings, db):
    command, *format_ = name.split()
    options = ["--format", *format_] if format_ else COMMANDS[command]
    text = printed(command, "arqmath-x/task1", *options)

    assert [part for word in standings.runs if word for part in unmarked(text, word)] == []


def test_the_files_of_a_lab_mark_the_standing_of_a_run(standings, tmp_path, db):
    texts = [
        text
        for document in lab_documents(Lab.objects.get(), published=False)
        # lab.toml names no run, and is no JSON.
        if document.path != "lab.toml" and not document.path.endswith(METADATA)
        for text in texts_of(b"".join(document.chunks))
    ]

    assert any(tag_of(WITHDRAWN.word) in text for text in texts)
    found = [
        part for text in texts for word in standings.runs if word for part in unmarked(text, word)
    ]
    assert found == []


def figures(text: str, extras: list[str]) -> list[Any]:
    """Return what an answer says of other runs: lines of a file, rows of tables, data of charts."""
    if text[:1] in ("{", "["):
        return [without(json.loads(text), extras)]
    if "</html>" not in text:
        lines = [line for line in text.splitlines() if not named(line, extras)]
        return [line for line in lines if not LEGEND.search(line)]
    charts = [without(json.loads(data), extras) for data in DATA.findall(text)]
    rows = [TAG.sub(" ", row).split() for row in ROW.findall(text) if not named(row, extras)]
    return [*charts, *rows]


def named(value: Any, extras: list[str]) -> bool:
    return any(tag in str(value) for tag in extras)


def without(value: Any, extras: list[str]) -> Any:
    """Return JSON without the parts of lists that name one of some runs."""
    if isinstance(value, dict):
        return {key: without(one, extras) for key, one in value.items()}
    if isinstance(value, list):
        return [without(one, extras) for one in value if not named(one, extras)]
    return value


def evaluated(standings: Standings, reads: set[str]) -> dict[str, list[Any]]:
    """Return the figures of every page and file of the evaluation, and of certificates."""
    scene, runs = standings
    extras = [tag_of(word) for word in runs if word not in COUNTING]
    found: dict[str, list[Any]] = {}
    for url, text in answers(
        scene, runs[""], scene.organizer, reads, ("evaluation:", "analyses:"), TEXTS
    ):
        if "/leaderboard/release/" not in url:  # checks the items of all runs, which pools have
            found.setdefault(url, []).extend(figures(text, extras))
    qrels = QrelSet.objects.get(task=scene.task, name="v1")
    for name, text in paper_kit(qrels, scene.organizer).texts.items():
        found[name] = figures(text, extras)
    found["certificate"] = [repr(certification_of(qrels, computes=True).certificate)]
    return found


def test_a_run_that_does_not_count_changes_no_figure_of_another_run(standings, reads, db):
    with_all = evaluated(standings, reads)
    for word, run in standings.runs.items():
        if word not in COUNTING:
            ReleasedRun.objects.filter(run=run).delete()
            Run.objects.filter(pk=run.pk).delete()
    without_them = evaluated(standings, reads)

    assert with_all.keys() == without_them.keys()
    assert len(with_all) > 80
    changed = {
        name: [one for one in known if one not in without_them[name]]
        for name, known in with_all.items()
    }
    assert {name: known for name, known in changed.items() if known} == {}

"""The teams of the demo lab and their runs, read from `teams.toml`, and the files of the runs."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arqkit.records import TaskKind, TopicRecord
from desk.demo.posts import FOLDER
from desk.demo.retrieval import RankedPost, extract, retrieve, write_run
from desk.demo.systems import Library

# The depth of formula runs; the demo's posts have about 1,500 instances.
_FORMULA_DEPTH = 200


@dataclass(frozen=True)
class DemoBoard:
    """The leaderboard of a task: its qrels version, and whether it is released."""

    task: str
    qrels: str
    released: bool


@dataclass(frozen=True)
class Member:
    """A member of a team; the first member is its founder."""

    username: str
    name: str
    email: str


@dataclass(frozen=True)
class DemoRun:
    """A run as its team declares it (protocol §4), by a system or with generated answers."""

    task: str
    tag: str
    description: str
    system: str = ""
    parameters: Mapping[str, Any] | None = None
    written: str = ""
    primary: bool = False
    manual: bool = False
    data: str = "both"
    answers: str = ""


@dataclass(frozen=True)
class DemoTeam:
    """A team with its members and runs; `baseline` marks the organizers' team."""

    name: str
    members: tuple[Member, ...]
    runs: tuple[DemoRun, ...]
    baseline: bool


def read_teams(path: Path = FOLDER / "teams.toml") -> list[DemoTeam]:
    """Read the teams of the demo lab in the order of the file."""
    return [
        DemoTeam(
            team["name"],
            tuple(Member(**member) for member in team.get("members", ())),
            tuple(DemoRun(**run) for run in team["runs"]),
            team.get("baseline", False),
        )
        for team in tomllib.loads(path.read_text())["teams"]
    ]


def read_boards(path: Path = FOLDER / "teams.toml") -> list[DemoBoard]:
    """Read the leaderboards."""
    boards = tomllib.loads(path.read_text())["boards"]
    return [DemoBoard(task, board["qrels"], board["released"]) for task, board in boards.items()]


def file_name(team: DemoTeam, run: DemoRun) -> str:
    """Return the name of a run's file in the labs' format.

    TEAM-taskN-RUN-{auto|manual}-{both|text|math}-[extract|generate-]{P|A}.tsv
    """
    marks = ["manual" if run.manual else "auto", run.data, run.answers, "P" if run.primary else "A"]
    task = run.task.partition("-")[0]
    return "-".join([team.name, task, run.tag, *filter(None, marks)]) + ".tsv"


def demo_run_file(run: DemoRun, topics: Sequence[TopicRecord], library: Library) -> bytes:
    """Retrieve a run over the topics of its task and return its file."""
    parameters = run.parameters or {}
    if run.written:
        return write_run(_written(run), tag=run.tag, kind=TaskKind.GENERATED_ANSWERS)
    if run.answers:
        rows = extract(run.system, topics, library, **parameters)
        return write_run(rows, tag=run.tag, kind=TaskKind.GENERATED_ANSWERS)
    if any(topic.latex for topic in topics):
        rows = retrieve(run.system, topics, library, depth=_FORMULA_DEPTH, **parameters)
        return write_run(rows, tag=run.tag, kind=TaskKind.FORMULAS)
    return write_run(
        retrieve(run.system, topics, library, **parameters), tag=run.tag, kind=TaskKind.ANSWERS
    )


def _written(run: DemoRun) -> list[RankedPost]:
    lines = (FOLDER / run.written).read_text().splitlines()
    cells = (line.split("\t", 1) for line in lines)
    return [RankedPost(query_id, "", "", 1, 1.0, answer) for query_id, answer in cells]

"""The demo's teams, the files of their runs, and the run files to try."""

from collections import Counter
from pathlib import Path

import pytest

from arqkit.formats.labs.folder import TaskFile
from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.filename import RunName, read_name
from arqkit.formats.runs.repair import repaired_run
from arqkit.formats.runs.report import RunRules
from arqkit.records import Severity
from desk.demo import teams
from desk.demo.systems import Library
from desk.demo.teams import DemoRun, DemoTeam

PLANS = [(team, run) for team in teams.read_teams() for run in team.runs]


def test_five_teams_and_the_organizers_take_part() -> None:
    assert Counter(team.baseline for team in teams.read_teams()) == {False: 5, True: 1}


def test_nobody_is_a_member_of_two_teams() -> None:
    people = [member.username for team in teams.read_teams() for member in team.members]
    assert len(people) == len(set(people))


def test_teams_keep_the_quota_and_have_one_primary_run_per_task() -> None:
    runs = Counter((team.name, run.task) for team, run in PLANS)
    primary = Counter((team.name, run.task) for team, run in PLANS if run.primary)
    assert max(runs.values()) <= 5
    assert primary == dict.fromkeys(runs, 1)


def test_run_tags_are_unique_except_in_the_progress_test() -> None:
    tags = [run.tag for _, run in PLANS if run.task != "task1-progress"]
    assert len(tags) == len(set(tags))


def test_every_task_has_a_leaderboard_for_its_qrels(tasks: dict[str, TaskFile]) -> None:
    boards = {board.task: board.qrels for board in teams.read_boards()}
    assert boards.keys() == tasks.keys()
    assert all(boards[slug] in {qrels.name for qrels in task.qrels} for slug, task in tasks.items())


@pytest.mark.parametrize(("team", "run"), PLANS, ids=[f"{run.task}-{run.tag}" for _, run in PLANS])
def test_a_run_is_valid_with_warnings_at_most(
    team: DemoTeam,
    run: DemoRun,
    tasks: dict[str, TaskFile],
    library: Library,
    rules: dict[str, RunRules],
) -> None:
    report = check_run(teams.demo_run_file(run, tasks[run.task].topics, library), rules[run.task])
    assert report.is_valid
    assert report.run_tags == (run.tag,)
    assert {problem.kind for problem in report.problems} <= {"missing-topic", "score-tie"}


@pytest.mark.parametrize(("team", "run"), PLANS, ids=[f"{run.task}-{run.tag}" for _, run in PLANS])
def test_a_file_name_has_the_declared_properties_of_the_run(team: DemoTeam, run: DemoRun) -> None:
    assert read_name(teams.file_name(team, run)) == RunName(
        team=team.name,
        task=run.task[:5],
        tag=run.tag,
        manual=run.manual,
        data_used=run.data,
        answer_kind=run.answers or None,
        primary=run.primary,
    )


def test_every_generated_answer_is_judged_under_its_run_and_topic(
    tasks: dict[str, TaskFile], library: Library
) -> None:
    judged = set(tasks["task3"].qrels[1].frame["item"])
    for _, run in PLANS:
        if run.task == "task3":
            lines = teams.demo_run_file(run, tasks["task3"].topics, library).decode().splitlines()
            assert {f"{run.tag}:{line.split()[0]}" for line in lines} <= judged


def test_an_extracted_answer_has_the_label_of_its_post(
    tasks: dict[str, TaskFile], library: Library
) -> None:
    posts, answers = (
        {row[:2]: row[2] for row in tasks[slug].qrels[0].frame.iter_rows()}
        for slug in ("task1", "task3")
    )
    for run in (run for _, run in PLANS if run.answers == "extract"):
        for line in teams.demo_run_file(run, tasks["task3"].topics, library).decode().splitlines():
            topic, _, _, tag, post, _ = line.split("\t")
            assert answers[topic, f"{tag}:{topic}"] == posts[topic, post]


def test_the_good_run_to_try_has_no_problem(data: Path, rules: dict[str, RunRules]) -> None:
    assert check_run((data / "try-good.tsv").read_bytes(), rules["task1-progress"]).problems == ()


def test_the_repairable_run_to_try_is_refused_and_repaired(
    data: Path, rules: dict[str, RunRules]
) -> None:
    sent = (data / "try-repairable.tsv").read_bytes()
    assert not check_run(sent, rules["task1-progress"]).is_valid
    repaired = repaired_run(sent, rules["task1-progress"])
    assert repaired is not None
    assert check_run(repaired, rules["task1-progress"]).problems == ()


def test_the_broken_run_to_try_has_a_dozen_kinds_of_problems(
    data: Path, rules: dict[str, RunRules]
) -> None:
    report = check_run((data / "try-broken.tsv").read_bytes(), rules["task1-progress"])
    kinds = Counter(problem.severity for problem in report.problems)
    assert kinds[Severity.ERROR] >= 11
    assert kinds[Severity.WARNING] >= 6


def test_the_readme_names_the_lines_of_the_broken_run(
    data: Path, rules: dict[str, RunRules]
) -> None:
    report = check_run((data / "try-broken.tsv").read_bytes(), rules["task1-progress"])
    found = {
        line
        for problem in report.problems
        for line in problem.occurrences["line"]
        if line is not None
    }
    table = (data / "README.md").read_text().partition("| line |")[2]
    named = {
        int(line)
        for row in table.splitlines()
        for line in row.split("|")[1:2]
        for line in line.split(",")
        if line.strip().isdigit()
    }
    assert named <= found

"""The demo lab: loaded, submitted to, scored and released by the same services as any lab, only at
once.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from django.contrib.auth.hashers import make_password
from django.core.files.base import ContentFile
from django.db import transaction

from arqlab.core.models import Lab, Membership, Task, Team, User
from arqlab.core.services.labs import change_lab
from arqlab.core.services.people import grant_role
from arqlab.core.services.teams import create_team, join_team
from arqlab.ir import records
from arqlab.pages.demo.folder import write_lab
from arqlab.pages.demo.posts import FOLDER, index_demo_formulas, read_demo_posts
from arqlab.pages.demo.systems import open_library
from arqlab.pages.demo.teams import DemoRun, DemoTeam, demo_run_file, file_name, read_teams
from arqlab.pages.services.demo.judging import play_judging
from arqlab.pages.services.demo.stage import Stage, sender_of
from arqlab.pages.services.demo.weeks import OPEN_TASK, play_open_task, release_boards
from assessment.qrels.services.loading import load_lab
from submissions.services.run_metadata import RunMetadata
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run

__all__ = ["OPEN_TASK", "SLUG", "account_roles", "build_demo", "new_password"]

SLUG = "demo"
ACCOUNTS = {
    "organizer": "Orsolya Brandt",
    "assessor": "Amadou Keller",
    "assessor2": "Noor Lindqvist",
    "visitor": "Vera Sandoval",
}
"""The accounts that belong to no team, each named after its role. The teams' people stand in
`teams.toml`.
"""
ASSESSORS = ("assessor", "assessor2")

DESCRIPTION = (
    "A small lab to look around in: sixteen questions of undergraduate mathematics, their answers and formulas, six teams "
    "whose runs were really retrieved, and two assessors in the middle of judging. Everything was written for this demo."
)


def build_demo(*, folder: Path, password: str, at: datetime) -> Lab:
    """Build the demo lab and its accounts, all with one password; `folder` gets the lab's files and
    runs to try.

    The lab must not be there yet. All or nothing: a demo that could not be finished leaves no lab
    behind.
    """
    with transaction.atomic():
        people = _make_accounts(password)
        lab = load_lab(
            folder=write_lab(folder / "lab", today=at.date()), at=at, by=people["organizer"]
        ).lab
        change_lab(lab=lab, changes={"description": DESCRIPTION}, by=people["organizer"])
        for name in ASSESSORS:
            grant_role(
                lab=lab, user=people[name], role=Membership.Role.ASSESSOR, by=people["organizer"]
            )
        stage = _stage(lab, people["organizer"], at)
        teams = {planned.name: _make_team(stage, planned, people) for planned in read_teams()}
        for planned in read_teams():
            for number, plan in enumerate(planned.runs):
                _submit(stage, teams[planned.name], planned, plan, number=number)
        play_open_task(stage, teams)
        play_judging(stage, people)
        release_boards(stage)
    for path in FOLDER.glob("try-*.tsv"):
        (folder / path.name).write_bytes(path.read_bytes())
    return lab


def new_password() -> str:
    """Return a password for the demo's accounts, of letters that a double click selects and nobody
    misreads.
    """
    return "demo" + "".join(secrets.choice("abcdefghkmnpqrstuvwxyz23456789") for _ in range(8))


def account_roles() -> list[tuple[str, str]]:
    """Return the accounts of the demo, each with its role in words; of every team only the founder."""
    teams = [team for team in read_teams() if team.members]
    return [(username, username.removesuffix("2")) for username in ACCOUNTS] + [
        (team.members[0].username, f"member of {team.name}") for team in teams
    ]


def _make_accounts(password: str) -> dict[str, User]:
    """Make all accounts with one hash: hashing takes longer than all else about an account."""
    hashed = make_password(password)
    people = {username: (name, f"{username}@demo.example") for username, name in ACCOUNTS.items()}
    for team in read_teams():
        people |= {member.username: (member.name, member.email) for member in team.members}
    made = {}
    for username, (name, email) in people.items():
        first, _, last = name.partition(" ")
        made[username], _ = User.objects.update_or_create(
            username=username,
            defaults={"first_name": first, "last_name": last, "email": email, "password": hashed},
        )
    return made


def _stage(lab: Lab, organizer: User, at: datetime) -> Stage:
    tasks = {task.slug: task for task in Task.objects.filter(lab=lab).select_related("lab")}
    posts = read_demo_posts()
    library = open_library(posts, index_demo_formulas(posts))
    return Stage(
        lab, tasks, {slug: _topics(task) for slug, task in tasks.items()}, library, organizer, at
    )


def _topics(task: Task) -> list[records.TopicRecord]:
    return [
        records.TopicRecord(
            topic.query_id,
            topic.title,
            topic.body,
            tuple(topic.tags),
            topic.formula_id,
            topic.latex,
        )
        for topic in task.topics.order_by("position")
    ]


def _make_team(stage: Stage, team: DemoTeam, people: Mapping[str, User]) -> Team:
    made = create_team(lab=stage.lab, name=team.name, by=stage.organizer, joins=False)
    for member in team.members:
        join_team(team=made, user=people[member.username])
    return made


def _submit(stage: Stage, team: Team, planned: DemoTeam, plan: DemoRun, *, number: int) -> None:
    """Retrieve and submit a run, some days before the deadline or, where the task is open, before
    now.
    """
    task = stage.tasks[plan.task]
    end = min(filter(None, (task.deadline, stage.at)))
    at = end - timedelta(hours=7 + 19 * number + 5 * (team.pk % 4))
    metadata = RunMetadata(
        tag=plan.tag,
        is_primary=plan.primary,
        is_manual=plan.manual,
        is_baseline=planned.baseline,
        data_used=plan.data,
        answer_kind=plan.answers,
        description=plan.description,
    )
    file = ContentFile(
        demo_run_file(plan, stage.topics[plan.task], stage.library), name=file_name(planned, plan)
    )
    by = sender_of(stage, team)
    [run] = submit_upload(
        file=file, task=task, team=team, by=by, at=at, metadata={str(file.name): metadata}
    )
    validate_uploaded_run(run_id=run.pk, at=at + timedelta(seconds=1))

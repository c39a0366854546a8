"""Build the demo lab with the services of any lab."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from django.contrib.auth.hashers import make_password
from django.core.files.base import ContentFile
from django.db import transaction

from arqkit import records
from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Membership, Task, Team, User
from arqlab.core.services.labs import change_lab
from arqlab.core.services.people import confirm_address, grant_role
from arqlab.core.services.teams import create_team, join_team, lab_team
from assessment.qrels.services.loading import load_lab
from desk.demo.posts import FOLDER, index_demo_formulas, read_demo_posts, write_lab
from desk.demo.systems import open_library
from desk.demo.teams import DemoRun, DemoTeam, demo_run_file, file_name, read_teams
from desk.services.demo.activity import (
    OPEN_TASK,
    choose_qrels,
    read_old_notices,
    release_boards,
    simulate_open_task,
)
from desk.services.demo.context import DemoContext, submitter_of
from desk.services.demo.judging import simulate_judging
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
"""The accounts without a team, each named after its role; members are in `teams.toml`."""
ASSESSORS = ("assessor", "assessor2")

DESCRIPTION = (
    "A small lab to explore: sixteen questions of undergraduate mathematics with answers and"
    " formulas, six teams with runs of real retrieval systems, and two assessors in the middle of"
    " judging. Everything was written for this demo."
)


def build_demo(*, folder: Path, password: str, at: datetime) -> Lab:
    """Build the demo lab and its accounts, and write the lab's files and sample runs to `folder`.

    All accounts have the same password. If the build fails, no lab is left behind. Raises
    `UserError` if there is any lab, or an account of the demo that the demo did not make.
    """
    if Lab.objects.exists():
        raise UserError(
            "This database has labs already. Build the demo lab in an empty one: set ARQLAB_DATA to"
            " another folder.",
            code="not-empty",
        )
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
        demo = _context(lab, people["organizer"], at)
        teams = {planned.name: _make_team(demo, planned, people) for planned in read_teams()}
        for planned in read_teams():
            for number, plan in enumerate(planned.runs):
                _submit(demo, teams[planned.name], planned, plan, number=number)
        simulate_open_task(demo, teams)
        choose_qrels(demo)
        simulate_judging(demo, people)
        release_boards(demo)
        read_old_notices(demo)
    for path in FOLDER.glob("try-*.tsv"):
        (folder / path.name).write_bytes(path.read_bytes())
    return lab


def new_password() -> str:
    """Return a random password of unambiguous letters and digits."""
    return "demo" + "".join(secrets.choice("abcdefghkmnpqrstuvwxyz23456789") for _ in range(8))


def account_roles() -> list[tuple[str, str]]:
    """Return the accounts of the demo and their roles in words; of every team only the founder."""
    teams = [team for team in read_teams() if team.members]
    return [(username, username.removesuffix("2")) for username in ACCOUNTS] + [
        (team.members[0].username, f"member of {team.name}") for team in teams
    ]


def _make_accounts(password: str) -> dict[str, User]:
    """Create all accounts with the same password hash, because hashing is slow."""
    hashed = make_password(password)
    people = {username: (name, f"{username}@demo.example") for username, name in ACCOUNTS.items()}
    for team in read_teams():
        people |= {member.username: (member.name, member.email) for member in team.members}
    _require_own(people)
    accounts = {}
    for username, (name, email) in people.items():
        first, _, last = name.partition(" ")
        accounts[username], _ = User.objects.update_or_create(
            username=username,
            defaults={"first_name": first, "last_name": last, "email": email, "password": hashed},
        )
        confirm_address(user=accounts[username])
    return accounts


def _require_own(people: Mapping[str, tuple[str, str]]) -> None:
    """Raise `UserError` for an account that an earlier build of the demo did not make."""
    for user in User.objects.filter(username__in=people):
        if user.email != people[user.username][1] or user.is_staff or user.is_superuser:
            raise UserError(
                f"The account {user.username} exists already. Build the demo lab in an empty"
                " database: set ARQLAB_DATA to another folder.",
                code="account-exists",
            )


def _context(lab: Lab, organizer: User, at: datetime) -> DemoContext:
    tasks = {task.slug: task for task in Task.objects.filter(lab=lab).select_related("lab")}
    posts = read_demo_posts()
    library = open_library(posts, index_demo_formulas(posts))
    return DemoContext(
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


def _make_team(demo: DemoContext, team: DemoTeam, people: Mapping[str, User]) -> Team:
    if team.baseline:
        return lab_team(demo.lab)
    new_team = create_team(lab=demo.lab, name=team.name, by=demo.organizer, joins=False)
    for member in team.members:
        join_team(team=new_team, user=people[member.username])
    return new_team


def _submit(
    demo: DemoContext, team: Team, planned: DemoTeam, plan: DemoRun, *, number: int
) -> None:
    """Retrieve and submit a run before the deadline, or before now if the task is open."""
    task = demo.tasks[plan.task]
    end = min(filter(None, (task.deadline, demo.at)))
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
        demo_run_file(plan, demo.topics[plan.task], demo.library), name=file_name(planned, plan)
    )
    by = submitter_of(demo, team)
    [run] = submit_upload(
        file=file, task=task, team=team, by=by, at=at, metadata={str(file.name): metadata}
    )
    validate_uploaded_run(run_id=run.pk, at=at + timedelta(seconds=1))

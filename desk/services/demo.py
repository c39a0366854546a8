"""The demo lab: built with the services of any lab from the files in `desk/demo`."""

import re
import secrets
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.contrib.auth.hashers import make_password
from django.core.files.base import ContentFile
from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Membership, Task, Team, User
from arqlab.core.services.labs import change_lab, change_task
from arqlab.core.services.people import confirm_address, grant_role
from arqlab.core.services.teams import create_team, join_team, lab_team
from arqlab.notices.models import Kind, Notice
from assessment.assignments.services.assigning import assign_topics
from assessment.judging.selectors.items import ShownInstance, Stack, TopicPath
from assessment.judging.services.items import item_payload
from assessment.judging.services.judgments import submit_judgments
from assessment.judging.services.leases import Seat, Taken, take_next
from assessment.judging.services.stored_labels import Label, Submission
from assessment.models import Qrel, QrelSet, Ticket
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.services.freezing import freeze_pool
from assessment.qrels.services.loading import load_lab
from assessment.qrels.services.versions import choose_current_qrels
from assessment.tickets.services.answers import answer_ticket
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.changing import withdraw_run
from submissions.services.run_metadata import metadata_from_name
from submissions.services.uploads import check_upload, submit_upload
from submissions.services.validation import validate_uploaded_run

SLUG, OPEN_TASK = "demo", "task1-progress"
FOLDER = Path(__file__).parents[1] / "demo"
WRITTEN_ON = date(2026, 6, 1)
"""The day on which `lab.toml` was written; its dates are relative to it."""
ACCOUNTS = {
    "organizer": "Orsolya Brandt",
    "assessor": "Amadou Keller",
    "assessor2": "Noor Lindqvist",
    "visitor": "Vera Sandoval",
}
"""The accounts without a team, each named after its role; members are in `plan.toml`."""
DESCRIPTION = (
    "A small lab to explore: sixteen questions of undergraduate mathematics with answers and"
    " formulas, six teams with runs of real retrieval systems, and two assessors in the middle of"
    " judging. Everything was written for this demo."
)
FROZEN_DAYS = 6
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0"
# The window of the collection is not moved, because its posts are not.
_DAY = re.compile(r"(?<=^opens = )[0-9-]+$|(?<=^deadline = )[0-9-]+$", re.MULTILINE)
_LAB_FILES = ("*.xml", "*formulas.*.tsv", "qrels.*.tsv", "topic-info.*.csv")


@cache
def demo_plan() -> dict[str, Any]:
    """Return the plan of the demo lab: boards, teams, pools and tickets (`plan.toml`)."""
    return tomllib.loads((FOLDER / "plan.toml").read_text(encoding="utf-8"))


def write_lab(folder: Path, *, today: date) -> Path:
    """Write the folder of the demo lab, with the dates of its tasks moved to `today`."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (file for pattern in _LAB_FILES for file in FOLDER.glob(pattern)):
        shutil.copyfile(file, folder / file.name)
    shift, text = today - WRITTEN_ON, (FOLDER / "lab.toml").read_text(encoding="utf-8")
    moved = _DAY.sub(lambda day: (date.fromisoformat(day[0]) + shift).isoformat(), text)
    (folder / "lab.toml").write_text(moved, encoding="utf-8")
    return folder


def new_password() -> str:
    """Return a random password of unambiguous letters and digits."""
    return "demo" + "".join(secrets.choice("abcdefghkmnpqrstuvwxyz23456789") for _ in range(8))


def account_roles() -> list[tuple[str, str]]:
    """Return the accounts of the demo and their roles in words; of every team only the founder."""
    teams = [team for team in demo_plan()["teams"] if "members" in team]
    return [(username, username.removesuffix("2")) for username in ACCOUNTS] + [
        (team["members"][0]["username"], f"member of {team['name']}") for team in teams
    ]


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
        organizer = people["organizer"]
        written = write_lab(folder / "lab", today=at.date())
        lab = load_lab(folder=written, at=at, by=organizer).lab
        change_lab(lab=lab, changes={"description": DESCRIPTION}, by=organizer)
        tasks = {task.slug: task for task in Task.objects.filter(lab=lab).select_related("lab")}
        demo = _Demo(lab, tasks, people, organizer, at)
        demo.make_teams()
        demo.open_task()
        for qrels in demo.qrels_of_boards().values():
            choose_current_qrels(qrel_set=qrels, by=organizer)
        demo.judge()
        release_boards(demo)
        old = Notice.objects.filter(lab=lab, kind=Kind.RUNS_VALIDATED, read_at=None)
        old.exclude(path__contains=f"/{OPEN_TASK}/").update(read_at=at)
    for path in FOLDER.glob("try-*.tsv"):
        shutil.copyfile(path, folder / path.name)
    return lab


def _make_accounts(password: str) -> dict[str, User]:
    """Create all accounts, or raise `UserError` for one that the demo did not make."""
    hashed = make_password(password)  # once, because hashing is slow
    people = {username: (name, f"{username}@demo.example") for username, name in ACCOUNTS.items()}
    for team in demo_plan()["teams"]:
        people |= {who["username"]: (who["name"], who["email"]) for who in team.get("members", ())}
    for user in User.objects.filter(username__in=people):
        if user.email != people[user.username][1] or user.is_staff or user.is_superuser:
            raise UserError(
                f"The account {user.username} exists already. Build the demo lab in an empty"
                " database: set ARQLAB_DATA to another folder.",
                code="account-exists",
            )
    accounts = {}
    for username, (name, email) in people.items():
        first, _, last = name.partition(" ")
        values = {"first_name": first, "last_name": last, "email": email, "password": hashed}
        accounts[username], _ = User.objects.update_or_create(username=username, defaults=values)
        confirm_address(user=accounts[username])
    return accounts


@dataclass(frozen=True)
class _Demo:
    """The demo lab while it is built: its tasks by slug, its people by user name, and the time."""

    lab: Lab
    tasks: Mapping[str, Task]
    people: Mapping[str, User]
    organizer: User
    at: datetime

    def make_teams(self) -> None:
        """Create the teams, and submit their runs before the deadlines, or before now."""
        for plan in demo_plan()["teams"]:
            if is_baseline := plan.get("baseline", False):
                team = lab_team(self.lab)
            else:
                name = plan["name"]
                team = create_team(lab=self.lab, name=name, by=self.organizer, joins=False)
            for member in plan.get("members", ()):
                join_team(team=team, user=self.people[member["username"]])
            for number, (path, description) in enumerate(plan["runs"].items()):
                slug, _, name = path.partition("/")
                end = min(filter(None, (self.tasks[slug].deadline, self.at)))
                at = end - timedelta(hours=7 + 19 * number + 5 * (team.pk % 4))
                data = (FOLDER / "runs" / path).read_bytes()
                marks = {"description": description, "is_baseline": is_baseline}
                self.send(slug, team, name, data, at=at, **marks)

    def send(
        self, slug: str, team: Team, name: str, data: bytes, *, at: datetime, **marks: Any
    ) -> Run:
        """Submit and validate a run, or only check it."""
        submit = check_upload if marks.pop("check_only", False) else submit_upload
        metadata = {name: replace(metadata_from_name(name), **marks)}
        file, by = ContentFile(data, name=name), self.submitter_of(team)
        [run] = submit(file=file, task=self.tasks[slug], team=team, by=by, at=at, metadata=metadata)
        validate_uploaded_run(run_id=run.pk, at=at + timedelta(seconds=1))
        return run

    def submitter_of(self, team: Team) -> User:
        """Return the founder of a team, or the organizer for baselines."""
        founder = team.memberships.select_related("user").order_by("pk").first()
        return founder.user if founder else self.organizer

    def withdraw(self, run: Run, reason: str, *, hours: int) -> None:
        """Withdraw a run some hours ago."""
        at = self.at - timedelta(hours=hours)
        withdraw_run(run=run, reason=reason, by=self.submitter_of(run.team), at=at)

    def open_task(self) -> None:
        """Submit runs to the open task: one with errors, one checked only, and one withdrawn.

        Its topics are those of a released task, so their threads are open.
        """
        task, by = self.tasks[OPEN_TASK], self.organizer
        change_task(task=task, changes={"threads": "open"}, protocol={}, by=by)
        for name, tag, file, hours, marks in (
            ("Kaleidos", "Draft1", "broken", 30, {}),
            ("PrimeIdeals", "Rehearsal", "good", 5, {"check_only": True}),
            ("LemmaHarvest", "Latent200", "good", 26, {}),
        ):
            team, data = self.lab.teams.get(name=name), (FOLDER / f"try-{file}.tsv").read_bytes()
            sent = f"{name}-task1-{tag}-auto-both-A.tsv"
            at = self.at - timedelta(hours=hours)
            run = self.send(OPEN_TASK, team, sent, data, at=at, **marks)
        self.withdraw(run, "Submitted the run of another system by mistake.", hours=25)

    def qrels_of_boards(self) -> dict[str, QrelSet]:
        """Return the qrels of the leaderboards, by the slugs of their tasks."""
        versions = QrelSet.objects.filter(task__lab=self.lab).select_related("task__lab")
        boards = demo_plan()["boards"]
        return {
            slug: versions.get(task__slug=slug, name=board["qrels"])
            for slug, board in boards.items()
        }

    def judge(self) -> None:
        """Freeze the pools, assign their topics and judge them, and answer a ticket."""
        for name in ("assessor", "assessor2"):
            role, user = Membership.Role.ASSESSOR, self.people[name]
            grant_role(lab=self.lab, user=user, role=role, by=self.organizer)
        frozen = self.at - timedelta(days=FROZEN_DAYS)
        for hours, plan in enumerate(demo_plan()["pools"], start=1):
            task = self.tasks[plan["task"]]
            depths = {kind: plan[kind] for kind in ("primary", "alternate")}
            choice = PoolChoice(replace(task.protocol.pool, **depths), plan["seed"])
            freeze_pool(task=task, choice=choice, by=self.organizer, at=frozen)
            for share in plan["shares"]:
                pairs = [
                    (task.topics.get(query_id=name), self.people[share["assessor"]])
                    for name in (*share["done"], *share["started"], *share["waiting"])
                ]
                assign_topics(task=task, pairs=pairs, replaces=False, at=frozen, by=self.organizer)
                self._judge_share(plan, share, end=self.at - timedelta(hours=hours))
        for plan in demo_plan()["tickets"]:
            if "answer" in plan:
                item = {"doc_id": plan["item"], "item__topic__query_id": plan["topic"]}
                instance = {f"judgment__instance__{name}": value for name, value in item.items()}
                ticket = Ticket.objects.get(**instance)
                answer_ticket(
                    ticket=ticket,
                    answer=plan["answer"],
                    returns_item=False,
                    at=ticket.raised_at + timedelta(hours=3),
                    by=self.organizer,
                )

    def _judge_share(
        self, plan: Mapping[str, Any], share: Mapping[str, Any], *, end: datetime
    ) -> None:
        """Judge the topics of an assessor, one a day, with the labels of the qrels."""
        rows = Qrel.objects.none()
        for named in plan["qrels"]:
            slug, name = named.split("/")
            rows |= Qrel.objects.filter(qrel_set__task=self.tasks[slug], qrel_set__name=name)
        labels = {(row.query_id, row.doc_id): row.relevance for row in rows}
        sittings = dict.fromkeys(share["done"]) | share["started"]
        person = self.people[share["assessor"]]
        for number, (query_id, most) in enumerate(sittings.items()):
            at = end - timedelta(days=len(sittings) - 1 - number)
            topic = self.tasks[plan["task"]].topics.get(query_id=query_id)
            seat = Seat(person, TopicPath(self.lab.slug, plan["task"], query_id))
            taken = take_next(stack=Stack(topic.pk), seat=seat, have=(), at=at)
            judged = 0
            while taken and judged != most:
                given = tuple(
                    _label(taken, instance, seat, labels[query_id, instance.doc_id])
                    for instance in taken.shown.instances
                )
                submission = Submission(taken.shown.item.pk, given, at)
                at += timedelta(milliseconds=sum(label.active_ms or 0 for label in given))
                done = submit_judgments(seat=seat, submission=submission, browser=BROWSER, at=at)
                taken, judged = done.following, judged + 1


def _label(taken: Taken, instance: ShownInstance, seat: Seat, label: int) -> Label:
    """Return a label as the judging page sends it: a report with its comment and the HTML shown."""
    text = instance.post.body if instance.post else taken.shown.item.text
    reading_ms = 9_000 + 25 * len(text)
    reported = (seat.path.query_id, instance.doc_id)
    comments = {
        (ticket["topic"], ticket["item"]): ticket["comment"] for ticket in demo_plan()["tickets"]
    }
    if reported not in comments:
        return Label(instance.pk, label, uuid4(), "", active_ms=reading_ms)
    payload = item_payload(taken, lab_slug=seat.path.lab)
    [html] = [part["html"] for part in payload["instances"] if part["instance"] == instance.pk]
    comment = comments[reported]
    return Label(instance.pk, label, uuid4(), comment, active_ms=reading_ms, shown=html)


def release_boards(demo: _Demo) -> None:
    """Score all runs and release the leaderboards; one run is withdrawn after the release.

    Teams see their own scores in tasks without a released leaderboard.
    """
    score_waiting(at=demo.at)
    for slug, qrels in demo.qrels_of_boards().items():
        if demo_plan()["boards"][slug]["released"]:
            at = demo.at - timedelta(days=3)
            release_leaderboard(qrel_set=qrels, by=demo.organizer, at=at)
        else:
            changes = {"shows_own_scores": True}
            change_task(task=demo.tasks[slug], changes=changes, protocol={}, by=demo.organizer)
    runs = Run.objects.select_related("team", "task__lab")
    late = runs.get(task=demo.tasks["task1"], tag="SlowGrowth")
    demo.withdraw(late, "The parameters were tuned on the judgments.", hours=24)

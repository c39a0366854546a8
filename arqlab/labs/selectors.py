"""Queries about labs: their tasks, topics, people and roles."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl
from django.db.models import Count, Prefetch, Q, QuerySet
from django.utils.crypto import salted_hmac
from django.utils.html import strip_tags

from arqkit.formats.topics.files import write_topics
from arqkit.topics import QUERY_TEXTS
from arqlab.core.errors import UserError
from arqlab.core.models import (
    Correction,
    Corrections,
    Lab,
    Membership,
    Role,
    Task,
    Team,
    Topic,
    User,
    Visitor,
)
from arqlab.core.permissions import organizing_roles

# Topic information that everyone may see (protocol §3). Other fields may reveal judgments.
TOPIC_FILTERS = ("category", "difficulty", "dependency", "complexity", "text_dependence", "split")
LAB_STATES = ("draft", "open", "upcoming", "closed", "archived")
"""The states of labs, in the order in which labs are listed."""
PUBLIC_INFO = (*TOPIC_FILTERS, "multi_part", "elements")
PSEUDONYM = "assessor-"


@dataclass(frozen=True)
class TaskRow:
    """A task with its state at a time and its number of topics."""

    task: Task
    state: str
    topics: int


@dataclass(frozen=True)
class LabRow:
    """A lab with its tasks and its state at a time, one of `LAB_STATES`."""

    lab: Lab
    state: str
    tasks: tuple[TaskRow, ...]
    teams: int

    @property
    def next_deadline(self) -> datetime | None:
        """Return the earliest deadline of the open tasks, or None."""
        open_tasks = (row.task for row in self.tasks if row.state == "open")
        return min((task.deadline for task in open_tasks if task.deadline), default=None)


@dataclass(frozen=True)
class LabRoles:
    """The roles of a user in a lab."""

    granted: tuple[Role, ...] = ()
    teams: tuple[Team, ...] = ()

    @property
    def organizes(self) -> bool:
        """Return whether the user runs the lab, or sees all of it in a request that only reads."""
        return any(role in organizing_roles() for role in self.granted)

    @property
    def only_observes(self) -> bool:
        """Return whether the user sees what organizers see, and does not run the lab."""
        rights = [role.rights for role in self.granted]
        return any(one.observes for one in rights) and not any(one.organizes for one in rights)

    @property
    def assesses(self) -> bool:
        """Return whether the user judges by default."""
        return any(role.rights.assesses for role in self.granted)

    @property
    def words(self) -> str:
        """Return the roles in words, or "" for a user without one."""
        return ", ".join([*self.granted, *(f"member of {team}" for team in self.teams)])

    @property
    def is_somebody(self) -> bool:
        """Return whether the user has a role in the lab."""
        return bool(self.granted or self.teams)


@dataclass(frozen=True)
class OwnLab:
    """A lab in which a user has a role, with the user's roles."""

    row: LabRow
    standing: LabRoles


def task_named(path: str) -> Task:
    """Return the task that a command names as `LAB/TASK`, or raise `UserError` with the tasks."""
    lab_slug, _, task_slug = path.partition("/")
    task = Task.objects.select_related("lab").filter(lab__slug=lab_slug, slug=task_slug).first()
    if task is None:
        paths = ", ".join(str(task) for task in Task.objects.select_related("lab"))
        todo = f"Use LAB/TASK, one of {paths}." if paths else "Load a lab first."
        raise UserError(f"Unknown task {path!r}. {todo}", code="unknown-task")
    return task


def lab_named(slug: str) -> Lab:
    """Return the lab with this slug. Raises `UserError`, which lists the labs, if it is unknown."""
    if lab := Lab.objects.filter(slug=slug).first():
        return lab
    slugs = ", ".join(Lab.objects.values_list("slug", flat=True)) or "none"
    raise UserError(f"There is no lab {slug!r}. Labs: {slugs}.", code="unknown-lab")


def person_named(name: str) -> User:
    """Return the user with an email address (in any case) or user name, or raise `UserError`."""
    # A user name may contain @ and equal the address of another user. A name with @ is therefore
    # looked up as an address only.
    field = "email__iexact" if "@" in name else "username"
    person = User.objects.filter(**{field: name}).first()
    if person is None:
        raise UserError(
            f"No account found for {name}. Check the spelling, or ask them to sign up first.",
            code="unknown-person",
        )
    return person


def topic_ids(task: Task) -> tuple[str, ...]:
    """Return the ids of the task's topics in order."""
    return tuple(task.topics.order_by("position").values_list("query_id", flat=True))


def roles_of(user: User) -> QuerySet[Membership]:
    """Return a user's roles in all labs, with lab and team."""
    return (
        Membership.objects.filter(user=user)
        .select_related("lab", "team")
        .order_by("lab__name", "role", "team__name")
    )


def roles_in(user: Visitor, lab: Lab) -> LabRoles:
    """Return a user's roles in a lab with one query; superusers organize every lab."""
    if not isinstance(user, User):
        return LabRoles()
    return _lab_roles(user, list(roles_of(user).filter(lab=lab)))


def _lab_roles(user: User, memberships: list[Membership]) -> LabRoles:
    roles = {membership.role for membership in memberships}
    if user.is_superuser:
        roles |= set(Role.organizing())
    return LabRoles(
        granted=tuple(role for role in Role.granted() if role in roles),
        teams=tuple(membership.team for membership in memberships if membership.team is not None),
    )


def lab_rows(labs: QuerySet[Lab], *, tasks: QuerySet[Task], at: datetime) -> list[LabRow]:
    """Return labs with the states of those of `tasks` that they have, by state, in two queries."""
    counted = Prefetch("tasks", queryset=tasks.annotate(topics_count=Count("topics")))
    participating = Count("teams", filter=Q(teams__is_lab=False))
    counted_labs = labs.annotate(teams_count=participating).prefetch_related(counted)
    rows = [_lab_row(lab, at) for lab in counted_labs]
    return sorted(rows, key=lambda row: LAB_STATES.index(row.state))


def lab_row(lab: Lab, *, tasks: QuerySet[Task], at: datetime) -> LabRow:
    """Return the row of one lab, as `lab_rows` does."""
    return lab_rows(Lab.objects.filter(pk=lab.pk), tasks=tasks, at=at)[0]


def _lab_row(lab: Any, at: datetime) -> LabRow:
    tasks = tuple(
        TaskRow(task, "archived" if task.archived_at else task.state(at), task.topics_count)
        for task in lab.tasks.all()
    )
    states = {row.state for row in tasks}
    current = [state for state in ("open", "upcoming") if state in states]
    state: str = current[0] if current else "closed" if tasks else "upcoming"
    if not lab.is_public:
        state = "draft"
    if lab.archived_at:
        state = "archived"
    return LabRow(lab=lab, state=state, tasks=tasks, teams=lab.teams_count)


def own_labs(user: User, *, tasks: QuerySet[Task], at: datetime) -> list[OwnLab]:
    """Return the unarchived labs of a user, with the roles and those of `tasks`: three queries."""
    memberships: dict[int, list[Membership]] = {}
    for membership in roles_of(user):
        memberships.setdefault(membership.lab_id, []).append(membership)
    rows = lab_rows(Lab.objects.filter(pk__in=memberships, archived_at=None), tasks=tasks, at=at)
    return [OwnLab(row=row, standing=_lab_roles(user, memberships[row.lab.pk])) for row in rows]


def organizers_of(lab: Lab) -> QuerySet[User]:
    """Return the users who organize a lab, without superusers who have no role in it."""
    memberships = lab.memberships.filter(role__in=Role.organizing())
    return User.objects.filter(pk__in=memberships.values("user"))


def staff_of(lab: Lab) -> QuerySet[Membership]:
    """Return the roles in a lab that were granted, with their users."""
    staff = lab.memberships.filter(team=None).select_related("user")
    return staff.order_by("-role", "user__username")


def listed_topics(task: Task) -> pl.DataFrame:
    """Return the topics of a task in order.

    Columns: query_id, title_html, formula_html, tags (joined), text (all words, without markup),
    and the information of `TOPIC_FILTERS`.
    """
    columns = ("query_id", "title_html", "formula_html", "tags", "text", *TOPIC_FILTERS)
    rows = [
        (
            topic.query_id,
            topic.title_html,
            topic.formula_html,
            ", ".join(topic.tags),
            " ".join(
                (
                    topic.query_id,
                    strip_tags(f"{topic.title} {topic.body}"),
                    *topic.tags,
                    topic.latex,
                )
            ),
            *(str(topic.facts.get(name) or "") or None for name in TOPIC_FILTERS),
        )
        for topic in task.topics.order_by("position").defer("body_html")
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def topics_xml(task: Task) -> bytes:
    """Return the topics of a task in their order, in the labs' XML."""
    return write_topics(topic.record for topic in task.topics.order_by("position"))


def info_values(topics: Iterable[Topic], name: str) -> list[str]:
    """Return the values of one information field, such as the categories, sorted."""
    values = {topic.facts.get(name) for topic in topics}
    return sorted(str(value) for value in values if value not in (None, ""))


def topic_info(
    topic: Topic, *, organizes: bool
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return a topic's public information, and what only somebody who organizes may see."""
    facts = topic.facts
    public = [(name, facts[name]) for name in PUBLIC_INFO if name in facts]
    displayed = {*PUBLIC_INFO, *QUERY_TEXTS}  # the texts stand with the question
    notes = [(name, facts[name]) for name in facts if organizes and name not in displayed]
    return public, notes


def neighbours(topic: Topic) -> tuple[Topic | None, Topic | None]:
    """Return the topics before and after a topic in its task."""
    topics = Topic.objects.filter(task_id=topic.task_id).only("query_id", "position", "task_id")
    before = topics.filter(position__lt=topic.position).order_by("-position").first()
    return before, topics.filter(position__gt=topic.position).order_by("position").first()


def corrections_of(lab: Lab | str, *, until: datetime | None = None) -> Corrections:
    """Return the corrections of a lab (or its slug), if asked only those made `until` a time."""
    of_lab = {"lab__slug": lab} if isinstance(lab, str) else {"lab": lab}
    corrections = Correction.objects.filter(**of_lab, **({"made_at__lt": until} if until else {}))
    by_kind: dict[str, dict[str, str]] = {kind: {} for kind in Correction.Kind.values}
    for kind, key, value in corrections.order_by().values_list("kind", "key", "value"):
        by_kind[kind][key] = value
    return Corrections(*(by_kind[kind] for kind in ("formula", "text", "thread")))


def pseudonym(lab: Lab, user_id: int) -> str:
    """Return the name of an assessor in exports: the same throughout a lab, and nowhere else."""
    return PSEUDONYM + salted_hmac("arqlab.exports", f"{lab.pk}/{user_id}").hexdigest()[:8]

"""Records for tests, numbered in sequence instead of at random, so that failures repeat."""

import time
from dataclasses import dataclass

import factory
from allauth.account.models import EmailAddress
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from arqlab.core.models import Lab, Membership, Task, Team, Topic, User

PASSWORD = "a quiet blackboard"


class UserFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda number: f"person{number}")
    email = factory.LazyAttribute(lambda user: f"{user.username}@example.org")
    password = factory.django.Password(PASSWORD)

    @factory.post_generation
    def has_verified_address(self, create, extracted, **_):
        """Confirm the address, unless this is False."""
        if self.email and extracted is not False:
            EmailAddress.objects.create(
                user=self, email=self.email.lower(), verified=True, primary=True
            )


def confirm_password(client: Client, user: User) -> None:
    """Let a browser confirm the password of its user, as `/accounts/reauthenticate/` does."""
    session = client.session
    session["account_authentication_methods_user"] = str(user.pk)
    session["account_authentication_methods"] = [
        {"method": "password", "at": time.time(), "reauthenticated": True}
    ]
    session.save()


class LabFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Lab

    slug = factory.Sequence(lambda number: f"lab{number}")
    name = factory.LazyAttribute(lambda lab: f"The lab {lab.slug}")
    protocol = "arqmath-3"


class TaskFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Task

    lab = factory.SubFactory(LabFactory)
    slug = factory.Sequence(lambda number: f"task-{number}")  # differs from all names in tests
    name = "Answer retrieval"
    kind = Task.Kind.ANSWERS
    trec_items = Task.Items.POSTS


class FormulaTaskFactory(TaskFactory):
    name = "Formula retrieval"
    kind = Task.Kind.FORMULAS
    trec_items = Task.Items.VISUAL_IDS


class WrittenTaskFactory(TaskFactory):
    name = "Generated answers"
    kind = Task.Kind.GENERATED_ANSWERS
    trec_items = Task.Items.ANSWERS


class TopicFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Topic

    task = factory.SubFactory(TaskFactory)
    position = factory.Sequence(lambda number: number + 1)
    query_id = factory.LazyAttribute(lambda topic: f"A.{topic.position}")
    title = factory.LazyAttribute(lambda topic: f"The title of {topic.query_id}")
    title_html = factory.SelfAttribute("title")
    body = factory.LazyAttribute(lambda topic: f"<p>The question of {topic.query_id}</p>")
    body_html = factory.SelfAttribute("body")


class TeamFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Team

    lab = factory.SubFactory(LabFactory)
    name = factory.Sequence(lambda number: f"Team{number}")


class MemberFactory(factory.django.DjangoModelFactory):
    """A member of a team; `MemberFactory(team=team).user` is the user."""

    class Meta:
        model = Membership

    user = factory.SubFactory(UserFactory)
    team = factory.SubFactory(TeamFactory)
    lab = factory.SelfAttribute("team.lab")
    role = Membership.Role.MEMBER


class OrganizerFactory(factory.django.DjangoModelFactory):
    """An organizer of a lab; `OrganizerFactory(lab=lab).user` is the user."""

    class Meta:
        model = Membership

    user = factory.SubFactory(UserFactory)
    lab = factory.SubFactory(LabFactory)
    role = Membership.Role.ORGANIZER


class AssessorFactory(OrganizerFactory):
    role = Membership.Role.ASSESSOR


@dataclass(frozen=True)
class Scene:
    """A lab with one task of two topics, two teams, and one user of each role."""

    lab: Lab
    task: Task
    team: Team
    other_team: Team
    outsider: User
    member: User
    other_member: User
    assessor: User
    organizer: User
    superuser: User

    @property
    def people(self) -> dict[str, User | AnonymousUser]:
        """Return one user of each role, by role."""
        return {
            "visitor": AnonymousUser(),
            "outsider": self.outsider,
            "member": self.member,
            "other_member": self.other_member,
            "assessor": self.assessor,
            "organizer": self.organizer,
            "superuser": self.superuser,
        }


def make_lab(slug: str = "arqmath-x", *, is_public: bool = True) -> Scene:
    """Create a lab with `task1` (topics A.1, A.2), teams Alpha and Beta, and users of each role.

    Most tests begin so: rows of a table are stored at once.
    """
    lab = LabFactory(slug=slug, is_public=is_public)
    task = TaskFactory(lab=lab, slug="task1", position=1)
    Topic.objects.bulk_create(
        TopicFactory.build(task=task, query_id=f"A.{number}", position=number) for number in (1, 2)
    )
    team, other_team = Team.objects.bulk_create(
        TeamFactory.build(lab=lab, name=name) for name in ("Alpha", "Beta")
    )
    people = _make_people(slug)
    roles = Membership.Role
    Membership.objects.bulk_create(
        Membership(lab=lab, user=people[name], team=of, role=role)
        for name, of, role in (
            ("member", team, roles.MEMBER),
            ("other_member", other_team, roles.MEMBER),
            ("assessor", None, roles.ASSESSOR),
            ("organizer", None, roles.ORGANIZER),
        )
    )
    return Scene(lab=lab, task=task, team=team, other_team=other_team, **people)


def _make_people(slug: str) -> dict[str, User]:
    """Create users with verified addresses, named after what they will be."""
    names = ("outsider", "member", "other_member", "assessor", "organizer", "superuser")
    people = {
        name: UserFactory.build(
            username=f"{name.replace('_', '-')}-{slug}",
            is_superuser=name == "superuser",
            is_staff=name == "superuser",
            has_verified_address=False,
        )
        for name in names
    }
    User.objects.bulk_create(people.values())
    EmailAddress.objects.bulk_create(
        EmailAddress(user=user, email=user.email.lower(), verified=True, primary=True)
        for user in people.values()
    )
    return people

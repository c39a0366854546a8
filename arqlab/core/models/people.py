"""Models of people, their teams and roles, and the audit log."""

from __future__ import annotations

import secrets

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone

from arqlab.core.models.labs import Lab
from arqlab.core.models.roles import Role, team_fits_role


def new_invitation_token() -> str:
    """Return an unguessable token for a team's invitation link."""
    return secrets.token_urlsafe(24)


class User(AbstractUser):
    """A person with an account; `Membership` holds their role in each lab."""

    email = models.EmailField("email address", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("email"), condition=~Q(email=""), name="user_email_once")
        ]

    @property
    def name(self) -> str:
        """Return the full name, or the user name if it is empty."""
        return self.get_full_name() or self.get_username()


Visitor = User | AnonymousUser
"""Any user, signed in or not."""


class Publication(models.Model):
    """Where the work of a team or a run is published; every field may be empty."""

    paper = models.URLField(blank=True, help_text="Address of the paper.")
    code = models.URLField(blank=True, help_text="Address of the code.")
    citation = models.TextField(blank=True, help_text="How to cite the paper, in any format.")

    class Meta:
        abstract = True


class TeamQuerySet(models.QuerySet["Team"]):
    """The filter of the teams that take part."""

    def participating(self) -> TeamQuerySet:
        """Return the teams of people, without the one that holds a lab's baselines."""
        return self.filter(is_lab=False)


class Team(Publication):
    """People who submit runs together and share one quota."""

    DETAILS = ("affiliation", "paper", "code", "citation")
    """What members and organizers edit on the team's page, besides the name."""

    lab = models.ForeignKey(Lab, models.CASCADE, related_name="teams")
    name = models.CharField(max_length=80)
    affiliation = models.CharField(
        max_length=200,
        blank=True,
        help_text="Institutions and countries, as in the overview paper.",
    )
    invitation_token = models.CharField(max_length=64, unique=True, default=new_invitation_token)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="created_teams"
    )
    is_lab = models.BooleanField(
        default=False,
        editable=False,
        help_text="The lab itself, to which its baselines belong; it has no members.",
    )

    objects = TeamQuerySet.as_manager()

    class Meta:
        ordering = ["lab", "name"]
        constraints = [
            models.UniqueConstraint("lab", Lower("name"), name="team_name_once_per_lab"),
            models.UniqueConstraint(
                fields=["lab"], condition=Q(is_lab=True), name="one_team_is_the_lab"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """The role of a person in a lab, with the team of a member."""

    Role = Role

    lab = models.ForeignKey(Lab, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role.choices)
    team = models.ForeignKey(
        Team, models.CASCADE, null=True, blank=True, related_name="memberships"
    )
    may_join_team = models.BooleanField(
        default=False,
        help_text="Whether an organizer allowed this assessor to be in a team of the lab.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["lab", "role", "user"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "user", "role"], condition=Q(team=None), name="role_once_per_lab"
            ),
            models.UniqueConstraint(fields=["team", "user"], name="member_once_per_team"),
            models.CheckConstraint(condition=team_fits_role(), name="only_members_have_a_team"),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.lab}"

    @property
    def avoids_teams(self) -> bool:
        """Return whether the user may be in no team of the lab."""
        return Role(self.role).rights.avoids_teams and not self.may_join_team


class AuditEvent(models.Model):
    """A record of who did what and when, written in the transaction of the change."""

    at = models.DateTimeField(default=timezone.now, editable=False)
    actor = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    person = models.ForeignKey(
        User,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="events",
        help_text="The person it is about.",
    )
    lab = models.ForeignKey(Lab, models.CASCADE, null=True, blank=True, related_name="audit_events")
    verb = models.CharField(max_length=60)
    target = models.CharField(max_length=300)
    detail = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.verb} {self.target}"


class Upgrade(models.Model):
    """A version of ArqLab that migrated the database, and when."""

    version = models.CharField(max_length=40)
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.version}, {self.at:%Y-%m-%d}"


class ApiToken(models.Model):
    """A secret for programs instead of the password. Only its hash is stored."""

    class Scope(models.TextChoices):
        """What a program may do with the token, within the roles of its user."""

        READ = "read", "Read"
        SUBMIT = "submit", "Read and submit runs"
        JUDGE = "judge", "Read and judge"
        WRITE = "write", "Read and make all changes"

    user = models.ForeignKey(User, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80, help_text="What the token is used for.")
    scope = models.CharField(max_length=8, choices=Scope, default=Scope.READ)
    lab = models.ForeignKey(
        Lab,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="The only lab that it opens; all labs of its user if it has none.",
    )
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token.")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, help_text="Recorded at most once an hour.")

    class Meta:
        ordering = ("-created_at", "-pk")

    def __str__(self) -> str:
        return f"{self.name} of {self.user.get_username()}"

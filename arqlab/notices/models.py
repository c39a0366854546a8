"""Notices, the mail that carries them, messages of organizers, invitations and edited texts."""

from __future__ import annotations

import secrets

from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from arqkit.data_files import data_beside
from arqlab.core.models import Lab, Membership, Team, User
from arqlab.core.models.roles import team_fits_role

TEXTS = data_beside(__file__, "texts.toml")
"""The default texts by kind: `subject`, `text`, and `action`, a link to the page of the event."""


def new_token() -> str:
    """Return an unguessable token for the link of an invitation."""
    return secrets.token_urlsafe(24)


class Kind(models.TextChoices):
    """The events of notices. Organizers may edit the text of each except that of messages."""

    RUNS_VALIDATED = "runs-validated", "Runs validated"
    CHECK_FAILING = "check-failing", "Runs that the server cannot check or score"
    NO_PRIMARY_RUN = "no-primary-run", "No primary run 48 hours before the deadline"
    DEADLINE = "deadline", "Deadline in 24 hours"
    JUDGING_DEADLINE = "judging-deadline", "Items left 48 hours before the judging deadline"
    TOPIC_BIDS = "topic-bids", "Invited to mark topics"
    TOPICS_ASSIGNED = "topics-assigned", "Topics assigned"
    ROUND_STARTED = "round-started", "Items of a round to judge"
    ROUND_REVEALED = "round-revealed", "Votes of a round revealed"
    APPLICATION_ACCEPTED = "application-accepted", "Applicant accepted as assessor"
    TICKET_ANSWERED = "ticket-answered", "Ticket answered"
    TICKET_SENT = "ticket-sent", "Ticket sent to an expert"
    TICKET_ADVISED = "ticket-advised", "Ticket: the expert replied"
    LATE_LABELS = "late-labels", "Labels of an assessor who may no longer judge"
    LATE_LABELS_DECIDED = "late-labels-decided", "Late labels kept or excluded"
    LEADERBOARD_RELEASED = "leaderboard-released", "Leaderboard released"
    LEADERBOARD_ERRATUM = "leaderboard-erratum", "Released leaderboard: erratum"
    INVITATION = "invitation", "Invitation"
    MESSAGE = "message", "Message from the organizers"


class Mail(models.Model):
    """An email to one address. The rows are the queue and the log of the sent mail."""

    class State(models.TextChoices):
        """The progress of an email."""

        QUEUED = "queued", "Queued"
        SENDING = "sending", "Sending"
        SENT = "sent", "Sent"
        FAILED = "failed", "Failed"

    lab = models.ForeignKey(Lab, models.CASCADE, related_name="mails")
    address = models.EmailField()
    reply_to = models.EmailField(blank=True)
    subject = models.CharField(max_length=300)
    text = models.TextField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(help_text="Earliest time of the next attempt.")
    changed_at = models.DateTimeField(
        help_text="When the state last changed. A claim that is too old has failed."
    )
    error = models.TextField(blank=True, help_text="Error of the last attempt.")

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["state", "due_at"], name="mail_waiting")]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["queued", "sending", "sent", "failed"]),
                name="mail_state_known",
            )
        ]

    def __str__(self) -> str:
        return f"{self.subject} to {self.address}"


class Message(models.Model):
    """A message of an organizer to all teams, all assessors or both."""

    class Audience(models.TextChoices):
        """The recipients of a message."""

        TEAMS = "teams", "All teams"
        ASSESSORS = "assessors", "All assessors"
        BOTH = "both", "All teams and assessors"

    # The counts of `messages_of`.
    recipients: int
    read: int
    mail_sent: int
    mail_queued: int
    mail_sending: int
    mail_failed: int

    lab = models.ForeignKey(Lab, models.CASCADE, related_name="messages")
    audience = models.CharField(max_length=10, choices=Audience.choices)
    subject = models.CharField(max_length=200)
    text = models.TextField()
    key = models.UUIDField(
        unique=True, help_text="Made with the form, so that a message sent twice is stored once."
    )
    sent_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    sent_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.subject


class NoticeQuerySet(models.QuerySet["Notice"]):
    """Filters of notices."""

    def unread(self) -> NoticeQuerySet:
        """Return the notices that their user has not opened."""
        return self.filter(read_at=None)


class Notice(models.Model):
    """A notice to a user about an event, in the application and by email if they have one."""

    lab = models.ForeignKey(Lab, models.CASCADE, related_name="notices")
    user = models.ForeignKey(User, models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=30, choices=Kind.choices)
    subject = models.CharField(max_length=300)
    text = models.TextField()
    path = models.CharField(max_length=300, blank=True, help_text="Page of the event.")
    key = models.CharField(max_length=200, help_text="Id of the event; a user is told of it once.")
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)
    message = models.ForeignKey(Message, models.CASCADE, null=True, related_name="notices")
    mail = models.OneToOneField(Mail, models.SET_NULL, null=True, related_name="notice")

    objects = NoticeQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["user"], condition=Q(read_at=None), name="notice_unread")]
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="notice_once_per_event")
        ]

    def __str__(self) -> str:
        return self.subject

    @property
    def action(self) -> str:
        """Return the text of the link to the page of the event."""
        return str(TEXTS.get(self.kind, {}).get("action", "View page"))


class MailOptOut(models.Model):
    """A user who gets notices in the application only."""

    user = models.OneToOneField(User, models.CASCADE, related_name="mail_opt_out")
    since = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return str(self.user)


class EditedText(models.Model):
    """A lab's own text for a kind of notice, in place of the default."""

    lab = models.ForeignKey(Lab, models.CASCADE, related_name="edited_texts")
    kind = models.CharField(max_length=30, choices=Kind.choices)
    subject = models.CharField(max_length=200)
    text = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["lab", "kind"], name="text_edited_once_per_lab")
        ]

    def __str__(self) -> str:
        return f"{self.lab}: {self.get_kind_display()}"


class Invitation(models.Model):
    """An invitation to a role or team by email. Its link works once, for any account."""

    lab = models.ForeignKey(Lab, models.CASCADE, related_name="invitations")
    address = models.EmailField()
    role = models.CharField(max_length=20, choices=Membership.Role.choices)
    team = models.ForeignKey(
        Team, models.CASCADE, null=True, blank=True, related_name="invitations"
    )
    token = models.CharField(max_length=64, unique=True, default=new_token)
    invited_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    invited_at = models.DateTimeField()
    mail = models.ForeignKey(Mail, models.SET_NULL, null=True, related_name="+")
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                "lab",
                "role",
                Lower("address"),
                condition=Q(team=None, accepted_at=None, withdrawn_at=None),
                name="open_invitation_once_per_role",
            ),
            models.UniqueConstraint(
                "team",
                Lower("address"),
                condition=Q(accepted_at=None, withdrawn_at=None),
                name="open_invitation_once_per_team",
            ),
            models.CheckConstraint(
                condition=team_fits_role(), name="only_invited_members_have_a_team"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.address} as {self.words}"

    @property
    def words(self) -> str:
        """Return the role in words: `organizer`, or `member of Alpha`."""
        return f"member of {self.team.name}" if self.team else str(self.role)

    @property
    def words_with_article(self) -> str:
        """Return the role in words with its article: `an assessor`."""
        return f"{'an' if self.words[0] in 'ao' else 'a'} {self.words}"

    @property
    def state(self) -> str:
        """Return the state for display: `accepted`, `withdrawn` or `open`."""
        if self.accepted_at:
            return "accepted"
        return "withdrawn" if self.withdrawn_at else "open"

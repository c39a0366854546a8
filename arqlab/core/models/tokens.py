"""The model of API tokens, with which programs act for a person."""

from __future__ import annotations

from django.db import models

from arqlab.core.models.people import User


class ApiToken(models.Model):
    """A secret for programs instead of the password. Only its hash is stored."""

    class Scope(models.TextChoices):
        """What a program may do with the token, within the roles of its user."""

        READ = "read", "Read"
        WRITE = "write", "Read and change"

    user = models.ForeignKey(User, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80, help_text="What the token is used for.")
    scope = models.CharField(max_length=8, choices=Scope, default=Scope.READ)
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token.")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, help_text="Recorded at most once an hour.")

    class Meta:
        ordering = ("-created_at", "-pk")

    def __str__(self) -> str:
        return f"{self.name} of {self.user.get_username()}"

"""A table, of which archives have all but a field."""

from django.db import models

from arqlab.core.models import Topic


class Greeting(models.Model):
    """What was said to a topic."""

    topic = models.ForeignKey(Topic, models.CASCADE, related_name="+")
    words = models.CharField(max_length=40)
    secret = models.CharField(max_length=40)

    def __str__(self) -> str:
        return self.words

"""What is searched: the posts of a collection, and the ids that runs may name."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from arqlab.core.models import Lab


class Collection(models.Model):
    """A collection that one lab or several search. Its ids are kept in columns beside the database.

    `posts_index` is Parquet with post_id, type, thread_id; `formulas_index` with formula_id, post_id, thread_id,
    type, visual_id (all strings). Runs are checked against them: 28 million formulas are no rows of the database.
    """

    slug = models.SlugField(unique=True)
    is_complete = models.BooleanField(default=True, help_text="Of a sample, an item that is not in it is no error.")
    labs = models.ManyToManyField(Lab, through="LabCollection", related_name="collections")
    posts_index = models.FileField(upload_to="collections/", blank=True)
    formulas_index = models.FileField(upload_to="collections/", blank=True)
    source_sha256 = models.CharField(max_length=64, blank=True, help_text="Of the files that were read.")
    loaded_at = models.DateTimeField()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug


class LabCollection(models.Model):
    """Which collection a lab searches: at most one."""

    lab = models.OneToOneField(Lab, models.CASCADE)
    collection = models.ForeignKey(Collection, models.PROTECT)

    def __str__(self) -> str:
        return f"{self.lab} searches {self.collection}"


class Post(models.Model):
    """A question or an answer. Its source is kept; its page is rendered on first view and kept too."""

    class Kind(models.TextChoices):
        """Only questions have a title and tags, only answers are judged."""

        QUESTION = "question", "Question"
        ANSWER = "answer", "Answer"

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="posts")
    post_id = models.CharField(max_length=40)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    thread_id = models.CharField(max_length=40, db_index=True)
    title = models.TextField(blank=True)
    body = models.TextField()
    tags = models.JSONField(default=list, blank=True)
    title_html = models.TextField(blank=True)
    body_html = models.TextField(blank=True)

    class Meta:
        ordering = ["collection", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "post_id"], name="post_once_per_collection"),
            models.CheckConstraint(condition=Q(kind__in=["question", "answer"]), name="post_kind_known"),
        ]

    def __str__(self) -> str:
        return self.post_id

"""Posts of a data dump with their comments, links, authors and tags; documents of other sources.

Ids are strings, as in the source. Texts are stored unchanged (`body`) and sanitized (`clean_body`).
The sanitized text is null if sanitizing changed nothing except formula ids, which are added again
on each read. `rules` is the version of the sanitizer's rules that produced it. Texts with another
version are sanitized on each read.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from arqkit.records import LONGEST_ID
from arqkit.texts.html.sanitizer import RULES, clean_comment, clean_title_and_body, lacks_ids
from collection.models.collections import Collection

NEVER_CLEANED = 0  # lower than any version of the rules


class Post(models.Model):
    """A question or an answer, with votes, owner and dates if the dump has them; or a document.

    A document (or paragraph) has a title and a text. It is in no thread: its `thread_id` is empty.
    """

    class Kind(models.TextChoices):
        """The kind of a post. Answers have no title; only answers and documents are judged."""

        QUESTION = "question", "Question"
        ANSWER = "answer", "Answer"
        DOCUMENT = "document", "Document"

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="posts", db_index=False)
    post_id = models.CharField(max_length=LONGEST_ID)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    thread_id = models.CharField(max_length=40, blank=True)
    is_searched = models.BooleanField(
        default=True,
        help_text="A post outside the date window is kept for topics and threads but not searched.",
    )
    title = models.TextField(blank=True)
    body = models.TextField()
    # Null means same as the source; empty means that nothing was left.
    clean_title = models.TextField(null=True)  # noqa: DJ001
    # Null means same as the source; empty means that nothing was left.
    clean_body = models.TextField(null=True)  # noqa: DJ001
    rules = models.PositiveSmallIntegerField(default=0)
    tags = models.JSONField(default=list, blank=True)
    score = models.IntegerField(null=True)
    up_votes = models.IntegerField(null=True)
    down_votes = models.IntegerField(null=True)
    views = models.IntegerField(null=True)
    accepted_id = models.CharField(max_length=40, blank=True)
    author_id = models.CharField(max_length=40, blank=True)
    author_name = models.CharField(
        max_length=200, blank=True, help_text="Name of the owner if the dump has no id for them."
    )
    created_at = models.DateTimeField(null=True)
    # HTML that a lab shows instead of the body, not sanitized; set by readers, never stored.
    corrected_body: str | None = None

    class Meta:
        ordering = ["collection", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "post_id"], name="post_once_per_collection"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["question", "answer", "document"]), name="post_kind_known"
            ),
        ]
        indexes = [models.Index(fields=["collection", "thread_id"], name="post_by_thread")]

    def __str__(self) -> str:
        return self.post_id

    @property
    def safe_title(self) -> str:
        """Return the title sanitized by the current rules, with formulas as spans of LaTeX."""
        if self.rules != RULES or (self.clean_title is None and lacks_ids(self.title)):
            return clean_title_and_body(self.title, "", post_id=self.post_id)[0].html
        return self.title if self.clean_title is None else self.clean_title

    @property
    def safe_body(self) -> str:
        """Return the body sanitized by the current rules, with formulas as spans of LaTeX."""
        if self.corrected_body is not None:
            title, corrected = self.title, self.corrected_body
            return clean_title_and_body(title, corrected, post_id=self.post_id)[1].html
        if self.rules != RULES or (self.clean_body is None and lacks_ids(self.body)):
            return clean_title_and_body(self.title, self.body, post_id=self.post_id)[1].html
        return self.body if self.clean_body is None else self.clean_body


class Comment(models.Model):
    """A comment on a post: one paragraph of inline HTML."""

    collection = models.ForeignKey(
        Collection, models.CASCADE, related_name="comments", db_index=False
    )
    comment_id = models.CharField(max_length=40)
    post_id = models.CharField(max_length=40)
    text = models.TextField()
    # Null means same as the source; empty means that nothing was left.
    clean_text = models.TextField(null=True)  # noqa: DJ001
    rules = models.PositiveSmallIntegerField(default=0)
    score = models.IntegerField(null=True)
    author_id = models.CharField(max_length=40, blank=True)
    author_name = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["collection", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "comment_id"], name="comment_once_per_collection"
            )
        ]
        indexes = [models.Index(fields=["collection", "post_id"], name="comment_by_post")]

    def __str__(self) -> str:
        return self.comment_id

    @property
    def safe_text(self) -> str:
        """Return the comment sanitized by the current rules."""
        if self.rules != RULES:
            return clean_comment(self.text, comment_id=self.comment_id).html
        return self.text if self.clean_text is None else self.clean_text


class PostLink(models.Model):
    """A link from one question to another: related, or marked as its duplicate."""

    class Kind(models.TextChoices):
        """The kind of a link: types 1 and 3 in the dump."""

        RELATED = "related", "Related"
        DUPLICATE = "duplicate", "Duplicate"

    collection = models.ForeignKey(
        Collection, models.CASCADE, related_name="post_links", db_index=False
    )
    post_id = models.CharField(max_length=40)
    related_id = models.CharField(max_length=40)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    created_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["collection", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "post_id", "related_id", "kind"], name="post_linked_once"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["related", "duplicate"]), name="post_link_kind_known"
            ),
        ]
        indexes = [models.Index(fields=["collection", "related_id"], name="post_link_by_related")]

    def __str__(self) -> str:
        return f"{self.post_id} {self.kind} {self.related_id}"


class Author(models.Model):
    """A user of the site. Only public name, reputation and badges are stored from Users.xml."""

    collection = models.ForeignKey(
        Collection, models.CASCADE, related_name="authors", db_index=False
    )
    author_id = models.CharField(max_length=40)
    name = models.CharField(max_length=200)
    reputation = models.IntegerField(null=True)
    gold = models.PositiveIntegerField(default=0)
    silver = models.PositiveIntegerField(default=0)
    bronze = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["collection", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "author_id"], name="author_once_per_collection"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Tag(models.Model):
    """A tag of the site, with the dump's count of its questions."""

    collection = models.ForeignKey(
        Collection, models.CASCADE, related_name="known_tags", db_index=False
    )
    name = models.CharField(max_length=100)
    count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["collection", "name"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="tag_once_per_collection")
        ]

    def __str__(self) -> str:
        return self.name

"""The full-text index of posts, which is updated after posts change.

Triggers (migration 0003) delete the words of a post that is changed or deleted, and count the
changes of each collection. Where the counts differ, a query finds the posts without words.
"""

from __future__ import annotations

from django.db import models
from django.db.models import F

from collection.models.collections import Collection
from collection.models.posts import Post


class PostWords(models.Model):
    """The normalized words of one post (`arqkit.texts.posts.text.words`), separated by spaces.

    `facets` are artificial words for the collection, the kind and the tags of the thread. On SQLite
    the FTS5 table `collection_postwords_index` reads these columns. On PostgreSQL the generated
    column `words` combines them.
    """

    post = models.OneToOneField(
        Post, models.DO_NOTHING, primary_key=True, db_constraint=False, related_name="words"
    )
    title = models.TextField(blank=True)
    body = models.TextField(blank=True)
    facets = models.TextField()

    def __str__(self) -> str:
        return f"The words of post {self.pk}"


class TextIndex(models.Model):
    """The state of a collection's text index, complete if `indexed` equals `changes`."""

    collection = models.OneToOneField(
        Collection, models.CASCADE, primary_key=True, related_name="text_index"
    )
    changes = models.BigIntegerField(default=0)
    indexed = models.BigIntegerField(default=-1)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(indexed__lte=F("changes")), name="text_index_not_ahead"
            )
        ]

    def __str__(self) -> str:
        return f"The words of {self.collection}"

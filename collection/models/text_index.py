"""The words of posts, for search: an index beside the posts that is brought up to date after they
changed.

The database itself keeps it in step (migration 0006): a post that is deleted or changed loses its
words, and each change of a collection's posts is counted. Which posts lack words is then a query,
asked only where the counts differ.
"""

from __future__ import annotations

from django.db import models
from django.db.models import F

from collection.models.collections import Collection
from collection.models.posts import Post


class PostWords(models.Model):
    """The words of one post as they are compared (`arqlab.texts.posts.text.words`), with blanks
    between.

    `facets` are words of our own: the collection, the kind, and the thread's tags. On SQLite the
    FTS5 table `collection_postwords_index` reads these columns, on PostgreSQL the generated column
    `words` is made of them.
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
    """How far the words of a collection are: complete where `indexed` is the number of `changes` of
    its posts.
    """

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

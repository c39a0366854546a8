"""Versions of visual ids, which group the formula instances that look the same."""

from __future__ import annotations

from django.db import models

from collection.models.collections import Collection


class VisualMap(models.Model):
    """One version of a collection's visual ids. It never changes, and the newest one is used.

    The fields are Parquet files; `arqkit.formulas.identity` describes their columns. `mapping`
    has formula_id and visual_id of every instance. `forms` has one row per visual id, `changes` one
    per instance whose id changed since the previous version, and `opinion` one per place where
    ArqLab would group the instances of given ids differently. `pairs` is the index of the forms by
    symbol pairs (`arqkit.formulas.similarity`), which is built later.
    """

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="visual_maps")
    version = models.PositiveSmallIntegerField()
    mapping = models.FileField(upload_to="collections/")
    forms = models.FileField(upload_to="collections/")
    changes = models.FileField(upload_to="collections/", blank=True)
    opinion = models.FileField(upload_to="collections/", blank=True)
    pairs = models.FileField(upload_to="collections/", blank=True)
    pairs_claimed_at = models.DateTimeField(
        null=True, help_text="When a process started to build the pairs."
    )
    inputs = models.CharField(
        max_length=64,
        blank=True,
        help_text="Digest of the columns from which the version was made.",
    )
    counts = models.JSONField(
        default=dict,
        help_text="Numbers of instances and formulas, and of ids assigned, merged and split.",
    )
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["collection", "version"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "version"], name="visual_map_version_once_per_collection"
            )
        ]

    def __str__(self) -> str:
        return f"{self.collection} visual ids {self.version}"

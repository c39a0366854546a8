"""Which formula instances show the same formula, by version."""

from __future__ import annotations

from django.db import models

from collection.models.collections import Collection


class VisualMap(models.Model):
    """One version of a collection's visual ids. It never changes; the newest one is used.

    `mapping` is Parquet with formula_id and visual_id of every instance. `forms` is Parquet with a
    row for each visual id, `changes` one for each instance that merges and splits since the version
    before gave another id, and `opinion` one for each place where we would group the instances of
    given ids otherwise (`arqlab.ir.formulas.identity` names their columns). `pairs` is the index of
    the forms by symbol pairs (`arqlab.ir.formulas.similarity`), made some time after them.
    """

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="visual_maps")
    version = models.PositiveSmallIntegerField()
    mapping = models.FileField(upload_to="collections/")
    forms = models.FileField(upload_to="collections/")
    changes = models.FileField(upload_to="collections/", blank=True)
    opinion = models.FileField(upload_to="collections/", blank=True)
    pairs = models.FileField(upload_to="collections/", blank=True)
    pairs_claimed_at = models.DateTimeField(
        null=True, help_text="Since when a process makes the pairs."
    )
    inputs = models.CharField(
        max_length=64, blank=True, help_text="A digest of the columns that it was made of."
    )
    counts = models.JSONField(
        default=dict, help_text="Instances, formulas, and how many ids were given, merged, split."
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

"""Collections, and the labs that search them."""

from __future__ import annotations

from django.db import models

from arqlab.core.models import Lab


class Collection(models.Model):
    """A collection that one or more labs search, with Parquet files of its ids and formulas.

    `posts_index` has post_id, type and thread_id of the searched posts. `formulas_index` has one
    row per formula instance (columns: `arqkit.formats.formulas.index`). `slt_index` and `opt_index`
    have formula_id and mathml from the index files. `conversions` has the layout strings of LaTeX
    without MathML. All columns are strings. Runs are checked against these files, because 28
    million formulas are too many for rows in the database.
    """

    slug = models.SlugField(unique=True)
    is_complete = models.BooleanField(
        default=True,
        help_text="Whether the collection has all items. If not, runs may contain other items.",
    )
    labs = models.ManyToManyField(Lab, through="LabCollection", related_name="collections")
    posts_index = models.FileField(upload_to="collections/", blank=True)
    formulas_index = models.FileField(upload_to="collections/", blank=True)
    slt_index = models.FileField(upload_to="collections/", blank=True)
    opt_index = models.FileField(upload_to="collections/", blank=True)
    conversions = models.FileField(upload_to="collections/", blank=True)
    source_sha256 = models.CharField(
        max_length=64, blank=True, help_text="SHA-256 of the imported files."
    )
    loaded_at = models.DateTimeField()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug


class LabCollection(models.Model):
    """The collection that a lab searches; a lab has at most one."""

    lab = models.OneToOneField(Lab, models.CASCADE)
    collection = models.ForeignKey(Collection, models.PROTECT)

    def __str__(self) -> str:
        return f"{self.lab} searches {self.collection}"

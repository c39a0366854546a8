"""Collections, and which lab searches which."""

from __future__ import annotations

from django.db import models

from arqlab.core.models import Lab


class Collection(models.Model):
    """A collection that one lab or several search. Its ids and formulas are kept in columns beside
    the database.

    `posts_index` is Parquet with post_id, type, thread_id of the posts that are searched.
    `formulas_index` is Parquet with a row for each formula instance
    (`arqlab.formats.formulas.index` names its columns); `slt_index` and `opt_index` hold formula_id
    and mathml as the index files gave them; `conversions` what LaTeX without MathML became. All are
    strings. Runs are checked against these columns: 28 million formulas are no rows of the
    database.
    """

    slug = models.SlugField(unique=True)
    is_complete = models.BooleanField(
        default=True, help_text="Of a sample, an item that is not in it is no error."
    )
    labs = models.ManyToManyField(Lab, through="LabCollection", related_name="collections")
    posts_index = models.FileField(upload_to="collections/", blank=True)
    formulas_index = models.FileField(upload_to="collections/", blank=True)
    slt_index = models.FileField(upload_to="collections/", blank=True)
    opt_index = models.FileField(upload_to="collections/", blank=True)
    conversions = models.FileField(upload_to="collections/", blank=True)
    source_sha256 = models.CharField(
        max_length=64, blank=True, help_text="Of the files that were read."
    )
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

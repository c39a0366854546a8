"""What apps say of their models for archives of labs, in modules `archive_tables`.

A model that nobody names here is archived with all of its fields.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import import_module
from typing import Any

from django.db.models import Model

from arqlab.apps import lab_apps

Key = Callable[[type[Model], int], Any]
"""Returns the key on this server of a row of an archive, by its number."""
Found = Callable[[Mapping[str, object], Key], Model | None]
"""Returns the row on this server that is the same as that of an archive, or None."""


@dataclass(frozen=True)
class ArchiveTables:
    """What is particular about models in archives.

    - left_out: the models whose rows are not archived, and why.
    - unwritten: the fields that are not archived: secrets, claims, and what is computed.
    - lookups: how the rows of a lab are found, of models without a key to another row of the lab.
    - named: the models whose rows JSON fields name under these keys.
    - naming: the models with such rows in their JSON fields, and the models of these rows.
    - keyed: the JSON fields, such as `app.model.field`, that are tables of rows of a model.
    - texts: the models with texts of a row that may be here already, such as a collection. Its
      licence may not allow these texts and its files to be passed on.
    - found: how a row is found that is here already; without one, a row is always made.
    - stored_by: the functions that store new rows of models with rules of their own.
    """

    left_out: dict[type[Model], str] = field(default_factory=dict)
    unwritten: dict[type[Model], Collection[str]] = field(default_factory=dict)
    lookups: dict[type[Model], str] = field(default_factory=dict)
    named: dict[str, type[Model]] = field(default_factory=dict)
    naming: dict[type[Model], type[Model]] = field(default_factory=dict)
    keyed: dict[str, type[Model]] = field(default_factory=dict)
    texts: dict[type[Model], type[Model]] = field(default_factory=dict)
    found: dict[type[Model], Found] = field(default_factory=dict)
    stored_by: dict[type[Model], Callable[[list[Any]], object]] = field(default_factory=dict)


_DECLARED = ArchiveTables()


def declare_archive_tables(tables: ArchiveTables) -> None:
    """Declare what is particular about the models of an app."""
    for part in fields(ArchiveTables):
        getattr(_DECLARED, part.name).update(getattr(tables, part.name))


@cache
def archive_tables() -> ArchiveTables:
    """Return what all apps declared."""
    # From the top: version 0.1 wrote the tables of uploads before those of collections.
    for app in reversed(lab_apps()):
        for module in app.modules_named("archive_tables"):
            import_module(module)
    return _DECLARED

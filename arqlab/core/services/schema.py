"""Whether the database has the schema that its recorded migrations make, and who made it if not.

`migrate`, `serve`, `/health/ready`, `doctor` and `restore` ask this module.
"""

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from functools import cache
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.models import Field, Model

from arqlab.core.errors import Fault, UserError
from arqlab.core.models import Upgrade

SEARCHED = ("collection_postwords", "words")
"""The column that a migration makes by SQL on PostgreSQL, of the words that are searched."""
FIRST_RELEASE = date(2026, 11, 27)
FIRST_MIGRATIONS = {
    ("assessment", "0004_groups_of_assessors"),
    ("collection", "0002_licence"),
    ("core", "0004_tokens_of_a_lab"),
    ("evaluation", "0002_scoring_faults"),
    ("notices", "0002_check_failing"),
    ("submissions", "0003_keys_of_uploads"),
}
"""The day of version 0.1.0 and its last migrations. States before it edited migrations that
databases had run."""
CACHE, SEARCH = "core_attempts", "collection_postwords_index"
WITHOUT_MODEL = {"sqlite": (CACHE, SEARCH), "postgresql": (CACHE,)}
"""The tables that migrations make by SQL. FTS5 makes others, whose names begin as its own."""
SHOWN = 3
"""How many differences a sentence lists."""
COLUMNS = {
    "sqlite": """SELECT tables.name, columns.name, columns.type, columns."notnull", columns.pk
        FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns
        WHERE tables.type = 'table'""",
    "postgresql": """SELECT tables.relname, columns.attname,
            format_type(columns.atttypid, columns.atttypmod), columns.attnotnull, false
        FROM pg_attribute AS columns JOIN pg_class AS tables ON tables.oid = columns.attrelid
        WHERE tables.relnamespace = current_schema()::regnamespace AND tables.relkind = 'r'
            AND columns.attnum > 0 AND NOT columns.attisdropped""",
}
NAMES = {
    # A constraint has no row of its own; the text of its table has its name.
    "sqlite": """SELECT tbl_name, name, NULL FROM sqlite_master WHERE type = 'index'
        UNION ALL SELECT name, NULL, sql FROM sqlite_master WHERE type = 'table'""",
    "postgresql": """SELECT tables.relname, indexes.relname, NULL
        FROM pg_index JOIN pg_class AS indexes ON indexes.oid = indexrelid
            JOIN pg_class AS tables ON tables.oid = indrelid
        WHERE tables.relnamespace = current_schema()::regnamespace AND indisvalid
        UNION ALL SELECT tables.relname, conname, NULL
        FROM pg_constraint JOIN pg_class AS tables ON tables.oid = conrelid
        WHERE tables.relnamespace = current_schema()::regnamespace""",
}


class SchemaColumn(NamedTuple):
    """A column of a table: its type, and whether it may be empty."""

    kind: str
    null: bool


class SchemaTable(NamedTuple):
    """A table: its columns, the names of its indexes and constraints, and SQLite's text of it."""

    columns: dict[str, SchemaColumn]
    names: set[str]
    text: str = ""

    def has(self, name: str) -> bool:
        """Return whether the table has an index or a constraint of this name."""
        return name in self.names or f'CONSTRAINT "{name}"' in self.text


def schema_fault(connection: BaseDatabaseWrapper) -> Fault | None:
    """Return what is strange about a database, which made it if that is known, and what to do."""
    loader = MigrationLoader(connection)
    applied: dict[Any, Any] = loader.applied_migrations
    unknown = _unknown(loader, (f"{app}.{name}" for app, name in applied))
    strange = [] if unknown else list(differences(connection, _expected_models(loader)))
    if not (unknown or strange):
        return None
    sentence = f"The database is not as its migrations make it: {_listed(strange)}."
    if unknown:
        sentence = f"The database has migrations that this version lacks: {_listed(unknown)}."
    made_at = min(row.applied for row in applied.values()) if applied else None
    is_released = applied.keys() >= FIRST_MIGRATIONS
    if not is_released or (strange and made_at and made_at.date() < FIRST_RELEASE):
        return _earlier(sentence, made_at)
    return _newer(connection, unknown) if unknown else _changed(connection, sentence)


def _expected_models(loader: MigrationLoader) -> list[type[Model]]:
    """Return the models whose tables the migrations of a database have made."""
    applied = loader.applied_migrations.keys()
    recorded = [key for key in applied if key in loader.graph.nodes]
    is_current = loader.graph.nodes.keys() <= applied
    state = apps if is_current else loader.project_state(recorded).apps
    models = state.get_models(include_auto_created=True)
    # A state has the models of all apps; an app of which no migration was run has no table.
    migrated = {app for app, _ in recorded}
    return [model for model in models if model._meta.app_label in migrated]


def require_own_schema(connection: BaseDatabaseWrapper) -> None:
    """Raise `UserError` for a database whose schema is not what its migrations make."""
    if fault := schema_fault(connection):
        raise UserError(f"{fault.found} {fault.todo}", code="schema")


def unknown_migrations(names: Iterable[str]) -> list[str]:
    """Return those migrations, such as `core.0001_initial`, that this version of ArqLab lacks.

    Packages may drop their old migrations, so those of Django and allauth are not compared.
    """
    return _unknown(MigrationLoader(None), names)


def _unknown(loader: MigrationLoader, names: Iterable[str]) -> list[str]:
    disk = {f"{app}.{name}" for app, name in loader.disk_migrations}
    foreign = {config.label for config in apps.get_app_configs()} - _own_apps()
    foreign.update(settings.WITHOUT)  # their tables stay, for the day they are wanted again
    return sorted(name for name in {*names} - disk if name.partition(".")[0] not in foreign)


def differences(connection: BaseDatabaseWrapper, models: Iterable[type[Model]]) -> Iterator[str]:
    """Yield how the tables of a database differ from those of the models, in words."""
    real = _tables(connection)
    expected = {model._meta.db_table: model for model in models if not model._meta.proxy}
    for name, model in sorted(expected.items()):
        if name not in real:
            yield f"table {name} is missing"
            continue
        yield from _different_columns(name, _columns(model, connection), real[name].columns)
        for rule in (*model._meta.indexes, *model._meta.constraints):
            if not real[name].has(rule.name):
                yield f"{rule.name} of table {name} is missing"
    yield from _other_tables(connection, expected, real)


def _other_tables(
    connection: BaseDatabaseWrapper, expected: dict[str, type[Model]], real: dict[str, SchemaTable]
) -> Iterator[str]:
    """Yield what is missing of the tables without a model, and what is too much."""
    migrated = {model._meta.app_label for model in expected.values()}
    for name in WITHOUT_MODEL[connection.vendor]:
        if name not in real and name.partition("_")[0] in migrated:
            yield f"table {name} is missing"
    prefixes = tuple(f"{app}_" for app in _own_apps())
    for name in sorted(real.keys() - expected.keys()):
        if name.startswith(prefixes) and not name.startswith((CACHE, SEARCH)):
            yield f"table {name} is unknown"


def _different_columns(
    table: str, expected: dict[str, SchemaColumn], real: dict[str, SchemaColumn]
) -> Iterator[str]:
    for name, column in expected.items():
        place = f"column {table}.{name}"
        if name not in real:
            yield f"{place} is missing"
        elif column.kind not in ("", real[name].kind):
            yield f"{place} is {real[name].kind} instead of {column.kind}"
        elif real[name].null != column.null:
            yield f"{place} {'allows' if real[name].null else 'does not allow'} NULL"
    for name in sorted(real.keys() - expected.keys()):
        yield f"column {table}.{name} is unknown"


@cache
def _own_apps() -> set[str]:
    root = str(settings.BASE_DIR)
    return {
        config.label
        for config in apps.get_app_configs()
        if config.path.startswith(root) and "site-packages" not in config.path
    }


def _tables(connection: BaseDatabaseWrapper) -> dict[str, SchemaTable]:
    tables: dict[str, SchemaTable] = {}
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS[connection.vendor])
        for table, column, kind, not_null, in_key in cursor.fetchall():
            columns = tables.setdefault(table, SchemaTable({}, set())).columns
            columns[column] = SchemaColumn(kind.lower(), not (not_null or in_key))
        cursor.execute(NAMES[connection.vendor])
        for table, name, text in cursor.fetchall():
            if table in tables:
                tables[table].names.add(name)
                if text:
                    tables[table] = tables[table]._replace(text=text)
    return tables


def _columns(model: type[Model], connection: BaseDatabaseWrapper) -> dict[str, SchemaColumn]:
    """Return the columns that the table of a model has, of other packages without their types."""
    fields: list[Field] = list(model._meta.local_concrete_fields)
    is_own = model._meta.app_label in _own_apps()
    columns = {
        # The keys of Django's own tables have the type of another setting than ours.
        str(field.column): SchemaColumn(_kind(field, connection) if is_own else "", field.null)
        for field in fields
    }
    if SEARCHED[0] == model._meta.db_table and connection.vendor == "postgresql":
        columns[SEARCHED[1]] = SchemaColumn("tsvector", null=True)
    return columns


def _kind(field: Field, connection: BaseDatabaseWrapper) -> str:
    kind = str(field.db_parameters(connection)["type"]).lower()
    if connection.vendor == "postgresql":
        return kind.replace("varchar(", "character varying(").replace(", ", ",")
    return kind


def _newer(connection: BaseDatabaseWrapper, unknown: list[str]) -> Fault:
    last = last_upgrade(connection)
    maker = f"ArqLab {last[0]}" if last and last[0] != settings.VERSION else "another version"
    todo = maker if last else "the version that did"
    return Fault(
        f"The database was migrated by {maker}: this one, {settings.VERSION}, lacks"
        f" {_listed(unknown)}.",
        f"Start {todo}, or restore a backup from before that upgrade (docs/operations.md).",
    )


def _earlier(sentence: str, made_at: datetime | None) -> Fault:
    when = f", on {made_at:%Y-%m-%d}" if made_at else ""
    return Fault(
        f"{sentence} A state before version 0.1.0 made it{when}, whose migrations were edited.",
        "No version upgrades it. Archive its labs with the checkout that made it, and restore the"
        " archives in a new database with this version.",
    )


def _changed(connection: BaseDatabaseWrapper, sentence: str) -> Fault:
    last = last_upgrade(connection)
    maker = f"ArqLab {last[0]}, on {last[1]:%Y-%m-%d}" if last else "version 0.1.0"
    return Fault(
        f"{sentence} It was last migrated by {maker}, and changed by something else.",
        "Restore the last backup (`manage.py restore`), or take that change back.",
    )


def last_upgrade(connection: BaseDatabaseWrapper) -> tuple[str, datetime] | None:
    """Return the version that migrated a database last, and when, if the database names it."""
    if Upgrade._meta.db_table not in connection.introspection.table_names():
        return None
    rows = Upgrade.objects.using(connection.alias).order_by("-pk")
    return rows.values_list("version", "at").first()


def _listed(parts: list[str]) -> str:
    more = len(parts) - SHOWN
    return ", ".join(parts[:SHOWN]) + (f", and {more} more" if more > 0 else "")

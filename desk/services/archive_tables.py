"""The rows of one lab as tables of JSON lines, from which another server makes the same lab.

A table has the rows of a model, oldest first. Rows refer to each other by their numbers in the
tables, and not by the keys of this database, so that a lab has the same tables on every server.
People are numbered as they first appear.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files import File
from django.db.models import Field, FileField, JSONField, Model

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.nested import json_values
from arqlab.apps import lab_apps
from arqlab.core.errors import UserError
from arqlab.core.files import kept
from arqlab.core.models import Lab, User
from arqlab.core.models.reading import rows_in_chunks
from arqlab.labs.permissions import owns_address
from arqlab.web.archive_tables import archive_tables

PERSON = ("username", "first_name", "last_name", "email")
TABLES, FILES, COLUMNS = "tables", "files", "columns.json"
BATCH = 1_000

Refer = Callable[[type[Model], int], object]
"""Returns what stands for a row where it is written or made, by its key or its number."""
Row = Mapping[str, Any]
"""A row of a table, as JSON has it."""


def models_of_apps() -> list[type[Model]]:
    """Return all models of ours, with the pairs of their relations."""
    return [model for app in lab_apps() for model in app.get_models(include_auto_created=True)]


@cache
def lab_models() -> Mapping[type[Model], str]:
    """Return the archived models, each after those it refers to, with the lookup of the lab."""
    lookups: dict[type[Model], str] = {Lab: "pk", **archive_tables().lookups}
    excluded = {*archive_tables().left_out, *lookups, User}
    waiting = [model for model in models_of_apps() if model not in excluded]
    while waiting:
        ready = [model for model in waiting if _targets(model) <= {*lookups, model, User}]
        if not ready:
            raise TypeError(f"models that are neither archived nor left out: {waiting}")
        for model in ready:
            owners = [key for key in _keys(model) if key.related_model in lookups]
            owner = min(owners, key=lambda key: key.null)
            lookups[model] = f"{owner.name}__{lookups[_target(owner)]}".removesuffix("__pk")
        waiting = [model for model in waiting if model not in lookups]
    return lookups


def archived_fields(model: type[Model]) -> list[Field]:
    """Return the fields of a model that its table has."""
    fields = list(model._meta.concrete_fields)
    if model is User:
        return [field for field in fields if field.name in PERSON]
    left_out = archive_tables().unwritten.get(model, ())
    return [
        field
        for field in fields
        if field.name not in left_out
        and (field.is_relation or not field.primary_key)
        and field.related_model not in archive_tables().left_out
    ]


def _keys(model: type[Model]) -> list[Field]:
    return [field for field in archived_fields(model) if field.is_relation]


def _targets(model: type[Model]) -> set[type[Model]]:
    naming = archive_tables().naming
    named = {naming[model]} if model in naming else set()
    return named | {_target(field) for field in _keys(model)}


def _target(field: Field) -> type[Model]:
    """Return the model that a key refers to."""
    target = field.related_model
    if not isinstance(target, type):
        raise TypeError(f"{field} refers to no model")
    return target


def table_name(model: type[Model]) -> str:
    """Return the name of a model's table, such as `assessment.judgment`."""
    return model._meta.label_lower


def columns() -> dict[str, dict[str, str]]:
    """Return the columns of each table: what they hold, or the table that they refer to."""
    models: list[type[Model]] = [*lab_models(), User]
    return {
        table_name(model): {
            field.name: f"row of {table_name(_target(field))}"
            if field.is_relation
            else field.get_internal_type().removesuffix("Field")
            for field in archived_fields(model)
        }
        for model in models
    }


class TableWriter:
    """Writes the tables of a lab into a folder, and the files that rows name into another."""

    def __init__(self, lab: Lab, *, tables: Path, files: Path, with_texts: bool) -> None:
        self.lab, self.tables, self.files, self.with_texts = lab, tables, files, with_texts
        self._numbers: dict[type[Model], dict[object, int]] = defaultdict(dict)

    def write(self) -> dict[str, int]:
        """Write all tables, and return their numbers of rows."""
        self.tables.mkdir()
        (self.tables / COLUMNS).write_text(json.dumps(columns(), indent=2) + "\n", encoding="utf-8")
        counts = {}
        for model, lookup in lab_models().items():
            if self.with_texts or model not in archive_tables().texts:
                rows = model._base_manager.filter(**{lookup: self.lab.pk})
                # A lookup of its own may find a row twice, such as an upload with several runs.
                rows = rows.distinct() if model in archive_tables().lookups else rows
                values = map(vars, rows_in_chunks(rows, size=BATCH))
                counts[table_name(model)] = self._write(model, values)
        people = User.objects.in_bulk(list(self._numbers[User]))
        accounts = [vars(people[key]) for key in self._numbers[User]]
        counts[table_name(User)] = self._write(User, accounts)
        return counts

    def _write(self, model: type[Model], rows: Iterable[Mapping[str, object]]) -> int:
        fields, key = archived_fields(model), model._meta.pk.attname
        number = 0
        with (self.tables / f"{table_name(model)}.jsonl").open("w", encoding="utf-8") as file:
            for number, row in enumerate(rows, 1):
                self._numbers[model].setdefault(row[key], number)
                cells: dict[str, object] = {"id": number}
                cells |= {field.name: self._cell(field, row, number) for field in fields}
                file.write(json.dumps(cells, ensure_ascii=False) + "\n")
        return number

    def _cell(self, field: Field, row: Mapping[str, object], number: int) -> object:
        value = row[field.attname]
        if field.is_relation:
            return self._number(_target(field), value)
        if isinstance(field, FileField):
            return self._file(field, str(value or ""), number)
        if isinstance(field, JSONField):
            return _referring(field, value, self._number)
        if value is None or isinstance(value, str | int | float):
            return value
        return value.isoformat() if hasattr(value, "isoformat") else str(value)

    def _number(self, model: type[Model], key: object) -> int | None:
        """Return the number of a row; None for no row, and for one that is not archived."""
        numbers = self._numbers[model]
        if model is User and key is not None:
            return numbers.setdefault(key, len(numbers) + 1)
        return numbers.get(key)

    def _file(self, field: FileField, name: str, number: int) -> str:
        """Copy a file beside the tables, and return its path in the folder of files."""
        is_text = field.model in archive_tables().texts.values()
        if not name or (is_text and not self.with_texts):
            return ""
        # Only the last ending: a storage puts random letters before it if a name is taken.
        file_path = f"{table_name(field.model)}.{field.name}/{number}{Path(name).suffix}"
        path = self.files / file_path
        path.parent.mkdir(parents=True, exist_ok=True)
        with kept.open(name) as content, path.open("wb") as out:
            out.writelines(content.chunks())
        return file_path


def _referring(field: Field, value: object, refer: Refer) -> object:
    """Return the value of a JSON field with other keys of the rows that it refers to."""
    declared = archive_tables()
    model = declared.keyed.get(f"{table_name(field.model)}.{field.name}")
    if model and isinstance(value, dict):
        return {str(refer(model, int(key))): facts for key, facts in value.items()}
    if isinstance(value, list):
        return [_referring(field, one, refer) for one in value]
    if isinstance(value, dict):
        return {
            name: refer(declared.named[name], one)
            if name in declared.named and isinstance(one, int)
            else _referring(field, one, refer)
            for name, one in value.items()
        }
    return value


class TableReader:
    """Makes the rows of a lab from its tables; call it in a transaction.

    `later` is added to all times.
    """

    def __init__(self, *, data: SourceFolder, later: timedelta = timedelta()) -> None:
        self.data, self.later = data, later
        self._made: dict[type[Model], dict[int, int]] = defaultdict(dict)
        self._known, self._names = columns(), data.files()
        self._found: set[type[Model]] = set()

    def read(self) -> Lab:
        """Make all rows and return the lab.

        Raises `UserError` if there is a lab of its name, or an account that has not confirmed the
        address of a person.
        """
        self._require_known()
        _require_owners(row["email"] for row in self._rows(User))
        for row in self._rows(User):
            self._made[User][row["id"]] = _person(row).pk
        for model in lab_models():
            if archive_tables().texts.get(model) in self._found:
                continue  # they are here, and other labs may search them
            rows = self._rows(model)
            while batch := list(islice(rows, BATCH)):
                self._make(model, batch)
        return Lab.objects.get(pk=self._made[Lab][1])

    def _require_known(self) -> None:
        """Raise `UserError` if the tables have what this version does not know."""
        for table, names in self._columns().items():
            if table in self.left_out:
                continue
            if unknown := names.keys() - self._known.get(table, {}).keys():
                raise UserError(
                    f"The table {table} of the archive has columns that this version of ArqLab does"
                    f" not know: {', '.join(sorted(unknown))}. Update ArqLab, then restore.",
                    code="newer",
                )

    def _columns(self) -> dict[str, dict[str, str]]:
        """Return the columns of each table of the archive."""
        columns: dict[str, dict[str, str]] = json_values(
            (self.data / f"{TABLES}/{COLUMNS}").content()
        )
        return columns

    @cached_property
    def left_out(self) -> list[str]:
        """Return the tables of apps that this server leaves out: their rows stay in the archive."""
        return sorted(
            table for table in self._columns() if table.partition(".")[0] in settings.WITHOUT
        )

    def _rows(self, model: type[Model]) -> Iterator[Row]:
        name = f"{TABLES}/{table_name(model)}.jsonl"
        if name in self._names:
            with (self.data / name).stream() as file:
                yield from map(json_values, file)

    def _make(self, model: type[Model], rows: list[Row]) -> None:
        objects = [self._existing(model, row) or self._object(model, row) for row in rows]
        new = [one for one in objects if one._state.adding]
        archive_tables().stored_by.get(model, model._base_manager.bulk_create)(new)
        self._made[model].update(
            (row["id"], one.pk) for row, one in zip(rows, objects, strict=True)
        )

    def _existing(self, model: type[Model], row: Row) -> Model | None:
        """Return the row here that is the same, if there may be one."""
        found = archive_tables().found.get(model)
        here = found(row, self._key) if found else None
        if here is not None:
            self._found.add(model)
        return here

    def _object(self, model: type[Model], row: Row) -> Model:
        fields = [field for field in archived_fields(model) if field.name in row]
        return model(**{field.attname: self._value(field, row[field.name]) for field in fields})

    def _value(self, field: Field, value: Any) -> object:
        if field.is_relation:
            return self._key(_target(field), value)
        if isinstance(field, FileField):
            return self._stored(field, value)
        if isinstance(field, JSONField):
            return _referring(field, value, self._key)
        converted = field.to_python(value)
        return converted + self.later if isinstance(converted, datetime) else converted

    def _key(self, model: type[Model], number: int | None) -> int | None:
        return None if number is None else self._made[model][number]

    def _stored(self, field: FileField, file_path: str) -> str:
        if not file_path:
            return ""
        source = self.data.folder(FILES) / file_path
        with source.stream() as opened, File(opened) as content:  # copied: the archive stays whole
            name = field.generate_filename(field.model(), Path(file_path).name)
            return kept.save(name, content)


def _account_of(address: str) -> User | None:
    """Return the account that has confirmed an address or has it as its own, or None."""
    confirmed = User.objects.filter(
        emailaddress__email__iexact=address, emailaddress__verified=True
    )
    return confirmed.first() or User.objects.filter(email__iexact=address).first()


def _require_owners(addresses: Iterable[str]) -> None:
    """Raise `UserError` for accounts here that only claim the address of a person.

    Anybody can sign up as anybody: the roles and the work of a person are not theirs.
    """
    accounts = [(address, _account_of(address)) for address in addresses if address]
    claims = [
        f"{user.username} ({address})"
        for address, user in accounts
        if user and not owns_address(user, address)
    ]
    if claims:
        raise UserError(
            f"Accounts here have addresses of people in the archive, but have not confirmed them:"
            f" {', '.join(claims)}. Nothing was restored. If an account is that person's, confirm"
            " its address with `manage.py confirm_address ACCOUNT`; otherwise delete it with"
            " `manage.py delete_account ACCOUNT`. Then restore again.",
            code="unconfirmed-address",
        )


def _person(row: Row) -> User:
    """Return the account of the email address, or a new one that has no password yet."""
    if row["email"] and (account := _account_of(row["email"])):
        return account
    person = User(**{name: row[name] for name in PERSON})
    person.set_unusable_password()
    base_name, number = person.username, 1
    while User.objects.filter(username=person.username).exists():
        number += 1
        person.username = f"{base_name[:140]}-{number}"
    person.save()
    return person

"""The documentation of the API, drawn on the server from its schema, and the schema's examples."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, NotRequired, TypedDict, cast

from django.http import HttpRequest, HttpResponse
from drf_spectacular.generators import SchemaGenerator

from arqlab.web import Column, Pages, Table, answer
from arqlab.web.patterns import API

pages = Pages()
METHODS = ("get", "post", "patch", "put", "delete")
JSON = "application/json"
FORMS = "multipart/form-data"
NUMBER = 1
EXAMPLES: dict[str, object] = {
    "date-time": "2026-11-26T12:00:00Z",
    "uuid": "0d9e4cbe-7a0e-4d2c-a5f2-5f2f7d3a3f11",
    "binary": "Ours-task1-bm25-auto-both-P.tsv",
    "email": "ada@example.org",
    "integer": NUMBER,
    "number": 0.4217,
    "boolean": True,
    "string": "text",
    "lab": "arqmath-3",
    "task": "task1",
    "query_id": "A.301",
    "team": "Ours",
    "tag": "bm25",
    "run": "bm25",
    "run_id": "bm25",
    "qrels": "official",
    "standing": "official",
    "description": "BM25 with the words of the title.",
    "reason": "It was made with the wrong index.",
    "label": "nDCG′",
    "measure": "nDCG(judged_only=True)@1000",
    "out_of_competition": "",
    "slug": "arqmath-3",
    "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "next": None,
    "previous": None,
}
"""Example values by the name, the format or the type of a field."""
PLACES = {
    **{name: EXAMPLES[name] for name in ("lab", "task", "query_id")},
    "name": "topics.xml",
    "round": "training-1",
}
"""Example values of the parts of addresses; the others are numbers."""


# The keys of a schema, one of which begins with a dollar.
Schema = TypedDict(
    "Schema",
    {
        "$ref": str,
        "type": str,
        "format": str,
        "enum": list[str],
        "description": str,
        "nullable": bool,
        "minimum": int,
        "items": "Schema",
        "properties": "dict[str, Schema]",
        "required": list[str],
        "allOf": "list[Schema]",
        "oneOf": "list[Schema]",
        "anyOf": "list[Schema]",
    },
    total=False,
)
Schemas = Mapping[str, Schema]
# The keys of a parameter, one of which is a word of Python.
Parameter = TypedDict(
    "Parameter",
    {
        "name": str,
        "in": str,
        "schema": Schema,
        "required": NotRequired[bool],
        "description": NotRequired[str],
    },
)


class Example(TypedDict):
    """An example that is written by hand."""

    value: object


class Content(TypedDict, total=False):
    """What a body or an answer has in one format."""

    schema: Schema
    example: object
    examples: dict[str, Example]


class Body(TypedDict, total=False):
    """A body or an answer, by its formats."""

    content: dict[str, Content]
    description: str


class Field(TypedDict):
    """A field of a body, as the schema describes it."""

    name: str
    schema: Schema
    required: NotRequired[bool]
    description: NotRequired[str]


Described = Field | Parameter


class DescribedOperation(TypedDict):
    """A method of an address, as the schema describes it."""

    operationId: str
    responses: dict[str, Body]
    description: NotRequired[str]
    parameters: NotRequired[list[Parameter]]
    requestBody: NotRequired[Body]


class Components(TypedDict):
    """What operations name."""

    schemas: dict[str, Schema]


class ApiDescription(TypedDict):
    """The schema of the API."""

    paths: dict[str, dict[str, DescribedOperation]]
    components: Components


class StatusMeaning(NamedTuple):
    """A status of an answer, and what it means."""

    status: str
    meaning: str


ANSWERS: list[Column[StatusMeaning]] = [
    Column("Status", lambda row: row.status, is_head=True),
    Column("Meaning", lambda row: row.meaning, css="wrap"),
]


@dataclass(frozen=True)
class Operation:
    """A method of an address: what it does, what it takes and what it answers."""

    method: str
    path: str
    text: str
    parameters: Table[Parameter]
    body: Table[Field]
    request: str
    response: str
    answers: Table[StatusMeaning]

    @property
    def summary(self) -> str:
        """Return the first sentence of what it does."""
        return self.text.partition(". ")[0].partition(".\n")[0].rstrip(".")

    @property
    def anchor(self) -> str:
        """Return the id of its heading."""
        parts = self.path.removeprefix(f"/{API}").replace("{", "").replace("}", "").split("/")
        return "-".join(filter(None, [self.method.lower(), *parts])).replace(".", "-")


def with_examples(result: ApiDescription, generator: object, **_: object) -> ApiDescription:
    """Return the schema with an example of each body and answer that has none of its own."""
    schemas = result["components"]["schemas"]
    for path in result["paths"].values():
        for operation in path.values():
            answers = [one for status, one in operation["responses"].items() if status[0] == "2"]
            for body in (operation.get("requestBody", Body()), *answers):
                for content in body.get("content", {}).values():
                    if "examples" not in content and (schema := content.get("schema")):
                        content["example"] = example_of(schema, schemas)
    return result


def example_of(schema: Schema, schemas: Schemas, name: str = "") -> object:
    """Return a value that a schema describes; `schemas` are the schemas that others name."""
    if "$ref" in schema:
        return example_of(schemas[schema["$ref"].rpartition("/")[2]], schemas, name)
    if choices := schema.get("allOf") or schema.get("oneOf") or schema.get("anyOf"):
        return example_of(choices[0], schemas, name)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "string")
    if kind == "object":
        fields = schema.get("properties", {}).items()
        return {key: example_of(value, schemas, key) for key, value in fields}
    if kind == "array":
        return [example_of(schema["items"], schemas, name)]
    if kind == "string" or (name in {"next", "previous"} and schema.get("nullable")):
        return EXAMPLES.get(name, EXAMPLES.get(schema.get("format", ""), EXAMPLES[kind]))
    return max(NUMBER, schema.get("minimum", 0)) if kind == "integer" else EXAMPLES[kind]


@pages.read(f"{API}docs/", "api-docs", shows="api-docs")
def api_docs(request: HttpRequest) -> HttpResponse:
    """Show every operation of the API with its parameters, examples and errors."""
    operations = api_operations()
    return answer(request, "server/api_docs.html", {"operations": operations, "api": f"/{API}"})


@cache
def api_operations() -> list[Operation]:
    """Return the operations of the API, those of the judging page last."""
    schema = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    operations = list(_operations(schema))
    return sorted(operations, key=lambda one: "/judging/" in one.path)


def _operations(schema: ApiDescription) -> Iterator[Operation]:
    schemas = schema["components"]["schemas"]
    for path, methods in schema["paths"].items():
        for method in METHODS:
            if method in methods:
                yield _operation(path, method, methods[method], schemas)


def _operation(
    path: str, method: str, described: DescribedOperation, schemas: Schemas
) -> Operation:
    number = described["operationId"]
    body = described.get("requestBody")
    bodies = body.get("content", {}) if body else {}
    kind = next(iter(bodies), "")
    answers = described["responses"]
    good = next((answers[status] for status in answers if status.startswith("2")), None)
    result = good.get("content", {}).get(JSON) if good else None
    fields = _fields(bodies[kind]["schema"], schemas) if kind else []
    return Operation(
        method.upper(),
        path,
        described.get("description", ""),
        Table[Parameter](f"{number}-parameters", PARAMETERS, described.get("parameters", [])),
        Table[Field](f"{number}-body", FIELDS, fields),
        _curl(path, method, kind, bodies.get(kind, {})),
        json.dumps(_example(result), indent=2, ensure_ascii=False) if result else "",
        Table[StatusMeaning](f"{number}-answers", ANSWERS, list(_answers(answers))),
    )


def _answers(answers: Mapping[str, Body]) -> Iterator[StatusMeaning]:
    for status, described in sorted(answers.items()):
        yield StatusMeaning(status, described.get("description") or "Success.")


def _fields(schema: Schema, schemas: Schemas) -> list[Field]:
    if "$ref" in schema:
        return _fields(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    required = schema.get("required", ())
    return [
        {"name": name, "schema": _resolved(field, schemas), "required": name in required}
        for name, field in schema.get("properties", {}).items()
    ]


def _resolved(schema: Schema, schemas: Schemas) -> Schema:
    """Return a schema with the values of the one that it names."""
    choices = schema.get("allOf") or schema.get("oneOf")
    first = choices[0] if choices else schema
    named = schemas[first["$ref"].rpartition("/")[2]] if "$ref" in first else first
    return {**named, **schema}


def _example(content: Content) -> object:
    if "example" in content:
        return content["example"]
    return next(iter(content["examples"].values()))["value"]


def _curl(path: str, method: str, kind: str, content: Content) -> str:
    """Return the command that sends an example."""
    lines = ['curl --header "Authorization: Bearer $TOKEN"']
    if method not in {"get", "post"} or (method == "post" and not kind):
        lines.append(f"--request {method.upper()}")
    if kind == FORMS:
        sent = cast("dict[str, object]", _example(content))
        lines += [f"--form {k}={'@' * (k == 'file')}{_word(v)}" for k, v in sent.items()]
    elif kind:
        body = json.dumps(_example(content), ensure_ascii=False)
        lines += [f'--header "Content-Type: {JSON}"', f"--data '{body}'"]
    filled = path.format_map(defaultdict(lambda: 1, PLACES))
    return " \\\n  ".join([*lines, f"https://lab.example.org{filled}"])


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _type(field: Described) -> str:
    """Return what values a parameter or a field takes."""
    schema = field["schema"]
    values = ", ".join(map(str, schema.get("enum", ())))
    return values or schema.get("format") or schema.get("type") or "see the schema"


def _text(field: Described) -> str:
    return str(field.get("description") or field["schema"].get("description", ""))


PARAMETERS: list[Column[Parameter]] = [
    Column("Parameter", lambda field: field["name"], is_head=True, css="id"),
    Column("In", lambda field: field["in"]),
    Column("Values", _type),
    Column("Required", lambda field: "yes" if field.get("required") else "no"),
    Column("Meaning", _text, css="wrap"),
]
FIELDS: list[Column[Field]] = [
    Column("Field", lambda field: field["name"], is_head=True, css="id"),
    Column("Values", _type, css="wrap"),
    Column("Required", lambda field: "yes" if field.get("required") else "no"),
    Column("Meaning", _text, css="wrap"),
]

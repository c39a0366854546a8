"""Every error below `/api/`: whatever goes wrong at whichever address, its JSON has one shape."""

import json
import re
from collections.abc import Callable
from typing import Any

from django.core.management import call_command
from django.test import Client, override_settings
from django.urls import get_resolver, reverse
from django.utils import timezone

from arqlab.accounts.authentication import VisitorThrottle
from arqlab.accounts.services.tokens import create_token
from arqlab.core.models import Lab
from arqlab.web import FILE
from tests.factories import Scene
from tests.test_access import named_addresses, named_views, parameters_of

VALUES = {"query_id": "A.1", "run": 1, "item": 1, "round": "training-1", "name": "none.xml"}
VALUES |= {"number": 1, "version": 1}
JSON = "application/json"
TOO_LONG = 5 * 2**20
PROBLEM = {"instance", "field", "found", "expected", "todo"}


def names() -> list[str]:
    """Return the name of every address of the API."""
    known = named_addresses(get_resolver().url_patterns)
    return [name for name in known if "api-" in name and name != "server:api-docs"]


def addresses() -> dict[str, str]:
    """Return the path of every address of the API; a `KeyError` asks for the value of a new one."""
    known = {**VALUES, "lab": "arqmath-x", "task": "task1", "job": 1}
    return {
        name: reverse(name, kwargs={k: known[k] for k in parameters_of(name)}) for name in names()
    }


def statuses(send: Callable[[str], Any]) -> dict[int, set[str]]:
    """Return the names of the addresses by the status of their answer, and check each error."""
    found: dict[int, set[str]] = {}
    for name, path in addresses().items():
        response = send(path)
        found.setdefault(response.status_code, set()).add(name)
        if response.status_code >= 400:
            assert_shape(response)
    return found


def assert_shape(response: Any) -> None:
    """Check the type and the shape of an error."""
    assert response["Content-Type"] == JSON
    error = response.json()
    assert set(error) == {"message", "code", "errors"}
    assert re.fullmatch(r"[A-Z].+\.", error["message"], re.DOTALL), error
    assert re.fullmatch("[a-z]+(-[a-z]+)*", error["code"]), error
    for problem in error["errors"]:
        assert set(problem) == PROBLEM
        assert all(problem[field] for field in PROBLEM - {"instance", "field"})


def bearer(token: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {token}"})


def is_file(view: Any) -> bool:
    """Return whether an address of the API answers with a file."""
    page = getattr(view, "page", None)
    return hasattr(view, "cls") and page is not None and page.api == FILE


def judging(found: set[str]) -> set[str]:
    return {name for name in found if "judging" in name}


def test_the_addresses_are_all_below_api() -> None:
    paths = addresses().values()

    assert len(paths) > 20
    assert all(path.startswith("/api/v1/") for path in paths)


def test_an_address_below_another_one_is_unknown(scene: Scene, client_of: Any) -> None:
    found = statuses(lambda path: client_of(scene.organizer).get(f"{path}none/none/"))

    assert set(found) == {404}
    assert_shape(client_of(scene.organizer).post("/api/v1/none/"))


def test_a_visitor_may_not(scene: Scene, client: Client) -> None:
    assert set(statuses(client.get)) == {200, 401, 404, 405}
    assert set(statuses(client.post)) == {401, 405}


def test_a_lab_that_is_not_seen(scene: Scene, client_of: Any) -> None:
    Lab.objects.update(is_public=False)
    organizer = client_of(scene.outsider)

    assert set(statuses(organizer.get)) == {200, 404, 405}


def test_a_method_that_no_address_takes(scene: Scene, client_of: Any) -> None:
    assert set(statuses(client_of(scene.organizer).put)) == {405}


def test_a_type_that_no_address_renders(scene: Scene, client_of: Any) -> None:
    client = client_of(scene.organizer)

    found = statuses(lambda path: client.get(path, headers={"Accept": "text/none"}))

    files = {name for name, view in named_views(get_resolver().url_patterns) if is_file(view)}
    assert found.keys() == {200, 404, 406}  # downloads have their own type
    assert found[200] | found[404] == files


def test_a_body_of_a_type_that_no_address_reads(scene: Scene, client_of: Any) -> None:
    client = client_of(scene.organizer)

    assert set(statuses(lambda path: client.post(path, "x", content_type="text/none"))) == {
        404,
        405,
        415,
    }


def test_json_that_cannot_be_read(scene: Scene, client_of: Any) -> None:
    client = client_of(scene.organizer)
    found = statuses(lambda path: client.post(path, "{", content_type=JSON))

    assert set(found) == {400, 404, 405, 415}
    assert found[400] == judging(found[400])


def test_a_form_that_is_not_valid(scene: Scene, client_of: Any) -> None:
    path = addresses()["submissions:api-run-list"]
    response = client_of(scene.organizer).post(path, {"tag": "x" * 101, "data_used": "none"})

    assert_shape(response)
    assert (response.status_code, response.json()["code"]) == (400, "invalid")
    found = {problem["field"]: problem["found"] for problem in response.json()["errors"]}
    assert found == {"file": "nothing", "tag": "x" * 80, "data_used": "none"}


def test_a_token_that_is_not_valid(scene: Scene) -> None:
    assert set(statuses(bearer("invented").get)) == {401}


def test_a_token_that_only_reads(scene: Scene) -> None:
    token = create_token(user=scene.organizer, name="x", scope="read", days=9, at=timezone.now())

    assert set(statuses(bearer(token).post)) == {403}


def test_a_session_without_a_csrf_token(scene: Scene) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(scene.organizer)

    assert set(statuses(client.post)) == {403}
    assert client.post("/api/v1/labs/").json()["code"] == "csrf"


def test_too_many_requests(scene: Scene, client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr(VisitorThrottle, "rate", "0/min", raising=False)
    found = statuses(client.get)

    assert set(found) == {401, 429}
    assert judging(found[429]) == set()
    assert client.get("/api/v1/labs/")["Retry-After"]


def test_a_body_that_is_too_large(scene: Scene, client_of: Any) -> None:
    client = client_of(scene.organizer)
    with override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=100):
        form = statuses(lambda path: client.post(path, {"description": "x" * 200}))
    large = statuses(lambda path: client.post(path, {}, JSON, CONTENT_LENGTH=str(TOO_LONG)))

    assert form[413] == {"submissions:api-run-list"}
    assert set(large) == {404, 405, 413, 415}


def test_a_host_that_is_not_ours(scene: Scene) -> None:
    with override_settings(ALLOWED_HOSTS=["arqlab.example"]):
        assert set(statuses(Client(headers={"Host": "evil.example"}).get)) == {400}


def test_an_archived_lab(scene: Scene, client_of: Any) -> None:
    Lab.objects.update(archived_at=timezone.now())
    found = statuses(client_of(scene.organizer).post)

    assert "submissions:api-run-list" in found[409]
    assert judging(found[409]) == set()


def test_a_failure_of_ours() -> None:
    # Without the fixture `db`, every query fails.
    found = statuses(Client(raise_request_exception=False).get)

    assert "labs:api-lab-list" in found[500]


def test_every_operation_of_the_schema_documents_the_shape(db: None, tmp_path: Any) -> None:
    path = tmp_path / "schema.json"
    call_command("spectacular", "--format", "openapi-json", "--file", path)
    schema = json.loads(path.read_text())
    operations = [each for methods in schema["paths"].values() for each in methods.values()]
    content = {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}

    assert len(operations) > 20
    assert [each["responses"]["default"]["content"] for each in operations] == [content] * len(
        operations
    )
    assert set(schema["components"]["schemas"]["Error"]["properties"]) == {
        "message",
        "code",
        "errors",
    }

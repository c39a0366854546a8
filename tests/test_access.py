"""Every address, every role: which status answers. An address that is not in the table fails; 500 is in no row.

Roles, in this order: visitor (signed out), outsider (signed in, no role), member (of team Alpha, whose run it is),
rival (member of team Beta), assessor, organizer, superuser. 302 for a visitor leads to the sign-in page.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from tests.factories import Scene
from tests.submissions.factories import submit_valid_run

ROLES = ("visitor", "outsider", "member", "other_member", "assessor", "organizer", "superuser")
TABLE = """
GET  core:home                        200 200 200 200 200 200 200
"""
# Third-party pages, and those whose answer depends on a token that only a letter holds.
ELSEWHERE = {"admin", "account"}


def rows() -> list[tuple[str, str, dict[str, int]]]:
    """Give the table's rows: method, name, and the status by role."""
    parsed = [line.split() for line in TABLE.strip().splitlines() if line]
    return [(method, name, dict(zip(ROLES, map(int, codes), strict=True))) for method, name, *codes in parsed]


def named_addresses(patterns: list[URLPattern | URLResolver], namespace: str = "") -> Iterator[str]:
    """Give the full name of every address of the project."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            if pattern.namespace not in ELSEWHERE and not str(pattern.pattern).startswith("accounts/"):
                yield from named_addresses(pattern.url_patterns, inner)
        elif pattern.name:
            yield namespace + pattern.name


def test_every_address_is_in_the_table():
    assert set(named_addresses(get_resolver().url_patterns)) == {name for _, name, _ in rows()}


def address(name: str, scene: Scene, run_id: int) -> str:
    """Give the path of an address in the scene."""
    known = {
        "lab": scene.lab.slug,
        "task": scene.task.slug,
        "run": run_id,
        "team": scene.team.pk,
        "user": scene.member.pk,
        "token": scene.team.invitation_token,
        "query_id": "A.1",
        "post_id": "1",
    }
    [(_, parameters)] = get_resolver_entry(name)
    return reverse(name, kwargs={key: known[key] for key in parameters})


def get_resolver_entry(name: str) -> list[tuple[str, list[str]]]:
    """Give the pattern and the parameters that an address takes."""
    resolver = get_resolver()
    *namespaces, last = name.split(":")
    for namespace in namespaces:
        resolver = resolver.namespace_dict[namespace][1]
    return resolver.reverse_dict.getlist(last)[0][0]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    ("method", "name", "expected"), rows(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_an_address_answers_a_role_as_the_table_says(method, name, expected, role, scene):
    run = submit_valid_run(scene)
    client, person = Client(raise_request_exception=False), scene.people[role]
    if not isinstance(person, AnonymousUser):
        client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")

    answer = getattr(client, method.lower())(address(name, scene, run.pk))

    assert answer.status_code == expected[role]

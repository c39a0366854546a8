"""What a frozen database must still show: counts of rows, labels, scores, the board, its pages.

`python -m tests.upgrades.figures` prints it as JSON, for the database of the environment: the code
of a release when it is frozen, and every later version after `migrate`.
"""

import json
import sys
from contextlib import suppress
from typing import Any

import django
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import override_settings, setup_test_environment
from django.urls import NoReverseMatch, reverse

TASK = "/labs/arqmath-x/tasks/task1/"
FILES = {
    "board": f"{TASK}leaderboard/?format=tsv",
    "scores": f"{TASK}downloads/scores.tsv",
    "qrels": f"{TASK}downloads/qrels.tsv",
    "judgments": f"{TASK}downloads/judgments-with-names.tsv",
}
"""The tables of the lab, as its organizer downloads them."""
API_BOARD = f"/api/v1{TASK}leaderboard/"
"""The board with all digits, as everyone reads it."""
FILLED_BY_DJANGO = {"django_migrations", "django_content_type", "auth_permission"}


def figures() -> dict[str, Any]:
    """Return the figures of the database of the environment."""
    from arqlab.core.models import User

    rows = counts()  # before anybody signs in
    organizer = signed_in(User.objects.get(username="organizer-arqmath-x"))
    return {
        "counts": rows,
        "tables": {name: table(organizer, path) for name, path in FILES.items()},
        "api": Client().get(API_BOARD).json(),
        "pages": pages(),
    }


def counts() -> dict[str, int]:
    """Return the number of rows of each table."""
    with connection.cursor() as cursor:
        names = {*connection.introspection.table_names(cursor)} - FILLED_BY_DJANGO
        rows = {}
        for name in sorted(names):
            cursor.execute(f'SELECT count(*) FROM "{name}"')
            rows[name] = cursor.fetchone()[0]
    return rows


def table(client: Client, path: str) -> list[dict[str, str]]:
    """Return the rows of a table in a file, by the names of its columns."""
    answer = client.get(path)
    assert answer.status_code == 200, path
    header, *lines = answer.getvalue().decode().splitlines()
    if path.endswith("qrels.tsv"):  # has no header
        header, lines = "topic\tzero\titem\tlabel", [header, *lines]
    return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]


def pages() -> dict[str, dict[str, int]]:
    """Return the status of every address, by its name, for an organizer.

    What does not open for the organizer is opened by an administrator, an assessor and a member of
    a team.
    """
    from submissions.models import Run
    from tests.test_access import address, get_resolver, named_addresses

    scene, statuses = frozen_scene(), {}
    run = Run.objects.get(tag="ours").pk
    for role in ("organizer", "superuser", "assessor", "member"):
        paths = {"admin:index": reverse("admin:index")}
        for name in sorted(set(named_addresses(get_resolver().url_patterns))):
            with suppress(NoReverseMatch):  # of a row that the release did not have
                paths[name] = address(name, scene, run)
        # Some pages sign out.
        statuses[role] = {
            name: signed_in(getattr(scene, role)).get(path).status_code
            for name, path in paths.items()
            if role == "organizer" or statuses["organizer"][name] != 200
        }
    return statuses


def frozen_scene() -> Any:
    """Return the lab of `tests.upgrades.rows`, with its people."""
    from arqlab.core.models import Lab, User
    from tests.factories import Scene

    lab = Lab.objects.get(slug="arqmath-x")
    roles = ("outsider", "member", "other_member", "assessor", "organizer", "superuser")
    people = {
        role: User.objects.get(username=f"{role.replace('_', '-')}-{lab.slug}") for role in roles
    }
    teams = {"team": lab.teams.get(name="Alpha"), "other_team": lab.teams.get(name="Beta")}
    return Scene(lab=lab, task=lab.tasks.get(slug="task1"), **teams, **people)


def signed_in(user: Any) -> Client:
    """Return the browser of a user; an error of the server is an answer."""
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


if __name__ == "__main__":
    django.setup()
    setup_test_environment()
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    override_settings(STORAGES=settings.STORAGES | {"staticfiles": plain}).enable()
    json.dump(figures(), sys.stdout, indent=1)

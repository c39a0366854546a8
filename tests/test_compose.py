"""docker-compose.yml is consistent, and its commands and settings work as processes."""

import os
import re
import subprocess
import sys
from contextlib import closing, contextmanager
from uuid import uuid4

import psycopg2
import pytest
import yaml
from django.db import connection

from tests.paths import ROOT
from tests.served import listening

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
EXAMPLE_TEXT = (ROOT / ".env.example").read_text(encoding="utf-8")
EXAMPLE = dict(line.split("=", 1) for line in EXAMPLE_TEXT.splitlines() if not line.startswith("#"))
SHARED = {"DATABASE_URL", "REDIS_URL", "ARQLAB_DATA"}
OURS = ("web", "worker", "short-jobs", "jobs", "beat")


def test_all_services_are_there():
    assert set(COMPOSE["services"]) == {*OURS, "proxy", "backup", "postgres", "redis"}


def test_every_variable_of_compose_is_in_the_example_environment():
    used = set(re.findall(r"\$\{(\w+)", (ROOT / "docker-compose.yml").read_text(encoding="utf-8")))

    assert used <= set(EXAMPLE)


def test_the_example_is_behind_the_proxy_that_it_needs():
    assert EXAMPLE["ARQLAB_HTTPS"] == EXAMPLE["ARQLAB_PROXIES"] == "1"


@pytest.mark.parametrize("name", OURS)
def test_our_services_share_one_database_one_queue_and_one_folder(name):
    service = COMPOSE["services"][name]

    assert {name for name, value in service["environment"].items() if value} == SHARED
    assert service["volumes"] == ["files:/data"]


WORKERS = {"worker", "short-jobs", "jobs"}
NEEDED = {
    "ARQLAB_SECRET_KEY": {*OURS, "backup"},  # Django does not start without it
    "EMAIL_URL": {"web", *WORKERS},  # all that write notices know whether mail is sent
    "AWS_ACCESS_KEY_ID": {"web", *WORKERS, "backup"},
    "AWS_SECRET_ACCESS_KEY": {"web", *WORKERS, "backup"},
    "ARQLAB_GENERATION_KEY": {"jobs", "short-jobs"},
    "ARQLAB_METRICS_TOKEN": {"web"},
    "POSTGRES_PASSWORD": set(),
}
"""The services that need a secret of .env; the others get an empty value."""
PUBLIC = {"ARQLAB_BACKUP_KEY"}
"""Keys that are no secret: with the public key of age, one can only encrypt."""


def test_every_secret_of_the_settings_is_in_the_list():
    text = (ROOT / "arqlab/settings.py").read_text(encoding="utf-8")
    read = set(re.findall(r'env\("(\w*(?:KEY|TOKEN|PASSWORD|SECRET)\w*|EMAIL_URL)"', text))
    named = set(re.findall(r"^#? ?(\w*(?:KEY|TOKEN|PASSWORD|SECRET)\w*)=", EXAMPLE_TEXT, re.M))

    assert read | named == set(NEEDED) | PUBLIC


@pytest.mark.parametrize("name", [*OURS, "backup"])
def test_a_service_gets_only_the_secrets_that_it_needs(name):
    emptied = {key for key, value in COMPOSE["services"][name]["environment"].items() if not value}

    assert emptied == {secret for secret, services in NEEDED.items() if name not in services}


@contextmanager
def started(name, environment, stderr=None):
    """Run a service's command as a process of this machine. Yield it and the port it may use."""
    command = COMPOSE["services"][name]["command"].replace("0.0.0.0:8000", "{bind}")
    command = command.replace("/tmp/beat", f"{environment['ARQLAB_DATA']}/beat")
    command = command.replace("python ", f"{sys.executable} ", 1).replace(
        "celery ", f"{sys.executable} -m celery ", 1
    )
    process, port = listening(command.split(), env=environment, stderr=stderr)
    try:
        yield process, port
    finally:
        process.terminate()
        process.communicate()


def of_this_machine(folder, database_url):
    """Return the variables that docker-compose.yml sets itself, for servers of this machine."""
    redis_url = os.environ["ARQLAB_TEST_REDIS_URL"]
    own = {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "ARQLAB_DATA": str(folder)}
    assert set(own) == SHARED
    return own


@pytest.fixture
def fresh_database_url():
    """Create an empty database on the test server and return its URL."""
    server = connection.settings_dict
    name = f"compose_{uuid4().hex[:12]}"
    address = {"host": server["HOST"], "port": server["PORT"], "user": server["USER"]}
    with closing(psycopg2.connect(dbname="postgres", **address)) as admin:
        admin.autocommit = True
        admin.cursor().execute(f"CREATE DATABASE {name}")
        yield f"postgresql://{server['USER']}@{server['HOST']}:{server['PORT']}/{name}"
        admin.cursor().execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.servers
@pytest.mark.django_db
def test_two_web_services_become_healthy_at_once_with_the_example_settings(
    tmp_path, fresh_database_url
):
    key = {"ARQLAB_SECRET_KEY": os.environ["ARQLAB_SECRET_KEY"]}
    environment = os.environ | EXAMPLE | key | of_this_machine(tmp_path, fresh_database_url)

    kind, program, *arguments = COMPOSE["services"]["web"]["healthcheck"]["test"]
    assert (kind, program) == ("CMD", "python")
    with started("web", environment) as (_, one), started("web", environment) as (_, other):
        for port in (one, other):  # the second waits while the first migrates
            check = [each.replace("127.0.0.1:8000", f"127.0.0.1:{port}") for each in arguments]
            subprocess.run([sys.executable, *check], env=environment, check=True)

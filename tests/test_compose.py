"""docker-compose.yml, read and run as processes with the same commands and settings."""

import os
import subprocess
import sys
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import yaml

from tests.everywhere import free_port, wait_for_port

ROOT = Path(__file__).resolve().parent.parent
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
OURS = ("web", "worker", "beat")


def test_the_five_services_are_there():
    assert set(COMPOSE["services"]) == {"web", "worker", "beat", "postgres", "redis"}


def test_every_variable_of_compose_is_in_the_example_environment():
    example = (ROOT / ".env.example").read_text(encoding="utf-8")

    assert "POSTGRES_PASSWORD=" in example
    assert "ARQLAB_PORT=" in example


@pytest.mark.parametrize("name", OURS)
def test_our_services_share_one_database_one_queue_and_one_folder(name):
    service = COMPOSE["services"][name]

    assert set(service["environment"]) == {"DATABASE_URL", "REDIS_URL", "ARQLAB_DATA"}
    assert service["volumes"] == ["files:/data"]


@contextmanager
def started(name, environment, port):
    """Run a service's own command as a process of this machine."""
    command = COMPOSE["services"][name]["command"].replace("0.0.0.0:8000", f"127.0.0.1:{port}")
    command = command.replace("/tmp/beat", f"{environment['ARQLAB_DATA']}/beat")
    command = command.replace("python ", f"{sys.executable} ", 1).replace("celery ", f"{sys.executable} -m celery ", 1)
    process = subprocess.Popen(command.split(), cwd=ROOT, env=environment)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=40)


@pytest.mark.servers
def test_web_worker_and_beat_run_from_their_compose_commands(tmp_path, fresh_database_url):
    redis = os.environ["ARQLAB_TEST_REDIS_URL"]
    variables = {"DATABASE_URL": fresh_database_url, "REDIS_URL": redis, "ARQLAB_DATA": str(tmp_path)}
    assert set(variables) == set(COMPOSE["services"]["web"]["environment"])
    environment = (
        os.environ | variables | {"ARQLAB_SECRET_KEY": "only for tests", "DJANGO_SETTINGS_MODULE": "arqlab.settings"}
    )
    port = free_port()

    with ExitStack() as stack:
        stack.enter_context(started("web", environment, port))
        wait_for_port(port, seconds=60)
        stack.enter_context(started("worker", environment, port))
        stack.enter_context(started("beat", environment, port))

        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz/") as answer:
            assert answer.status == 200

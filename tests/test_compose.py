"""docker-compose.yml, read and run as processes with the same commands and settings."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from base64 import b64encode
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg2
import pytest
import yaml
from django.db import connection

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


@pytest.fixture
def fresh_database_url():
    """Make an empty database on the test server and give its address."""
    server = connection.settings_dict
    name = f"compose_{uuid4().hex[:12]}"
    address = {"host": server["HOST"], "port": server["PORT"], "user": server["USER"]}
    with closing(psycopg2.connect(dbname="postgres", **address)) as admin:
        admin.autocommit = True
        admin.cursor().execute(f"CREATE DATABASE {name}")
        yield f"postgresql://{server['USER']}@{server['HOST']}:{server['PORT']}/{name}"
        admin.cursor().execute(f"DROP DATABASE {name} WITH (FORCE)")


def ask(port, path, data=None):
    """Ask the API as the superuser, and give its answer."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=data)
    request.add_header("Authorization", "Basic " + b64encode(b"root:a quiet blackboard").decode())
    if data:
        request.add_header("Content-Type", "multipart/form-data; boundary=part")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def form_with_a_run():
    """Give the body of an upload: a run of the lab below."""
    disposition = b'Content-Disposition: form-data; name="file"; filename="Ours-task1-bm25-auto-text-P.tsv"'
    fields = b'--part\r\nContent-Disposition: form-data; name="team"\r\n\r\nOurs\r\n'
    return fields + b"--part\r\n" + disposition + b"\r\n\r\nA.1\t11\t1\t2.5\tbm25\n\r\n--part--\r\n"


SCENE = """
from arqlab.core.models import *
User.objects.create_superuser("root", "root@example.org", "a quiet blackboard")
Team.objects.create(lab=Lab.objects.get(), name="Ours")
"""


def write_lab(folder):
    """Write a lab of one task and one topic, with qrels."""
    (folder / "lab.toml").write_text(
        '[lab]\nslug = "small"\nname = "Small"\nprotocol = "arqmath-1"\n'
        '[[tasks]]\nslug = "task1"\nname = "Answers"\nkind = "answers"\ntopics = "topics.xml"\n'
        'qrels = [{ name = "official", file = "qrels.tsv" }]\n'
    )
    topic = '<Topic number="A.1"><Title>Sums</Title><Question>Add them.</Question><Tags>sums</Tags></Topic>'
    (folder / "topics.xml").write_text(f"<Topics>{topic}</Topics>")
    (folder / "qrels.tsv").write_text("A.1\t0\t11\t3\n")


@pytest.mark.servers
@pytest.mark.django_db
def test_web_worker_and_beat_take_a_run_to_its_scores(tmp_path, fresh_database_url):
    variables = {
        "DATABASE_URL": fresh_database_url,
        "REDIS_URL": os.environ["ARQLAB_TEST_REDIS_URL"],
        "ARQLAB_DATA": str(tmp_path),
    }
    assert set(variables) == set(COMPOSE["services"]["web"]["environment"])
    given = {"ARQLAB_SECRET_KEY": "only for tests", "DJANGO_SETTINGS_MODULE": "arqlab.settings"}
    environment, port = os.environ | variables | given, free_port()
    write_lab(tmp_path)

    with ExitStack() as stack:
        stack.enter_context(started("web", environment, port))
        wait_for_port(port, seconds=60)
        for command in (["load_lab", str(tmp_path)], ["shell", "--command", SCENE]):
            subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True)
        stack.enter_context(started("worker", environment, port))
        stack.enter_context(started("beat", environment, port))
        assert ask(port, "/healthz/")
        ask(port, "/api/labs/small/tasks/task1/runs/", form_with_a_run())
        assert first_score(port) == pytest.approx(1.0)


def first_score(port):
    """Wait for the board to hold the run, and give its value of the main measure."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        board = ask(port, "/api/labs/small/tasks/task1/leaderboard/")
        if board["runs"]:
            return next(iter(board["runs"][0]["scores"].values()))
        time.sleep(0.5)
    raise TimeoutError("No scores after 60 s.")

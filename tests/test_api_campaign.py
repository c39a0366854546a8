"""A team's campaign by a program that knows nothing but a token and the description of the API."""

from io import BytesIO
from itertools import takewhile
from typing import Any

import pytest
import yaml
from django.test import Client
from django.utils import timezone

from arqlab.accounts.services.tokens import create_token
from arqlab.core.models import Lab
from evaluation.services.releasing import release_leaderboard
from submissions.models import Run
from tests.evaluation.factories import make_qrels
from tests.submissions.factories import GOOD_RUN

pytestmark = pytest.mark.django_db
REPAIRABLE = GOOD_RUN + GOOD_RUN.splitlines(keepends=True)[-1]
KEY = "0d9e4cbe-7a0e-4d2c-a5f2-5f2f7d3a3f11"
TASK = "/api/v1/labs/{lab}/tasks/{task}/"
RUN = TASK + "runs/{run}/"


class Program:
    """A client that sends only what the schema describes."""

    def __init__(self, token: str, commits: Any) -> None:
        self.client, self.commits = Client(headers={"Authorization": f"Bearer {token}"}), commits
        self.paths = yaml.safe_load(self.client.get("/api/v1/schema/").content)["paths"]

    def ask(self, method: str, path: str, data: Any = None, **place: Any) -> Any:
        """Return the answer to a described request, whose status the schema names."""
        described = self.paths[path][method]["responses"]
        place = {"lab": "arqmath-x", "task": "task1", **place}
        json = {} if data is None or "file" in data else {"content_type": "application/json"}
        with self.commits(execute=True):  # as workers do
            answer = getattr(self.client, method)(path.format(**place), data, **json)
        assert str(answer.status_code) in described
        return answer

    def submit(self, content: bytes, tag: str) -> dict[str, Any]:
        """Upload a run and return it when it is checked."""
        file = BytesIO(content)
        file.name = f"Alpha-task1-{tag}-auto-both-A.tsv"
        [run] = self.ask("post", TASK + "runs/", {"file": file}).json()
        polls = iter(lambda: self.ask("get", RUN + "report/", run=run["id"]).json()["state"], "")
        list(takewhile(lambda state: state in ("uploaded", "validating"), polls))
        return dict(self.ask("get", RUN, run=run["id"]).json())


@pytest.fixture
def program(scene, django_capture_on_commit_callbacks):
    token = create_token(user=scene.member, name="x", scope="write", days=9, at=timezone.now())
    return Program(token, django_capture_on_commit_callbacks)


def test_a_program_runs_the_campaign_of_a_team(program, scene):
    me = program.ask("get", "/api/v1/me/").json()
    topics = program.ask("get", TASK + "topics/").json()["results"]
    broken = program.submit(REPAIRABLE, "bm25")
    repaired = program.ask("get", RUN + "repaired/", run=broken["id"]).content
    good, other = program.submit(repaired, "fixed"), program.submit(GOOD_RUN, "other")
    details = {"is_primary": True, "description": "Best."}
    best = program.ask("patch", RUN, details, run=good["id"]).json()
    gone = program.ask("post", RUN + "withdraw/", {"reason": "Wrong."}, run=other["id"]).json()

    assert [(one["lab"], one["team"]) for one in me["roles"]] == [("arqmath-x", "Alpha")]
    assert [topic["query_id"] for topic in topics] == ["A.1", "A.2"]
    assert (broken["state"], good["state"], gone["state"]) == ("invalid", "valid", "withdrawn")
    assert repaired == program.ask("get", RUN + "file/", run=good["id"]).getvalue() == GOOD_RUN
    assert (best["is_primary"], best["description"], best["tag"]) == (True, "Best.", "fixed")

    qrels = make_qrels(scene.task, {"A.1": {"10": 3}, "A.2": {"12": 2}})
    release_leaderboard(qrel_set=qrels, by=scene.organizer, at=timezone.now())
    board = program.ask("get", TASK + "leaderboard/").json()
    files = {
        name: program.ask("get", TASK + "downloads/{name}", name=name).getvalue()
        for name in ("topics.xml", "qrels.tsv")
    }

    assert [(row["id"], row["scores"]["MAP'"]) for row in board["runs"]] == [(good["id"], 1.0)]
    assert files["topics.xml"].count(b"<Topic ") == 2
    assert files["qrels.tsv"] == b"A.1\t0\t10\t3\nA.2\t0\t12\t2\n"


def test_an_upload_that_is_sent_again_with_its_key_is_stored_once(program, scene):
    def send(content, key, task="task1"):
        file = BytesIO(content)
        file.name = "Alpha-task1-bm25-auto-both-A.tsv"
        path = f"/api/v1/labs/arqmath-x/tasks/{task}/runs/"
        return program.client.post(path, {"file": file}, headers={"Idempotency-Key": key})

    first, again = send(GOOD_RUN, KEY), send(GOOD_RUN, KEY)
    other, wrong = send(REPAIRABLE, KEY), send(GOOD_RUN, "no UUID")

    assert (first.status_code, again.status_code) == (202, 202)
    assert [run["id"] for run in first.json()] == [run["id"] for run in again.json()]
    assert Run.objects.count() == 1
    assert (other.status_code, other.json()["code"]) == (409, "key-used")
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (400, "Idempotency-Key")


def test_a_repaired_file_is_submitted_without_another_upload(program, scene):
    broken = program.submit(REPAIRABLE, "bm25")
    new = program.ask("post", RUN + "submit-repaired/", {}, run=broken["id"])
    again = program.ask("post", RUN + "submit-repaired/", {}, run=new.json()["id"])
    run = program.ask("get", RUN, run=new.json()["id"]).json()

    assert (new.status_code, run["state"], run["tag"]) == (202, "valid", "bm25")
    assert (again.status_code, again.json()["code"]) == (409, "state")


def test_a_program_that_has_the_answer_gets_only_its_mark(program, scene):
    first = program.client.get("/api/v1/labs/")
    known = {"headers": {"If-None-Match": first["ETag"]}}

    assert program.client.get("/api/v1/labs/", **known).status_code == 304
    scene.lab.tasks.update(slug="task2")
    assert program.client.get("/api/v1/labs/", **known).status_code == 200


@pytest.mark.parametrize("path", ["withdraw/", "submit/", ""])
def test_a_run_of_an_archived_lab_stays_as_it_is(program, scene, path):
    run = program.submit(GOOD_RUN, "bm25")
    Lab.objects.update(archived_at=timezone.now())
    sent = {"reason": "Wrong.", "tag": "other"}
    answer = program.ask("post" if path else "patch", RUN + path, sent, run=run["id"])

    assert (answer.status_code, answer.json()["code"]) == (409, "archived")
    assert Run.objects.get().state == "valid"


def test_what_a_page_refuses_the_api_refuses_in_the_same_words(program, scene, client_of):
    run = program.submit(GOOD_RUN, "bm25")
    at = f"/labs/arqmath-x/tasks/task1/runs/{run['id']}/withdraw/"
    program.ask("post", RUN + "withdraw/", {"reason": "Wrong."}, run=run["id"])
    refused = program.ask("post", RUN + "withdraw/", {"reason": "Again."}, run=run["id"])
    page = client_of(scene.member).post(at, {"reason": "Again."})

    assert (refused.status_code, page.status_code) == (409, 422)
    assert refused.json()["message"] in page.text


def test_topics_have_the_notes_of_organizers_only_for_them(scene, client_of):
    scene.task.topics.filter(query_id="A.1").update(info={"HM": "3", "difficulty": "hard"})
    path = "/api/v1/labs/arqmath-x/tasks/task1/topics/"
    shown = {
        role: client_of(getattr(scene, role)).get(path).json()["results"][0]["info"]
        for role in ("member", "organizer")
    }

    assert shown == {
        "member": {"difficulty": "hard"},
        "organizer": {"difficulty": "hard", "HM": "3"},
    }


def test_each_address_of_the_schema_describes_401_403_404_and_429(program):
    described = [way["responses"] for path in program.paths.values() for way in path.values()]

    assert all({"401", "403", "404", "429", "default"} <= set(one) for one in described)

"""The client of arqkit against a server: a whole campaign, and what the server refuses."""

import json
import re
import stat
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from textwrap import dedent
from threading import Thread

import pytest
from django.utils import timezone

from arqkit.__main__ import main
from arqkit.client import LabServer
from arqkit.records import ServerRefusedError
from arqlab.accounts.services.tokens import create_token
from evaluation.services.releasing import release_leaderboard
from tests import offline
from tests.arqkit.test_readme import README
from tests.evaluation.factories import make_qrels
from tests.submissions.factories import GOOD_RUN

BAD_RUN = GOOD_RUN.replace(b"\t1\t", b"\tfirst\t", 1)
TASK = "arqmath-x/task1"


@pytest.fixture
def token(scene):
    return create_token(user=scene.member, name="x", scope="write", days=9, at=timezone.now())


@pytest.fixture
def campaign(live_server, scene, token, tmp_path, monkeypatch, capsys):
    """Return a function that calls the command: its exit code, output and errors."""
    for name, value in {"XDG_CONFIG_HOME": tmp_path / "settings", "ARQKIT_TOKEN": token}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Alpha-task1-bm25-auto-both-P.tsv").write_bytes(GOOD_RUN)
    (tmp_path / "bad.tsv").write_bytes(BAD_RUN)

    def call(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
        return code, *capsys.readouterr()

    assert call("login", live_server.url)[0] == 0
    monkeypatch.delenv("ARQKIT_TOKEN")
    return call


def test_a_team_runs_its_campaign_from_the_command_line(campaign, scene, tmp_path):
    run = "Alpha-task1-bm25-auto-both-P.tsv"
    topics = campaign("topics", TASK)
    checked = campaign("check", run, "bad.tsv", "--task", TASK)
    submitted = campaign("submit", TASK, run, "--description", "Best.")
    refused = campaign("submit", TASK, run)
    runs = json.loads(campaign("runs", TASK, "--json")[1])

    assert topics[0] == 0
    assert [line.split()[0] for line in topics[1].splitlines()] == ["query_id", "A.1", "A.2"]
    assert checked[0] == 1
    assert f"{run}: valid" in checked[1]
    assert "bad.tsv: has errors" in checked[1]
    assert (submitted[0], refused[0]) == (0, 3)
    assert f"{run} (run {runs[0]['id']}): valid" in submitted[1]
    assert "bm25" in refused[2]
    assert [(row["tag"], row["is_primary"], row["description"]) for row in runs] == [
        ("bm25", True, "Best.")
    ]

    qrels = make_qrels(scene.task, {"A.1": {"10": 3}, "A.2": {"12": 2}})
    release_leaderboard(qrel_set=qrels, by=scene.organizer, at=timezone.now())
    board = campaign("leaderboard", TASK)
    assert campaign("qrels", TASK, "--out", "qrels.tsv")[0] == 0
    scored = campaign("score", run, "qrels.tsv", "--measures", "AP(judged_only=True)")

    assert (tmp_path / "qrels.tsv").read_text("utf-8") == campaign("qrels", TASK)[1]
    heads, figures = (line.split() for line in board[1].splitlines())
    assert figures[heads.index("MAP'")] == scored[1].split()[-1] == "1.0000"


def test_a_run_that_is_only_checked_is_listed_as_checked(campaign):
    run = "Alpha-task1-bm25-auto-both-P.tsv"
    assert campaign("submit", TASK, run, "--check-only")[0] == 0
    heads, cells = (line.split() for line in campaign("runs", TASK)[1].splitlines())

    assert "checked" in cells
    assert "official" not in cells
    assert heads.index("standing") == cells.index("checked")


def test_python_gets_data_frames(live_server, scene, token):
    with LabServer(f"{live_server.url}/labs/arqmath-x/", token) as lab:
        [first] = lab.submit(TASK, GOOD_RUN, name="Alpha-task1-a-auto-both-A.tsv", is_manual=True)
        [second] = lab.submit(TASK, GOOD_RUN, name="Alpha-task1-b-auto-both-A.tsv")
        assert lab.report(TASK, first)["valid"]
        lab.change(TASK, first, is_primary=True)
        assert lab.withdraw(TASK, second, reason="The wrong file.")["state"] == "withdrawn"
        qrels = make_qrels(scene.task, {"A.1": {"10": 3}, "A.2": {"12": 2}})
        release_leaderboard(qrel_set=qrels, by=scene.organizer, at=timezone.now())

        assert lab.labs()["slug"].to_list() == ["arqmath-x"]
        assert "task1" in lab.tasks("arqmath-x")["slug"]
        assert lab.topics(TASK)["query_id"].to_list() == ["A.1", "A.2"]
        assert lab.runs(TASK).select("tag", "is_manual", "is_primary").rows() == [
            ("b", False, False),
            ("a", True, True),
        ]
        assert lab.leaderboard(TASK).select("run", "MAP'").rows() == [("a", 1.0)]
        assert lab.scores(TASK, first).select("topic", "MAP'").rows() == [
            ("A.1", 1.0),
            ("A.2", 1.0),
        ]
        assert lab.qrels(TASK).rows() == [("A.1", "10", 3), ("A.2", "12", 2)]


def test_the_example_of_the_readme_runs(live_server, scene, token, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Ours-task1-bm25-auto-both-P.tsv").write_bytes(GOOD_RUN)
    [example] = re.findall(r"```py\n(.*?)```", README, re.DOTALL)
    example = example.replace("https://lab.example.org", live_server.url)
    example = example.replace("is_primary", "confirm_team=True, is_primary")
    submitting, results = example.split("    lab.leaderboard(")
    found = {"token": token}
    exec(submitting, found)
    qrels = make_qrels(scene.task, {"A.1": {"10": 3}, "A.2": {"12": 2}})
    release_leaderboard(qrel_set=qrels, by=scene.organizer, at=timezone.now())
    with LabServer(live_server.url, token) as lab:
        exec(dedent(f"    lab.leaderboard({results}"), found | {"lab": lab})
        assert lab.leaderboard(TASK)["id"].to_list() == [found["run"]]


class Computing(BaseHTTPRequestHandler):
    """A server that computes an answer after the first question."""

    asked = 0

    def do_GET(self):
        Computing.asked += 1
        self.send_response(202 if Computing.asked == 1 else 200)
        self.send_header("Retry-After", "3")
        self.end_headers()
        self.wfile.write(b'{"username": "alice"}')


def test_the_client_waits_for_what_the_server_computes():
    waited = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Computing) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with LabServer(f"http://127.0.0.1:{server.server_port}", wait=waited.append) as lab:
            assert (lab.me(), waited) == ({"username": "alice"}, [3.0])
        server.shutdown()


def test_a_long_list_comes_whole(live_server, scene, token):
    topics = [
        scene.task.topics.model(task=scene.task, query_id=f"A.{n}", position=n, title=f"{n}")
        for n in range(3, 250)
    ]
    scene.task.topics.bulk_create(topics)
    with LabServer(live_server.url, token) as lab:
        assert lab.topics(TASK)["query_id"].to_list() == [f"A.{n}" for n in range(1, 250)]


def test_a_token_is_kept_where_only_its_owner_reads_it(campaign, tmp_path, token):
    [file] = (tmp_path / "settings").rglob("*.json")

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token in file.read_text("utf-8")


def test_a_kept_token_is_sent_to_no_other_server(campaign, monkeypatch, live_server):
    monkeypatch.setenv("ARQKIT_URL", live_server.url.replace("localhost", "127.0.0.1"))
    code, _, said = campaign("runs", TASK)

    assert (code, "sign" in said.lower()) == (3, True)


def test_what_the_server_refuses_is_shown_in_its_words(live_server, scene, token):
    with LabServer(live_server.url, token) as lab, pytest.raises(ServerRefusedError) as refused:
        lab.submit(TASK, GOOD_RUN, name="Beta-task1-a.tsv", team="Nobody")

    assert (refused.value.status, refused.value.code) == (400, "invalid")
    assert "Name one of your teams: Alpha." in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["topics", "arqmath-x/none"], 3, "not"),
        (["leaderboard", TASK], 3, "not"),
        (["topics", "task1"], 2, "LAB/TASK"),
        (["submit", TASK, "absent.tsv"], 2, "absent.tsv: No such file or directory"),
        (["login", "lab.example.org"], 2, "https://"),
        (["login", "http://lab.example.org"], 2, "plain text"),
        (["login", "http://127.0.0.1:1"], 4, "did not answer"),
    ],
)
def test_an_error_has_its_exit_code_and_says_what_to_do(
    campaign, arguments, code, words, monkeypatch
):
    monkeypatch.setenv("ARQKIT_TOKEN", "wrong") if arguments[0] == "login" else None
    ended = campaign(*arguments)

    assert (ended[0], words in ended[2]) == (code, True), ended[2]


def test_a_wrong_token_is_not_kept(campaign, live_server, monkeypatch, tmp_path, token):
    monkeypatch.setenv("ARQKIT_TOKEN", "wrong")

    assert campaign("login", live_server.url)[0] == 3
    assert token in next((tmp_path / "settings").rglob("*.json")).read_text("utf-8")


def test_without_a_login_the_command_says_how(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    assert main(["topics", TASK]) == 2
    assert "arqkit login" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_each_shell_completes_commands_and_options(capsys, shell):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out

    assert [word for word in ("leaderboard", "check-only") if word not in script] == []


@pytest.mark.parametrize("arguments", [["topics", TASK], ["completion", "bash"]])
def test_without_the_extra_the_command_says_what_to_install(tmp_path, arguments):
    ended = offline.arqkit(tmp_path, *arguments)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.endswith("In a checkout of ArqLab, run: pip install './arqkit[client]'\n")

"""`arqkit check` prints what the server reports on an upload, line for line, from a task pack."""

import zipfile
from dataclasses import fields
from pathlib import Path

import pytest
from django.test import Client

from arqkit.formats.runs.packs import read_pack
from arqkit.formats.runs.results import report_data, report_text
from arqlab.core.models import Task
from submissions.models import Run
from submissions.selectors import repaired_file, task_pack
from submissions.services.uploads import check_upload
from submissions.services.validation import validate_uploaded_run
from tests.arqkit.formats.runs.test_safe_repairs import (
    ANSWER_DAMAGE,
    FORMULA_DAMAGE,
    LIST_DAMAGE,
    file,
)
from tests.collection.factories import FORMULAS, POSTS, load_small
from tests.factories import Scene
from tests.offline import BLOCK, arqkit, run_alone
from tests.submissions.factories import NOW, sent, zipped

pytestmark = [pytest.mark.django_db, pytest.mark.once]
ANSWERS = range(100, 160)
MORE_POSTS = "".join(
    f'<row Id="{post}" PostTypeId="2" ParentId="1" Body="&lt;p&gt;x&lt;/p&gt;" />'
    for post in ANSWERS
)
MORE_FORMULAS = "".join(f"{post}\t{post}\t1\tanswer\t{post % 7}\tx\n" for post in ANSWERS)
TOPICS = ("A.1", "A.2")


def rows_of(kind: str) -> list[list[str]]:
    """Return the rows of a run of 20 items a topic, or of an answer to each topic."""
    if kind == Task.Kind.GENERATED_ANSWERS:
        return [[topic, "1", "1.0", "run", "", f"It is ${topic}$."] for topic in TOPICS]
    posts = [[str(post)] * (2 if kind == Task.Kind.FORMULAS else 1) for post in ANSWERS]
    return [
        [topic, *post, str(rank), f"{30.5 - rank}", "run"]
        for topic in TOPICS
        for rank, post in enumerate(posts[:20], start=1)
    ]


def changed(rows: list[list[str]], at: int, cell: str, *, row: int = 3) -> bytes:
    """Return the file of rows with another cell in one of them."""
    row = min(row, len(rows) - 1)
    return file([*rows[:row], [*rows[row][:at], cell, *rows[row][at + 1 :]], *rows[row + 1 :]])


def other_damage(rows: list[list[str]]) -> dict[str, bytes]:
    """Return files with faults that no repair solves."""
    return {
        "good": file(rows),
        "empty": b"",
        "pdf": b"%PDF-1.7 and more",
        "latin-1": changed(rows, -1, "r").replace(b"\tr\n", b"\t\xfc\n"),
        "null": file(rows) + b"A.1\t1\0\t9\t0.1\tt\n",
        "utf-16": file(rows).decode().encode("utf-16"),
        "unknown-topic": changed(rows, 0, "Q.7"),
        "topic-spelling": changed(rows, 0, "a1"),
        "unknown-item": changed(rows, 1, "987654"),
        "item-spelling": changed(rows, 1, "00103"),
        "question": changed(rows, 1, "1"),
        "no-tag": changed(rows, -1, ""),
        "nan": changed(rows, -2, "nan"),
        "half": file(rows[: len(rows) // 2]),
        "columns": file([*rows[:1], rows[0][:2], *rows[1:]]),
        "comma": file([[*row[:2], *row[3:]] for row in rows]),
        "zip": zipped({"a/run.tsv": file(rows), "b/run.tsv": b"A.1\n", "c.tsv": file(rows[1:])}),
        "damaged-zip": zipped({"run.tsv": file(rows)})[:-30],
    }


def damaged(kind: str) -> dict[str, bytes]:
    """Return every damaged run of a kind of task by the name of its damage."""
    rows = rows_of(kind)
    damage = ANSWER_DAMAGE if kind == Task.Kind.GENERATED_ANSWERS else LIST_DAMAGE
    damage = damage | FORMULA_DAMAGE if kind == Task.Kind.FORMULAS else damage
    return {name: damage[name](rows) for name in damage} | other_damage(rows)


def checked_by_server(scene: Scene, data: bytes, name: str) -> list[str]:
    """Upload a file to be checked, and return the lines of the stored reports."""
    scene.task.refresh_from_db()
    uploaded = check_upload(
        file=sent(data, name), task=scene.task, team=scene.team, by=scene.member, at=NOW
    )
    lines: list[str] = []
    for run in uploaded:
        validate_uploaded_run(run_id=run.pk, at=NOW)
        run.refresh_from_db()
        is_valid = run.status == Run.Status.VALID
        report = report_data(facts=run.report, problems=run.problems.all(), is_valid=is_valid)
        lines += report_text(run.file_name, report)
    return lines


@pytest.fixture
def pack(scene: Scene, client: Client, tmp_path: Path) -> Path:
    """Return the path of the task pack that a visitor downloads; the lab has a collection."""
    load_small(
        scene.lab,
        tmp_path,
        posts=POSTS.replace("</posts>", f"{MORE_POSTS}</posts>"),
        formulas=FORMULAS + MORE_FORMULAS,
    )
    return tmp_path / "pack.zip"


def download(client: Client, pack: Path) -> Path:
    answer = client.get("/labs/arqmath-x/tasks/task1/downloads/task-pack.zip")
    pack.write_bytes(b"".join(answer.streaming_content))
    return pack


@pytest.mark.parametrize("kind", ["answers", "formulas", "written-answers"])
def test_the_report_of_every_damaged_run_is_that_of_the_server(
    scene: Scene, client: Client, pack: Path, tmp_path: Path, kind: str
) -> None:
    items = {"answers": "posts", "formulas": "formula-ids", "written-answers": "answers"}[kind]
    Task.objects.update(kind=kind, trec_items=items)
    files = {f"{name}.tsv": data for name, data in damaged(kind).items()}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)

    ended = arqkit(tmp_path, "check", *files, "--task", download(client, pack))

    expected = [line for name in files for line in checked_by_server(scene, files[name], name)]
    assert ended.stdout.splitlines()[:-2] == expected
    assert (ended.returncode, ended.stderr) == (1, "")


def test_the_repaired_file_is_that_of_the_server(
    scene: Scene, client: Client, pack: Path, tmp_path: Path
) -> None:
    data = damaged("answers")["score-decimal-comma"]
    (tmp_path / "run.tsv").write_bytes(data)
    pack, files = download(client, pack), ("run.tsv", "--repair", "repaired.tsv")

    ended = arqkit(tmp_path, "check", *files, "--task", pack)

    assert "repaired.tsv has the run with all safe repairs" in ended.stdout
    checked_by_server(scene, data, "run.tsv")
    repaired = repaired_file(Run.objects.get())
    assert (tmp_path / "repaired.tsv").read_bytes() == repaired.read()
    assert arqkit(tmp_path, "check", "repaired.tsv", "--task", pack).returncode == 0
    assert "File exists" in arqkit(tmp_path, "check", *files, "--task", pack).stderr


@pytest.mark.parametrize(
    ("kind", "items", "names"),
    [
        ("answers", "posts", ["task.json", "posts.parquet"]),
        ("formulas", "visual-ids", ["task.json", "formulas.parquet"]),
        ("written-answers", "answers", ["task.json"]),
    ],
)
def test_a_pack_has_the_rules_and_the_ids_of_the_items_that_its_task_retrieves(
    client: Client, pack: Path, kind: str, items: str, names: list[str]
) -> None:
    Task.objects.update(kind=kind, trec_items=items, overrides={"limit": 7, "order": "rank"})

    kit = ["topics.xml", "README.md", "make_run.py"]
    assert zipfile.ZipFile(download(client, pack)).namelist() == names + kit
    rules = task_pack(Task.objects.select_related("lab").get()).rules
    for name in {field.name for field in fields(rules)} - {"posts", "formulas"}:
        assert getattr(read_pack(pack).rules, name) == getattr(rules, name)


@pytest.mark.parametrize(
    ("kind", "items", "rows"),
    [
        ("answers", "posts", 2 * (3 + len(ANSWERS))),
        ("formulas", "formula-ids", 2 * (3 + len(ANSWERS))),
        ("formulas", "visual-ids", 2 * (2 + 7)),
        ("written-answers", "answers", 2),
    ],
)
def test_the_program_of_a_pack_makes_a_valid_run(
    client: Client, pack: Path, tmp_path: Path, kind: str, items: str, rows: int
) -> None:
    Task.objects.update(kind=kind, trec_items=items)
    zipfile.ZipFile(download(client, pack)).extractall(tmp_path)

    made = run_alone(tmp_path, f"{BLOCK}import runpy; runpy.run_path('make_run.py')")

    checked = arqkit(tmp_path, "check", "run.tsv", "--task", pack)
    assert (made.stderr, checked.returncode, checked.stderr) == ("", 0, "")
    assert f"{rows} rows, 2 topics" in checked.stdout
    assert "WARNING" not in checked.stdout


def test_a_pack_without_a_collection_says_that_no_item_was_looked_up(
    scene: Scene, client: Client, tmp_path: Path
) -> None:
    (tmp_path / "run.tsv").write_bytes(file(rows_of("answers")))

    ended = arqkit(tmp_path, "check", "run.tsv", "--task", download(client, tmp_path / "p.zip"))

    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[-1] == (
        "Checked against the task pack of arqmath-x/task1. Only the server compares a run with "
        "other runs and with judged items. The pack has no ids, so the items were not looked up."
    )

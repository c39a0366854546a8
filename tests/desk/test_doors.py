"""Each kind of file of a task goes in and out by every door, with the same bytes and refusals.

The doors: the folder of a lab, loads in the browser, commands, archives and downloads.
"""

import io
import zipfile
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from fnmatch import fnmatch
from io import StringIO
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import polars as pl
import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.labs.files import QRELS, TASK_FILES
from arqkit.formats.labs.folder import QrelsFile
from arqkit.loads import LoadChoice
from arqkit.records import FileRefusedError
from arqkit.texts.maths.typesetting import ENGINE
from arqlab.core.errors import UserError
from arqlab.core.folder_loads import folder_loads
from arqlab.core.models import Job, Lab, Task, Topic
from assessment.guidelines.services.versions import write_guideline
from assessment.models import Assignment, Judgment, Pool, PoolInstance, PoolItem, QrelSet
from assessment.qrels.services.loading import LoadedLab, load_lab, load_qrels
from desk.services.archive_documents import lab_documents
from desk.services.exports import task_exports
from desk.views.loads import FORMS
from submissions.models import AnswerId, Run
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.assessment.factories import NOW, judge, make_pool
from tests.desk.views.test_loads import post
from tests.factories import Scene

__all__ = ["post"]

AT = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)
TASK = "/labs/arqmath-x/tasks/task1/"
RUN = b"A.1\t10\t1\t9.5\tours\nA.1\t11\t2\t8.5\tours\n"
FOLDER = {"topics", "topic_info"}  # by `load_lab_file`, as it makes the tasks
BROWSER = {
    kind.key: (load, field) for load, form in FORMS.items() for field, kind in form.kinds.items()
}
"""The kind of load in the browser, and its field, that takes each kind of file."""
NOT_IN_BROWSER = {
    "answer_ids": "they belong to published qrels, with which a lab folder has them",
    "guidelines": "a page edits them",
    "assignments": "a page previews them before they are stored",
}
EXPORTED = {"topics", "topic_info", "qrels", "guidelines", "runs", "assignments", "judgments"}
COMMANDS = {"runs": "load_runs", "assignments": "assign_topics", "judgments": "import_judgments"}
Words = set[tuple[object, ...]]
"""The lines of problems, what was found, what was expected, and what to do."""


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def whole(scene: Scene) -> Scene:
    """Return a lab whose task has a file of each kind but answer ids, which another task has."""
    Topic.objects.update(info={"category": "proof"}, thread_id="77", engine=ENGINE)
    make_pool(scene.task)
    write_guideline(task=scene.task, text="<p>Judge.</p>", at=NOW, by=None)
    frame = pl.DataFrame({"topic": ["A.1", "A.2"], "item": ["10", "11"], "label": [3, 0]})
    rules = scene.task.protocol
    qrels = QrelsFile("v1", Path(), frame, rules.items, rules.labels, rules.relevant_from)
    load_qrels(task=scene.task, file=qrels, at=NOW, by=None)
    first = PoolInstance.objects.order_by("pk").first()
    judge(scene.assessor, first, 3, judged_at=AT, given_at=AT)
    Assignment.objects.create(
        topic=scene.task.topics.first(), assessor=scene.assessor, assigned_at=NOW
    )
    sent = ContentFile(RUN, name="Alpha-task1-ours-auto-both-P.tsv")
    [run] = submit_upload(file=sent, task=scene.task, team=scene.team, by=scene.organizer, at=AT)
    validate_uploaded_run(run_id=run.pk, at=AT)
    answers = Task.objects.create(
        lab=scene.lab,
        slug="task3",
        name="Task 3",
        kind=Task.Kind.GENERATED_ANSWERS,
        position=2,
        trec_items=Task.Items.ANSWERS,
    )
    topic = {"query_id": "A.1", "position": 1, "title": "One", "title_html": "One"}
    Topic.objects.create(task=answers, **topic, engine=ENGINE)
    AnswerId.objects.create(task=answers, run_file="r1", query_id="A.1", answer_id="d_1")
    return scene


def archived(lab: Lab) -> dict[str, dict[str, bytes]]:
    """Return the files of an archive by kind and path, and those without a kind under ""."""
    files: dict[str, dict[str, bytes]] = {}
    for path, _, chunks, export in lab_documents(lab, published=False):
        kind = export.kind.key if export and export.kind else ""
        kind = "runs" if "/runs/" in path else kind
        files.setdefault(kind, {})[path] = b"".join(chunks)
    return files


def write(files: dict[str, dict[str, bytes]], folder: Path) -> None:
    for path, content in (pair for of_kind in files.values() for pair in of_kind.items()):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def load(folder: Path, *, confirmed: bool = False) -> LoadedLab:
    choice = LoadChoice(confirmed=confirmed)
    return load_lab(folder=SourceFolder(folder), at=NOW, by=None, choice=choice)


def name_others(folder: Path) -> None:
    """Let the lab.toml of an archive name the files, too, that are of people and pools."""
    toml = folder / "lab.toml"
    names = {key: kind.name for key, kind in TASK_FILES.items() if not kind.is_named}
    lines = "".join(f'{key} = "task1/{name}"\n' for key, name in names.items())
    text = toml.read_text("utf-8").replace('slug = "task1"\n', f'slug = "task1"\n{lines}')
    toml.write_text(text, "utf-8")


def test_every_kind_of_file_is_written_and_loaded_by_each_door_or_has_a_reason_why_not(whole):
    of_kinds = archived(whole.lab)

    assert of_kinds.keys() - {""} == TASK_FILES.keys()
    assert FOLDER | folder_loads().keys() | {"topic_formulas"} == TASK_FILES.keys()
    assert BROWSER.keys() ^ NOT_IN_BROWSER.keys() == TASK_FILES.keys()
    for key, kind in TASK_FILES.items():
        for path in of_kinds[key]:
            assert fnmatch(path, f"task?/{kind.name}{'/*' * kind.is_folder}"), path


def test_each_download_is_the_file_of_the_archive(whole, client_of):
    client, of_kinds = client_of(whole.organizer), archived(whole.lab)
    paths = {path: data for files in of_kinds.values() for path, data in files.items()}
    compared = set()

    for export in task_exports(whole.task, organizes=True):
        data = b"".join(client.get(f"{TASK}downloads/{export.name}"))
        if export.folder:
            with zipfile.ZipFile(io.BytesIO(data)) as zipped:
                members = {
                    f"task1/{export.folder.name}/{it}": zipped.read(it) for it in zipped.namelist()
                }
            assert members == {path: paths[path] for path in members}
        elif export.is_archived:
            assert data == paths[f"task1/{export.name}"], export.name
        if export.kind:
            compared.add(export.kind.key)

    assert compared == EXPORTED


def test_the_folder_of_an_archive_changes_nothing_in_its_lab(whole, tmp_path):
    write(archived(whole.lab), tmp_path)
    name_others(tmp_path)

    assert not load(tmp_path).is_changed


def test_the_folder_of_an_archive_makes_its_topics_qrels_and_guidelines_again(whole, tmp_path):
    files = archived(whole.lab)
    files[""]["lab.toml"] = files[""]["lab.toml"].replace(b'"arqmath-x"', b'"other"')
    write(files, tmp_path)

    again = archived(load(tmp_path).lab)

    named = [key for key, kind in TASK_FILES.items() if kind.is_named]
    assert {key: again[key] for key in named} == {key: files[key] for key in named}


def test_runs_assignments_and_judgments_are_loaded_from_a_folder(whole, tmp_path):
    files = archived(whole.lab)
    write(files, tmp_path)
    name_others(tmp_path)
    for model in (Judgment, Assignment, Run):
        model.objects.all().delete()

    loaded = load(tmp_path)

    assert loaded.is_changed
    assert loaded.lines == ("1 run loaded, 0 unchanged.",)
    again = archived(whole.lab)
    others = [key for key, kind in TASK_FILES.items() if not kind.is_named]
    assert {key: again[key] for key in others} == {key: files[key] for key in others}


def test_qrels_of_any_name_are_downloaded_and_loaded_from_the_archive(whole, client_of, tmp_path):
    name = "v2/of \\ Mai: ä?"
    QrelSet.objects.update(name=name)
    files = archived(whole.lab)
    write(files, tmp_path)

    exports = task_exports(whole.task, organizes=True)
    [export] = [one for one in exports if one.kind is QRELS]
    file = client_of(whole.organizer).get(f"{TASK}downloads/{quote(export.name)}")

    assert b"".join(file) == files["qrels"][f"task1/{export.name}"]
    assert not load(tmp_path).is_changed
    assert QrelSet.objects.get().name == name


@pytest.mark.parametrize("key", BROWSER)
def test_each_file_of_an_archive_is_taken_by_a_load_in_the_browser(whole, post, key):
    of_kinds = archived(whole.lab)
    kind, field = BROWSER[key]
    sent = {field: uploads(of_kinds[key])}
    if kind == "topics":
        sent |= {"topics": uploads(of_kinds["topics"])}
    options = {"name": "v1", "items": "posts"} if kind == "qrels" else {}

    job = post(whole.organizer, f"{TASK}load/{kind}/", **sent, **options)

    assert (job.state, list(job.problems.all())) == (Job.State.DONE, []), job.message
    assert archived(whole.lab) == of_kinds


def uploads(files: dict[str, bytes]) -> list[SimpleUploadedFile] | SimpleUploadedFile:
    """Return the files of task 1 as a browser sends them: those of a folder as an archive."""
    of_task = {path: data for path, data in files.items() if path.startswith("task1/")}
    if len(of_task) == 1:
        [(path, data)] = of_task.items()
        return SimpleUploadedFile(path.rpartition("/")[2], data)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        for path, data in of_task.items():
            zipped.writestr(path.removeprefix("task1/runs/"), data)
    return SimpleUploadedFile("runs.zip", out.getvalue())


REFUSED = [
    ("topics", b"<Topics><Topic/></Topics>", {}),
    ("topics", b"<Topics><Topic number='A.1'/></Topics>", {}),
    ("topics", b"\n", {}),
    ("topic_info", b"Category\nproof\n", {}),
    ("topic_info", b'{"A.1": 3}', {}),
    ("topic_formulas", b"id\ttopic_id\nq_1\tA.1\n", {}),
    ("qrels", b"A.1 0 10 9\n", {}),
    ("qrels", b"A.9 0 10 1\n", {}),
    ("qrels", b"A.1 0 10\n", {}),
    ("qrels", b"A.1 0 10 1\n", {"relevant_from": 9}),
    ("qrels", b"A.1 0 10 1\n", {"labels": "0-1", "relevant_from": 2}),
    ("qrels", b"A.1 0 10 2\n", {"name": "v1"}),
    ("judgments", b"topic\titem\tlabel\nA.1\t10\t9\n", {}),
    ("judgments", b"topic\titem\tlabel\nA.1\tnone\t1\n", {}),
    ("judgments", b"topic\titem\tlabel\tassessor\nA.1\t10\t1\tnobody\n", {}),
    ("assignments", b"topic\tassessor\nA.9\tnobody\n", {}),
    ("runs", b"file\tteam\tdata\nnone.tsv\tAlpha\tall\n", {}),
    ("runs", b"colour\nred\n", {}),
]
"""Files that no door takes, with options of a load of qrels."""


class Refused(NamedTuple):
    """A file that no door takes, in a folder of a lab that is otherwise whole."""

    scene: Scene
    folder: Path
    key: str
    options: dict[str, object]

    @property
    def path(self) -> Path:
        """Return the path of the file, or of the folder of the runs."""
        return self.folder / "task1" / TASK_FILES[self.key].name.replace("*", "new")

    def words(self, problems: Iterable[tuple[object, ...]]) -> Words:
        """Return problems without their paths; those of an option have the line of a lab.toml."""
        return {(None if self.options else line, *others) for _, line, *others in problems}


@pytest.mark.parametrize(("key", "data", "options"), REFUSED)
def test_a_file_is_refused_in_the_same_words_by_each_door(
    whole, post, tmp_path, key, data, options
):
    refused = Refused(whole, tmp_path / "lab", key, options)
    write(archived(whole.lab), refused.folder)
    (refused.path / "manifest.tsv" if key == "runs" else refused.path).write_bytes(data)

    words = by_folder(refused)

    assert words
    if key in BROWSER:
        assert by_browser(refused, post) == words
    if key in COMMANDS:
        lines = by_command(refused)
        assert all(
            f"found {found}; expected {expected}. {todo}" in lines
            for _, found, expected, todo in words
        )


def without_pool() -> None:
    for model in (Judgment, PoolInstance, PoolItem, Pool):
        model.objects.all().delete()


def with_pool() -> None:
    assert Pool.objects.exists()


JUDGED = b"topic\titem\tlabel\nA.1\t10\t1\n"
ONE_TOPIC = b"<Topics><Topic number='A.2'><Title>Two</Title></Topic></Topics>"


@pytest.mark.parametrize(
    ("prepare", "key", "data", "options"),
    [
        (without_pool, "judgments", JUDGED, {}),
        (with_pool, "topics", ONE_TOPIC, {"delete_others": "on"}),
    ],
)
def test_what_a_lab_cannot_take_is_refused_in_the_same_sentence_by_each_door(
    whole, post, tmp_path, prepare, key, data, options
):
    refused = Refused(whole, tmp_path / "lab", key, options)
    prepare()
    write(archived(whole.lab), refused.folder)
    refused.path.write_bytes(data)

    [(_, sentence)] = by_folder(refused)

    assert by_browser(refused, post) == {(None, sentence)}
    if key in COMMANDS:
        assert by_command(refused) == sentence


def by_folder(refused: Refused) -> Words:
    """Return what the folder of a lab is refused for."""
    lab, task = refused.scene.lab, refused.scene.task
    files = {key: TASK_FILES[key].name for key in ("topics", "topic_info", refused.key)}
    files.pop("qrels", None)
    lines = [
        f'[lab]\nslug = "{lab.slug}"\nname = "{lab.name}"\nprotocol = "{lab.protocol}"\n[[tasks]]',
        f'slug = "{task.slug}"\nname = "{task.name}"\nkind = "{task.kind}"',
        *(f'{key} = "task1/{name}"' for key, name in files.items()),
    ]
    if refused.key == "qrels":
        values = {"name": "new", "file": "task1/qrels.new.tsv"} | refused.options
        lines += ["[[tasks.qrels]]", *(f"{name} = {value!r}" for name, value in values.items())]
    (refused.folder / "lab.toml").write_text("\n".join(lines) + "\n")
    with pytest.raises((FileRefusedError, UserError)) as error:
        load(refused.folder, confirmed=True)
    if isinstance(error.value, UserError):
        return {(None, error.value.message)}
    return refused.words(error.value.problems)


def by_browser(refused: Refused, post: Callable[..., Job]) -> Words:
    """Return what a load in the browser is refused for."""
    kind, field = BROWSER[refused.key]
    path = refused.path
    files = [path] if path.is_file() else [it for it in path.rglob("*") if it.is_file()]
    sent = {field: uploads({str(it.relative_to(refused.folder)): it.read_bytes() for it in files})}
    if kind == "topics":
        topics = refused.folder / "task1" / "topics.xml"
        sent = {"topics": uploads({"task1/topics.xml": topics.read_bytes()})} | sent
    options = {"name": "new", "items": "posts"} if kind == "qrels" else {}
    options |= refused.options
    job = post(refused.scene.organizer, f"{TASK}load/{kind}/", **sent, **options)
    assert job.state == Job.State.REFUSED, job.message
    if not job.problem_count:
        return {(None, job.message)}
    names = ("source", "line", "found", "expected", "todo")
    return refused.words(job.problems.values_list(*names))


def by_command(refused: Refused) -> str:
    """Return what a command prints that is refused."""
    with pytest.raises(CommandError) as error:
        call_command(COMMANDS[refused.key], "arqmath-x/task1", refused.path, stdout=StringIO())
    return str(error.value)

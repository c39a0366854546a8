"""Whatever file a command is given, it ends with a sentence, and reads no other file."""

from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class

from arqlab.labs.management.labcommand import LabCommand
from tests.desk.test_gates import everything_stored
from tests.outside import HOSTILE, SECRET

pytestmark = pytest.mark.once  # files that are refused before a row is stored
TASK = "arqmath-x/task1"
DOORS: dict[tuple[str, str], list[str]] = {
    ("assign_topics", "file"): [TASK, "{}"],
    ("backup", "--verify"): ["--verify={}"],
    ("backup", "--identity"): ["--verify={}", "--identity={}"],
    ("check_run", "file"): ["{}", f"--task={TASK}"],
    ("import_formulas", "--latex"): ["--latex={}", "--collection=mse"],
    ("import_formulas", "--slt"): ["--slt={}", "--collection=mse"],
    ("import_formulas", "--opt"): ["--opt={}", "--collection=mse"],
    ("import_judgments", "file"): [TASK, "{}"],
    ("import_posts", "path"): ["{}", "--kind=posts", "--collection=mse"],
    ("load_lab", "folder"): ["{}"],
    ("load_runs", "path"): [TASK, "{}"],
    ("make_baseline", "--answers"): [TASK, "--system=generated", "--answers={}"],
    ("make_topics", "--chosen"): ["--collection=mse", "--chosen={}"],
    ("restore", "archive"): ["{}", "--replace"],
    ("restore", "--identity"): ["{}", "--replace", "--identity={}"],
    ("restore_archive", "archive"): ["{}"],
    ("submit_run", "file"): ["{}", f"--task={TASK}", "--team=Alpha"],
}
"""The arguments that name files to read, each with how the command is called."""
WRITTEN = {
    *(("archive", "--out"), ("backup", "--to"), ("export_collection", "folder")),
    *(("export_pool", "--out"), ("export_qrels", "--run-map"), ("make_baseline", "--out")),
    ("make_topics", "--out"),
}


def file_arguments() -> set[tuple[str, str]]:
    """Return the arguments of our commands that are paths."""
    commands = {name: load_command_class(app, name) for name, app in get_commands().items()}
    return {
        (name, (action.option_strings or [action.dest])[0])
        for name, command in commands.items()
        if isinstance(command, LabCommand)
        for action in command.create_parser("manage.py", name)._actions
        if action.type is Path
    }


def test_every_argument_that_names_a_file_to_read_is_attacked():
    assert file_arguments() - WRITTEN == DOORS.keys()


@pytest.fixture
def secret(settings, tmp_path: Path) -> Path:
    """Return a file of the server, beside its folders."""
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path / "data", tmp_path / "data/files"
    settings.MEDIA_ROOT.mkdir(parents=True)
    (tmp_path / "secret.txt").write_text(SECRET, encoding="utf-8")
    return tmp_path / "secret.txt"


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("door", DOORS, ids=" ".join)
def test_a_hostile_file_is_refused_with_a_sentence(scene, secret, tmp_path, door, name):
    """Or it is read, if it has something to read."""
    folder = tmp_path / "sent"
    folder.mkdir()
    path = folder / name
    path.write_bytes(HOSTILE[name](str(secret)))
    words = [word.format(folder if door[0] == "load_lab" else path) for word in DOORS[door]]

    # `check_run` ends with 1 after the report on an invalid run.
    with suppress(CommandError, SystemExit):
        call_command(door[0], *words, stdout=StringIO(), stderr=StringIO())

    assert secret.read_text(encoding="utf-8") == SECRET
    assert not any(SECRET in text for text in everything_stored())


@pytest.mark.parametrize(
    ("command", "name", "option"),
    [("import_posts", "Posts.xml", "{}"), ("import_formulas", "1.tsv", "--latex={}")],
)
def test_what_is_read_beside_a_folder_is_listed(db, tmp_path, command, name, option):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "elsewhere").write_text("id\tpost_id\tthread_id\ttype\tformula\n", encoding="utf-8")
    (folder / name).symlink_to(tmp_path / "elsewhere")
    out = StringIO()

    call_command(command, option.format(folder), "--collection=mse", stdout=out, stderr=StringIO())

    assert f"Read beside the folder: {tmp_path / 'elsewhere'}" in out.getvalue()

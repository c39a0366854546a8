"""The examples of the kernel's README are what the command and the functions answer."""

import re

import polars as pl
import pytest

from arqkit.formats.runs.packs import FileLimits, TaskPack, pack_chunks
from arqkit.formats.runs.report import RunRules
from arqkit.records import TaskKind
from tests.offline import arqkit, run_alone
from tests.paths import ROOT

README = (ROOT / "arqkit" / "README.md").read_text(encoding="utf-8")
FILES = re.findall(r"Take `([^`]*)`[^\n]*\n\n```\n(.*?)```", README, re.DOTALL)
EXAMPLES = re.findall(r"```console\n\$ arqkit ([^\n]*)\n(.*?)```", README, re.DOTALL)
PYTHON = re.findall(r"```python\n(.*)\n(.*?)  # (.*?)\n```", README, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the files that the README names, and the pack of a small task."""
    folder = tmp_path_factory.mktemp("readme")
    for name, text in FILES:
        (folder / name).write_text(text, encoding="utf-8")
    posts = pl.DataFrame({"post_id": ["10", "11", "12"], "type": ["answer"] * 3})
    rules = RunRules(TaskKind.ANSWERS, ("A.1", "A.2"), posts=posts, complete=True)
    limits = FileLimits(10**6, max_lines=10**4, max_run_bytes=10**6)
    pack = TaskPack("arqmath-x/task1", rules, limits)
    (folder / "task-pack.zip").write_bytes(b"".join(pack_chunks(pack)))
    return folder


def test_the_commands_print_what_the_readme_shows(folder):
    assert [name for name, _ in FILES] == ["run.tsv", "qrels.tsv"]
    assert [command.split()[0] for command, _ in EXAMPLES] == ["check", "score", "pool"]

    for command, shown in EXAMPLES:
        arguments = [argument.strip('"') for argument in command.split()]
        assert arqkit(folder, *arguments).stdout == shown


def test_the_functions_return_what_the_readme_shows(folder):
    [(lines, last, value)] = PYTHON

    ended = run_alone(folder, f"{lines}\nprint({last})")

    assert (ended.stdout, ended.stderr) == (f"{value}\n", "")

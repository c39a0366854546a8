"""The starter kit in task packs; `tests/submissions/test_offline_check.py` runs that of servers."""

import io
import zipfile

import polars as pl
import pytest

from arqkit.formats.runs.packs import FileLimits, TaskPack, pack_chunks
from arqkit.formats.runs.report import RunRules
from arqkit.records import ItemKind, TaskKind
from tests.offline import BLOCK, arqkit, run_alone

POSTS = pl.DataFrame({"post_id": ["d1", "d2", "q"], "type": ["document", "document", "question"]})


@pytest.mark.parametrize(
    ("rules", "allowed", "lines"),
    [
        (RunRules(TaskKind.DOCUMENTS, ("M.1",), items=ItemKind.DOCUMENTS, posts=POSTS), "d1 d2", 2),
        (RunRules(TaskKind.ANSWERS, ("A.1",)), "1 2 3", 3),
        (RunRules(TaskKind.ANSWERS, ("A.1",), limit=2), "1 2 3", 2),
    ],
)
def test_the_program_ranks_the_items_that_its_task_retrieves(tmp_path, rules, allowed, lines):
    pack = TaskPack("lab/task", rules, FileLimits(10**6, max_lines=10**4, max_run_bytes=10**6))
    data = b"".join(pack_chunks(pack, topics=b"<Topics/>"))
    zipfile.ZipFile(io.BytesIO(data)).extractall(tmp_path)
    (tmp_path / "pack.zip").write_bytes(data)

    made = run_alone(tmp_path, f"{BLOCK}import runpy; runpy.run_path('make_run.py')")

    assert made.stderr == ""
    ranked = [
        line.split("\t")[2]
        for line in (tmp_path / "run.tsv").read_text(encoding="utf-8").splitlines()
    ]
    assert len(ranked) == lines
    assert set(ranked) <= set(allowed.split())
    assert arqkit(tmp_path, "check", "run.tsv", "--task", "pack.zip").returncode == 0

"""`manage.py check_run`."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from submissions.models import Run, Upload
from tests.factories import Scene
from tests.submissions.factories import BAD_RUN, GOOD_RUN, zipped

pytestmark = pytest.mark.django_db


def check(path: Path, data: bytes, *options: str) -> str:
    path.write_bytes(data)
    out = StringIO()
    call_command("check_run", str(path), "--task", "arqmath-x/task1", *options, stdout=out)
    return out.getvalue()


def refused(path: Path, data: bytes, *options: str) -> str:
    path.write_bytes(data)
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("check_run", str(path), "--task", "arqmath-x/task1", *options, stdout=out)
    assert ended.value.code == 1
    return out.getvalue()


def test_a_good_run_passes(scene: Scene, tmp_path: Path) -> None:
    text = check(tmp_path / "run.tsv", GOOD_RUN)
    assert text.startswith("run.tsv: valid, ARQMath Task 1")
    assert "No problems found." in text


def test_a_bad_run_exits_with_1_and_lists_every_kind_with_its_lines(
    scene: Scene, tmp_path: Path
) -> None:
    text = refused(tmp_path / "run.tsv", BAD_RUN)
    assert "ERROR duplicate-item (1)" in text
    assert "line 2, A.1: 10 (expected: the item once; it is already on line 1)" in text
    assert "ERROR score-not-a-number (1)" in text


def test_nothing_is_stored(scene: Scene, tmp_path: Path) -> None:
    check(tmp_path / "run.tsv", GOOD_RUN)
    assert not Run.objects.exists()
    assert not Upload.objects.exists()


def test_the_json_report_has_counts_and_first_occurrences(scene: Scene, tmp_path: Path) -> None:
    report = json.loads(refused(tmp_path / "run.tsv", BAD_RUN, "--json"))
    assert (report["file"], report["valid"], report["rows"]) == ("run.tsv", False, 3)
    found = {problem["kind"]: problem for problem in report["problems"]}
    assert (found["duplicate-item"]["count"], found["duplicate-item"]["first"][0]["line"]) == (1, 2)


def test_the_json_report_of_an_archive_is_a_list(scene: Scene, tmp_path: Path) -> None:
    archive = zipped({"a.tsv": GOOD_RUN, "b.tsv": BAD_RUN})
    reports = json.loads(refused(tmp_path / "runs.zip", archive, "--json"))
    assert [(report["file"], report["valid"]) for report in reports] == [
        ("a.tsv", True),
        ("b.tsv", False),
    ]


def test_runs_with_the_same_name_in_two_folders_are_both_reported(
    scene: Scene, tmp_path: Path
) -> None:
    archive = zipped({"first/run.tsv": BAD_RUN, "second/run.tsv": GOOD_RUN})
    reports = json.loads(refused(tmp_path / "runs.zip", archive, "--json"))
    shown = [(report["file"], report["valid"]) for report in reports]
    assert shown == [("first/run.tsv", False), ("second/run.tsv", True)]


def test_a_missing_file_is_refused(scene: Scene, tmp_path: Path) -> None:
    with pytest.raises(
        CommandError, match=r"No such file or directory\. Give the path of a run file"
    ):
        call_command("check_run", str(tmp_path / "none.tsv"), "--task", "arqmath-x/task1")

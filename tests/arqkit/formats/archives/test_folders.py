"""Paths from outside never leave their folder."""

import os
from pathlib import Path

import pytest

from arqkit.formats.archives import folders
from arqkit.formats.archives.folders import SourceFolder, checked_parts
from arqkit.records import FileRefusedError
from tests.outside import NAMES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a file, a folder with a file, and a secret beside it."""
    (tmp_path / "secret.txt").write_text("a secret")
    inside = tmp_path / "lab"
    (inside / "more").mkdir(parents=True)
    (inside / "topics.xml").write_text("topics")
    (inside / "more/qrels.tsv").write_text("qrels")
    return inside


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_is_refused_by_a_sentence_that_can_be_stored(folder: Path, name: str):
    with pytest.raises(FileRefusedError) as refused:
        SourceFolder(folder) / name

    [problem] = refused.value.problems
    assert str(problem).encode().isascii() or "ü" in name
    assert "\0" not in str(problem)
    assert "secret" not in problem.found


def test_a_folder_reads_what_is_in_it(folder: Path):
    source = SourceFolder(folder)

    assert (source / "more/qrels.tsv").content() == b"qrels"
    assert (source / "./more").is_folder
    assert list(source.files()) == ["more/qrels.tsv", "topics.xml"]
    assert list(source.folder("more").files()) == ["qrels.tsv"]
    with pytest.raises(FileRefusedError, match="more than 5 bytes"):
        (source / "topics.xml").content(5)


def test_links_are_resolved_before_they_are_read(folder: Path):
    (folder / "in.xml").symlink_to("topics.xml")
    (folder / "out.xml").symlink_to("../secret.txt")
    (folder / "above").symlink_to("..")
    (folder / "loop").symlink_to("loop")
    source = SourceFolder(folder)

    assert (source / "in.xml").content() == b"topics"
    for name in ("out.xml", "above/secret.txt", "loop"):
        with pytest.raises(FileRefusedError, match="a path without a file"):
            source / name
    with pytest.raises(FileRefusedError):
        source.files()


def test_a_device_is_not_a_file(folder: Path):
    os.mkfifo(folder / "pipe")

    for source in (SourceFolder(folder), SourceFolder(folder, reads_beside=True)):
        for name in ("pipe", "more/../pipe"):
            with pytest.raises(FileRefusedError):
                source / name
        with pytest.raises(FileRefusedError):
            source.files()


def test_the_operator_reads_beside_a_folder_and_sees_what(folder: Path):
    source = SourceFolder(folder, reads_beside=True)
    (folder / "link").symlink_to("../secret.txt")

    assert (source / "topics.xml").content() == b"topics"
    assert not source.beside
    assert (source / "../secret.txt").content() == b"a secret"
    assert (source.folder("more") / str(folder.parent / "secret.txt")).content() == b"a secret"
    assert "link" in source.files()
    assert list(source.beside) == [folder.parent / "secret.txt"]


def test_a_folder_from_outside_has_a_limit_of_files(folder: Path, monkeypatch):
    monkeypatch.setattr(folders, "MOST_FILES", 1)

    with pytest.raises(FileRefusedError, match="more than 1 files"):
        SourceFolder(folder).files()
    assert len(SourceFolder(folder, reads_beside=True).files()) == 2


def test_what_systems_add_can_be_left_out(folder: Path):
    (folder / "__MACOSX").mkdir()
    (folder / "__MACOSX/._topics.xml").write_text("x")
    (folder / ".DS_Store").write_text("x")

    assert len(SourceFolder(folder).files()) == 4
    assert len(SourceFolder(folder).files(hidden=False)) == 2


def test_a_path_has_the_parts_that_were_written():
    assert checked_parts("./runs//TEAM one/α-β.tsv") == ("runs", "TEAM one", "α-β.tsv")
    assert checked_parts(".") == ()
    assert checked_parts("../collection", may_leave=True) == ("..", "collection")

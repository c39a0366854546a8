"""The collection of a lab: its files by kind, its window, and every mistake with its line."""

from datetime import date
from pathlib import Path

import pytest

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.labs.folder import read_lab
from arqkit.formats.labs.tables import CollectionFile
from arqkit.records import FileRefusedError, Problem
from tests.real_data import DATA, needs_data

HEAD = '[lab]\nslug = "lab"\nname = "A lab"\nprotocol = "arqmath-3"\n[collection]\nslug = "mse"\n'
TASK = '[[tasks]]\nslug = "task1"\nname = "Answers"\nkind = "answers"\ntopics = "topics.xml"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a topic and the files of a dump: two plain, one packed."""
    (tmp_path / "topics.xml").write_text(
        '<Topics><Topic number="A.1"><Title>t</Title></Topic></Topics>'
    )
    (tmp_path / "dump").mkdir()
    for name in ("Posts.xml", "comments.xml.bz2", "PostLinks.xml"):
        (tmp_path / "dump" / name).touch()
    (tmp_path / "own.xml").touch()
    return tmp_path


def collection_of(folder: Path, text: str) -> CollectionFile | None:
    (folder / "lab.toml").write_text(HEAD + text + TASK)
    return read_lab(SourceFolder(folder)).collection


def mistakes(folder: Path, text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(FileRefusedError) as refused:
        collection_of(folder, text)
    return [(problem.line, problem.found) for problem in refused.value.problems]


def todo(folder: Path, text: str) -> str:
    with pytest.raises(FileRefusedError) as refused:
        collection_of(folder, text)
    return refused.value.problems[0].todo


def test_a_collection_is_complete_and_of_all_days_by_default(folder):
    collection = collection_of(folder, 'posts = "own.xml"\nformulas = { latex = "own.xml" }\n')

    assert (collection.slug, collection.complete, collection.posts) == (
        "mse",
        True,
        folder / "own.xml",
    )
    assert collection.formulas == {"latex": folder / "own.xml"}
    assert tuple(collection.window) == (None, None, False)


def test_a_sample_shows_that_it_is_one(folder):
    assert collection_of(folder, "complete = false\n").complete is False


def test_documents_are_a_file_or_a_folder(folder):
    assert collection_of(folder, 'documents = "dump"\n').files == {"documents": folder / "dump"}
    assert mistakes(folder, 'documents = "nowhere"\n') == [
        (7, "documents = 'nowhere', which is not a file or folder")
    ]


def test_a_collection_without_posts_has_none(folder):
    assert collection_of(folder, "").posts is None


def test_a_folder_gives_every_kind_that_it_holds(folder):
    dump = folder / "dump"

    assert collection_of(folder, 'dump = "dump"\n').files == {
        "posts": dump / "Posts.xml",
        "comments": dump / "comments.xml.bz2",
        "post_links": dump / "PostLinks.xml",
    }


def test_a_file_of_its_own_key_goes_before_the_one_of_the_dump(folder):
    files = collection_of(
        folder, 'dump = "dump"\npost_links = "own.xml"\nvotes = "own.xml"\n'
    ).files

    assert (files["post_links"], files["votes"]) == (folder / "own.xml", folder / "own.xml")
    assert files["posts"] == folder / "dump" / "Posts.xml"


def test_an_index_may_be_a_folder_of_many_files(folder):
    assert collection_of(folder, 'formulas = { slt = "dump" }\n').formulas == {
        "slt": folder / "dump"
    }


def test_a_window_has_a_first_and_a_last_day(folder):
    window = collection_of(
        folder, "since = 2010-01-01\nuntil = 2018-12-31\nkeep_later = true\n"
    ).window

    assert tuple(window) == (date(2010, 1, 1), date(2018, 12, 31), True)


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ('posts = "gone.xml"\n', 7, "posts = 'gone.xml', which is not a file"),
        ('posts = "dump"\n', 7, "posts = 'dump', which is not a file"),
        ('dump = "gone"\n', 7, "dump = 'gone', which is not a file or folder"),
        ('complete = "no"\n', 7, "complete = 'no'"),
        ("until = 2018-12-31T12:00:00Z\n", 7, "until = 2018-12-31 12:00:00+00:00"),
        ('since = "2018"\n', 7, "since = '2018'"),
        (
            "since = 2019-01-01\nuntil = 2018-12-31\n",
            8,
            "a last day (2018-12-31) before the first day (2019-01-01)",
        ),
        ("keep_later = true\n", 7, "keep_later without until"),
        ('formulas = { latex = "gone" }\n', 7, "latex = 'gone', which is not a file or folder"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(folder, text, line, found):
    assert mistakes(folder, text) == [(line, found)]


def test_a_folder_without_any_file_of_a_dump_is_reported(folder):
    (folder / "empty").mkdir()

    assert mistakes(folder, 'dump = "empty"\n') == [(7, "dump = 'empty', which has no dump files")]


def test_an_archive_that_cannot_be_read_is_reported(folder, monkeypatch):
    def damaged(path: Path) -> dict[str, Path]:
        raise FileRefusedError(
            [Problem(str(path), None, "a damaged archive", "a 7z archive", "Fetch it again.")]
        )

    monkeypatch.setattr("arqkit.formats.labs.tables.dump_files", damaged)

    assert mistakes(folder, 'dump = "own.xml"\n') == [(None, "a damaged archive")]


def test_all_mistakes_are_reported_at_once(folder):
    text = (
        'postlinks = "own.xml"\nposts = "gone.xml"\nsince = 1\nformulas = { laetx = "own.xml" }\n'
    )

    assert [line for line, _ in mistakes(folder, text)] == [7, 8, 9, 10]


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ('post_link = "own.xml"\n', "post_links"),
        ("keep_latter = true\n", "keep_later"),
        ('formulas = { laetx = "own.xml" }\n', "latex"),
    ],
)
def test_an_unknown_key_is_reported_with_the_nearest_known(folder, text, near):
    assert todo(folder, text) == f"Did you mean {near}?"


@needs_data
def test_the_real_collection_is_a_sample_with_two_indexes():
    collection = read_lab(SourceFolder(DATA / "arqmath-1", reads_beside=True)).collection

    assert (collection.slug, collection.complete, list(collection.formulas)) == (
        "mse-sample",
        False,
        ["latex", "slt"],
    )

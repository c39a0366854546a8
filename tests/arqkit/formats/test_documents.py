"""Documents are read from JSON lines, folders and zips; what cannot be read is reported by line."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from arqkit.formats import documents
from arqkit.formats.archives import compressed, unpacking
from arqkit.formats.documents import SourceDocument, is_of_documents, read_documents
from arqkit.records import Problem
from tests.outside import zip_of


def lines(folder: Path, *rows: object, name: str = "docs.jsonl") -> Path:
    """Write lines of JSON; text is written as it is."""
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    data = text.encode("utf-8", "surrogatepass")
    (folder / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    return folder / name


def problems(path: Path) -> list[tuple[int | None, str]]:
    return [(one.line, one.found) for one in read_documents(path) if isinstance(one, Problem)]


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.NDJSON", "docs.jsonl.gz"])
def test_lines_of_json_have_html_or_text(tmp_path, name):
    html = {"id": "math/9801_1", "title": "Traces", "html": "<p>$x$</p>"}
    path = lines(tmp_path, html, "", {"id": 7, "text": "a < b"}, name=name)

    assert is_of_documents(path)
    assert list(read_documents(path)) == [
        SourceDocument("math/9801_1", "Traces", "<p>$x$</p>", True, name, 1),
        SourceDocument("7", "", "a < b", False, name, 3),
    ]


def test_files_of_a_folder_and_of_a_zip_are_named_by_their_ids(tmp_path):
    folder = tmp_path / "docs"
    (folder / "0001").mkdir(parents=True)
    (folder / "0001" / "b_2.xhtml").write_text("<p>b</p>")
    (folder / "a_1.TXT").write_text("a")
    (folder / "README.md").write_text("no document")
    with zipfile.ZipFile(tmp_path / "docs.zip", "w") as archive:
        for one in folder.rglob("*.*"):
            archive.write(one, f"top/{one.relative_to(folder)}")
        archive.writestr("__MACOSX/._a_1.txt", "junk")

    for path in (folder, tmp_path / "docs.zip"):
        found = {one[:4] for one in read_documents(path)}
        assert is_of_documents(path)
        assert found == {("b_2", "", "<p>b</p>", True), ("a_1", "", "a", False)}


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("{", "a line that is not JSON"),
        ([1], "a line without id as text"),
        ({"id": True, "text": "t"}, "a line without id as text"),
        ({"id": "a", "title": 5, "text": "t"}, "a line without title as text"),
        ({"id": "a", "title": "t"}, "a line without html or text as text"),
        ({"id": "a b", "text": "t"}, "the id 'a b'"),
        ({"id": "", "text": "t"}, "the id ''"),
        ({"id": 'a"onload="x', "text": "t"}, "the id 'a\"onload"),
        ({"id": "a" * 301, "text": "t"}, "the id 'aaa"),
        ({"id": "a", "text": "\0"}, "a null byte"),
        ('{"id": "a", "text": "\\ud800"}', "half a character"),
        ("[" * 100_000, "a line that is not JSON"),
        ('{"id": "a", "text": "\ud800"}', "a byte that is not UTF-8 (0xed)"),
    ],
)
def test_a_line_that_cannot_be_read_is_reported_and_the_next_is_read(tmp_path, row, found):
    path = lines(tmp_path, row, {"id": "z", "text": "t"})

    bad, good = read_documents(path)

    assert bad.line == 1
    assert found in bad.found
    assert good.document_id == "z"


def test_an_id_is_read_once(tmp_path):
    path = lines(tmp_path, {"id": "a", "text": "1"}, {"id": "a", "text": "2"})

    assert problems(path) == [(2, "the document a again")]


def test_a_document_that_is_too_long_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "LARGEST", 40)
    long = {"id": "a", "text": "x" * 100}
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "a.txt").write_text("x" * 41)

    path = lines(tmp_path, long, {"id": "b", "text": "t"}, long)
    assert problems(path) == [(1, "a longer document"), (3, "a longer document")]
    assert problems(tmp_path / "f")[0] == (None, "a longer document")


def test_a_damaged_file_gives_the_documents_before_and_then_the_damage(tmp_path):
    path = lines(
        tmp_path, *({"id": str(n), "text": f"{n}" * 999} for n in range(99)), name="d.jsonl.gz"
    )
    path.write_bytes(path.read_bytes()[:-20])
    (tmp_path / "d.zip").write_bytes(b"PK and nothing")

    *_, last = read_documents(path)
    assert last.found.startswith("a damaged file (")
    assert problems(tmp_path / "d.zip")[0][1].startswith("a damaged file (")


@pytest.mark.parametrize("name", ["d.jsonl.gz", "d.zip"])
def test_documents_that_unpack_to_far_more_bytes_than_texts_do_are_refused(
    tmp_path, monkeypatch, name
):
    for module in (compressed, unpacking):
        monkeypatch.setattr(module, "MOST_UNPACKED", (100, 1_000_000))
    text = b'{"id": "a", "text": "t"}\n' + b" " * 4_000_000
    data = gzip.compress(text)
    (tmp_path / name).write_bytes(zip_of([("a.txt", text)]) if name == "d.zip" else data)

    *_, last = problems(tmp_path / name)
    assert "far more bytes than a text" in last[1] or last[1] == "more than 1 MB of files"


def test_a_folder_without_documents_is_reported(tmp_path):
    assert problems(tmp_path) == [(None, "no document")]
    assert not is_of_documents(tmp_path / "docs.pdf")

"""Documents are imported as posts without a thread: sanitized, searched, replaced, and reported."""

import json
from pathlib import Path

import pytest

from arqkit.formats.labs.folder import CollectionFile
from arqkit.records import FileRefusedError, ItemKind
from arqkit.texts.posts.queries import parse_query
from arqlab.core.models import Lab, User
from collection.models import Collection, Import, Post
from collection.selectors.collections import id_source, posts_frame
from collection.selectors.imports import holdings_of, missing_parts
from collection.services.importing import related_files
from collection.services.importing.related_files import import_documents
from collection.services.loading import add_to_collection, load_collection
from collection.services.lookup import look_up
from tests.collection.factories import NOW, load_small
from tests.factories import make_lab

pytestmark = pytest.mark.django_db
TRACE = {"id": "math/9801_1", "title": "A trace", "html": "<p onclick='x()'>Of $x^2$</p>"}
SPECTRUM = {"id": "0704.0005_3", "html": "<p>A spectrum</p>"}


@pytest.fixture
def arxiv(db) -> Collection:
    return Collection.objects.create(slug="arxiv", loaded_at=NOW)


@pytest.fixture
def lab(db) -> Lab:
    return make_lab().lab


def file(folder: Path, *rows: dict[str, str], name: str = "docs.jsonl") -> Path:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / name


def found_problems(record: Import) -> list[tuple[int | None, str]]:
    return list(record.problems.values_list("line", "found"))


def test_documents_are_sanitized_and_in_no_thread(arxiv, tmp_path):
    record = import_documents(collection=arxiv, path=file(tmp_path, TRACE, SPECTRUM), at=NOW)

    assert (record.state, record.rows, record.kept, record.problem_count) == ("done", 2, 2, 0)
    trace = Post.objects.get(post_id="math/9801_1")
    assert (trace.kind, trace.thread_id, trace.safe_title) == ("document", "", "A trace")
    formula = '<span class="math-container" id="math/9801_1.1">$x^2$</span>'
    assert trace.safe_body == f"<p>Of {formula}</p>"
    assert trace.body == TRACE["html"]


def test_a_file_is_imported_once_and_another_replaces_its_documents(arxiv, tmp_path):
    path = file(tmp_path, TRACE, SPECTRUM)
    first = import_documents(collection=arxiv, path=path, at=NOW)
    assert import_documents(collection=arxiv, path=path, at=NOW) == first

    file(tmp_path, {"id": "math/9801_1", "text": "Another text"})
    import_documents(collection=arxiv, path=path, at=NOW)

    assert Post.objects.get(post_id="math/9801_1").safe_body == "<p>Another text</p>\n"
    assert Post.objects.filter(collection=arxiv).count() == 2


def test_what_cannot_be_read_is_reported_by_line(arxiv, tmp_path):
    bare = {"id": "m", "html": "<math><mi>x</mi></math> and <math></math>"}
    record = import_documents(
        collection=arxiv, path=file(tmp_path, {"id": "a b"}, TRACE, bare), at=NOW
    )

    assert found_problems(record) == [
        (1, "a line without html or text as text"),
        (3, "2 formulas in MathML without LaTeX in m"),
    ]
    assert (record.rows, record.kept, record.counts) == (3, 2, {"documents": 2})


def test_a_document_never_replaces_a_post(lab, tmp_path):
    small = load_small(lab, tmp_path)
    path = file(tmp_path, {"id": "10", "text": "Not the answer"}, SPECTRUM)

    record = import_documents(collection=small, path=path, at=NOW)

    assert found_problems(record) == [(1, "the id 10, which is that of a post")]
    assert "Since" in Post.objects.get(post_id="10").body
    assert set(posts_frame(lab)["type"]) == {"question", "answer", "document"}


def test_an_interrupted_import_continues(arxiv, tmp_path, monkeypatch):
    monkeypatch.setattr(related_files, "BATCH", 1)
    path, calls = file(tmp_path, TRACE, SPECTRUM), []

    def stop(done: int, total: int | None) -> None:
        calls.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_documents(collection=arxiv, path=path, at=NOW, progress=stop)
    assert Import.objects.get().state == "stopped"

    record = import_documents(
        collection=arxiv, path=path, at=NOW, progress=lambda done, _: calls.append(done)
    )
    assert (calls, record.kept, Post.objects.count()) == ([1, 2], 2, 2)


def test_a_collection_of_documents_lacks_nothing_and_is_searched(lab, tmp_path):
    given = CollectionFile("arxiv", True, {"documents": file(tmp_path, TRACE, SPECTRUM)}, {})
    arxiv = load_collection(lab=lab, file=given, at=NOW)

    holdings = holdings_of(arxiv)
    assert (holdings.documents, holdings.questions, holdings.later) == (2, 0, 0)
    assert missing_parts(arxiv, holdings, []) == []
    [result] = look_up(collection=arxiv, query=parse_query("trace")).results
    assert (result.post.post_id, result.title) == ("math/9801_1", "A <mark>trace</mark>")
    assert id_source(lab, ItemKind.DOCUMENTS).is_complete


def test_a_document_has_a_page_of_its_own(lab, tmp_path, client):
    given = CollectionFile("arxiv", True, {"documents": file(tmp_path, TRACE, SPECTRUM)}, {})
    load_collection(lab=lab, file=given, at=NOW)
    client.force_login(User.objects.create_superuser("boss"))

    page = client.get(f"/labs/{lab.slug}/posts/math/9801_1/").text
    results = client.get(f"/labs/{lab.slug}/posts/?q=spectrum").text

    assert "<h1>A trace</h1>" in page
    assert ">Document</h2>" in page
    assert "spectrum" not in page
    assert "answers" not in page.partition("<main")[2].partition("</main")[0]
    assert f'href="/labs/{lab.slug}/posts/0704.0005_3/#post-0704.0005_3"' in results
    assert "one of 0 answers" not in results


def test_a_file_of_another_kind_is_refused(lab, tmp_path):
    (tmp_path / "docs.pdf").write_bytes(b"%PDF")
    given = CollectionFile("arxiv", True, {"documents": tmp_path / "docs.pdf"}, {})

    with pytest.raises(FileRefusedError, match=r"docs\.pdf.*another kind.*\.jsonl"):
        add_to_collection(lab=lab, file=given, at=NOW)
    assert not Collection.objects.exists()

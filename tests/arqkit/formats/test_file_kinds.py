"""Files are recognized by their first lines, and one of the wrong kind is named."""

import pytest

from arqkit.formats.archives.compressed import read_pieces
from arqkit.formats.assignments import read_assignments
from arqkit.formats.qrels.judgments import read_judgments
from arqkit.formats.qrels.read import read_qrels
from arqkit.formats.source_text import FileKind, sniffed_kind
from arqkit.formats.topics.files import read_topics
from arqkit.formats.topics.information import read_topic_info
from arqkit.protocols.scales import ARQMATH
from arqkit.records import FileRefusedError

EXAMPLES = {
    FileKind.QRELS: "A.1\t0\t10\t3\r\nA.1\t0\t11\t0\r\n",
    FileKind.RUN: "A.1\t10\t1\t0.5\trun\nA.1\t11\t2\t0.4\trun\n",
    FileKind.JUDGMENTS: "topic\titem\tlabel\nA.1\t10\t3\n",
    FileKind.TOPICS: '<?xml version="1.0"?>\n<Topics><Topic number="A.1"/></Topics>',
    FileKind.INFORMATION: "Topic,Category\nA.1,proof\n",
    FileKind.ASSIGNMENTS: "topic,assessor\nA.1,ada@example.org\n",
    FileKind.DUMP: '<?xml version="1.0"?>\n<posts>\n  <row Id="1"/>\n</posts>',
    FileKind.FORMULAS: "id\tpost_id\tthread_id\ttype\tformula\n1\t2\t3\ttitle\tx\n",
}


def judgments(data: bytes, *, path: str) -> None:
    refuse(read_judgments(data, path=path, scale=ARQMATH)[1])


def assignments(data: bytes, *, path: str) -> None:
    refuse(read_assignments(data, path=path)[1])


def refuse(problems) -> None:
    if problems:
        raise FileRefusedError(problems)


READERS = {
    read_qrels: {FileKind.QRELS},
    judgments: {FileKind.JUDGMENTS, FileKind.QRELS},
    read_topics: {FileKind.TOPICS},
    read_topic_info: {FileKind.INFORMATION},
    assignments: {FileKind.ASSIGNMENTS},
}


def test_each_kind_has_an_example_that_is_recognized():
    assert {kind: sniffed_kind(text.encode()) for kind, text in EXAMPLES.items()} == {
        kind: kind for kind in FileKind
    }


@pytest.mark.parametrize("kind", FileKind)
@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
def test_a_file_of_the_wrong_kind_is_named(read, kind):
    if kind in READERS[read]:
        return
    with pytest.raises(FileRefusedError) as refused:
        read(EXAMPLES[kind].encode(), path="x")
    [problem] = refused.value.problems
    assert (problem.found, problem.todo.split(":")[0]) in (
        (kind.value, f"These are {kind.value}"),
        (kind.value, f"This is {kind.value}"),
    )


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        ("*/qrels.*", FileKind.QRELS),
        ("*/topics.*.xml", FileKind.TOPICS),
        ("*/topic-info.*", FileKind.INFORMATION),
        ("*/topic-formulas.*.gz", FileKind.FORMULAS),
        ("collection/formulas.*.gz", FileKind.FORMULAS),
        ("collection/Posts.xml.gz", FileKind.DUMP),
    ],
)
def test_real_files_are_recognized(shared_data, pattern, kind):
    found = list(shared_data.glob(pattern))
    heads = {path.name: next(read_pieces(path)) for path in found}
    assert {name: sniffed_kind(head) for name, head in heads.items()} == dict.fromkeys(heads, kind)
    assert found


def test_a_text_without_a_known_form_has_no_kind():
    for text in ("", "Notes on the lab.", '{"id": "a"}', "<html></html>", "A.1 0 10 3\nA.1 1 11 2"):
        assert sniffed_kind(text.encode()) is None

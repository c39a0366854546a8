"""Read and write topics: the XML of ARQMath, NTCIR's two columns, and the index of their formulas.

Titles and bodies are HTML: escaped as text in the files of the labs, but elements are read too. All
problems of a file are reported at once. Written bytes are those of the files of ARQMath: three
spaces per level, escaped quotation marks, a space after a question, tags separated by commas.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from lxml import etree

from arqkit.formats.archives.compressed import DamagedFileError, read_pieces
from arqkit.formats.formulas.index import read_index
from arqkit.formats.source_text import HEAD, FileKind, require_kind, source_text
from arqkit.formats.tables import exact_table
from arqkit.records import FileProblems, FileRefusedError, TopicRecord

_ELEMENTS = ("Title", "Question", "Tags", "Formula_Id", "Latex", "Scenario", "Criteria")
_LONGEST_ID = 100
_TWO_COLUMNS = "two tab-separated columns: topic and LaTeX"

INDEX_COLUMNS = ("id", "topic_id", "thread_id", "type", "formula")


def read_topics(data: bytes, *, path: str, formulas: bool = False) -> list[TopicRecord]:
    """Return the topics of a file in order.

    With `formulas=True` (formula retrieval), every topic must have LaTeX. Raise FileRefusedError
    with every problem: malformed XML, a DOCTYPE, an unknown element, a missing or repeated number,
    neither title nor body, no LaTeX.
    """
    require_kind(data, FileKind.TOPICS, path=path)
    is_xml = data.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").startswith(b"<")
    problems = FileProblems(path)
    topics = _xml_topics(data, problems, formulas) if is_xml else _text_topics(data, problems)
    _check_numbers(topics, problems)
    if not topics and not problems:
        todo = "Check that this is a topic file."
        problems.add(None, "no topics", "at least one topic", todo)
    problems.refuse_any()
    return [topic for topic, _ in topics]


def _check_numbers(topics: list[tuple[TopicRecord, int]], problems: FileProblems) -> None:
    """Find repeated numbers, and those that cannot be in a space-separated run file or in a URL."""
    first: dict[str, int] = {}
    for topic, line in topics:
        number, formula_id = topic.query_id, topic.formula_id or ""
        if number in first:
            actual = f"the topic {number} again (first on line {first[number]})"
            todo = "Give the topic another number, or remove it."
            problems.add(line, actual, "each topic once", todo)
        first.setdefault(number, line)
        if len(number) > _LONGEST_ID or re.search(r"[\s/]", number):
            expected = f"at most {_LONGEST_ID} characters without spaces and slashes"
            actual = f"the topic number {number[:80]!r}"
            problems.add(line, actual, expected, "Give the topic another number.")
        if len(formula_id) > _LONGEST_ID:
            actual = f"the formula id {formula_id[:80]!r}"
            expected = f"at most {_LONGEST_ID} characters"
            problems.add(line, actual, expected, "Correct the formula id.")


def _text_topics(data: bytes, problems: FileProblems) -> list[tuple[TopicRecord, int]]:
    topics: list[tuple[TopicRecord, int]] = []
    todo = "Write the topic number, a tab and the LaTeX, or use the XML format."
    for line, text in enumerate(source_text(data, path=problems.path).split("\n"), start=1):
        query_id, _, latex = (part.strip() for part in text.partition("\t"))
        if query_id and latex:
            topics.append((TopicRecord(query_id, "", "", latex=latex), line))
        elif text.strip():
            problems.add(line, repr(text[:80]), _TWO_COLUMNS, todo)
    return topics


def _xml_topics(
    data: bytes, problems: FileProblems, formulas: bool
) -> list[tuple[TopicRecord, int]]:
    topics: list[tuple[TopicRecord, int]] = []
    for element in _root(data, problems):
        if not isinstance(element.tag, str):
            continue  # a comment or a processing instruction
        if element.tag != "Topic":
            _refuse_element(element, ("Topic",), problems)
            continue
        topic = _xml_topic(element, problems, formulas)
        if topic.query_id:
            topics.append((topic, _line(element)))
    return topics


def _root(data: bytes, problems: FileProblems) -> etree._Element:
    """Return the root of untrusted XML: no entities, no network, no DOCTYPE, no huge trees."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        faults = [(fault.line, fault.message) for fault in parser.error_log]
        for line, text in faults or [(error.lineno, error.msg)]:
            problems.add(line, text, "well-formed XML", "Correct the XML.")
        raise FileRefusedError(problems) from error
    if root.getroottree().docinfo.internalDTD is not None:
        todo = "Remove the DOCTYPE. A topics file cannot define entities."
        problems.add(1, "a DOCTYPE", "XML without a DOCTYPE", todo)
    elif root.tag != "Topics":
        _refuse_element(root, ("Topics",), problems)
    problems.refuse_any()
    return root


def _xml_topic(element: etree._Element, problems: FileProblems, formulas: bool) -> TopicRecord:
    number = (element.get("number") or "").strip()
    children = [child for child in element if isinstance(child.tag, str)]
    for child in children:
        if child.tag not in _ELEMENTS:
            _refuse_element(child, _ELEMENTS, problems)
    texts = {str(child.tag): _inner_html(child).strip() for child in children}
    topic = TopicRecord(
        query_id=number,
        title=texts.get("Title", ""),
        body=texts.get("Question", ""),
        tags=tuple(tag.strip() for tag in texts.get("Tags", "").split(",") if tag.strip()),
        formula_id=texts.get("Formula_Id") or None,
        latex=texts.get("Latex") or None,
        scenario=texts.get("Scenario", ""),
        criteria=texts.get("Criteria", ""),
    )
    named, line = f"the topic {number}" if number else "the topic", _line(element)
    if not number:
        expected = 'an attribute such as number="A.1"'
        problems.add(line, "a topic without a number", expected, "Number the topic.")
    if not (topic.title or topic.body or (formulas and topic.latex)):
        expected = "a Title or a Question"
        problems.add(line, f"neither title nor body in {named}", expected, "Add one of them.")
    if not topic.latex and (formulas or "Formula_Id" in texts or "Latex" in texts):
        expected = "the query formula in a Latex element"
        todo = "Add the LaTeX of the query formula."
        problems.add(line, f"no LaTeX in {named}", expected, todo)
    return topic


def _inner_html(element: etree._Element) -> str:
    """Return the content of an element: text unescaped once, child elements as written."""
    if not len(element):
        return element.text or ""
    return escape(element.text or "") + "".join(
        etree.tostring(child, encoding="unicode") for child in element
    )


def _refuse_element(
    element: etree._Element, expected: tuple[str, ...], problems: FileProblems
) -> None:
    tag = str(element.tag)
    near = get_close_matches(tag, expected, n=1)
    todo = f"Did you mean {near[0]}?" if near else "Remove the element."
    problems.add(_line(element), f"the element {tag}", " or ".join(expected), todo)


def _line(element: etree._Element) -> int:
    line: int | None = element.sourceline  # type: ignore[assignment]  # untyped in the stubs
    return line or 1


def read_topic_threads(path: Path) -> dict[str, str]:
    """Return {topic: thread} from an index of topic formulas (TSV, plain or compressed).

    Raise FileRefusedError with every problem: those of `read_index`, and topics with two threads.
    """
    with suppress(DamagedFileError):  # the index reports it
        require_kind(next(read_pieces(path, size=HEAD), b""), FileKind.FORMULAS, path=path.name)
    threads: dict[str, str] = {}
    problems = FileProblems(path.name)
    for part in read_index(path):
        problems += part.problems
        pairs = part.frame.select("post_id", "thread_id").drop_nulls().unique(maintain_order=True)
        for topic, thread in pairs.rows():
            if threads.setdefault(topic, thread) != thread:
                actual = f"the threads {threads[topic]} and {thread} of the topic {topic}"
                problems.add(None, actual, "one thread per topic", "Correct one of the two.")
    problems.refuse_any()
    return threads


def threads_of(query_ids: Iterable[str], threads: Mapping[str, str]) -> dict[str, str]:
    """Return the thread of each topic, or of the topic with the same number (A.9 for B.9)."""
    by_number = {_number(topic): thread for topic, thread in threads.items()}
    by_topic = {topic: threads.get(topic) or by_number.get(_number(topic)) for topic in query_ids}
    return {topic: thread for topic, thread in by_topic.items() if thread}


def _number(query_id: str) -> str:
    return re.sub(r"^[A-Za-z]+\.(?=[0-9])", "", query_id)


class TopicFormula(NamedTuple):
    """A row of the index of topic formulas; `type` is title or body, the thread a question post."""

    formula_id: str
    topic_id: str
    thread_id: str
    type: str
    latex: str


def write_topics(topics: Iterable[TopicRecord], *, newline: str = "\n") -> bytes:
    """Return the XML of topics. ARQMath-1 and -2 have CRLF as line ends, ARQMath-3 has LF."""
    lines = ['<?xml version="1.0" ?>', "<Topics>"]
    for topic in topics:
        lines += [f'   <Topic number="{_text(topic.query_id)}">', *_elements(topic), "   </Topic>"]
    return "".join(f"{line}{newline}" for line in [*lines, "</Topics>"]).encode()


def write_topic_formulas(formulas: Iterable[TopicFormula]) -> bytes:
    """Return the index of topic formulas as TSV, with CRLF line ends as in all editions."""
    return exact_table([INDEX_COLUMNS, *formulas], delimiter="\t", end="\r\n")


def _elements(topic: TopicRecord) -> list[str]:
    formula = [("Formula_Id", topic.formula_id), ("Latex", topic.latex)] if topic.latex else []
    question = [
        ("Title", topic.title),
        ("Question", f"{topic.body} "),
        ("Tags", ",".join(topic.tags)),
    ]
    query = [("Scenario", topic.scenario), ("Criteria", topic.criteria)]
    fields = [*formula, *question, *(text for text in query if text[1])]
    return [f"      <{name}>{_text(text or '')}</{name}>" for name, text in fields]


def _text(text: str) -> str:
    return escape(text, {'"': "&quot;"})

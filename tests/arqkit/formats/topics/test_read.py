"""Topics: every real file reads; every problem of a broken one is told with its line; hostile XML
is refused.
"""

import pytest

from arqkit.formats.topics.files import read_topics
from arqkit.records import FileRefusedError, TopicRecord
from arqkit.topics import natural_key
from tests.real_data import DATA, needs_data


def topics_xml(*topics: str) -> bytes:
    return "\n".join(["<Topics>", *topics, "</Topics>"]).encode()


def topic_xml(inside: str, number: str = "A.1") -> str:
    return f'<Topic number="{number}">{inside}</Topic>'


def problems(data: bytes, **options) -> list[tuple[int | None, str]]:
    with pytest.raises(FileRefusedError) as refused:
        read_topics(data, path="topics.xml", **options)
    return [(problem.line, problem.found) for problem in refused.value.problems]


def test_a_topic_has_number_title_body_and_tags():
    data = topics_xml(
        topic_xml("<Title>Is 2 even?</Title><Question>Yes?</Question><Tags>numbers, parity,</Tags>")
    )

    assert read_topics(data, path="t") == [
        TopicRecord("A.1", "Is 2 even?", "Yes?", ("numbers", "parity"))
    ]


def test_html_is_unescaped_once():
    data = topics_xml(topic_xml("<Title>&lt;b&gt;a &amp;lt; b&lt;/b&gt;</Title>"))

    assert read_topics(data, path="t")[0].title == "<b>a &lt; b</b>"


def test_html_written_as_elements_is_taken_too():
    data = topics_xml(
        topic_xml("<Question>a &lt; b and <i>c &lt; d</i> &amp; e<!-- no --></Question>")
    )

    assert read_topics(data, path="t")[0].body.startswith("a &lt; b and <i>c &lt; d</i> &amp; e")


def test_a_formula_topic_has_its_formula():
    data = topics_xml(
        topic_xml("<Formula_Id>q_4</Formula_Id><Latex> x^2 </Latex><Title>t</Title>", "B.1")
    )

    topic = read_topics(data, path="t", formulas=True)[0]
    assert (topic.formula_id, topic.latex) == ("q_4", "x^2")


def test_topics_keep_the_files_order():
    data = topics_xml(*(topic_xml("<Title>t</Title>", number) for number in ("A.10", "A.9")))

    assert [topic.query_id for topic in read_topics(data, path="t")] == ["A.10", "A.9"]


def test_comments_and_processing_instructions_are_skipped():
    data = topics_xml("<!-- one -->", "<?two?>", topic_xml("<!-- three --><Title>t</Title>"))

    assert len(read_topics(data, path="t")) == 1


def test_all_problems_come_at_once_with_their_lines():
    data = topics_xml(
        topic_xml("<Titel>t</Titel><Formula_Id>q_1</Formula_Id>", "B.1"),
        "<Topic><Title>t</Title></Topic>",
        topic_xml("<Title>t</Title>", "B.1"),
        "<Topik/>",
    )

    assert problems(data) == [
        (2, "the element Titel"),
        (2, "neither title nor body in the topic B.1"),
        (2, "no LaTeX in the topic B.1"),
        (3, "a topic without a number"),
        (4, "the topic B.1 again (first on line 2)"),
        (5, "the element Topik"),
    ]


def test_two_topics_of_one_number_on_one_line_are_reported_too():
    data = topics_xml(topic_xml("<Title>t</Title>") * 2)

    assert problems(data) == [(2, "the topic A.1 again (first on line 2)")]


def test_an_unknown_element_comes_with_the_nearest_known_one():
    with pytest.raises(FileRefusedError, match=r"Did you mean Title\?"):
        read_topics(topics_xml(topic_xml("<Titel>t</Titel><Question>q</Question>")), path="t")


def test_a_formula_task_needs_the_latex_of_every_topic():
    assert problems(topics_xml(topic_xml("<Title>t</Title>")), formulas=True) == [
        (2, "no LaTeX in the topic A.1")
    ]


@pytest.mark.parametrize("empty", ["", "<Title/>", "<Title> </Title><Question>\n</Question>"])
def test_a_topic_has_a_title_or_a_body(empty):
    assert problems(topics_xml(topic_xml(empty))) == [
        (2, "neither title nor body in the topic A.1")
    ]


@pytest.mark.parametrize(
    "data", [b"<Topics><Topic></Topics>", b"<Topics>\n&nbsp;</Topics>", b"<Topics>", b"<"]
)
def test_xml_that_is_not_well_formed_is_refused_with_a_line(data):
    assert problems(data)[0][0] is not None


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE Topics>",
        '<!DOCTYPE Topics SYSTEM "file:///etc/passwd">',
        '<!DOCTYPE Topics [<!ENTITY x "y">]>',
        '<!DOCTYPE Topics [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>',
    ],
)
def test_a_doctype_is_refused(doctype):
    assert problems(doctype.encode() + topics_xml(topic_xml("<Title>t</Title>"))) == [
        (1, "a DOCTYPE")
    ]


def test_no_file_of_the_machine_is_read():
    data = (
        b'<!DOCTYPE Topics [<!ENTITY x SYSTEM "/etc/hostname">]>'
        b'<Topics><Topic number="1"><Title>&x;</Title></Topic></Topics>'
    )

    assert problems(data) == [(1, "a DOCTYPE")]


@pytest.mark.parametrize("data", [b"<html/>", b"<Topics/>", b"", b"\n"])
def test_a_file_without_topics_is_refused(data):
    assert len(problems(data)) == 1


def test_two_columns_are_topics_of_a_formula():
    topics = read_topics(b"N-1\tx^2\r\n\nN-2\t\\ a\tb\n", path="t", formulas=True)

    assert [(topic.query_id, topic.latex) for topic in topics] == [
        ("N-1", "x^2"),
        ("N-2", "\\ a\tb"),
    ]


def test_a_line_without_two_columns_is_reported():
    assert problems(b"N-1\tx\nN-2 y\n\tz\nN-4\t\n") == [
        (2, "'N-2 y'"),
        (3, "'\\tz'"),
        (4, "'N-4\\t'"),
    ]


def test_a_number_twice_in_two_columns_is_reported():
    assert problems(b"N-1\tx\nN-1\ty\n") == [(2, "the topic N-1 again (first on line 1)")]


def test_topic_numbers_sort_as_people_count():
    numbers = ["B.1", "A.10", "A.2", "NTCIR12-MathWiki-10", "NTCIR12-MathWiki-9", "20", "3", "A.x"]

    assert sorted(numbers, key=natural_key) == [
        *("3", "20", "A.2", "A.10", "A.x", "B.1"),
        *("NTCIR12-MathWiki-9", "NTCIR12-MathWiki-10"),
    ]


@needs_data
@pytest.mark.parametrize(
    ("path", "count", "formulas"),
    [
        ("arqmath-1/topics.task1.xml", 98, False),
        ("arqmath-1/topics.task2.xml", 85, True),
        ("arqmath-2/topics.task1.xml", 100, False),
        ("arqmath-2/topics.task2.xml", 100, True),
        ("arqmath-3/topics.task1.xml", 100, False),
        ("arqmath-3/topics.task2.xml", 100, True),
        ("ntcir-12-wfb/topics.concrete.txt", 20, True),
    ],
)
def test_every_real_file_reads(path, count, formulas):
    topics = read_topics((DATA / path).read_bytes(), path=path, formulas=formulas)

    assert len(topics) == count
    assert all((topic.latex is not None) is formulas for topic in topics)
    assert not any("&lt;span" in topic.body or "\r" in topic.body for topic in topics)


@needs_data
def test_real_titles_are_html_with_their_formulas_marked():
    topic = read_topics((DATA / "arqmath-1/topics.task1.xml").read_bytes(), path="t")[0]

    assert '<span class="math-container" id="q_1">$c$</span>' in topic.title
    assert topic.tags == ("functions",)


@pytest.mark.parametrize("number", ["A 1", "A/1", "A" * 101])
def test_a_number_that_no_run_or_address_can_name_is_reported(number):
    assert problems(topics_xml(topic_xml("<Title>t</Title>", number)))[0][0] == 2


def test_a_formula_id_of_more_than_100_characters_is_reported():
    inside = f"<Title>t</Title><Formula_Id>{'q' * 101}</Formula_Id><Latex>x</Latex>"
    assert problems(topics_xml(topic_xml(inside, "B.1"))) == [(2, f"the formula id {'q' * 80!r}")]

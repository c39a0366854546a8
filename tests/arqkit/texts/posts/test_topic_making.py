"""Topics are made from questions, with renumbered formulas and a query formula."""

import csv
import io
from itertools import pairwise

from arqkit.formats.topics.files import (
    TopicFormula,
    read_topics,
    write_topic_formulas,
    write_topics,
)
from arqkit.texts.posts.text import text_formulas
from arqkit.texts.posts.topic_making import Question, layout_size, make_topics, query_formula
from tests.real_data import DATA, needs_data

SPAN = '<span class="math-container" id="{}">${}$</span>'
FIRST = Question(
    401,
    "77",
    "A title",
    f"<p>{SPAN.format('9', 'a')} and {SPAN.format('8', 'a+b+c')}</p>\n",
    ("sums",),
)
SECOND = Question(
    402, "78", f"Of {SPAN.format('3', 'x')}", f"<p>{SPAN.format('4', 'y^2+z^2')}</p>", ()
)
NONE = Question(403, "79", "No formula", "<p>at all</p>", ("words",))


def length(latex: str) -> tuple[int, ...]:
    return (len(latex),)


def test_formulas_are_numbered_over_the_whole_file_in_the_order_of_topics():
    made = make_topics([SECOND, FIRST], size=length)

    assert [topic.query_id for topic in made.questions] == ["A.401", "A.402"]
    assert made.index == [
        TopicFormula("q_1", "A.401", "77", "body", "a"),
        TopicFormula("q_2", "A.401", "77", "body", "a+b+c"),
        TopicFormula("q_3", "A.402", "78", "title", "x"),
        TopicFormula("q_4", "A.402", "78", "body", "y^2+z^2"),
    ]
    assert (
        made.questions[0].body
        == f"<p>{SPAN.format('q_1', 'a')} and {SPAN.format('q_2', 'a+b+c')}</p>"
    )


def test_the_query_formula_is_the_titles_if_it_has_one_else_the_largest_of_the_body():
    topics = make_topics([FIRST, SECOND], size=length).formulas

    assert [(topic.query_id, topic.formula_id, topic.latex) for topic in topics] == [
        ("B.401", "q_2", "a+b+c"),
        ("B.402", "q_3", "x"),
    ]


def test_a_chosen_formula_is_the_query_formula():
    (topic,) = make_topics([FIRST._replace(query_formula="9")], size=length).formulas

    assert (topic.formula_id, topic.latex) == ("q_1", "a")


def test_ties_in_size_go_to_the_first_formula():
    assert (
        query_formula("", SPAN.format("1", "a") + SPAN.format("2", "b"), size=length).formula_id
        == "1"
    )


def test_the_size_of_a_formula_is_the_nodes_of_its_layout_then_its_length():
    # x^2+1 has four symbols, a fraction of two has three nodes; edges and brackets do not count.
    assert layout_size("V!x a[ N!2 ] n O!+ n N!1", "x^2 + 1") == (4, 5)
    assert layout_size("F o[ V!a ] u[ V!b ]", r"\frac{a}{b}") == (3, 11)
    assert layout_size(None, "a b") == (0, 2)


def test_a_question_without_a_formula_has_no_topic_in_task_2():
    made = make_topics([NONE], size=length)

    assert (len(made.questions), made.formulas, made.index) == (1, [], [])


def test_both_tasks_share_the_post():
    made = make_topics([FIRST], size=length)

    assert (
        made.formulas[0]._replace(query_id="A.401", formula_id=None, latex=None)
        == made.questions[0]
    )


@needs_data
def test_the_questions_of_arqmath_3_make_topics_that_are_read_again_without_loss():
    path = DATA / "arqmath-3" / "topics.task2.xml"
    official = read_topics(path.read_bytes(), path=str(path), formulas=True)
    questions = [
        Question(int(one.query_id[2:]), "1", one.title, one.body, one.tags, one.formula_id)
        for one in official
    ]
    made = make_topics(questions, size=length)
    again = read_topics(write_topics(made.formulas), path="again", formulas=True)

    assert again == made.formulas
    # Line ends stand for blanks in some official Latex, and in the post of B.394 the formula is cut
    # at "<".
    pairs = zip(official, again, strict=True)
    assert [one.query_id for one, other in pairs if one.latex.split() != other.latex.split()] == [
        "B.394"
    ]
    ids = [
        int(formula.formula_id[2:])
        for topic in again
        for formula in text_formulas(topic.title + topic.body)
    ]
    assert all(later == former + 1 for former, later in pairwise(ids))
    index = list(
        csv.reader(
            io.StringIO(write_topic_formulas(made.index).decode(), newline=""), delimiter="\t"
        )
    )
    assert len(index) == len(ids) + 1

"""Making topics of chosen questions: the topic files that a lab publishes and its folder names."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from arqkit.formats.topics.chosen_questions import ChosenQuestion
from arqkit.formats.topics.files import write_topic_formulas, write_topics
from arqkit.formats.topics.information import write_topic_info
from arqkit.formulas.layout import layout_string
from arqkit.records import FileRefusedError, Problem, TaskKind
from arqkit.texts.maths.typesetting import presentation_mathml
from arqkit.texts.posts.text import text_formulas
from arqkit.texts.posts.topic_making import Question, Size, layout_size, make_topics
from arqkit.topics import info_fields
from collection.models import Collection, Post
from collection.selectors.candidates import questions_by_id


class TopicFiles(NamedTuple):
    """The topic files by name, the number of topics per task, and the topics without a formula."""

    files: dict[str, bytes]
    questions: int
    formulas: int
    without_formula: list[str]


def make_topic_files(
    *,
    collection: Collection,
    sources: Sequence[ChosenQuestion],
    first: int,
    newline: str = "\n",
    path: str,
) -> TopicFiles:
    """Make the topics of tasks 1 and 2 from chosen questions.

    Questions without a number are numbered from `first` on.

    `path` names the list of questions. Raise `FileRefusedError` with every line that names no
    question of the collection, or a formula that is not in its question.
    """
    posts = questions_by_id(collection, [question.post_id for question in sources])
    if problems := _problems(sources, posts, collection, path):
        raise FileRefusedError(problems)
    numbers = _numbers(sources, first)
    questions = [
        Question(
            *(numbers[post.post_id], post.post_id, post.safe_title, post.safe_body),
            *(tuple(post.tags), question.formula_id),
        )
        for question in sources
        for post in [posts[question.post_id]]
    ]
    topics = make_topics(questions, size=formula_size)
    facts = {
        numbers[question.post_id]: question.facts
        for question in sorted(sources, key=lambda question: numbers[question.post_id])
    }
    with_formula = {topic.query_id for topic in topics.formulas}
    of_formulas = {
        number: fields for number, fields in facts.items() if f"B.{number}" in with_formula
    }
    files = {
        "topics.task1.xml": write_topics(topics.questions, newline=newline),
        "topics.task2.xml": write_topics(topics.formulas, newline=newline),
        "topic-formulas.latex.tsv": write_topic_formulas(topics.index),
        "topic-info.task1.csv": _info("A", facts, TaskKind.ANSWERS),
        "topic-info.task2.csv": _info("B", of_formulas, TaskKind.FORMULAS),
    }
    ids = [topic.query_id for topic in topics.questions]
    bare = [query_id for query_id in ids if f"B{query_id[1:]}" not in with_formula]
    return TopicFiles(files, len(topics.questions), len(topics.formulas), bare)


def _info(letter: str, facts: Mapping[int, Mapping[str, str]], kind: TaskKind) -> bytes:
    named = {f"{letter}.{number}": fields for number, fields in facts.items()}
    return write_topic_info(named, info_fields(kind))


def formula_size(latex: str) -> Size:
    """Return the size of a formula by its layout."""
    mathml = presentation_mathml(latex)
    return layout_size(None if mathml is None else layout_string(mathml), latex)


def _numbers(questions: Sequence[ChosenQuestion], first: int) -> dict[str, int]:
    """Return the topic number of every question: the chosen one, else the next free number."""
    used_numbers = {question.number for question in questions if question.number is not None}
    numbers: dict[str, int] = {}
    for question in questions:
        while question.number is None and first in used_numbers:
            first += 1
        numbers[question.post_id] = first if question.number is None else question.number
        used_numbers.add(numbers[question.post_id])
    return numbers


def _problems(
    questions: Sequence[ChosenQuestion], posts: dict[str, Post], collection: Collection, path: str
) -> list[Problem]:
    problems = []
    for question in questions:
        post = posts.get(question.post_id)
        formulas = text_formulas(post.safe_title) + text_formulas(post.safe_body) if post else []
        formula_ids = [formula.formula_id for formula in formulas]
        if post is None:
            actual, todo = f"the post {question.post_id[:80]}", "Correct the id or remove the line."
            expected = f"a question of the collection {collection}"
        elif question.formula_id and question.formula_id not in formula_ids:
            actual = f"the query formula {question.formula_id[:80]}"
            expected = f"a formula of the question {question.post_id}"
            todo = f"Its formulas are {', '.join(formula_ids[:10])}."
            todo = todo if formula_ids else "It has no formulas. Leave the cell empty."
        else:
            continue
        problems.append(Problem(path, question.line, actual, expected, todo))
    return problems

"""The demo's posts: threads, formulas that can be typeset, and a matching index."""

from collections import Counter
from pathlib import Path

import pytest
import quickjs
from lxml import etree

from arqkit.formats.labs.folder import LabFile, TaskFile
from arqkit.formats.topics.write import write_topic_formulas
from arqkit.texts.maths.typesetting import TEMML
from arqkit.texts.posts.text import text_formulas
from desk.demo import posts, tokens
from desk.demo.posts import Post


def test_there_are_enough_answers_for_a_lab(read_posts: list[Post]) -> None:
    kinds = Counter(post.kind for post in read_posts)
    assert kinds["answer"] >= 160
    assert kinds["question"] >= 45


def test_every_post_has_a_unique_id(read_posts: list[Post]) -> None:
    assert len({post.post_id for post in read_posts}) == len(read_posts)


def test_every_answer_belongs_to_a_question(read_posts: list[Post]) -> None:
    questions = {post.post_id for post in read_posts if post.kind == "question"}
    assert {post.thread_id for post in read_posts} == questions


def test_questions_have_a_title_and_tags_and_answers_have_neither(read_posts: list[Post]) -> None:
    assert all(
        bool(post.title) == bool(post.tags) == (post.kind == "question") for post in read_posts
    )


def test_every_post_is_well_formed_html(read_posts: list[Post]) -> None:
    for post in read_posts:
        assert etree.fromstring(f"<div>{post.title}{post.body}</div>").tag == "div"


def test_no_text_is_repeated(read_posts: list[Post]) -> None:
    opening = Counter(" ".join(tokens.lower_words(post.body)[:8]) for post in read_posts)
    assert [text for text, times in opening.items() if times > 1] == []


def test_the_formula_index_agrees_with_the_posts(read_posts: list[Post], data: Path) -> None:
    assert (
        posts.write_index(posts.index_demo_formulas(read_posts))
        == (data / "formulas.latex.tsv").read_bytes()
    )


def test_every_formula_has_a_unique_id(read_posts: list[Post]) -> None:
    formulas = posts.index_demo_formulas(read_posts)
    assert len({formula.formula_id for formula in formulas}) == len(formulas)


def test_visual_ids_differ_from_formula_ids(read_posts: list[Post]) -> None:
    formulas = posts.index_demo_formulas(read_posts)
    assert not {formula.visual_id for formula in formulas} & {
        formula.formula_id for formula in formulas
    }


def test_formulas_that_look_the_same_share_a_visual_id() -> None:
    html = '<span class="math-container" id="{}">${}$</span>'
    body = "".join(
        html.format(number, latex) for number, latex in enumerate(["a^2", "a^{2}", "a^3"], start=7)
    )
    formulas = posts.index_demo_formulas([Post("1", "answer", "2", "", body, ())])
    assert [formula.visual_id for formula in formulas] == ["100007", "100007", "100009"]


@pytest.fixture(scope="module")
def typeset() -> quickjs.Function:
    context = quickjs.Context()
    context.eval(TEMML.read_text())
    context.eval(
        "globalThis.typeset = latex =>"
        " temml.renderToString(latex, {throwOnError: true, strict: true})"
    )
    return context.get("typeset")


def test_every_formula_of_a_post_can_be_typeset(
    read_posts: list[Post], typeset: quickjs.Function
) -> None:
    for formula in posts.index_demo_formulas(read_posts):
        assert typeset(formula.latex).startswith("<math"), formula


def test_every_formula_of_a_topic_can_be_typeset(
    tasks: dict[str, TaskFile], typeset: quickjs.Function
) -> None:
    for topic in (*tasks["task1"].topics, *tasks["task2"].topics):
        for formula in text_formulas(topic.title + topic.body):
            assert typeset(formula.latex).startswith("<math"), formula


def test_every_formula_of_a_generated_answer_can_be_typeset(
    data: Path, typeset: quickjs.Function
) -> None:
    for file in data.glob("answers/*.tsv"):
        for latex in file.read_text().split("$")[1::2]:
            assert typeset(latex).startswith("<math"), latex


def rows_of(data: Path, name: str) -> list[dict[str, str]]:
    return [dict(row.attrib) for row in etree.parse(data / name).getroot()]


def test_the_index_of_the_topics_formulas_agrees_with_the_topics(data: Path) -> None:
    index = posts.index_topics(posts.read_questions())
    assert write_topic_formulas(index) == (data / "topic-formulas.latex.tsv").read_bytes()


def test_posts_are_later_than_the_window_from_one_id_on(demo: LabFile, data: Path) -> None:
    until = demo.collection.window.until.isoformat()
    later = {row["Id"] for row in rows_of(data, "Posts.xml") if row["CreationDate"][:10] > until}
    assert later == {row.post_id for row in posts.read_dump()} - {
        row.post_id for row in posts.read_demo_posts()
    }


def test_a_topic_has_its_own_thread_in_the_dump(tasks: dict[str, TaskFile]) -> None:
    question = next(
        post for post in posts.read_dump() if post.post_id == tasks["task1"].threads["A.1"]
    )
    topic = tasks["task1"].topics[0]
    assert (tokens.lower_words(question.title), question.tags) == (
        tokens.lower_words(topic.title),
        topic.tags,
    )
    assert tokens.lower_words(question.body) == tokens.lower_words(topic.body)


def test_related_files_refer_to_existing_posts_and_people(data: Path) -> None:
    known = {row["Id"]: row for row in rows_of(data, "Posts.xml")}
    people = {row["Id"] for row in rows_of(data, "Users.xml")}
    assert {row["OwnerUserId"] for row in known.values()} <= people
    assert {
        row["UserId"] for name in ("Comments.xml", "Badges.xml") for row in rows_of(data, name)
    } <= people
    assert {
        row["PostId"]
        for name in ("Comments.xml", "Votes.xml", "PostLinks.xml")
        for row in rows_of(data, name)
    } <= {*known}
    assert {row["RelatedPostId"] for row in rows_of(data, "PostLinks.xml")} <= {*known}
    assert all(
        known[row["PostId"]]["CreationDate"] < row["CreationDate"]
        for row in rows_of(data, "Comments.xml")
    )


def test_an_accepted_answer_is_one_of_the_thread(data: Path) -> None:
    known = {row["Id"]: row for row in rows_of(data, "Posts.xml")}
    accepted = {
        row["Id"]: row["AcceptedAnswerId"] for row in known.values() if "AcceptedAnswerId" in row
    }
    assert len(accepted) > 20
    assert all(known[answer]["ParentId"] == question for question, answer in accepted.items())


def test_tag_counts_match_the_questions(data: Path) -> None:
    counted = Counter(tag for post in posts.read_dump() for tag in post.tags)
    assert {row["TagName"]: int(row["Count"]) for row in rows_of(data, "Tags.xml")} == counted

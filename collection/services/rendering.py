"""HTML of posts: sanitized, with typeset formulas and with local links within the collection."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from django.urls import reverse

from arqkit.texts.html.comments import with_markup
from arqkit.texts.html.rendering import (
    Key,
    PostText,
    SafeHtml,
    addresses_of,
    compose,
    keys_of,
    matching_formulas,
    read_text,
)
from arqkit.texts.maths.macros import Definitions
from arqkit.texts.maths.typesetting import Typeset
from arqkit.texts.posts.text import TextFormula, plain_title
from arqlab.core.models import Lab, Topic
from arqlab.labs.services.formulas import typeset_formulas
from collection.models import Author, Comment, Post
from collection.selectors.formulas import newest_forms, visual_ids_of
from collection.selectors.threads import LinkedQuestion, Thread
from collection.services.addresses import local_pages, post_url

FOLDED = 5  # posts with more comments show them folded

LINKS = (
    *("Marked as a duplicate of", "Its duplicates"),
    *("Linked from this thread", "Threads that link here"),
)
"""The headings of the groups of `Links`."""


class RenderedComment(NamedTuple):
    """A comment with its HTML."""

    comment: Comment
    html: SafeHtml
    author: Author | None


@dataclass(frozen=True)
class RenderedPost:
    """A post with its HTML, its author if known, and its comments."""

    post: Post
    title_html: SafeHtml
    body_html: SafeHtml
    author: Author | None = None
    comments: tuple[RenderedComment, ...] = ()
    is_accepted: bool = False
    is_unfolded: bool = False

    @property
    def has_many_comments(self) -> bool:
        """Return whether the page folds the comments."""
        return len(self.comments) > FOLDED


class RenderedLink(NamedTuple):
    """A linked question with title and page, or only its id if the collection does not have it."""

    post_id: str
    title_html: SafeHtml | str
    url: str


@dataclass(frozen=True)
class RenderedThread:
    """The content of a thread's page."""

    question: RenderedPost | None
    answers: tuple[RenderedPost, ...]
    links: tuple[tuple[str, tuple[RenderedLink, ...]], ...]
    plain_title: str
    highlighted: frozenset[str]

    @property
    def comment_count(self) -> int:
        """Return the number of comments under all posts."""
        return sum(len(post.comments) for post in (self.question, *self.answers) if post)


class _Read(NamedTuple):
    """The parsed texts of a post and its comments."""

    post: Post
    title: PostText
    body: PostText
    comments: tuple[tuple[Comment, PostText], ...]


class _Page(NamedTuple):
    """The formulas, links and highlights that the texts of a page share."""

    formulas: Mapping[Key, Typeset]
    links: Mapping[str, str]
    marked: frozenset[str]
    formula_pages: Mapping[str, str]
    comment_id: str


def render_thread(
    thread: Thread,
    *,
    lab: Lab,
    topic: Topic | None = None,
    formula_id: str = "",
    comment_id: str = "",
    has_formula_links: bool = False,
) -> RenderedThread:
    """Return a thread rendered for a page of a lab.

    The query formula of the topic and the instance `formula_id` are highlighted. Comments with a
    highlighted formula or with `comment_id` are unfolded. With `has_formula_links`, each formula
    links to its page. The number of queries is the same for every thread.
    """
    read = [_read(post, thread.comments.get(post.post_id, ())) for post in thread.posts]
    titles = {post.post_id: read_text(post.safe_title) for post in thread.links.posts if post.title}
    texts = [*_texts(read), *titles.values()]
    marked = _highlight(read, thread, topic) | _asked(read, formula_id)
    page = _Page(
        formulas=typeset_formulas(keys_of(texts), thread.corrected_formulas),
        links=local_pages(
            addresses_of(texts),
            collection=thread.collection,
            lab_slug=lab.slug,
            here={post.post_id for post in thread.posts},
        ),
        marked=marked,
        formula_pages=_formula_pages(read, thread, lab) if has_formula_links else {},
        comment_id=comment_id,
    )

    def linked(question: LinkedQuestion) -> RenderedLink:
        return _linked(question, titles, page.formulas, lab)

    posts = [_rendered(read_post, thread, page) for read_post in read]
    groups = zip(LINKS, thread.links, strict=True)
    return RenderedThread(
        question=posts[0] if thread.question else None,
        answers=tuple(posts[1:] if thread.question else posts),
        links=tuple((name, tuple(map(linked, group))) for name, group in groups if group),
        plain_title=plain_title(read[0].title.html) if thread.question else "",
        highlighted=marked,
    )


def typeset_posts(posts: Iterable[Post]) -> None:
    """Typeset the formulas of posts in advance, before users read them."""
    typeset_formulas(keys_of(_texts(_read(post, ()) for post in posts)))


def typeset_titles(posts: Iterable[Post]) -> dict[str, SafeHtml]:
    """Return the titles of posts as safe HTML, by the ids of the posts."""
    texts = {post.post_id: read_text(post.safe_title) for post in posts}
    formulas = typeset_formulas(keys_of(texts.values()))
    return {post_id: compose(text, formulas=formulas) for post_id, text in texts.items()}


def _read(post: Post, comments: Iterable[Comment]) -> _Read:
    definitions = Definitions()
    return _Read(
        post,
        read_text(post.safe_title, definitions),
        read_text(post.safe_body, definitions),
        tuple(
            (comment, read_text(with_markup(comment.safe_text), definitions))
            for comment in comments
        ),
    )


def _texts(read: Iterable[_Read]) -> list[PostText]:
    return [text for it in read for text in (it.title, it.body, *(text for _, text in it.comments))]


def _highlight(read: list[_Read], thread: Thread, topic: Topic | None) -> frozenset[str]:
    """Return the ids of the formulas in the question that match the topic's query formula."""
    if topic is None or thread.question is None:
        return frozenset()
    formulas = [
        TextFormula(formula.formula_id, formula.latex, formula.key[1])
        for text in (read[0].title, read[0].body)
        for formula in text.formulas
    ]
    return matching_formulas(formulas, formula_id=topic.formula_id, latex=topic.latex)


def _asked(read: Iterable[_Read], formula_id: str) -> frozenset[str]:
    """Return the requested instance if the thread has it."""
    ids = {formula.formula_id for text in _texts(read) for formula in text.formulas}
    return frozenset({formula_id} & ids - {""})


def _holds(comments: Iterable[tuple[Comment, PostText]], page: _Page) -> bool:
    """Return whether the comments have a highlighted formula or the requested comment."""
    return any(
        comment.comment_id == page.comment_id
        or any(formula.formula_id in page.marked for formula in text.formulas)
        for comment, text in comments
    )


def _formula_pages(read: Iterable[_Read], thread: Thread, lab: Lab) -> dict[str, str]:
    """Return the URLs of the pages of a thread's formulas, by formula id."""
    version = newest_forms(thread.collection)
    if version is None:
        return {}
    ids = {formula.formula_id for text in _texts(read) for formula in text.formulas}
    page = partial(reverse, "collection:formula-detail")
    visual_ids = visual_ids_of(version, ids).items()
    return {formula_id: page(args=[lab.slug, visual_id]) for formula_id, visual_id in visual_ids}


def _rendered(read_post: _Read, thread: Thread, page: _Page) -> RenderedPost:
    def html(text: PostText, top: int = 4) -> SafeHtml:
        return compose(
            text,
            formulas=page.formulas,
            links=page.links.get,
            highlight=page.marked,
            top=top,
            pages=page.formula_pages,
        )

    is_question = read_post.post == thread.question
    return RenderedPost(
        post=read_post.post,
        title_html=html(read_post.title),
        body_html=html(read_post.body, top=3 if is_question else 4),
        author=thread.authors.get(read_post.post.author_id),
        comments=tuple(
            RenderedComment(comment, html(text), thread.authors.get(comment.author_id))
            for comment, text in read_post.comments
        ),
        is_accepted=not is_question and read_post.post.post_id == thread.accepted_id,
        is_unfolded=_holds(read_post.comments, page),
    )


def _linked(
    question: LinkedQuestion,
    titles: Mapping[str, PostText],
    formulas: Mapping[Key, Typeset],
    lab: Lab,
) -> RenderedLink:
    if question.post is None:
        return RenderedLink(question.post_id, "", "")
    title = titles.get(question.post_id)
    # HTML does not allow a link inside a link, and links in titles are disabled anyway.
    label = f"{question.post.get_kind_display()} {question.post_id}"
    label = compose(title, formulas=formulas) if title else label
    return RenderedLink(question.post_id, label, post_url(lab.slug, question.post_id))

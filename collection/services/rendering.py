"""Posts as the HTML of a page: sanitized, their formulas typeset once, links of the collection opened here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.safestring import SafeString

from arqlab.core.html.cleaning import FoundFormula
from arqlab.core.html.highlighting import places_of
from arqlab.core.html.posthtml import Key, PostText, addresses_of, compose, keys_of, read_text
from arqlab.core.maths.definitions import Definitions
from arqlab.core.maths.typesetting import Typeset
from arqlab.core.models import Lab, Topic
from arqlab.core.services import typeset_formulas
from arqlab.ir.posttext import plain_title
from collection.models import Author, Comment, Post
from collection.selectors import LinkedQuestion, Thread
from collection.services.addresses import local_pages, page_of

FOLDED = 5  # comments beyond this number are folded


class RenderedComment(NamedTuple):
    """A comment with its HTML."""

    comment: Comment
    html: SafeString
    author: Author | None


@dataclass(frozen=True)
class RenderedPost:
    """A post with its HTML, its author where known, and its comments."""

    post: Post
    title_html: SafeString
    body_html: SafeString
    author: Author | None = None
    comments: tuple[RenderedComment, ...] = ()
    is_accepted: bool = False

    @property
    def post_id(self) -> str:
        """Give the id of the dump."""
        return self.post.post_id

    @property
    def kind(self) -> str:
        """Give `question` or `answer`."""
        return self.post.kind

    @property
    def tags(self) -> list[str]:
        """Give the tags of a question."""
        return list(self.post.tags)

    @property
    def has_many_comments(self) -> bool:
        """Say whether the comments are so many that a page folds them."""
        return len(self.comments) > FOLDED


class RenderedLink(NamedTuple):
    """A linked question: its title and its page, or only its id where the collection does not hold it."""

    post_id: str
    title_html: SafeString | str
    url: str


@dataclass(frozen=True)
class RenderedThread:
    """What a thread page shows."""

    question: RenderedPost | None
    answers: tuple[RenderedPost, ...]
    links: tuple[tuple[str, tuple[RenderedLink, ...]], ...]
    plain_title: str
    is_highlighted: bool

    @property
    def comment_count(self) -> int:
        """Give the number of comments under all posts."""
        return sum(len(post.comments) for post in (self.question, *self.answers) if post)


class _Read(NamedTuple):
    """A post's texts, ready to be composed; the formulas as the sanitizer found them."""

    post: Post
    title: PostText
    body: PostText
    comments: tuple[tuple[Comment, PostText], ...]


def render_thread(thread: Thread, *, lab: Lab, topic: Topic | None = None) -> RenderedThread:
    """Give a thread as a page of a lab shows it; the query formula of a topic is marked in its question.

    The number of queries is the same for every thread: its references, its formulas, and those new to be kept.
    """
    read = [_read(post, thread.comments.get(post.post_id, ())) for post in thread.posts]
    titles = {post.post_id: read_text(post.safe_title) for post in thread.links.posts if post.title}
    texts = [*_texts(read), *titles.values()]
    formulas = typeset_formulas(keys_of(texts))
    links = local_pages(addresses_of(texts), thread=thread, lab=lab)
    highlight = _highlight(read, thread, topic)

    def rendered(each: _Read) -> RenderedPost:
        marked = highlight if each.post == thread.question else frozenset()
        return _rendered(each, thread, formulas, links.get, marked)

    def linked(found: LinkedQuestion) -> RenderedLink:
        return _linked(found, titles, formulas, lab)

    posts = [rendered(each) for each in read]
    return RenderedThread(
        question=posts[0] if thread.question else None,
        answers=tuple(posts[1:] if thread.question else posts),
        links=tuple((name, tuple(map(linked, group))) for name, group in _named(thread) if group),
        plain_title=plain_title(read[0].title.html) if thread.question else "",
        is_highlighted=bool(highlight),
    )


def _read(post: Post, comments: Iterable[Comment]) -> _Read:
    definitions = Definitions()
    return _Read(
        post,
        read_text(post.safe_title, definitions),
        read_text(post.safe_body, definitions),
        tuple((comment, read_text(comment.safe_text, definitions)) for comment in comments),
    )


def _texts(read: Iterable[_Read]) -> list[PostText]:
    return [text for each in read for text in (each.title, each.body, *(text for _, text in each.comments))]


def _highlight(read: list[_Read], thread: Thread, topic: Topic | None) -> frozenset[str]:
    """Give the ids of the formulas in the question that are the topic's query formula."""
    if topic is None or thread.question is None:
        return frozenset()
    found = [
        FoundFormula(formula.formula_id, formula.latex, formula.key[1], is_numbered=False)
        for text in (read[0].title, read[0].body)
        for formula in text.formulas
    ]
    return places_of(found, formula_id=topic.formula_id, latex=topic.latex)


def _rendered(
    each: _Read,
    thread: Thread,
    formulas: Mapping[Key, Typeset],
    links: Callable[[str], str | None],
    highlight: frozenset[str],
) -> RenderedPost:
    def html(text: PostText, top: int = 4) -> SafeString:
        return compose(text, formulas=formulas, links=links, highlight=highlight, top=top)

    is_question = each.post == thread.question
    return RenderedPost(
        post=each.post,
        title_html=html(each.title),
        body_html=html(each.body, top=3 if is_question else 4),
        author=thread.authors.get(each.post.author_id),
        comments=tuple(
            RenderedComment(comment, html(text), thread.authors.get(comment.author_id))
            for comment, text in each.comments
        ),
        is_accepted=not is_question and each.post.post_id == thread.accepted_id,
    )


def _linked(
    found: LinkedQuestion, titles: Mapping[str, PostText], formulas: Mapping[Key, Typeset], lab: Lab
) -> RenderedLink:
    if found.post is None:
        return RenderedLink(found.post_id, "", "")
    title = titles.get(found.post_id)
    # A link inside a link is no HTML, and a title's links are dead anyway.
    shown = compose(title, formulas=formulas) if title else f"{found.post.get_kind_display()} {found.post_id}"
    return RenderedLink(found.post_id, shown, page_of(lab, found.post_id))


def _named(thread: Thread) -> list[tuple[str, tuple[LinkedQuestion, ...]]]:
    links = thread.links
    return [
        ("Marked as a duplicate of", links.duplicate_of),
        ("Its duplicates", links.duplicates),
        ("Linked from this thread", links.linked),
        ("Threads that link here", links.linked_from),
    ]

"""Search in a collection: posts by words and formulas, similar formulas, and ids."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from django.core.paginator import Page, Paginator
from django.db.models import Count
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from arqkit.formulas.layout import layout_string
from arqkit.texts.html.rendering import SafeHtml, render_formula
from arqkit.texts.maths.typesetting import presentation_mathml
from arqkit.texts.posts.queries import PostQuery
from arqkit.texts.posts.snippets import Part, joined, marked, snippet
from collection.models import Collection, Post, VisualMap
from collection.selectors.formulas import (
    FormulaMatches,
    form_of,
    formulas_like,
    instances_of,
    newest_forms,
    thread_questions,
    visual_id_of,
)
from collection.selectors.search import search_posts
from collection.services.indexing import ready_for_formulas

RESULTS_PER_PAGE = 20
MAX_FORMULA_POSTS = 5_000
"""The number of posts with a formula that are searched for words, best matches first."""


def snippet_html(
    parts: Iterable[Part], *, match_html: Callable[[str], SafeHtml] = render_formula
) -> SafeString:
    """Return the HTML of a snippet. All formulas are inline, even displayed ones.

    `match_html` returns the HTML of a formula that was found, from its LaTeX.
    """
    return format_html_join("", "{}", ((_html(part, match_html),) for part in parts))


def _html(part: Part, match_html: Callable[[str], SafeHtml]) -> SafeString | str:
    if part.formula is not None:
        if part.is_found:
            return format_html(
                '<span class="found-formula">{}</span>', match_html(part.formula.latex)
            )
        return render_formula(part.formula.latex)
    if part.kind == "mark":
        return format_html("<mark>{}</mark>", part.text)
    return mark_safe(' <span class="left-out">…</span> ') if part.kind == "gap" else part.text


class IdMatch(NamedTuple):
    """A post, a formula instance or a visual id with the requested id."""

    kind: str
    number: str
    visual_id: str = ""


class PostResult(NamedTuple):
    """A post in a list of results."""

    post: Post
    title: SafeString
    text: SafeString
    answers: int
    formula_id: str


@dataclass
class SearchResults:
    """The results of a search; `is_any` if no post has all words, only some of them."""

    page: Page[int]
    results: list[PostResult] = field(default_factory=list)
    known: list[IdMatch] = field(default_factory=list)
    looks: list[tuple[str, FormulaMatches]] = field(default_factory=list)
    is_any: bool = False
    has_all_pairs: bool = True


class _Posts(NamedTuple):
    total: int
    posts: list[Post]
    formula_ids: dict[str, list[str]]
    is_any: bool = False


def look_up(*, collection: Collection, query: PostQuery, page: object = 1) -> SearchResults:
    """Return the results of a query. An invalid `page` number becomes the nearest valid one."""
    version = newest_forms(collection)
    if version and query.formulas:
        version = ready_for_formulas(version)
    results = SearchResults(_page(0, page))
    results.known = list(_known(collection, version, query))
    if version:
        results.looks = [(latex, look_alike(version, latex)) for latex in query.formulas]
        results.has_all_pairs = bool(version.pairs) or not query.formulas
    if not (query.asks_for_posts or query.formulas):
        return results
    number = _wanted(page)
    posts = _posts(collection, version, query, results.looks, number)
    if not posts.posts and posts.total:
        number = -(-posts.total // RESULTS_PER_PAGE)
        posts = _posts(collection, version, query, results.looks, number)
    results.page, results.is_any = _page(posts.total, number), posts.is_any
    results.results = _results(collection, query, posts)
    return results


def look_alike(version: VisualMap, latex: str, *, limit: int = 12) -> FormulaMatches:
    """Return the forms of a version that look like LaTeX, most similar first, at most `limit`."""
    mathml = presentation_mathml(latex)
    return formulas_like(
        version, latex=latex, layout=layout_string(mathml) if mathml else None, limit=limit
    )


# --- Ids ---


def _known(
    collection: Collection, version: VisualMap | None, query: PostQuery
) -> Iterator[IdMatch]:
    ids = list(query.ids)
    if query.number:
        ids += [(kind, query.number) for kind in ("post", "formula", "visual")]
    for kind, number in ids:
        if kind == "post":
            if Post.objects.filter(collection=collection, post_id=number).exists():
                yield IdMatch("post", number)
        elif version and kind == "formula":
            if visual_id := visual_id_of(version, number):
                yield IdMatch("formula", number, visual_id)
        elif version and form_of(version, number):
            yield IdMatch("visual", number, number)


# --- Posts ---


def _posts(
    collection: Collection,
    version: VisualMap | None,
    query: PostQuery,
    looks: list[tuple[str, FormulaMatches]],
    number: int,
) -> _Posts:
    offset = (number - 1) * RESULTS_PER_PAGE
    if not query.formulas:
        return _by_words(collection, query, offset)
    holding = _posts_with_all(collection, version, looks) if version else {}
    if query.asks_for_posts and query.phrases:
        return _by_words(collection, query, offset, holding)
    ids = list(holding)
    if query.asks_for_posts:
        match = search_posts(
            collection, query, limit=MAX_FORMULA_POSTS, among=ids[:MAX_FORMULA_POSTS]
        )
        searched_ids = set(Post.objects.filter(pk__in=match.keys).values_list("post_id", flat=True))
        ids = [post_id for post_id in ids if post_id in searched_ids]
    part = ids[offset : offset + RESULTS_PER_PAGE]
    posts = {
        post.post_id: post for post in Post.objects.filter(collection=collection, post_id__in=part)
    }
    return _Posts(len(ids), [posts[post_id] for post_id in part if post_id in posts], holding)


def _by_words(
    collection: Collection,
    query: PostQuery,
    offset: int,
    holding: dict[str, list[str]] | None = None,
) -> _Posts:
    among = None if holding is None else list(holding)[:MAX_FORMULA_POSTS]
    match = search_posts(collection, query, offset=offset, limit=RESULTS_PER_PAGE, among=among)
    is_any = match.total == 0 and len(query.phrases) > 1
    if is_any:
        query = replace(query, any_phrase=True)
        match = search_posts(collection, query, offset=offset, limit=RESULTS_PER_PAGE, among=among)
    posts = Post.objects.in_bulk(match.keys)
    return _Posts(
        match.total, [posts[key] for key in match.keys if key in posts], holding or {}, is_any
    )


def _posts_with_all(
    collection: Collection, version: VisualMap, looks: list[tuple[str, FormulaMatches]]
) -> dict[str, list[str]]:
    """Return the instances of the posts with every formula, most similar posts first."""
    all_of: dict[str, list[str]] | None = None
    for _, matches in looks:
        instances = instances_of(collection, version, [form.visual_id for form in matches.all])
        holding: dict[str, list[str]] = {}
        for post_id, formula_id in instances.select("post_id", "formula_id").iter_rows():
            holding.setdefault(post_id, []).append(formula_id)
        earlier = holding if all_of is None else all_of
        all_of = {
            post_id: earlier[post_id] + holding[post_id]
            for post_id in earlier
            if post_id in holding
        }
    return all_of or {}


def _results(collection: Collection, query: PostQuery, posts: _Posts) -> list[PostResult]:
    threads = {post.thread_id for post in posts.posts}
    titles = thread_questions(collection, threads)
    in_threads = Post.objects.filter(
        collection=collection, thread_id__in=threads, kind=Post.Kind.ANSWER
    )
    answers = dict(in_threads.values_list("thread_id").annotate(Count("pk")).order_by())
    words = [word for phrase in query.phrases for word in phrase]
    results = []
    for post in posts.posts:
        formulas = posts.formula_ids.get(post.post_id, [])
        question = post if post.kind == Post.Kind.DOCUMENT else titles.get(post.thread_id)
        title = marked(question.safe_title, terms=words, formulas=formulas) if question else []
        text = snippet(post.safe_body, terms=words, formulas=formulas)
        results.append(
            PostResult(
                post,
                snippet_html(joined(title)),
                snippet_html(joined(text)),
                answers.get(post.thread_id, 0),
                formulas[0] if formulas else "",
            )
        )
    return results


# --- Pages ---


def _wanted(page: object) -> int:
    try:
        return min(max(1, int(str(page))), 50_000)
    except ValueError:
        return 1


def _page(total: int, page: object) -> Page[int]:
    return Paginator(range(total), RESULTS_PER_PAGE).get_page(_wanted(page))

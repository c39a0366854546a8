"""Full-text search of posts, with FTS5 on SQLite and tsquery on PostgreSQL.

User input reaches SQL only in parameters, as quoted words of letters and digits
(`arqkit.texts.posts.text.words`), so it cannot contain operators of either query language.
"""

import json
from typing import NamedTuple

from django.db import connection

from arqkit.texts.posts.queries import Phrase, PostQuery
from collection.models import Collection

TITLE_WEIGHT = 8.0
"""The weight of a word in the title relative to one in the body."""

Parameter = str | int | float | list[str]


class Match(NamedTuple):
    """The result of a search: the total number of posts, and the keys of one page, best first."""

    total: int
    keys: list[int]


class _Sql(NamedTuple):
    source: str
    where: list[str]
    order: str
    parameters: list[Parameter]
    order_parameters: list[Parameter]


def search_posts(
    collection: Collection,
    query: PostQuery,
    *,
    offset: int = 0,
    limit: int = 20,
    among: list[str] | None = None,
) -> Match:
    """Return the posts of a collection that match a query, optionally only those `among` some ids.

    Posts are ordered by BM25 on SQLite and by `ts_rank` on PostgreSQL, with more weight on titles;
    without words, by their score. Ties are in the order of the dump, so that pages never overlap.
    """
    sql = (
        _postgresql(collection, query)
        if connection.vendor == "postgresql"
        else _sqlite(collection, query)
    )
    where, parameters = [*sql.where], [*sql.parameters]
    join = ""
    if query.least is not None or query.most is not None or among is not None or not query.phrases:
        join = "JOIN collection_post p ON p.id = w.post_id"
    for bound, sign in ((query.least, ">="), (query.most, "<=")):
        if bound is not None:
            where.append(f"p.score {sign} %s")
            parameters.append(bound)
    if among is not None:
        condition, ids = _among(among)
        where.append(condition)
        parameters.append(ids)
    # User input is only in the parameters.
    matches = f"FROM {sql.source} {join} WHERE {' AND '.join(where)}"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) {matches}", parameters)
        total = int(cursor.fetchone()[0])
        if offset >= total:
            return Match(total, [])
        cursor.execute(
            f"SELECT w.post_id {matches} ORDER BY {sql.order}, w.post_id LIMIT %s OFFSET %s",
            [*parameters, *sql.order_parameters, limit, offset],
        )
        return Match(total, [int(key) for (key,) in cursor.fetchall()])


# --- Facets: artificial words in the index, which no text of a post contains ---


def collection_facet(collection_id: int) -> str:
    """Return the artificial word of all posts in a collection."""
    return f"c{collection_id}"


def kind_facet(kind: str) -> str:
    """Return the artificial word of all posts of a kind. The digit protects it from stemming."""
    return f"kind{kind}0"


def tag_facet(tag: str) -> str:
    """Return the artificial word of all posts in threads with a tag."""
    signs = (
        sign if sign.isascii() and sign.isalnum() else f"x{ord(sign):x}x"
        for sign in tag.lower()[:100]
    )
    return f"tag{''.join(signs)}0"


def _facets(collection: Collection, query: PostQuery) -> list[str]:
    kinds = [kind_facet(query.kind)] if query.kind else []
    return [collection_facet(collection.pk), *kinds, *map(tag_facet, query.tags)]


# --- SQLite ---


def _sqlite(collection: Collection, query: PostQuery) -> _Sql:
    terms = [f'facets : "{facet}"' for facet in _facets(collection, query)]
    if query.phrases:
        joined = (" OR " if query.any_phrase else " AND ").join(
            _quoted(phrase) for phrase in query.phrases
        )
        terms.append(f"{{title body}} : ({joined})")
    without = [f"{{title body}} : {_quoted(phrase)}" for phrase in query.without]
    without += [f'facets : "{tag_facet(tag)}"' for tag in query.without_tags]
    match = " AND ".join(terms)
    if without:
        match = f"({match}) NOT ({' OR '.join(without)})"
    # Facets have no weight, because all results have them.
    order = "w.score" if query.phrases else "p.score DESC NULLS LAST"
    bm25 = f"bm25(collection_postwords_index, {TITLE_WEIGHT}, 1.0, 0.0)"
    source = (
        f"(SELECT rowid AS post_id, {bm25} AS score "  # noqa: S608  # a constant
        "FROM collection_postwords_index WHERE collection_postwords_index MATCH %s) w"
    )
    return _Sql(source, ["1 = 1"], order, [match], [])


def _quoted(phrase: Phrase) -> str:
    return f'"{" ".join(phrase)}"'


# --- PostgreSQL ---


def _postgresql(collection: Collection, query: PostQuery) -> _Sql:
    facets = " & ".join(f"{facet}:C" for facet in _facets(collection, query))
    facets += "".join(f" & !{tag_facet(tag)}:C" for tag in query.without_tags)
    where, parameters = ["w.words @@ to_tsquery('simple', %s)"], [facets]
    typed = (" | " if query.any_phrase else " & ").join(
        _following(phrase) for phrase in query.phrases
    )
    if typed:
        where.append("w.words @@ to_tsquery('arqlab_words', %s)")
        parameters.append(typed)
    for phrase in query.without:
        where.append("NOT w.words @@ to_tsquery('arqlab_words', %s)")
        parameters.append(_following(phrase))
    if not typed:
        return _Sql("collection_postwords w", where, "p.score DESC NULLS LAST", [*parameters], [])
    # Weights of D (body), C (facets), B, A (title); 1 divides by the logarithm of the length.
    weights = f"'{{{1 / TITLE_WEIGHT}, 0, 0, 1}}'"
    order = f"ts_rank({weights}, w.words, to_tsquery('arqlab_words', %s), 1) DESC"
    return _Sql("collection_postwords w", where, order, [*parameters], [typed])


def _following(phrase: Phrase) -> str:
    return f"({' <-> '.join(phrase)})"


def _among(post_ids: list[str]) -> tuple[str, Parameter]:
    if connection.vendor == "postgresql":
        return "p.post_id = ANY(%s)", post_ids
    return "p.post_id IN (SELECT value FROM json_each(%s))", json.dumps(post_ids)

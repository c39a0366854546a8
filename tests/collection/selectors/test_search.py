"""Full-text search of posts on SQLite and PostgreSQL."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arqkit.texts.posts.queries import parse_query
from collection.models import Collection, Post
from collection.selectors.search import search_posts
from collection.services.indexing import index_posts
from tests.collection.lookup import add_post, make_collection
from tests.factories import LabFactory

pytestmark = pytest.mark.django_db

TEXTS = {
    "1": ("L'Hôpital and limits", "<p>Without the rule.</p>"),
    "2": ("A p-adic integral", "<p>Over a C*-algebra, the p-adic one. To be or not to be.</p>"),
    "3": ("Cauchy sequences converge", "<p>In a complete metric space; a sequence of Cauchy.</p>"),
    "4": (
        "Groups",
        "<p>The limit of a <em>Cauchy</em> sequence, and the harmonic series. Prime 1729.</p>",
    ),
    "5": ("Nothing", "<p>The series was harmonic. Erdős said so.</p>"),
}


@pytest.fixture
def collection(lab) -> Collection:
    made = make_collection(lab)
    for post_id, (title, body) in TEXTS.items():
        add_post(
            made,
            post_id,
            body,
            title=title,
            tags=["real-analysis"] if post_id == "3" else [],
            score=int(post_id),
        )
    add_post(made, "30", "<p>Every Cauchy sequence is bounded.</p>", thread_id="3")
    index_posts(collection=made)
    return made


def found(collection: Collection, text: str, **options) -> list[str]:
    match = search_posts(collection, parse_query(text), **options)
    ids = dict(Post.objects.filter(pk__in=match.keys).values_list("pk", "post_id"))
    return [ids[key] for key in match.keys]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("l'hopital", {"1"}),
        ("L’Hôpital", {"1"}),
        ("HÔPITAL", {"1"}),
        ("p-adic", {"2"}),
        ("C*-algebra", {"2"}),
        ("c algebras", {"2"}),
        ("erdos", {"5"}),
        ("limit", {"1", "4"}),
        ("limits", {"1", "4"}),
        ("group", {"4"}),
        ('"harmonic series"', {"4"}),
        ("harmonic series", {"4", "5"}),
        ('"to be or not to be"', {"2"}),
        ("cauchy sequence", {"3", "4", "30"}),
        ("cauchy sequence -metric", {"4", "30"}),
        ("cauchy -sequences", set()),
        ("-series", {"1", "2", "3", "30"}),
        ("1729", {"4"}),
        ("tag:real-analysis", {"3", "30"}),
        ("tag:real-analysis kind:answer", {"30"}),
        ("-tag:real-analysis cauchy", {"4"}),
        ("tag:real", set()),
        ("tag:real-analysi", set()),
        ("score:>3", {"4", "5"}),
        ("score:2..3 cauchy", {"3"}),
        ("kind:answer", {"30"}),
        ("absent", set()),
    ],
)
def test_a_query_finds_matching_posts(collection, text, expected):
    assert set(found(collection, text)) == expected


def test_a_word_in_the_title_has_more_weight_than_one_in_the_body(collection):
    assert found(collection, "cauchy")[0] == "3"


def test_without_words_posts_are_ordered_by_score_with_unknown_scores_last(collection):
    assert found(collection, "-absent") == ["5", "4", "3", "2", "1", "30"]


def test_pages_do_not_overlap_and_ties_are_in_the_order_of_the_dump(collection):
    for number in range(100, 130):
        add_post(collection, str(number), "<p>tied</p>")
    index_posts(collection=collection)

    pages = [found(collection, "tied", offset=offset, limit=10) for offset in (0, 10, 20, 30)]

    assert [post_id for page in pages for post_id in page] == [
        str(number) for number in range(100, 130)
    ]


def test_the_total_counts_all_pages(collection):
    assert search_posts(collection, parse_query("cauchy"), limit=1).total == 3


def test_posts_of_another_collection_are_not_found(collection):
    other = make_collection(LabFactory(), "other")
    add_post(other, "3", "<p>Cauchy</p>")
    index_posts(collection=other)

    assert len(found(collection, "cauchy")) == 3
    assert found(other, "cauchy") == ["3"]


def test_posts_outside_the_window_are_not_found(collection):
    add_post(collection, "99", "<p>Cauchy later</p>", is_searched=False)
    index_posts(collection=collection)

    assert found(collection, "later") == []


def test_a_search_can_be_limited_to_some_posts(collection):
    assert set(found(collection, "cauchy", among=["3", "5", 'x"y'])) == {"3"}


def test_a_query_can_match_any_of_its_words(collection):
    query = parse_query("hopital erdos")

    assert search_posts(collection, query).total == 0
    assert (
        search_posts(collection, query.__class__(phrases=query.phrases, any_phrase=True)).total == 2
    )


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None
)
@given(
    st.text(
        alphabet=st.sampled_from("aé1²\"'-:*()&|!<>^{}~\\$%;tagOR NEAR\x00\ud7ff𝔽ﷺ"), max_size=40
    )
)
def test_any_input_is_a_valid_query(collection, text):
    assert search_posts(collection, parse_query(text)).total >= 0


@pytest.mark.parametrize(
    "text", ['" OR 1=1 --', "title:cauchy", "NEAR(a b)", "a* ^b", "x:A & !y", "'; DROP TABLE"]
)
def test_query_operators_are_treated_as_words(collection, text):
    assert found(collection, text) == []

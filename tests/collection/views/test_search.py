"""Looking up posts and formulas."""

import re
from html import unescape

import pytest
from django.urls import reverse

from collection.models import Collection
from collection.services.indexing import index_posts
from tests.collection.lookup import add_formulas, add_post, formula, make_searched

PAGE = "/labs/arqmath-x/posts/"


@pytest.fixture
def collection(lab) -> Collection:
    return make_searched(lab)


@pytest.fixture
def ask(client_of, assessor, collection):
    client = client_of(assessor)

    def get(text: str = "", **options):
        return client.get(PAGE, ({"q": text} if text else {}) | options)

    return get


def posts(response) -> list[str]:
    """Return the ids of the posts of a page, in order."""
    return re.findall(
        r'class="result-title">\s*<a href="[^"#]*#post-(\d+)"', response.content.decode()
    )


def test_before_a_search_there_is_only_the_form(ask):
    html = ask().content.decode()

    assert 'name="q"' in html
    assert "No results" not in html


def test_words_find_posts_and_are_marked(ask):
    response = ask("triples")

    assert posts(response) == ["1"]
    assert "Pythagorean <mark>triples</mark>" in response.content.decode()
    assert "1 post in" in response.content.decode()


def test_a_result_shows_kind_score_answers_tags_and_its_typeset_title(ask):
    html = " ".join(ask("primitive").content.decode().split())

    for part in ("Question", "score 3", "1 answer", "number-theory", "<math"):
        assert part in html


def test_an_answer_has_the_title_of_its_thread(ask):
    assert "are primitive?" in ask("even").content.decode()


def test_a_formula_finds_the_same_before_similar_ones_and_is_marked(ask):
    response = ask("$a^2 + b^2 = c^2$")
    html = response.content.decode()

    assert posts(response) == ["1", "10", "20"]
    assert html.index("identical") < html.index("% similar")
    assert html.count("found-formula") == 3
    assert "?formula=102#post-10" in html


def test_words_and_a_formula_find_the_posts_with_both(ask):
    assert posts(ask("$a^2+b^2=c^2$ cones")) == ["20"]
    assert posts(ask("$a^2+b^2=c^2$ kind:answer")) == ["10", "20"]


def test_a_formula_that_cannot_be_converted_is_searched_by_its_latex(ask):
    assert ask(r"$\frac{$").status_code == 200


def test_a_number_gives_what_has_that_id(ask):
    html = ask("20").content.decode()

    assert "Post 20</a>" in html
    assert "Formula instance 104</a>" in ask("104").content.decode()


def test_the_id_of_a_formula_that_we_numbered_gives_it(ask, collection):
    add_formulas(
        collection, {"20.1": ("20", "2", "question", "x"), "c7.1": ("20", "2", "comment", "y")}
    )

    assert "Formula instance 20.1</a>" in ask("20.1").content.decode()
    assert "Formula instance c7.1</a>" in ask("c7.1").content.decode()


def test_a_named_id_leads_to_its_page(ask):
    assert ask("post:20")["Location"] == PAGE + "20/#post-20"
    assert ask("formula:102")["Location"].startswith("/labs/arqmath-x/formulas/")


def test_a_named_id_that_is_not_there_is_reported(ask):
    assert "No results" in ask("post:999").content.decode()


def test_fields_filter_as_words_in_the_box_do(ask):
    assert (
        posts(ask(kind="answer", tags="calculus"))
        == posts(ask("kind:answer tag:calculus"))
        == ["20"]
    )
    assert posts(ask(score="3")) == ["10", "1"]


def test_where_no_post_has_all_words_those_with_some_are_shown(ask):
    response = ask("triples spheres")

    assert set(posts(response)) == {"1", "2"}
    assert "No post contains all of these words" in response.content.decode()


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"q": '"unclosed $x score:> tag: kind:x NEAR( * ^'}, 200),
        ({"q": "x" * 5000}, 200),
        ({"score": "many"}, 200),
        ({"kind": "poem"}, 200),
        ({"q": "cones", "page": "last"}, 200),
        ({"q": "cones", "page": "99999999999999999999"}, 200),
        ({"q": "cones", "page": "-3"}, 200),
        ({"nonsense": "1"}, 200),
    ],
)
def test_nothing_that_can_be_asked_is_an_error(ask, options, status):
    assert ask(**options).status_code == status


def test_a_page_beyond_the_last_is_the_last(ask, collection):
    assert posts(ask("cones", page="9")) == posts(ask("cones"))


def test_hostile_posts_and_queries_stay_text(ask, collection):
    add_post(
        collection,
        "66",
        "<p>evil <script>x()</script>&lt;script&gt;y()&lt;/script&gt;</p>",
        title="<img src=x>evil",
    )
    index_posts(collection=collection)
    html = ask("evil <script>").content.decode()

    assert "<script>x" not in html
    assert "<script>y" not in html
    assert "<img src=x" not in html


@pytest.mark.parametrize("options", [{"pane": "1"}, {"headers": {"HX-Request": "true"}}])
def test_the_pane_and_htmx_get_the_part_without_the_page(client_of, assessor, collection, options):
    headers = options.pop("headers", {})
    response = client_of(assessor).get(PAGE, {"q": "triples"} | options, headers=headers)

    assert response.content.decode().strip().startswith('<section id="look-up"')
    assert "HX-Request" in response["Vary"]


def test_going_back_htmx_gets_the_whole_page(client_of, assessor, collection):
    headers = {"HX-Request": "true", "HX-History-Restore-Request": "true"}

    assert (
        "<!DOCTYPE html>"
        in client_of(assessor).get(PAGE, {"q": "triples"}, headers=headers).content.decode()
    )


def test_in_the_pane_threads_open_beside_it(ask):
    assert 'target="_blank"' in ask("triples", pane="1").content.decode()


def test_a_lab_without_a_collection_shows_what_will_be_here(client_of, organizer):
    assert "Nothing to search" in client_of(organizer).get(PAGE).content.decode()


def test_the_number_of_queries_does_not_grow_with_the_results(
    ask, collection, django_assert_max_num_queries
):
    for number in range(100, 118):
        add_post(collection, str(number), "<p>cones again</p>", thread_id=str(number % 5))
    index_posts(collection=collection)
    with django_assert_max_num_queries(14):
        assert len(posts(ask("cones $x^2+y^2=z^2$"))) == 1
    with django_assert_max_num_queries(14):
        assert len(posts(ask("cones"))) == 20


def test_a_post_with_a_formula_and_a_text_of_a_megabyte_makes_no_long_page(ask, collection):
    add_post(
        collection,
        "30",
        f"<p>Spheres by {formula('300', 'x+' * 500_000)}. {'y ' * 500_000}</p>",
        title="Long",
    )
    index_posts(collection=collection)
    response = ask("y")

    assert posts(response) == ["30"]
    assert "<mark>y</mark>" in response.text
    assert len(response.text) < 20_000


def test_teams_do_not_find_the_page(client_of, member, collection):
    assert (
        client_of(member).get(reverse("collection:post-list", args=["arqmath-x"])).status_code
        == 404
    )


def test_the_next_results_in_the_pane_have_their_own_address(ask, collection):
    for number in range(500, 530):
        add_post(collection, str(number), f"<p>many needles {number}</p>")
    index_posts(collection=collection)

    html = ask("needles", pane="1").text

    [address] = re.findall(r'rel="next"\s+href="([^"]*)"', html)
    assert unescape(address) == f"{PAGE}?q=needles&pane=1&page=2"

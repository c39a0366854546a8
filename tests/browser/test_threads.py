"""Threads as people read them: nothing is asked of another host, deep links are seen, long formulas
scroll in themselves.
"""

import re

import pytest
from playwright.sync_api import expect

from arqlab.core.models import Lab, Task
from tests.browser.test_every_page import WATCH, enter, faults
from tests.collection.lookup import make_searched
from tests.collection.threads import SITE, add_answer, add_question, make_collection, rich_thread
from tests.factories import make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

POSTS = "/labs/arqmath-x/posts"
TOPIC_THREAD = "/labs/arqmath-x/tasks/task1/topics/A.1/thread/"
WIDE = r"\begin{pmatrix}" + "&".join(f"a_{{{n}}}^{{{n}+1}}" for n in range(30)) + r"\end{pmatrix}"
HOSTILE = (
    '<img src="https://evil.example/a.png"><a href="https://evil.example/">x</a>'
    '<style>@import "https://evil.example/b.css"</style><link rel=preload href="https://evil.example/c">'
    '<iframe src="https://evil.example/d"></iframe><video poster="https://evil.example/e" src="https://evil.example/f"></video>'
    '<svg><image href="https://evil.example/g"/></svg><p style="background:url(https://evil.example/h)">y</p>'
    r"$\includegraphics{https://evil.example/i}$ $\style{background:url(https://evil.example/j)}{x}$"
)


def make_thread():
    scene = make_lab()
    Task.objects.update(threads=Task.Threads.OPEN)
    scene.task.topics.filter(query_id="A.1").update(
        thread_id="1",
        latex="x^2",
        formula_html='<span class="math-container"><math><mi>x</mi></math></span>',
    )
    return scene, rich_thread(scene.lab)


def test_threads_keep_to_the_window_do_not_shift_and_break_no_rule_of_axe(page):
    _, collection = make_thread()
    add_answer(
        collection,
        "12",
        body=f"<h2>Wide</h2><p>${WIDE}$ and $${WIDE}$$ <code>{'x' * 200}</code></p>",
    )
    page.add_init_script(WATCH)
    page.goto("/health/live")

    paths = (
        f"{POSTS}/1/",
        f"{POSTS}/11/#comment-101",
        TOPIC_THREAD,
        "/labs/arqmath-x/tasks/task1/topics/A.1/",
    )
    assert [fault for path in paths for fault in faults(page, path)] == []


def test_no_page_of_posts_asks_another_host_for_anything(page):
    _, collection = make_thread()
    add_answer(collection, "12", body=HOSTILE)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    for path in (f"{POSTS}/1/", f"{POSTS}/12/", TOPIC_THREAD):
        page.goto(path)
        page.wait_for_load_state("networkidle")

    assert len(asked) > 10
    assert [
        url
        for url in asked
        if "evil.example" in url or "stackexchange" in url or "i.example.org" in url
    ] == []


@pytest.mark.parametrize("place", ["post-10", "comment-101", "comment-115"])
def test_a_deep_link_shows_its_post_or_comment_marked(page, place):
    make_thread()
    page.goto(f"{POSTS}/1/#{place}")

    expect(page.locator(f"#{place}")).to_be_in_viewport()
    assert (
        page.locator(f"#{place}").evaluate("element => getComputedStyle(element).outlineStyle")
        == "solid"
    )


@pytest.mark.smoke
def test_a_link_inside_the_collection_opens_the_thread_at_the_post(page):
    make_thread()
    page.goto(f"{POSTS}/1/")

    page.get_by_role("link", name="there").first.click()

    expect(page).to_have_url(re.compile(f"{POSTS}/20/#post-20$"))
    expect(page.locator("#post-20")).to_contain_text("Requested post")


def test_links_of_formulas_break_no_rule_of_axe_and_are_reached_by_keyboard(page, organizer):
    make_searched(Lab.objects.get())
    page.add_init_script(WATCH)
    page.goto("/health/live")
    enter(page, organizer)

    assert list(faults(page, f"{POSTS}/10/?formulas=links")) == []
    page.get_by_role("link", name="Formula").first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/formulas/"))


def test_a_copied_text_has_its_formulas_in_latex_and_no_word_that_is_not_seen(page, organizer):
    make_searched(Lab.objects.get())
    page.goto("/health/live")
    enter(page, organizer)
    page.context.grant_permissions(["clipboard-read"])
    page.goto(f"{POSTS}/10/?formulas=links")

    page.locator("#post-10 .post").evaluate("post => getSelection().selectAllChildren(post)")
    page.keyboard.press("Control+c")

    assert (
        page.evaluate("navigator.clipboard.readText()") == "Since $a^{2}+b^{2}=c^{2}$, one is even."
    )
    copied = (
        "navigator.clipboard.read().then(([item]) => item.getType('text/html'))"
        ".then((html) => html.text())"
    )
    assert "<math" in page.evaluate(copied)
    assert "Formula " not in page.evaluate(copied)


def test_a_link_with_a_formula_goes_to_its_mark(page):
    make_thread()
    page.goto(f"{POSTS}/10/?formula=10.1#post-10")

    page.get_by_role("link", name="Go to the formula").click()

    expect(page.locator("#formula-10\\.1")).to_be_in_viewport()


def test_a_dead_link_and_a_mark_are_reported_to_a_screen_reader(page):
    make_thread()
    page.goto(TOPIC_THREAD)

    dead = page.get_by_role("link", name="a sum", disabled=True)
    expect(dead).to_have_attribute(
        "title",
        "Leads to https://en.wikipedia.org/wiki/Sum, outside the collection."
        " Links to other sites are disabled.",
    )
    assert page.locator("mark.is-highlighted math").count() == 1


def test_a_thread_is_read_without_scripts(browser, served):
    make_thread()
    context = browser.new_context(base_url=served.url, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{POSTS}/1/")

    expect(page.get_by_role("heading", level=1)).to_contain_text("even?")
    page.get_by_text("6 comments").click()
    expect(page.get_by_text("Comment 113")).to_be_visible()
    context.close()


def test_a_long_formula_scrolls_in_itself(page):
    scene = make_lab()
    add_question(
        make_collection(scene.lab), body=f"<p>$${WIDE}$$</p><p>See ${WIDE}$ and {SITE}.</p>"
    )
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(f"{POSTS}/1/")

    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    scrolled = "each => each.map((element) => element.scrollWidth > element.clientWidth)"
    assert page.locator(".math-container").evaluate_all(scrolled) == [True, True]

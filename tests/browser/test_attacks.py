"""The corpus of attacks does nothing in a real browser as title, body or comment of posts."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page

from arqkit.texts.html.allowed_html import ATTRIBUTES, POST_TAGS
from arqkit.texts.html.sanitizer import RULES, clean_comment, clean_title_and_body
from collection.models import Collection, Comment, LabCollection, Post
from tests.arqkit.texts.html.xss import vectors
from tests.factories import make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

AT = datetime(2026, 11, 21, tzinfo=UTC)
A_PAGE = 30  # attacks shown on one page
# What an attack that succeeds calls; a page of ours never does.
SENTINEL = "window.ran = []; window.xss = (...said) => { window.ran.push(String(said) || 'xss'); };"
# What a page begins with its first frames, its attacks too, was begun when this is over.
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Everything that a page must not hold where a post is shown, read as the browser read it.
LEFT = """() => [...document.querySelectorAll('*')].flatMap((element) => [...element.attributes]
  .filter(({name, value}) => name.startsWith('on') || name === 'style' || name === 'srcdoc'
    || (/^(href|src|action|formaction|xlink:href|data|poster|background)$/.test(name)
        && (/^[\\s\\u0000-\\u001f]*[a-z]+script:/i.test(value) || /^\\s*data:/i.test(value))))
  .map(({name}) => `${element.outerHTML.slice(0, 200)} ${name}`))"""
# Reads clean HTML as the browser's parser does, inside an element, and gives what is not on the
# lists.
READ = """([texts, tags, attributes]) => texts.flatMap((text, number) => {
  const page = '<main><div id=h>' + text + '</div><i id=after></i></main>';
  const holder = new DOMParser().parseFromString(page, 'text/html');
  const after = holder.querySelector('main > div#h + i#after');
  const found = [...holder.querySelector('#h').querySelectorAll('*')].filter((element) => {
    const name = element.localName;
    const isHtml = element.namespaceURI === 'http://www.w3.org/1999/xhtml';
    if (!isHtml || !tags.includes(name)) return true;
    return [...element.attributes].some((each) => !(attributes[name] || []).includes(each.name));
  });
  return [...(after && holder.body.children.length === 1 ? [] : [`${number} breaks out`]),
          ...found.map((element) => `${number} ${element.outerHTML}`)];
})"""


@pytest.fixture
def dialogs(page: Page) -> list[str]:
    """The dialogs that opened; the page's own fixture fails on requests elsewhere and on what the
    policy blocked.
    """
    opened: list[str] = []
    page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    page.add_init_script(SENTINEL)
    return opened


def import_attacks(attacks: list[str], collection: Collection, first: int) -> Post:
    """Store a thread in which each attack is a title or not, a body and a comment; gives the
    question.
    """
    thread = str(first)
    for number, attack in enumerate(attacks, start=first):
        post_id, is_question = str(number), number == first
        title, body = clean_title_and_body(attack if is_question else "", attack, post_id=post_id)
        kind = Post.Kind.QUESTION if is_question else Post.Kind.ANSWER
        source = attack.replace(
            "\0", ""
        )  # PostgreSQL stores no NUL; an import takes it out, as XML cannot hold it
        Post.objects.create(
            collection=collection, post_id=post_id, thread_id=thread, kind=kind,
            title=source if is_question else "", body=source, rules=RULES,
            clean_title=title.html, clean_body=body.html,
        )  # fmt: skip
        Comment.objects.create(
            collection=collection, comment_id=post_id, post_id=post_id, text=source, rules=RULES,
            clean_text=clean_comment(attack, comment_id=post_id).html,
        )  # fmt: skip
    return Post.objects.get(collection=collection, post_id=thread)


def test_no_attack_runs_loads_or_opens_anything_on_a_thread_page(
    page: Page, dialogs: list[str]
) -> None:
    scene = make_lab()
    collection = Collection.objects.create(slug="hostile", loaded_at=AT)
    LabCollection.objects.create(lab=scene.lab, collection=collection)
    corpus = vectors()
    for first in range(0, len(corpus), A_PAGE):
        attacks = corpus[first : first + A_PAGE]
        question = import_attacks(attacks, collection, 1000 + first)
        answer = page.goto(f"/labs/{scene.lab.slug}/posts/{question.post_id}/")
        assert answer.ok
        page.evaluate(FRAMES)
        assert page.evaluate("window.ran") == []
        assert page.evaluate(LEFT) == []
        assert page.locator("main").count() == 1
    assert dialogs == []


def test_every_title_of_an_attack_is_harmless_too(page: Page, dialogs: list[str]) -> None:
    scene = make_lab()
    collection = Collection.objects.create(slug="hostile", loaded_at=AT)
    LabCollection.objects.create(lab=scene.lab, collection=collection)
    for number, attack in enumerate(vectors()[::4], start=1):
        import_attacks([attack], collection, number)
        page.goto(f"/labs/{scene.lab.slug}/posts/{number}/")
        assert page.evaluate("window.ran") == [], attack
        assert page.evaluate(LEFT) == [], attack
    assert dialogs == []


def test_a_browsers_parser_finds_nothing_outside_the_lists_and_nothing_breaks_out(
    page: Page,
) -> None:
    page.goto("/health/live")
    texts = [
        html.html
        for attack in vectors()
        for html in clean_title_and_body(attack, attack, post_id="9")
    ]
    attributes = {name: list(known) for name, known in ATTRIBUTES.items()} | {
        "span": ["class", "id"]
    }

    assert page.evaluate(READ, [texts, [*POST_TAGS, "span"], attributes]) == []


def test_the_corpus_does_something_where_nothing_is_cleaned(page: Page, dialogs: list[str]) -> None:
    page.goto("about:blank")
    page.evaluate("(html) => { document.body.innerHTML = html; }", "<img src=data:, onerror=xss()>")
    page.wait_for_function("window.ran.length > 0")

    assert page.evaluate("window.ran") == ["xss"]

"""Hostile and careless HTML is rewritten: harmless, complete, and in linear time."""

import re
import time
from collections.abc import Callable

import pytest
from lxml import html

from arqkit.texts.html.allowed_html import ATTRIBUTES, POST_TAGS
from arqkit.texts.html.sanitizer import CleanText, clean_line, clean_post
from tests.arqkit.texts.html.test_sanitizer import SPAN, body, ours, slowly
from tests.arqkit.texts.html.xss import vectors


@pytest.mark.parametrize(
    ("source", "clean"),
    [
        ("<p>$a<b$ and $c>d$</p>", f"<p>{ours(1, '$a&lt;b$')} and {ours(2, '$c&gt;d$')}</p>"),
        (
            "<p>$a <b $ and $ c> d$</p>",
            f"<p>{ours(1, '$a &lt;b $')} and {ours(2, '$ c&gt; d$')}</p>",
        ),
        (r"\(a<b\)", ours(1, "$a&lt;b$")),
        ("if x <y and 1<2 then <n>", "if x &lt;y and 1&lt;2 then &lt;n&gt;"),
        ("a <b and that is it", "a &lt;b and that is it"),
        (SPAN.format(7, "$a<b>c$"), SPAN.format(7, "$a&lt;b&gt;c$")),
        (SPAN.format(7, "$a&amp;lt;b$"), SPAN.format(7, "$a&amp;lt;b$")),
        ("<div>a</div><font color=red>b</font>", "ab"),
        ("<p>a<p>b<ul><li>c<li>d</ul>", "<p>a</p><p>b</p><ul><li>c</li><li>d</li></ul>"),
        ("<b>a<i>b</b>c</i></p></div>", "<b>a<i>b</i></b><i>c</i><p></p>"),
        ("<em>a<ul><li>b</ul></em>", "a<ul><li>b</li></ul>"),
        ("<h1>a<p>b</h1><p>c", "a<p>b</p><p>c</p>"),
        (
            "<table><tr><td>a<td>b<tr>c</table>d",
            "c<table><tbody><tr><td>a</td><td>b</td></tr><tr></tr></tbody></table>d",
        ),
        ("a\0b\ud800c", "abc"),
    ],
)
def test_no_text_is_lost_and_every_element_is_closed(source: str, clean: str) -> None:
    assert body(source) == clean


@pytest.mark.parametrize(
    ("source", "clean"),
    [
        ('<a href="//x.org/a">b</a>', '<a href="https://x.org/a">b</a>'),
        ('<a href="HTTP://x.org">b</a>', '<a href="http://x.org">b</a>'),
        (
            '<a href="https://x.org/?a=1&b=2" class="x">b</a>',
            '<a href="https://x.org/?a=1&amp;b=2">b</a>',
        ),
        (
            '<a href="/questions/1">b</a>',
            '<a href="https://math.stackexchange.com/questions/1">b</a>',
        ),
        ('<a href="javascript:x()">b</a>', "<a>b</a>"),
        (
            "<img src='//x.org/a.png' alt='a \"b\"' width=10 height=1px>",
            '<img src="https://x.org/a.png" alt="a &quot;b&quot;" width="10">',
        ),
        ('<p id="a" class="math-container" style="x">b</p>', "<p>b</p>"),
        ('<ol start="3"><li>a</li></ol>', '<ol start="3"><li>a</li></ol>'),
        ('<ol start="3x"><li>a</li></ol>', "<ol><li>a</li></ol>"),
    ],
)
def test_harmless_attributes_are_kept(source: str, clean: str) -> None:
    assert body(source) == clean


@pytest.mark.parametrize("clean", [clean_post, clean_line])
@pytest.mark.parametrize("careful", [False, True])
def test_no_attack_leaves_an_element_or_attribute_outside_the_lists(
    clean: Callable[..., CleanText], careful: bool
) -> None:
    for attack in vectors():
        returned = slowly(attack, clean).html if careful else clean(attack, prefix="9").html
        for element in html.fragment_fromstring(returned, create_parent="div").iterdescendants():
            assert element.tag in POST_TAGS | {"span"}, attack
            known = (
                {"class", "id"} if element.tag == "span" else set(ATTRIBUTES.get(element.tag, ()))
            )
            assert set(element.attrib) <= known, attack
            for address in (element.get("href", "https://"), element.get("src", "https://")):
                assert address.startswith(("https://", "http://")), attack
            if element.tag == "span":
                assert element.get("class") == "math-container", attack
                assert re.fullmatch(r"[\w.:-]+", element.get("id"), re.ASCII), attack


def test_the_corpus_is_large() -> None:
    assert len(set(vectors())) > 300


HOSTILE = [
    "$",
    "$$",
    "${",
    r"\(",
    r"\({",
    r"\[",
    "$5 and ",
    r"\begin{abc}",
    r"\begin{abc}\begin{abd}",
    "<",
    "</",
    "<a ",
    "<a",
]
HOSTILE += [
    '<a href="',
    "<img '\"",
    "<!--",
    "<!",
    "<script>",
    "<svg>",
    "<b>",
    "<blockquote>",
    "<ul><li>",
    "<table><tr><td>",
]
HOSTILE += [
    "<p><b>x",
    "<b><p>x</b>",
    "<span class=math-container",
    "<span class=math-container>",
    "<code>",
    "</b>",
    "&",
    "<x>",
]
HOSTILE += [
    "<a " + "b=c " * 9,
    "<dd><dl>",
    "<a b=\"<a b='",
    r"\text{$a",
    "<span><span class=math-container>",
    "</span>",
    "$<br>",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_megabyte_of_any_input_is_tidied_quickly(piece: str) -> None:
    start = time.process_time()
    body(piece * (1_000_000 // len(piece)))
    assert time.process_time() - start < 5


def test_a_hundred_thousand_attributes_are_read_quickly() -> None:
    start = time.process_time()
    body("<a " + " ".join(f"a{number}=1" for number in range(100_000)) + ">")
    assert time.process_time() - start < 1

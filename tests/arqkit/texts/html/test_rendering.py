"""Posts become safe HTML without losing text or formulas."""

import gzip
import re
import time
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from lxml import etree, html

from arqkit.texts.html.rendering import (
    addresses_of,
    compose,
    keys_of,
    read_text,
    render_formula,
    title_text,
)
from arqkit.texts.html.sanitizer import clean_line, clean_post

SPAN = '<span class="math-container" id="q_7">${}$</span>'


def render_post(source: str) -> str:
    return compose(clean_post(source, prefix="f").html, formulas={})


def render_title(source: str) -> str:
    return compose(clean_line(source, prefix="f").html, formulas={})


def words_of(source: str) -> str:
    """Return the visible words of a post outside formulas."""
    source = re.sub(
        r'<span class="with-mark">(.*?)([,.;:!?]+)</span>', r"\1\2", source, flags=re.DOTALL
    )
    without_formulas = re.sub(
        r'<span class="math-container.*?</span>', " ", source, flags=re.DOTALL
    )
    return " ".join(unescape(re.sub(r"<[^>]+>|\$", " ", without_formulas)).split())


def test_a_formula_keeps_its_id_and_its_latex() -> None:
    rendered = render_post(f"<p>Let {SPAN.format('x^2')}.</p>")

    assert '<span class="math-container" data-formula-id="q_7" data-latex="x^2"><math>' in rendered
    assert "$" not in rendered


@pytest.mark.parametrize(
    ("formula", "is_kept"),
    [(SPAN.format("x"), True), (SPAN.format("$x$"), False), (SPAN.format("+x" * 40), False)],
)
def test_a_comma_stays_on_the_line_of_a_formula_that_is_short(formula: str, is_kept: bool) -> None:
    rendered = render_post(f"<p>So {formula}, then.</p>")

    assert ("</math></span>,</span> then." in rendered) is is_kept
    assert ("</math></span>, then." in rendered) is not is_kept


def test_a_reference_in_a_text_shows_the_tag_of_its_equation_or_its_label() -> None:
    equation = r'<span class="math-container" id="1">$$x \tag{2} \label{a}$$</span>'
    text = rf"<p>{equation} By \eqref{{a}}, \ref{{b}}: <code>\eqref{{a}}</code></p>"

    assert r"By (2), b: <code>\eqref{a}</code>" in compose(text, formulas={})


def test_two_dollars_make_a_display_formula() -> None:
    rendered = render_post(f"<p>{SPAN.format('$x$')}</p>")

    assert 'class="math-container is-display"' in rendered
    assert 'data-latex="x"' in rendered


def test_a_formula_that_is_a_whole_paragraph_is_a_display_formula() -> None:
    alone, beside = SPAN.format(r"\sum_n 1"), SPAN.format(r"\sum_m 1")
    rendered = render_post(
        f"<p>\n {alone} </p><p>So {beside}</p><p>{beside}.</p><p>{beside} {beside}</p>"
    )

    assert re.findall(r'is-display"[^>]*data-latex="([^"]*)"><math display="block"', rendered) == [
        r"\sum_n 1"
    ]
    assert "is-display" not in render_title(f"<p>{alone}</p>")


@pytest.mark.parametrize(
    ("source", "latex"),
    [
        ("<p>$a<b$ and $c>d$</p>", "a&lt;b"),
        ("<p>$a &lt; b$</p>", "a &lt; b"),
        (r"<p>\(a<b\)</p>", "a&lt;b"),
        (r"<p>\[a<b\]</p>", "a&lt;b"),
        ("<p>$$a<b$$</p>", "a&lt;b"),
        (r"<p>\begin{align}a&amp;<b\end{align}</p>", r"\begin{align}a&amp;&lt;b\end{align}"),
        (f"<p>{SPAN.format('a<b')}</p>", "a&lt;b"),
        (f"<p>{SPAN.format('a&lt;b')}</p>", "a&lt;b"),
        (f"<p>{SPAN.format('a&amp;lt;b')}</p>", "a&lt;b"),
    ],
)
def test_every_formula_delimiter_is_read(source: str, latex: str) -> None:
    assert f'data-latex="{latex}"' in render_post(source)


def test_a_formula_in_the_text_of_an_environment_is_part_of_it() -> None:
    source = rf"<p>\begin{{align}}a&amp;\text{{ if {SPAN.format('b')}}}\end{{align}}</p>"

    assert render_post(source).count("data-latex=") == 1


def test_a_span_inside_a_span_is_one_formula() -> None:
    source = f'<p><span class="math-container">${SPAN.format("a<b").replace("$", "")} $</span></p>'

    assert render_post(source).count('data-formula-id="q_7" data-latex="a&lt;b"') == 1


@pytest.mark.parametrize(
    "source", ["<p>It costs $5, or $10.</p>", "<p>one $ alone</p>", r"<p>\$5 and \$6</p>"]
)
def test_money_is_not_maths(source: str) -> None:
    assert "math" not in render_post(source)


@pytest.mark.parametrize("tag", ["code", "pre"])
def test_code_is_unchanged(tag: str) -> None:
    assert f"<{tag}>$x$ $y$</{tag}>" in render_post(f"<{tag}>$x$ $y$</{tag}>")


def test_a_formula_that_cannot_be_typeset_is_shown_as_latex() -> None:
    rendered = render_formula(r"\frac{")

    assert r"\frac{</code>" in rendered
    assert "could not be typeset, in LaTeX: </span><code" in rendered


def test_an_empty_formula_shows_nothing() -> None:
    assert "latex</code>" not in render_formula(" ")
    assert "<code" not in render_formula(" ")


def test_requested_formulas_are_marked() -> None:
    clean = f"<p>{SPAN.format('x')} {SPAN.format('y').replace('q_7', 'q_8')}</p>"

    rendered = compose(clean, formulas={}, highlight=frozenset({"q_8"}))

    assert re.findall(
        r'<mark class="math-container is-highlighted" data-formula-id="(.*?)"', rendered
    ) == ["q_8"]


def test_a_macro_holds_from_the_formula_that_defines_it_to_the_end_of_the_text() -> None:
    rendered = render_post(r"<p>$\one$ $\newcommand{\one}{\mathbf 1}$ $\one+x$</p>")

    before, after = rendered.split(r'data-latex="\newcommand', 1)
    assert "one</mtext>" in before
    assert "<mn>𝟏</mn>" in after
    assert r'data-latex="\one+x"' in after


def test_the_formulas_of_a_text_are_listed_once() -> None:
    text = read_text(f"{SPAN.format('x')}{SPAN.format('x')}{SPAN.format('$x$')}")

    assert keys_of([text]) == [("x", False), ("x", True)]


def test_the_addresses_of_links_are_listed_once_and_unescaped() -> None:
    text = read_text(
        '<a href="https://e.org/?a&amp;b">x</a><a href="https://e.org/?a&amp;b" title="t">x</a>'
    )

    assert addresses_of([text]) == ["https://e.org/?a&b"]


def test_headings_are_below_those_of_the_page() -> None:
    assert (
        render_post("<h1>One</h1><h2>Two</h2><h3>Three</h3>")
        == "<h4>One</h4><h5>Two</h5><h6>Three</h6>"
    )


def test_the_highest_heading_of_a_post_is_h4_whatever_it_was() -> None:
    assert render_post("<h2>Two</h2><h3>Three</h3>") == "<h4>Two</h4><h5>Three</h5>"


def test_an_external_link_is_disabled_with_an_explanation() -> None:
    rendered = render_post('<p><a href="https://example.org/x" rel="nofollow">there</a></p>')

    assert "<a" not in rendered
    assert 'role="link" aria-disabled="true" data-host="example.org"' in rendered
    assert (
        'title="Leads to https://example.org/x, outside the collection.'
        ' Links to other sites are disabled.">there</span>' in rendered
    )


def test_a_link_to_a_local_page_works() -> None:
    clean = '<p><a href="https://example.org/a">a</a> <a href="https://example.org/b">b</a></p>'

    rendered = compose(clean, formulas={}, links={"https://example.org/b": "/here/?x&y#post-1"}.get)

    assert '<a href="/here/?x&amp;y#post-1">b</a>' in rendered
    assert ">a</span>" in rendered


@pytest.mark.parametrize(
    ("image", "marker"),
    [
        ('<img src="https://example.org/d/x.png?s=1" alt="a triangle">', "image: a triangle"),
        ('<img src="https://www.example.org/d/x.png?s=1">', "x.png at example.org, not loaded"),
        ('<img src="https://example.org/x.png" alt="enter image description here">', ">image <"),
    ],
)
def test_an_image_is_replaced_by_its_description_and_file(image: str, marker: str) -> None:
    rendered = render_post(f"<p>{image}</p>")

    assert marker in rendered
    assert "<img" not in rendered


def test_a_title_has_no_blocks() -> None:
    assert render_title("<p>Is <em>it</em>?</p>") == "Is <em>it</em>?"


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        (f"Why is {SPAN.format('a<b')} &amp; so on?", "Why is $a<b$ & so on?"),
        ("Is $a<b$ <em>true</em>?", "Is $a<b$ true?"),
        ("two\n  lines", "two lines"),
        ("<script>alert(1)</script>x", "x"),
    ],
)
def test_a_plain_title_is_text_with_latex(title: str, plain: str) -> None:
    assert title_text(title) == plain


ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    '<a href="javascript:alert(1)">x</a>',
    '<p onclick="alert(1)" style="position:fixed">x</p>',
    "<iframe src=//example.org></iframe>",
    "<style>*{display:none}</style>",
    '<form action="//example.org"><input name=q><button>x</button></form>',
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table>"
    "</mtext></math>",
    '<span class="math-container" id="x onclick=alert(1)">$x$</span>',
    '<span class="math-container" id="&quot; onclick=&quot;alert(1)">$x$</span>',
    '<span class="math-container">$\\text{<script>alert(1)</script>}$</span>',
    '<span class="math-container">$<img src=x onerror=alert(1)>$</span>',
    "<p title=\"$x$\" data-a='$y$'>z</p>",
    '<a title="$\\text{&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;}$">x</a>',
    "$x$<td rowspan='1\" onclick=\"alert(1)'>",
    "\ue0000\ue001<b>\ue00099\ue001</b>",
    "<base href=//example.org><link rel=stylesheet href=//example.org>"
    "<meta http-equiv=refresh content=0>",
    "<template><script>alert(1)</script></template>"
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    "<!--><script>alert(1)</script>--><![CDATA[<script>alert(1)</script>]]>",
    "<code><script>alert(1)</script></code><pre onclick=alert(1)>x</pre>",
    '<img alt="&lt;script&gt;alert(1)&lt;/script&gt;" src="x">',
    "<p>$a</p><script>alert(1)</script><p>b$</p>",
    '<span id="csrf" class="chip error-summary">x</span>',
]


CLASSES = {
    "math-container",
    "is-display",
    "is-long",
    "dead-link",
    "missing-image",
    "missing-image-file",
}
CLASSES |= {"latex", "visually-hidden"}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("render", [render_post, render_title])
def test_an_attack_is_neutralised(render: Callable[[str], str], attack: str) -> None:
    rendered = html.fragment_fromstring(render(attack), create_parent="div")

    for element in rendered.iter(etree.Element):
        assert element.tag not in {
            "script",
            "style",
            "iframe",
            "img",
            "svg",
            "form",
            "input",
            "link",
            "meta",
            "base",
        }
        assert not {
            name
            for name in element.attrib
            if name.startswith(("on", "src", "href", "style", "action"))
        }
        assert element.get("id") is None
        assert {
            name for name in element.get("class", "").split() if not name.startswith("tml-")
        } <= CLASSES


@pytest.mark.parametrize(
    "piece",
    ["$a ", r"\(", r"\[", "<pre>", "<span class=math-container>", "$$", r"\begin{align}", "<a"],
)
def test_a_long_hostile_post_is_rendered_quickly(piece: str) -> None:
    start = time.process_time()
    render_post(piece * (30_000 // len(piece)))

    assert time.process_time() - start < 5


def test_every_real_topic_keeps_its_formulas_and_loses_no_text(shared_data: Path) -> None:
    for path in sorted(shared_data.glob("arqmath-*/topics.task1.xml")):
        for topic in etree.parse(path).getroot().iter("Topic"):
            body = topic.findtext("Question") or ""
            rendered = render_post(body)
            known = set(re.findall(r'class="math-container" id="(\w+)"', body))
            assert known <= set(re.findall(r'data-formula-id="(.*?)"', rendered))
            assert words_of(rendered) == words_of(body)
            assert 'class="latex"' not in rendered


def test_almost_every_formula_of_real_posts_is_typeset(shared_data: Path) -> None:
    formulas = failed = 0
    with gzip.open(shared_data / "collection" / "Posts.xml.gz") as posts:
        for number, (_, row) in enumerate(etree.iterparse(posts, tag="row")):
            if number % 6 == 0:
                rendered = render_post(row.get("Body", ""))
                formulas += rendered.count("data-latex=")
                failed += rendered.count('class="latex"')
            row.clear()

    assert formulas > 8000
    assert failed / formulas < 0.005

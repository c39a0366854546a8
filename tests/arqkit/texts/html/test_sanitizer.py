"""Posts are made safe, and their formulas found, numbered and wrapped, without losing text."""

import gzip
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree, html

from arqkit.texts.html import sanitizer
from arqkit.texts.html.allowed_html import FORMULA, IN_LINES, IN_POSTS, is_clean
from arqkit.texts.html.sanitizer import CleanText, clean_line, clean_post, clean_title_and_body

SPAN = '<span class="math-container" id="{}">{}</span>'


def body(source: str) -> str:
    return clean_post(source, prefix="9").html


def ours(number: int, latex: str) -> str:
    return SPAN.format(f"9.{number}", latex)


def words(source: str) -> str:
    """Return the text of HTML as lxml reads it, without white space and delimiters."""
    text = html.fragment_fromstring(source or " ", create_parent="div").text_content()
    return re.sub(r"[\s$]+|\\[\[\]()]", "", text)


def slowly(source: str, clean: Callable[..., CleanText] = clean_post) -> CleanText:
    """Sanitize without the proof that passes clean text."""
    fast = sanitizer.is_clean
    sanitizer.is_clean = lambda *_: False
    try:
        return clean(source, prefix="9")
    finally:
        sanitizer.is_clean = fast


def tree(source: str) -> bytes:
    """Return what lxml reads in HTML, with formula elements as text."""
    return etree.tostring(html.fragment_fromstring(source, create_parent="div"), method="c14n")


@pytest.mark.parametrize(
    ("source", "clean"),
    [
        ("let $a^2$ be", f"let {ours(1, '$a^2$')} be"),
        ("$$a$$", ours(1, "$$a$$")),
        (r"\(a\)", ours(1, "$a$")),
        (r"\[a\]", ours(1, "$$a$$")),
        (r"\begin{align}a&amp;b\end{align}", ours(1, r"$$\begin{align}a&amp;b\end{align}$$")),
        (r"\begin{a*}\begin{a*}x\end{a*}\end{a*}", r"\begin{a*}\begin{a*}x\end{a*}\end{a*}"),
        (
            r"\begin{cases}\begin{cases}x\end{cases}\end{cases}",
            ours(1, r"$$\begin{cases}\begin{cases}x\end{cases}\end{cases}$$"),
        ),
        (r"$\text{if $x$}$ and $y$", ours(1, r"$\text{if $x$}$") + f" and {ours(2, '$y$')}"),
        (r"$\$5 + x$", ours(1, r"$\$5 + x$")),
        ("$ a + b $", ours(1, "$ a + b $")),
        (
            "the $i$th of $2$ and $10^5$",
            f"the {ours(1, '$i$')}th of {ours(2, '$2$')} and {ours(3, '$10^5$')}",
        ),
        ("a C$^*$-algebra", f"a C{ours(1, '$^*$')}-algebra"),
        ("$$a<br>b$$", ours(1, "$$a b$$")),
        (r"$$a \\[3mm] b$$", ours(1, r"$$a \\[3mm] b$$")),
        ("<b>$a$</b>$b$", f"<b>{ours(1, '$a$')}</b>{ours(2, '$b$')}"),
        ('<span class="math-container">$a$</span>', ours(1, "$a$")),
        (
            '<span class="math-container" id="7">$a$</span> $b$',
            f"{SPAN.format(7, '$a$')} {ours(1, '$b$')}",
        ),
        (r'<span class="math-container" id="7">\(a\)</span>', SPAN.format(7, "$a$")),
        (r'<span class="math-container" id="7">\text{a}</span>', SPAN.format(7, r"\text{a}")),
        ("<span id=q_7 class='math-container'>$a$</span>", SPAN.format("q_7", "$a$")),
    ],
)
def test_every_delimited_formula_is_found_and_wrapped(source: str, clean: str) -> None:
    assert body(source) == clean


@pytest.mark.parametrize(
    "source",
    [
        "It costs $5 and then $7.",
        "US$ 20, then US$ 30",
        "$100k–$200k",
        "$1,000 to $2,000",
        "one $ alone",
        "5$ for one and 7$ for two",
        "It costs $5. Let us see what else $ can buy",
        r"\$5 and \$6",
        "<code>$x$</code> and <pre><code>$$y$$</code></pre>",
        "<kbd>$x$</kbd>",
        "<p>$a</p><p>b$</p>",
        r"\begin{itemize} \item x \end{itemize}",
        r"a \\(b\\) c",
        "",
    ],
)
def test_money_code_and_escaped_dollars_are_unchanged(source: str) -> None:
    assert body(source) == source
    assert clean_post(source, prefix="9").formulas == ()


def test_a_line_has_no_blocks_and_no_images() -> None:
    source = "<h1>Is <em>$x$</em> <img src='https://x.org/a.png'>?</h1>"
    assert (
        clean_line(source, prefix="c3", first=4).html
        == f"Is <em>{SPAN.format('c3.4', '$x$')}</em> ?"
    )


def test_numbering_continues_from_the_title_to_the_body() -> None:
    title, text = clean_title_and_body(
        "$a$ and " + SPAN.format(5, "$b$"), "<p>$c$</p>", post_id="254"
    )
    assert [found.formula_id for found in title.formulas + text.formulas] == ["254.1", "5", "254.2"]


def test_a_formula_is_returned_without_dollars_and_escapes() -> None:
    [first, second] = clean_post("<p>$a&lt;b$ " + SPAN.format(7, "$$ c $$"), prefix="9").formulas
    assert first == ("9.1", "a<b", False)
    assert second == ("7", "c", True)


def test_formulas_inside_an_environment_are_part_of_it_and_listed() -> None:
    clean = clean_post(
        rf"\begin{{align}}a\text{{ if {SPAN.format(7, '$b$')}}}\end{{align}}", prefix="9"
    )
    assert clean.html == ours(1, r"$$\begin{align}a\text{ if $b$}\end{align}$$")
    assert [found.formula_id for found in clean.formulas] == ["9.1", "7"]


def test_a_formula_in_a_formulas_element_is_one_formula() -> None:
    source = f'<span class="math-container">${SPAN.format(7, "a<b")} $</span>'
    assert body(source) == SPAN.format(7, "$a&lt;b $")


@pytest.mark.parametrize("known", ["9.1", "254.3", "x y", "&quot;", "a" * 301])
def test_an_invalid_id_or_one_like_ours_is_replaced(known: str) -> None:
    assert body(SPAN.format(known, "$x$")) == ours(1, "$x$")


CLEAN = (
    '<p>Let <span class="math-container" id="7">$a&lt;b$</span>, <em>so</em>&nbsp;>'
    ' <a href="https://x.org/" rel="nofollow noreferrer" title="t">l</a><br>\n'
    '<img src="https://i.org/a.png" alt="b"></p>'
    "<ul><li><p>x</p></li></ul><hr>"
    "<pre><code>a &lt; $b$\n</code></pre><blockquote><h2>h</h2></blockquote>"
    '<ol start="2"><li>y</li></ol>'
)


def test_clean_text_is_returned_unchanged() -> None:
    assert body(CLEAN) == CLEAN


TOKENS = r"""
<b> </b> <i> </i> <div> </div> <table> <tbody> <tr> <td> </td> </tr> </table> </p> <li> </ul>
<dl> <dt> <a> </a> $ $$ { } \( \) \ < > " ' & &lt; <span> <span <br <!-- --> <svg> </svg>
<script> </script> \begin{cases} \end{cases} 5 = /
"""
PIECES = st.sampled_from(
    [
        *re.findall(r"<[^>]*>|[^<]+", CLEAN),
        *TOKENS.split(),
        "\n",
        "\0",
        "\ue000",
        " x ",
        " and ",
        '<span class="math-container">',
    ]
)
SOUP = st.lists(PIECES, max_size=25).map("".join)


@settings(max_examples=600, deadline=None)
@given(SOUP)
def test_the_output_is_proven_clean_and_idempotent(source: str) -> None:
    for clean, inside in ((clean_post, IN_POSTS), (clean_line, IN_LINES)):
        once = clean(source, prefix="9").html
        assert is_clean("\0".join(FORMULA.split(once)[::3]), inside)
        assert clean(once, prefix="9").html == once


@settings(max_examples=600, deadline=None)
@given(SOUP)
def test_text_passed_unchanged_equals_its_tidied_form(source: str) -> None:
    if "\0" not in source and is_clean("\0".join(FORMULA.split(source)[::3]), IN_POSTS):
        fast, careful = clean_post(source, prefix="9"), slowly(source)
        assert tree(fast.html) == tree(careful.html)
        assert fast.formulas == careful.formulas


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_any_text_is_kept_as_text(source: str) -> None:
    assert is_clean("\0".join(FORMULA.split(body(source))[::3]), IN_POSTS)


@pytest.fixture(scope="module")
def real_posts(shared_data) -> list[tuple[str, str, str]]:
    with gzip.open(shared_data / "collection/Posts.xml.gz") as file:
        return [
            (row.get("Id"), row.get("Title", ""), row.get("Body", ""))
            for _, row in etree.iterparse(file, tag="row")
        ]


def test_ids_and_text_of_real_posts_are_kept(real_posts: list[tuple[str, str, str]]) -> None:
    assert len(real_posts) == 6164
    for post_id, *sources in real_posts:
        for source, clean in zip(
            sources, clean_title_and_body(*sources, post_id=post_id), strict=True
        ):
            ids = re.findall(r'<span class="math-container" id="(\d+)">', source)
            kept = {formula.formula_id for formula in clean.formulas} & set(ids)
            assert kept == set(ids), post_id
            assert clean.html == source or words(clean.html) == words(source), post_id


def test_nearly_all_real_posts_pass_unchanged_and_tidying_agrees(
    real_posts: list[tuple[str, str, str]],
) -> None:
    passed = [
        text for *_, text in real_posts if is_clean("\0".join(FORMULA.split(text)[::3]), IN_POSTS)
    ]
    assert len(passed) > 0.995 * len(real_posts)
    for text in passed[::20]:
        assert tree(clean_post(text, prefix="9").html) == tree(slowly(text).html)


def test_the_counts_of_a_clean_text_are_those_of_its_formulas():
    span = '<span class="math-container" id="{}">$x$</span>'
    clean = clean_post(f"<p>$a &lt; b$ {span.format(7)} {span.format('9.9')} $$c$$</p>", prefix="3")

    assert (clean.formula_count, clean.numbered) == (4, 3)
    assert [formula[:2] for formula in clean.formulas] == [
        ("3.1", "a < b"),
        ("7", "x"),
        ("3.2", "x"),
        ("3.3", "c"),
    ]

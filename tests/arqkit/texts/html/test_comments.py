"""Markdown of comments becomes tags, and nothing else does."""

import time

import pytest

from arqkit.texts.html.allowed_html import FORMULA, IN_LINES, is_clean
from arqkit.texts.html.comments import with_markup
from arqkit.texts.html.sanitizer import clean_comment
from tests.arqkit.texts.html.xss import vectors

FIRST = '<span class="math-container" id="1">$a*b*c$</span>'


@pytest.mark.parametrize(
    ("typed", "html"),
    [
        ("see `x_1*y*` and ``a`b``", "see <code>x_1*y*</code> and ``a`b``"),
        ("*not* **over** _yes_", "<em>not</em> <strong>over</strong> <em>yes</em>"),
        ("2*3*4, a * b * c, snake_case_name", "2*3*4, a * b * c, snake_case_name"),
        ("[this](https://a.b/c)", '<a href="https://a.b/c">this</a>'),
        ("[that](/q/5)", '<a href="https://math.stackexchange.com/q/5">that</a>'),
        ("(http://a.b/c_(d)).", '(<a href="http://a.b/c_(d)">http://a.b/c_(d)</a>).'),
        ("http://a.b/c_d_e.", '<a href="http://a.b/c_d_e">http://a.b/c_d_e</a>.'),
        (f"*with {FIRST}*", f"<em>with {FIRST}</em>"),
        ('<a href="https://a.b">http://a.b *c*</a>', '<a href="https://a.b">http://a.b *c*</a>'),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("*a [b*](http://c.d)", "*a [b*](http://c.d)"),
        ("*a <b>c*</b>", "*a <b>c*</b>"),
    ],
)
def test_markdown_becomes_tags(typed: str, html: str) -> None:
    assert with_markup(typed) == html


def test_a_hostile_comment_stays_clean() -> None:
    for attack in vectors():
        for typed in (
            attack,
            f"*{attack}*",
            f"[{attack}](http://a.b)",
            f"[x]({attack})",
            f"`{attack}`",
        ):
            done = with_markup(clean_comment(typed, comment_id="1").html)
            assert is_clean(FORMULA.sub("\0", done), IN_LINES)


@pytest.mark.parametrize("piece", ["[a](", "`a", "*a ", "_a ", "**", "http://a(", "[x](http://a"])
def test_a_long_comment_is_read_quickly(piece: str) -> None:
    start = time.process_time()
    with_markup(piece * 5000)

    assert time.process_time() - start < 2

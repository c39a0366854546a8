"""Pages of HTML become title and body, and their MathML the LaTeX that it comes with."""

import pytest

from arqkit.texts.html.foreign import document_html, text_html
from arqkit.texts.html.sanitizer import clean_title_and_body

PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1 plus MathML 2.0//EN" "x.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title> A &lt; B </title>
<style>p{}</style></head><body>Top <div id="S1"><p>Let
<math xmlns="http://www.w3.org/1998/Math/MathML" alttext="a&lt;b^{2}"><mi>a</mi></math>, and
%s.</p></div><script>x()</script></body></html>"""


@pytest.mark.parametrize(
    ("math", "shown"),
    [
        ('<math alttext="$x$"></math>', "$x$"),
        ('<math display="block" alttext="x"></math>', "$$x$$"),
        ('<math mode="display" alttext="x"></math>', "$$x$$"),
        (
            "<math><semantics><mi>x</mi><annotation encoding='application/x-tex'>x_1"
            "</annotation></semantics></math>",
            "$x_1$",
        ),
        (
            "<m:math><m:semantics><m:annotation-xml><m:apply/></m:annotation-xml>"
            "<m:annotation encoding='TeX'>x &amp; y</m:annotation></m:semantics></m:math>",
            "$x &amp; y$",
        ),
    ],
)
def test_mathml_becomes_its_latex(math, shown):
    read = document_html(PAGE % math, document_id="math/9801_1")
    title, body = clean_title_and_body(read.title, read.body, post_id="math/9801_1")

    assert (read.unread, title.html) == (0, "A &lt; B")
    assert " ".join(body.html.split()) == (
        'Top <p>Let <span class="math-container" id="math/9801_1.1">$a&lt;b^{2}$</span>, and '
        f'<span class="math-container" id="math/9801_1.2">{shown}</span>.</p>'
    )


def test_mathml_without_latex_is_counted_and_replaced_by_a_note():
    read = document_html(
        PAGE % "<math><mi>x</mi><annotation>x</annotation></math>", document_id="math/9801_1"
    )

    assert read.unread == 1
    assert "<span>[formula without LaTeX]</span>." in read.body
    assert "<mi>" not in read.body


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<p>A fragment</p>", ("", "<p>A fragment</p>")),
        ("", ("", "")),
        ("<!doctype html><!-- nothing -->", ("", "")),
        ("<html><head><title>T</title></head></html>", ("T", "")),
        ("<body>Just text</body>", ("", "Just text")),
    ],
)
def test_a_fragment_stays_and_an_empty_page_is_empty(html, found):
    assert document_html(html, document_id="math/9801_1")[:2] == found


def test_plain_text_is_escaped_in_paragraphs():
    assert text_html("a < $b$\r\nc\r\n\r\n\n d ") == "<p>a &lt; $b$\nc</p>\n<p>d</p>\n"
    assert text_html(" \n ") == ""

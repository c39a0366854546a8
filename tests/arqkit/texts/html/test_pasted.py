"""HTML of a page becomes text that the sanitizer can read."""

import pytest

from arqkit.texts.html.foreign import read_shown
from arqkit.texts.html.rendering import compose, read_text
from arqkit.texts.html.sanitizer import clean_post


@pytest.mark.parametrize(
    "source", ["<p>Let $a<b$ &amp; $$\\sum_n n$$ be.</p>", "plain $x$", "<ul><li>$y$</li></ul>"]
)
def test_a_shown_page_can_be_read_back_and_composed_again(source):
    shown = compose(
        read_text(clean_post(source, prefix="p").html), formulas={}, highlight=frozenset({"p.1"})
    )

    read = read_shown(shown)
    again = compose(
        read_text(clean_post(read.html, prefix="p").html), formulas={}, highlight=read.highlighted
    )

    assert again == shown


@pytest.mark.parametrize(
    "hostile",
    ["", "\0", "<", "<!--", "<div>" * 5_000, "<a>" * 5_000, "<x data-latex='&#1;'>", "\ud800"],
)
def test_no_input_from_a_browser_raises_an_error(hostile):
    assert (
        "<script"
        not in clean_post(read_shown(hostile + "<script>1</script>").html, prefix="p").html
    )

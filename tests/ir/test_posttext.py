"""The formulas of a post by id, its words without them, and the same post with other ids."""

from arqlab.ir.posttext import TextFormula, plain_text, plain_title, renumbered, text_formulas

SPAN = '<span class="math-container" id="{}">{}</span>'
POST = f"<p>Let {SPAN.format('7', '$a &lt; b$')} be.</p>\n\n<p>Then\n{SPAN.format('254.2', '$$x^2$$')}</p>\n"


def test_formulas_are_given_in_order_without_dollars():
    assert text_formulas(POST) == [TextFormula("7", "a < b"), TextFormula("254.2", "x^2")]


def test_formulas_in_brackets_or_without_id_are_formulas_too():
    html = "<span id='q' class='math-container'>\\(y\\)</span><span class=\"math-container\">\\[z\\]</span>"

    assert text_formulas(html) == [TextFormula("q", "y"), TextFormula("", "z")]


def test_words_stand_without_formulas_and_tags_in_their_paragraphs():
    assert [part.split() for part in plain_text(POST).split("\n\n") if part.strip()] == [["Let", "be."], ["Then"]]
    assert plain_text("<p>R&amp;D</p>") == "R&D"


def test_a_title_keeps_its_latex():
    assert plain_title(f"Is {SPAN.format('7', '$a &lt; b$')}\n <em>so</em>?") == "Is $a < b$ so?"


def test_formulas_get_other_ids_and_the_text_one_line():
    numbers = iter(["q_1", "q_2"])
    html = renumbered(POST, lambda formula: next(numbers))

    assert html == (f"<p>Let {SPAN.format('q_1', '$a &lt; b$')} be.</p>  <p>Then {SPAN.format('q_2', '$$x^2$$')}</p>")


def test_what_is_preformatted_keeps_its_lines_and_so_does_latex_with_a_comment():
    html = f"<p>a\nb</p><pre>a\nb</pre>{SPAN.format('1', '$$a % why' + chr(10) + 'b$$')}{SPAN.format('2', '$a' + chr(10) + 'b$')}"
    done = renumbered(html, lambda formula: formula.formula_id)

    assert "<p>a b</p><pre>a\nb</pre>" in done
    assert "a % why\nb" in done
    assert "$a b$" in done

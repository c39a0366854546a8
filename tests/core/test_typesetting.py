"""Formulas become MathML that is safe to put into a page."""

import csv
import gzip
import threading
from html import unescape
from pathlib import Path

import pytest
from lxml import etree

from arqlab.core.typesetting import LONGEST, typeset


def mathml(latex: str, *, display: bool = False) -> str:
    """The MathML of a formula that must be typeset."""
    found = typeset(latex, display=display).mathml
    assert found is not None
    return found


def topic_formulas(data: Path) -> set[str]:
    """The LaTeX of the topics' formulas of all three editions."""
    found: set[str] = set()
    for path in sorted(data.glob("arqmath-*/topic-formulas.latex.tsv.gz")):
        with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
            found |= {row[-1] for row in list(csv.reader(lines, delimiter="\t"))[1:]}
    return found


def test_a_formula_becomes_mathml() -> None:
    assert mathml("x_2") == "<math><msub><mi>x</mi><mn>2</mn></msub></math>"


def test_the_latex_is_given_back_without_html_escapes() -> None:
    found = typeset("a &lt; b &amp; c", display=False)

    assert found.latex == "a < b & c"


def test_a_display_formula_says_so() -> None:
    assert mathml(r"\sum_i x_i", display=True).startswith('<math display="block"')


def test_an_environment_that_needs_display_mode_gets_it() -> None:
    assert 'display="block"' in mathml(r"\begin{align*}a&=b\end{align*}", display=False)


def test_an_inline_formula_may_break_after_a_relation() -> None:
    assert mathml("a=b") == "<math><mrow><mi>a</mi><mo>=</mo></mrow><mrow><mi>b</mi></mrow></math>"


def test_equations_are_not_numbered() -> None:
    assert "tml-eqn" not in mathml(r"\begin{align}a&=b\\c&=d\end{align}", display=True)


def test_no_style_attribute_is_left() -> None:
    found = mathml(r"\begin{array}{|c|c|}\hline a&b\\\hline\end{array}\,\boxed{x}\!y", display=True)

    assert " style=" not in found
    assert "tml-border-left" in found
    assert "tml-fbox" in found
    assert "tml-ml-3" in found


def test_a_colour_is_kept_but_black_is_the_ink_of_the_page() -> None:
    assert 'mathcolor="#ff0000"' in mathml(r"\color{red}{x}")
    assert "mathcolor" not in mathml(r"\color{black}{x}")


def test_an_unknown_macro_is_shown_by_its_name() -> None:
    assert r"\eps" in "".join(etree.fromstring(mathml(r"x+\eps")).itertext()).replace("\N{REVERSE SOLIDUS}", "\\")


def test_a_name_below_which_something_stands_is_one_base() -> None:
    found = etree.fromstring(mathml(r"\underset{x}{\operatorname{argmax}}", display=True))

    assert [len(element) for element in found.iter("munder")] == [2]


@pytest.mark.parametrize(
    "latex",
    [
        r"x\mbox{ if }y",
        r"\begin{array}[]{cc}a&b\end{array}",
        r"\begin{pmatrix}{1\hfil&2\\3&4\end{pmatrix}}",
        r"\begin{eqnarray}a&=&b\end{eqnarray}",
        r"\color\red{x}",
        r"\color[rgb]{.75,0,.25}{x}",
        r"$x$",
        "x\\",
        r"1\qvar@construct{$}\par",
        r"\root 3 \of{25}",
        r"a\not\implies b",
        r"2(\text{# of edges})",
        r"\require\cancel\cancel{x}",
        r"\bbox[#ffe,15px]{x}",
        r"a&=b",
        r"E=mc^2\tag{1}",
        r"x\label{a}\eqref{a}",
    ],
)
def test_what_the_site_allows_and_what_conversion_left_behind_is_typeset(latex: str) -> None:
    assert mathml(latex)


@pytest.mark.parametrize("latex", ["", "  ", r"\frac{", r"}", r"x^", "x" * (LONGEST + 1)])
def test_what_cannot_be_typeset_gives_no_mathml_and_its_latex(latex: str) -> None:
    assert typeset(latex, display=False) == (None, latex.strip())


@pytest.mark.parametrize(
    "latex",
    [
        r"\def\a{\a\a}\a",
        r"\def\a#1{#1#1#1#1#1#1#1#1#1#1}\a{\a{\a{\a{\a{\a{x}}}}}}",
        "{" * 5000 + "x" + "}" * 5000,
        r"\sqrt{" * 2000 + "x" + "}" * 2000,
        "x^{" * 3000 + "}" * 3000,
    ],
)
def test_a_formula_that_would_never_end_is_given_up(latex: str) -> None:
    assert typeset(latex, display=False).mathml is None


def test_the_engine_works_after_a_formula_that_was_given_up() -> None:
    typeset(r"\def\b{\b\b}\b", display=False)

    assert mathml("y_1")


@pytest.mark.parametrize(
    "latex",
    [
        r"\text{<script>alert(1)</script>}",
        r"\text{</mtext></math><img src=x onerror=alert(1)>}",
        r"\href{javascript:alert(1)}{x}",
        r"\url{https://example.org}",
        r"\includegraphics{https://example.org/x.png}",
        r"\class{x\" onclick=\"alert(1)}{y}",
        r"\style{background:url(https://example.org)}{x}",
        r"\htmlData{x=y}{z}",
        r"\color{red;background:url(https://example.org)}{x}",
        r"\ref{\" onmouseover=\"alert(1)}",
        r"x\label{<script>}\eqref{<script>}",
        r"\unicode{x3c}script\unicode{x3e}",
        "\\text{\u2028<style>*{display:none}</style>}",
        r"\mathrm{&lt;iframe src=//example.org&gt;}",
    ],
)
def test_no_formula_brings_anything_but_mathml(latex: str) -> None:
    found = typeset(latex, display=True).mathml
    if found is None:
        return
    for element in etree.fromstring(found).iter():
        assert element.tag.startswith("m")
        assert not {name for name in element.attrib if name.startswith(("on", "href", "src", "style", "id"))}


def test_a_rule_cannot_be_larger_than_a_page() -> None:
    assert "900" not in mathml(r"\rule{900em}{900em}\hspace{-900em}x")


def test_every_thread_has_an_engine_of_its_own() -> None:
    found: list[str | None] = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(typeset(f"z_{{{n}}}", display=False).mathml)) for n in "abcd"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(found)
    assert len(found) == 4


def test_every_formula_of_the_real_topics_is_typeset(shared_data: Path) -> None:
    failed = [
        latex
        for latex in topic_formulas(shared_data)
        if unescape(latex).strip() and typeset(latex, display=False).mathml is None
    ]

    assert failed == []

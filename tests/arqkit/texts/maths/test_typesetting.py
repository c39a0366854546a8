"""Formulas become MathML that is safe for a page."""

import csv
import gzip
import json
import threading
from html import unescape
from pathlib import Path

import polars as pl
import pytest
from lxml import etree

from arqkit.formulas.layout import layout_strings
from arqkit.formulas.visual_ids import visual_map
from arqkit.texts.maths.mathjax import LONGEST
from arqkit.texts.maths.typesetting import presentation_mathml, typeset
from tests.agreement import agreement


def mathml(latex: str, *, display: bool = False) -> str:
    """Return the MathML of a formula that must be typeset."""
    found = typeset(latex, display=display).mathml
    assert found is not None
    return found


def topic_formulas(data: Path) -> set[str]:
    """Return the LaTeX of the topics' formulas of all three editions."""
    found: set[str] = set()
    for path in sorted(data.glob("arqmath-*/topic-formulas.latex.tsv.gz")):
        with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
            found |= {row[-1] for row in list(csv.reader(lines, delimiter="\t"))[1:]}
    return found


def test_a_formula_becomes_mathml() -> None:
    assert mathml("x_2") == "<math><msub><mi>x</mi><mn>2</mn></msub></math>"


def test_the_latex_is_returned_without_html_escapes() -> None:
    found = typeset("a &lt; b &amp; c", display=False)

    assert found.latex == "a < b & c"


def test_a_display_formula_has_the_display_attribute() -> None:
    assert mathml(r"\sum_i x_i", display=True).startswith('<math display="block"')


def test_an_environment_that_needs_display_mode_gets_it() -> None:
    assert 'display="block"' in mathml(r"\begin{align*}a&=b\end{align*}", display=False)


def test_a_long_inline_formula_may_break_after_a_relation() -> None:
    long = "abcdefghij"

    assert mathml(f"{long}={long}").count("</mrow><mrow>") == 1
    assert "<mrow>" not in mathml("a=b")


def test_equations_are_not_numbered() -> None:
    assert "tml-eqn" not in mathml(r"\begin{align}a&=b\\c&=d\end{align}", display=True)


def test_no_style_attribute_is_left() -> None:
    found = mathml(r"\begin{array}{|c|c|}\hline a&b\\\hline\end{array}\,\boxed{x}\!y", display=True)

    assert " style=" not in found
    assert "tml-border-left" in found
    assert "tml-fbox" in found
    assert "tml-ml-3" in found


def test_colours_are_kept_except_black() -> None:
    assert 'mathcolor="#ff0000"' in mathml(r"\color{red}{x}")
    assert "mathcolor" not in mathml(r"\color{black}{x}")


def test_an_unknown_macro_is_shown_by_its_name() -> None:
    assert r"\eps" in "".join(etree.fromstring(mathml(r"x+\eps")).itertext()).replace(
        "\N{REVERSE SOLIDUS}", "\\"
    )


def test_an_operator_name_with_a_subscript_is_one_base() -> None:
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
        r"\class{a}{x}\style{color:red}{y}",
        r"\begin{array}{@{}l@{\,}r@{}}a&b\end{array}",
        r"\begin{flalign}a&=b\end{flalign}",
        r"\begin{multlined}a\\b\end{multlined}",
    ],
)
def test_macros_of_the_site_and_damage_from_conversion_are_typeset(latex: str) -> None:
    assert mathml(latex)


@pytest.mark.parametrize(
    ("latex", "same"),
    [
        (r"\unicode{x1D7D9}_A", "\U0001d7d9_A"),
        (r"\unicode[.5,0]{8486}", "\u2126"),
        (r"\require{enclose}\enclose{horizontalstrike}{x}", r"\sout{x}"),
        (r"\enclose{roundedbox, circle}{x}", "{x}"),
        (r"a\buildrel * \over\to b", r"a\overset{*}\to b"),
        (r"\cssId{a}{x}", "{x}"),
    ],
)
def test_macros_of_the_site_equal_their_expansions(latex: str, same: str) -> None:
    assert mathml(latex) == mathml(same)


@pytest.mark.parametrize("latex", ["", "  ", r"\frac{", r"}", r"x^", "x" * (LONGEST + 1)])
def test_a_formula_that_cannot_be_typeset_has_no_mathml(latex: str) -> None:
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
def test_an_endless_formula_is_stopped(latex: str) -> None:
    assert typeset(latex, display=False).mathml is None


def test_the_engine_works_after_a_stopped_formula() -> None:
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
def test_no_formula_produces_anything_but_mathml(latex: str) -> None:
    found = typeset(latex, display=True).mathml
    if found is None:
        return
    for element in etree.fromstring(found).iter():
        assert element.tag.startswith("m")
        assert not {
            name for name in element.attrib if name.startswith(("on", "href", "src", "style", "id"))
        }


def test_a_rule_cannot_be_larger_than_a_page() -> None:
    assert "900" not in mathml(r"\rule{900em}{900em}\hspace{-900em}x")


def test_every_thread_has_an_engine_of_its_own() -> None:
    found: list[str | None] = []
    threads = [
        threading.Thread(
            target=lambda n=n: found.append(typeset(f"z_{{{n}}}", display=False).mathml)
        )
        for n in "abcd"
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


# --- for visual identity

DEFECTS = {  # of the organizers' conversion: an align block or a text cut to its first symbol
    "mi(n)",
    "mi(X)",
    "mi(k)",
    "mn(12)",
}


def strings(*formulas: str) -> list[str | None]:
    """Return the layout strings of formulas that have LaTeX only."""
    return layout_strings(presentation_mathml(latex) for latex in formulas)


@pytest.mark.parametrize(
    "formulas",
    [
        ("e^x", "e^{x}"),
        (
            r"\frac{n}{m}",
            r"\frac n m",
            r"{\frac{n}{m}}",
            r"n \over m",
            r"\dfrac{n}{m}",
            r"\tfrac nm",
        ),
        (r"a\to b", r"a\rightarrow b"),
        (r"n\choose k", r"\binom{n}{k}", r"\dbinom nk", r"{n \choose k}"),
        ("f'", r"f^\prime", r"f^{\prime}"),
        ("f''", r"f^{\prime\prime}"),
        ("f'_1", r"f_1'", r"f_{1}^{\prime}"),
        (r"a\le b", r"a\leq b", "a≤b"),
        ("{a^{2}}=2{b^{2}}", "{a^2}=2{b^2}", "a^2=2b^{2}"),
        (r"{m \neq 0}", r"m \not= 0", r"m \not = 0", r"m\ne 0"),
        ("x_1^2", "x^2_1", "x^{2}_{1}"),
        (r"\int_0^1 x\,dx", r"\int_0^1 x dx", r"\int\limits_{0}^{1}x\mathrm{d}x"),
        (r"\sum_i i", r"\displaystyle\sum_{i}i"),
        (r"\left(x\right)", "(x)", r"\big(x\big)"),
        (r"\pmatrix{a&b\cr c&d}", r"\begin{pmatrix}a&b\\c&d\end{pmatrix}"),
        (r"\cases{a&b\\c&d}", r"\begin{cases}a&b\\c&d\end{cases}"),
        (r"a < b", r"a\lt b", "a &lt; b"),
        (r"x=1\tag{1}", "x=1", r"\begin{equation}x=1\label{a}\end{equation}", r"x=1\\"),
        (r"1+...+n", r"1+\ldots+n"),
        (r"\overline{ab}", r"\overline{a b}"),
        (r"1\ 000", "1000"),
    ],
)
def test_formulas_that_look_the_same_have_one_layout(formulas: tuple[str, ...]) -> None:
    assert len(set(strings(*formulas))) == 1
    assert None not in strings(*formulas)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x^{y^z}", "{x^y}^z"),
        (r"\overline{ab}", r"a\overline{b}"),
        (r"\binom{a}{b}", r"(\frac{a}{b})"),
        (r"\mathbb{R}", "R"),
        ("x_1", "x^1"),
        (r"\boxed{x}", "x"),
        (r"\underset{n}{x}", "x_n"),
        (r"\begin{matrix}a&b\end{matrix}", r"\begin{matrix}a\\b\end{matrix}"),
    ],
)
def test_formulas_that_look_different_have_two_layouts(one: str, other: str) -> None:
    assert len(set(strings(one, other))) == 2


@pytest.mark.parametrize("latex", ["", " ", r"\frac{", "x" * (LONGEST + 1), r"\def\a{\a\a}\a"])
def test_a_formula_that_cannot_be_converted_is_none(latex: str) -> None:
    assert presentation_mathml(latex) is None


def test_topic_formulas_with_the_same_slt_have_one_layout_from_latex(shared_data: Path) -> None:
    groups = json.loads(
        (shared_data / "visual-identity/topic-formulas-same-slt.json").read_text(encoding="utf-8")
    )
    apart = {
        group["slt"]
        for group in groups
        if len(set(strings(*(each["latex"] for each in group["variants"])))) > 1
    }

    assert len(groups) == 22
    assert apart == DEFECTS


def test_layouts_from_latex_equal_those_from_the_organizers_mathml(shared_data: Path) -> None:
    pairs = [
        pair
        for year in (1, 2, 3)
        for pair in latex_and_slt(shared_data / f"arqmath-{year}")
        if "merror" not in pair[1]
    ]
    known = layout_strings(slt for _, slt in pairs)
    ours = strings(*(latex for latex, _ in pairs))

    assert len(pairs) > 2_600
    assert sum(map(str.__eq__, map(str, known), map(str, ours))) / len(pairs) > 0.975


def test_ids_from_latex_agree_with_the_official_ids(shared_data: Path) -> None:
    path = shared_data / "visual-identity/official-index-v2-sample.tsv"
    rows = pl.read_csv(path, separator="\t", infer_schema=False).select(
        "visual_id", formula_id="id", latex="formula", given=pl.lit(None, pl.String)
    )
    rows = rows.with_columns(layout=pl.Series(strings(*rows["latex"]), dtype=pl.String))
    ours = visual_map(rows).mapping.rename({"visual_id": "ours"}).join(rows, on="formula_id")
    found = agreement(ours.select("ours", theirs="visual_id"))

    assert (found.together, found.only_ours, found.only_theirs) == (634, 1, 0)


def latex_and_slt(folder: Path) -> list[tuple[str, str]]:
    """Return the topic formulas of an edition that have both."""
    latex, slt = (
        {tuple(row[:2]): row[-1] for row in read_rows(folder / f"topic-formulas.{form}.tsv.gz")}
        for form in ("latex", "slt")
    )
    return [(latex[key], slt[key]) for key in latex if slt.get(key)]


def read_rows(path: Path) -> list[list[str]]:
    """Return the rows of an index, without its header."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines, delimiter="\t"))[1:]

r"""A formula looks as MathJax 2 drew it on the site, where its reading differs from LaTeX's."""

import pytest

from arqkit.texts.maths.mathjax import as_mathjax
from arqkit.texts.maths.typesetting import presentation_mathml, typeset


def drawn(latex: str) -> str:
    """Return the MathML that pages show."""
    mathml = typeset(latex, display=False).mathml
    assert mathml
    return mathml


@pytest.mark.parametrize(
    ("latex", "same"),
    [
        (r"\color{red}{x}+y", r"\textcolor{red}{x}+y"),
        (r"\color{red} x+y", r"\textcolor{red}{x}+y"),
        (r"\color{green}{x}\color{DarkViolet}y", r"\textcolor{#008000}{x}\textcolor{#9400d3}{y}"),
        (r"\color{#00f}{x}\color{red}{y}", r"\textcolor{#00f}{x}\textcolor{red}{y}"),
        (r"\require{color}\color{red}x+y", r"\textcolor{red}{x+y}"),
        (r"a{\color{blue} }+\color{red}", "a{}+"),
        (
            r"\cases{x,&if $x\ge0$;\cr -x,&otherwise.\cr}",
            r"\begin{cases}x,&\text{if $x\ge0$;}\\-x,&\text{otherwise.}\\\end{cases}",
        ),
        (
            r"\cases{1&x\ge3\cr\{2\}&\text{else}}",
            r"\begin{cases}1&x\ge3\\\{2\}&\text{else}\end{cases}",
        ),
        (r"\displaylines{a\cr b}", r"\begin{gathered}a\\b\end{gathered}"),
        (r"a\mspace{5mu}b", r"a\mkern5mu b"),
        (r"{\mit x}", "{x}"),
        (r"{a \atopwithdelims[] b}", r"{\left[a\atop b\right]}"),
        (r"1+{{a}\overwithdelims\{. b}", r"1+{\left\{{a}\over b\right.}"),
        (r"\href{https://example.org/a%20b_c#d}{x}^2", "{x}^2"),
        (r"\newenvironment{foo}{(}{)}\begin{foo}x\end{foo}", "(x)"),
        (r"\newenvironment{a*}[1]{[#1:}{]}\begin{a*}{2}x\end{a*}", "[2:x]"),
        (r"\bbox[yellow,5px]{x}", r"\colorbox{yellow}{$x$}"),
        (r"\bbox[5px,border:2px solid red]{x}", r"\boxed{{x}}"),
        (r"\style{color:red;font-weight:bold}{x}y", r"\textcolor{red}{x}y"),
        (r"\style{background-color: #ff0}{x}", r"\colorbox{#ff0}{${x}$}"),
    ],
)
def test_a_formula_is_drawn_as_on_the_site(latex: str, same: str) -> None:
    assert drawn(latex) == drawn(same)


@pytest.mark.parametrize(
    "latex", [r"\bbox{", r"\cases{a&b", r"\style{color:red}", r"{a\atopwithdelims(", r"\href{a}"]
)
def test_what_cannot_be_read_stays_as_it_is(latex: str) -> None:
    assert as_mathjax(latex) in (latex, latex.removeprefix(r"\href{a}"))


def test_a_formula_that_would_grow_without_end_stays_as_it_is() -> None:
    twice = "".join(
        rf"\newenvironment{{e{n}}}{{\begin{{e{n + 1}}}\begin{{e{n + 1}}}}}{{}}" for n in range(60)
    )
    nested = r"\cases{" * 1_000 + "}" * 1_000

    assert as_mathjax(rf"{twice}\begin{{e0}}") == rf"{twice}\begin{{e0}}"
    assert as_mathjax(nested) == nested


def test_the_ids_of_looks_are_not_computed_from_it() -> None:
    red = presentation_mathml(r"\color{red}{x}+y")

    assert red != presentation_mathml(r"\textcolor{red}{x}+y")


def test_a_command_that_is_not_known_is_not_shown_as_if_it_were_typeset() -> None:
    assert '<mtext class="tml-unknown">\\foobar</mtext>' in drawn(r"\foobar{x}")
    assert "tml-unknown" not in drawn(r"\text{foobar}\alpha")

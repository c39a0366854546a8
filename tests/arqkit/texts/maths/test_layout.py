"""Formulas are laid out as TeX would: each test is about a difference that readers noticed."""

import pytest
from lxml import etree

from arqkit.texts.maths.typesetting import typeset

THIN, MEDIUM, THICK = "0.1667em", "0.2222em", "0.2778em"


def tree(latex: str, *, display: bool = False):
    """Return the MathML of a formula, parsed."""
    found = typeset(latex, display=display).mathml
    assert found is not None
    return etree.fromstring(found)


def spaces(latex: str, *, display: bool = False) -> str:
    """Return a formula's signs with what stands between them: ' thin ', ' medium ' or ' thick '."""
    names = {THIN: " thin ", MEDIUM: " medium ", THICK: " thick "}
    dictionary = {",": ("0em", THIN), **dict.fromkeys("=<>∈", (THICK, THICK))}
    found = ""
    for element in tree(latex, display=display).iter():
        text = element.text or ""
        if element.tag == "mspace":
            found += names.get(element.get("width"), "")
        elif element.tag == "mo":
            usual = dictionary.get(text, ("0em", "0em"))
            left, right = (
                element.get(n, u) for n, u in zip(("lspace", "rspace"), usual, strict=True)
            )
            found += names.get(left, "") + text + names.get(right, "")
        elif not len(element):
            found += text
    return found


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        ("(0,1)", "(0, thin 1)"),
        ("1,32,243", "1, thin 32, thin 243"),
        ("1{,}000", "1,000"),
        ("1{,}000,5", "1,000, thin 5"),
        ("1.5,2", "1.5, thin 2"),
        ("p!=p", "p! thick = thick p"),
        (r"1+\cdots+n", "1 medium + medium ⋯ medium + medium n"),
        (r"a,\ldots,b", "a, thin … thin , thin b"),
        (r"(x)\sin(x)", "(x) thin sin(x)"),
        (r"2\sin x\cos y", "2 thin sin thin x thin cos thin y"),
        (r"\log\log n", "log thin log thin n"),
        ("-x=-1", "−x thick = thick −1"),
        ("a-(-b)", "a medium − medium (−b)"),
        (r"f\colon A\to B", "f: thin A thick → thick B"),
        ("A:B", "A thick : thick B"),
        (r"a\bmod b", "a medium mod medium b"),
        (r"x\mid y", "x thick | thick y"),
        ("|x|+1", "|x| medium + medium 1"),
        ("a/b", "a/b"),
        (r"x\left(\frac12\right)y", "x thin (12) thin y"),
        ("{=}", "="),
        (r"a\,b", "a thin b"),
        (r"a\mathbin{R}b", "a medium R medium b"),
        (r"\overset{!}{=}", "=!"),
        (r"a\overset{!}{=}b", "a thick =! thick b"),
        (r"A\xrightarrow{f}B", "A thick →f thick B"),
    ],
)
def test_spaces_are_those_of_tex(latex: str, expected: str) -> None:
    assert spaces(latex) == expected


@pytest.mark.parametrize("latex", ["x_{i=1}", r"x^{a+b}", r"x_{i\in A}", "x_{1,2}", r"y_{\to}"])
def test_scripts_have_no_spaces(latex: str) -> None:
    assert not {"thin", "medium", "thick"} & set(spaces(latex).split())


def test_a_fraction_within_a_line_has_the_spaces_of_scripts_but_not_in_a_display() -> None:
    assert spaces(r"\frac{a+b}2") == "a+b2"
    assert spaces(r"\frac{a+b}2", display=True) == "a medium + medium b2"


def test_a_second_column_of_aligned_continues_the_first() -> None:
    assert " thick = thick " in spaces(r"\begin{aligned}a&=b\end{aligned}", display=True)


def test_digits_stay_apart_in_a_script() -> None:
    assert [mn.text for mn in tree("a_{1,2}").iter("mn")] == ["1", "2"]
    assert [mn.text for mn in tree(r"\frac{1,2}{3}").iter("mn")] == ["1", "2", "3"]


@pytest.mark.parametrize("latex", [r"\sqrt{a}", r"\sqrt{ab_1}", r"\sqrt[3]{b+1}"])
def test_a_root_over_low_letters_has_room_under_its_bar(latex: str) -> None:
    [strut] = tree(latex).iter("mspace")

    assert (strut.get("width"), strut.get("height")) == ("0em", "0.67em")


@pytest.mark.parametrize("latex", [r"\sqrt{\frac12}", r"\sqrt{x^2}", r"\sqrt{\sum_i}"])
def test_a_root_over_a_high_formula_has_no_strut(latex: str) -> None:
    assert not list(tree(latex).iter("mspace"))


@pytest.mark.parametrize("latex", ["f'", "f''", "f'_1", r"f^\prime", r"f^{\prime\prime}"])
def test_primes_are_rows_which_firefox_sets_small(latex: str) -> None:
    for prime in tree(latex).iter("mo"):
        assert prime.get("class") == "tml-prime"
        assert prime.getparent().tag == "mrow"


@pytest.mark.parametrize(("latex", "sign"), [("f''", "″"), (r"f^{\prime\prime\prime}", "‴")])
def test_primes_are_one_sign(latex: str, sign: str) -> None:
    assert [mo.text for mo in tree(latex).iter("mo")] == [sign]


def test_functions_have_no_invisible_sign_which_firefox_would_space() -> None:
    assert "\N{FUNCTION APPLICATION}" not in "".join(tree(r"\sin x+\ln^2 y").itertext())


def test_a_script_after_a_bracket_stands_on_the_bracket() -> None:
    power = next(tree(r"(1+\frac1n)^n").iter("msup"))

    assert (power[0].tag, power[0].text) == ("mo", ")")


def test_a_script_of_a_tall_group_stands_on_the_group() -> None:
    power = next(tree(r"\left(1+\frac1n\right)^n").iter("msup"))

    assert power[0].tag == "mrow"


def test_scripts_within_a_fraction_keep_the_number_of_children() -> None:
    assert [len(each) for each in tree(r"\frac{(a)^2}{(b)_1}").iter("mfrac")] == [2]


def test_subscripts_stand_under_slanted_letters() -> None:
    below = {letter: next(tree(f"{letter}_1").iter("msub"))[1].get("class") for letter in "VaT"}

    assert below == {"V": "tml-sub-6", "a": None, "T": "tml-sub-4"}
    assert next(tree(r"\mathrm{V}_1").iter("msub"))[1].get("class") is None


def test_brackets_of_left_and_right_stay_small_around_letters() -> None:
    assert {mo.get("stretchy") for mo in tree(r"\left(x_1\right)").iter("mo")} == {"false"}
    assert {mo.get("stretchy") for mo in tree(r"\left(\frac12\right)").iter("mo")} == {"true"}


def test_lines_end_after_signs_outside_brackets() -> None:
    lines = ["".join(row.itertext()) for row in tree("f(a,b)=-1+[c=d],efghijkl")]

    assert lines == ["f(a,b)=", "−1+", "[c=d],", "efghijkl"]


def test_a_line_over_a_formula_is_drawn_by_a_class() -> None:
    assert next(tree(r"\overline{AB}").iter("mrow")).get("class") == "tml-overline"


def test_the_label_of_an_arrow_in_a_diagram_is_not_flattened() -> None:
    diagram = tree(r"\begin{CD}A@>f>>B\end{CD}", display=True)

    assert not diagram.findall(".//*[@height='0.1px']")


def test_a_style_of_the_whole_formula_does_not_keep_it_from_breaking() -> None:
    found = tree(r"\displaystyle abcdefghijklmno=\sum_i b_i")

    assert (found.get("displaystyle"), len(found.findall("mrow"))) == ("true", 2)
    assert found.find(".//munder") is not None


def test_a_formula_with_a_wide_part_says_so() -> None:
    assert tree("a=" + "1" * 20).get("class") == "tml-lines"
    assert tree("a=" + "1" * 40).get("class") == "tml-lines tml-wide-part"
    assert tree("1" * 40).get("class") == "tml-wide-part"


@pytest.mark.parametrize(
    ("latex", "sign", "classes"),
    [
        (r"\bar x", "¯", "tml-top-1"),
        (r"\tilde A", "˜", "tml-top-4"),
        (r"\vec v", "→", "tml-vec tml-top-2"),
        (r"\hat{\mathbf x}", "ˆ", None),
        (r"\widehat{AB}", "ˆ", None),
        (r"\widetilde x", "˜", None),
    ],
)
def test_accents_are_accents_over_the_top_of_their_letter(
    latex: str, sign: str, classes: str | None
) -> None:
    accent = next(tree(latex).iter("mover"))

    assert accent.get("accent") == "true"
    assert (accent[1].text, accent[1].get("class")) == (sign, classes)


def test_what_stands_over_an_operator_is_no_accent() -> None:
    assert next(tree(r"a\overset{!}{=}b").iter("mover")).get("accent") is None

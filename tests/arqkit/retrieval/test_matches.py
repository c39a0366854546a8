"""The symbols of a formula that match a query, in its MathML."""

import csv
import gzip
import re

import pytest

from arqkit.retrieval.formulas import LARGEST_TREE
from arqkit.retrieval.matches import with_matches
from arqkit.retrieval.mathml import marked_wildcards
from arqkit.texts.maths.typesetting import typeset
from tests.real_data import DATA, needs_data

LEAF = re.compile(r"<(m[inos]|mtext)(?P<attributes>[^>]*)>(?P<text>[^<]+)</")
UNSEEN = {*"\u2061\u2062\u2063\u2064\xa0", "\xa0\xa0"}
LARGE = f"<math>{'<mi>x</mi>' * (LARGEST_TREE + 1)}</math>"
COPIES = [
    r"x^2+\frac{a}{b}=\sqrt[3]{y}",
    r"\left(\sum_{i=1}^n a_i\right)^2",
    r"f'(x)=|x|",
    r"A=\begin{pmatrix}a&b\\c&d\end{pmatrix}",
    r"\{x\in\mathbb{R}:x\ge 0,\text{ if } n<2\}",
]


def mathml(latex: str) -> str:
    return typeset(marked_wildcards(latex), display=False).mathml or ""


def marked(latex: str, *queries: str) -> list[tuple[str, str]]:
    """Return the symbols of a formula, each with its mark: same, alike or nothing."""
    leaves = list(LEAF.finditer(with_matches(mathml(latex), map(mathml, queries))))
    marks = [re.search(r"is-(\w+)", leaf["attributes"]) for leaf in leaves]
    return [
        (leaf["text"], mark[1] if mark else "") for leaf, mark in zip(leaves, marks, strict=True)
    ]


@pytest.mark.parametrize("latex", COPIES)
def test_all_symbols_of_a_copy_are_marked(latex: str) -> None:
    assert {mark for _, mark in marked(latex, latex)} == {"same"}


def test_the_shared_part_is_marked_and_nothing_else() -> None:
    symbols = marked(r"y=\sin(x^2+1)-z", "x^2+1")

    assert [text for text, mark in symbols if mark == "same"] == ["x", "2", "+", "1"]
    assert {mark for text, mark in symbols if text in "y=sin()−z"} == {""}


def test_of_two_pairs_of_brackets_only_the_one_that_matches_is_marked() -> None:
    symbols = marked("(k+1)^5-(u+v)", "(k+1)^5")
    assert [mark for _, mark in symbols] == ["same"] * 6 + [""] * 6


def test_a_variable_for_another_is_marked_apart() -> None:
    symbols = marked("u^2+v^2=1", "a^2+b^2=1")

    assert [text for text, mark in symbols if mark == "alike"] == ["u", "v"]
    assert [text for text, mark in symbols if mark == "same"] == ["2", "+", "2", "=", "1"]


def test_what_a_wildcard_stands_for_is_marked() -> None:
    assert ("y", "same") in marked(r"x=\frac{y}{2}", r"x=\frac{\qvar{a}}{2}")


def test_the_query_with_most_matches_marks() -> None:
    assert marked("a+b=c", "x", "a+b=c", "") == marked("a+b=c", "a+b=c")


def test_lines_of_fractions_and_roots_are_marked() -> None:
    shown = with_matches(mathml(r"\frac{1}{\sqrt{x}}"), [mathml(r"\frac{1}{\sqrt{x}}")])
    assert re.findall(r'<(\w+) class="is-same">', shown) == ["mfrac", "mn", "msqrt", "mi"]


def test_other_classes_stay() -> None:
    shown = with_matches(mathml(r"\mathcal{A}"), [mathml(r"\mathcal{A}")])
    assert 'class="is-same mathcal"' in shown


@pytest.mark.parametrize("odd", ["x", "<math></math>", "<math><mrow><mi>x</mi></math>", LARGE])
def test_what_has_no_tree_stays_as_it_is(odd: str) -> None:
    assert with_matches(odd, [mathml("x")]) == odd


@needs_data
def test_all_symbols_of_copies_of_real_formulas_are_marked() -> None:
    with gzip.open(DATA / "collection/formulas.latex.tsv.gz", "rt", encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        formulas = [row["formula"] for number, row in enumerate(rows) if number % 200 == 0]
    symbols = [symbol for latex in formulas for symbol in marked(latex, latex)]

    assert len(symbols) > 1000
    assert {text for text, mark in symbols if mark != "same"} <= UNSEEN

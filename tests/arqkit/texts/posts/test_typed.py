"""What people type into a search: formulas in any notation, and plain text."""

import csv
import gzip
import random

import pytest

from arqkit.retrieval.layout_trees import layout_tree
from arqkit.retrieval.mathml import query_mathml
from arqkit.texts.maths.unicode_signs import with_commands
from arqkit.texts.posts.typed import typed_html, typed_pieces, without_wildcards
from tests.real_data import DATA, needs_data

# What `../shared/cases/typed-formulas.txt` has, and what its second column says in words.
CASES = {
    "$$x^2+y^2=z^2$$": "x^2+y^2=z^2",
    r"\(\sum_{k=1}^n k^2\)": r"\sum_{k=1}^n k^2",
    r"\[\int_0^1 f(x)\,dx\]": r"\int_0^1 f(x)\,dx",
    r"\int_0^\infty e^{-x^2} dx": r"\int_0^\infty e^{-x^2} dx",
    r"$\sqrt{2}$ is irrational, proof": r"\sqrt{2}",
    "$a^2+b^2": "a^2+b^2",
    "<math><msup><mi>x</mi><mn>2</mn></msup></math>": "x^2",
    "x^2 + y^2": "x^2 + y^2",
    "x² + y² = z²": "x^2+y^2=z^2",
    "$?f(x) = ?f(y)$": r"\qvar{f}(x) = \qvar{f}(y)",
}
MATRIX = r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}"
MORE = {
    r"\(x^2+1": "x^2+1",
    r"x^2+1\)": "x^2+1",
    r"\[ x^2": "x^2",
    "$$x^2+1": "x^2+1",
    "x^2+1$": "x^2+1",
    "$ x^2 $": "x^2",
    "$x^2+1 is prime": "x^2+1",
    "how to solve x^2+3x+2=0": "x^2+3x+2=0",
    "prove that a x^2 + b x + c = 0 has two roots": "a x^2 + b x + c = 0",
    "what is x^2+1?": "x^2+1",
    r"let \{x_n\} be a Cauchy sequence": r"\{x_n\}",
    MATRIX: MATRIX,
    r"$f:\text{even $n$}\to X$": r"f:\text{even $n$}\to X",
    "√2 is irrational": r"\sqrt{2}",
    "∫₀^∞ e^{-x²} dx": r"\int_0^\infty e^{-x^2} dx",
    "∑_{k=1}^n k² = n(n+1)(2n+1)/6": r"\sum_{k=1}^n k^2 = n(n+1)(2n+1)/6",
    "∀ε>0 ∃δ>0": r"\forall ε>0 \exists δ>0",
    "x ∈ ℝ": r"x \in \mathbb{R}",
    "Let f: X → Y be continuous": r"f: X \rightarrow Y",
    "𝑥² + 𝑦²": "x^2 + y^2",
    "e⁻ˣ": "e^{-x}",
    "xₙ₊₁ ≤ xₙ": r"x_{n+1} \leq x_n",
    "f(x) = sin(x)": r"f(x) = \sin(x)",
    "n! ~ sqrt(2 pi n) (n/e)^n": r"n! ~ \sqrt{2 \pi n} (n/e)^n",
    "e^(i pi) = -1": r"e^{i \pi} = -1",
    "10^-6 + x^10": "10^{-6} + x^{10}",
    "{x | x > 0}": r"\{x | x > 0\}",
    "L^2 norm": "L^2",
    "C^*-algebra": "C^*",
    "f(x)": "f(x)",
    "n!": "n!",
    "a/b": "a/b",
    "π": "π",
    "`x^2`": "x^2",
    "“x² + 1”": "x^2+1",
    "sum_{n=1}^infty 1/n^2": r"\sum_{n=1}^\infty 1/n^2",
    "int_0^1 x^2 dx": r"\int_0^1 x^2 dx",
    "x<sup>2</sup> + y<sup>2</sup>": "x^2 + y^2",
    "x&sup2; + 1": "x^2 + 1",
    "x̄ = 2πr": r"\bar{x} = 2\pi r",
    "2πr": r"2\pi r",
    "(0,1)": "(0,1)",
    "if a < b then": "a < b",
    "$x and y": "x",
    "$x^{2$ is": "x^{2",
    "let x^2 + a be": "x^2 + a",
    "prove that a x^2 is even": "x^2",
    r"\(\text{a \} b} x": r"\text{a \} b} x",
    r"$\text{a \} b} x$ is": r"\text{a \} b} x",
    "so x^2 + a is prime": "x^2 + a",
    "Is x^2 a square": "x^2",
    "show x^2 mod": "x^2",
    "if |x| < |y| then": "|x| < |y|",
    r"\$5 is x^2": "x^2",
    "?x + ?y = ?z": r"\qvar{x} + \qvar{y} = \qvar{z}",
    r"\frac{?a}{?b}": r"\frac{\qvar{a}}{\qvar{b}}",
    "<msup><mi>x</mi><mn>2</mn></msup>": "x^2",
    "&lt;math&gt;&lt;mi&gt;x&lt;/mi&gt;&lt;/math&gt;": "x",
    '<math alttext="{\\displaystyle x^{2}}"><mi>y</mi></math> inequality': "x^{2}",
    "<m:math><m:mfrac><m:mi>a</m:mi><m:mi>b</m:mi></m:mfrac></m:math>": r"\frac{a}{b}",
}
TEXTS = """
is $5 or $10 & 5% off?
a $5 bill and a $10 bill
cost: $5-$10
US$5 and A$10
$PATH and $HOME
I paid 5$ and got 10$ back
from $5 to 10$
C++ vs C#
AT&T
e-mail me @ 5pm
50% off
and/or
24/7
p-adic numbers
L'Hôpital's rule
L’Hôpital
what's 2nd-order logic?
snake_case_names
http://a.b/c_d?x=1&y=2
x.y@z.com
Topology - a first course
Chapter 3 - 5
if and only if
I <3 math
:)
^_^
"x^2 is a phrase" limit
254.3
12345
c70.1
A.1
C:\\Users\\me
and\\or
σ-algebra
ε-δ definition
AI + ML course
F-16
x-y plane
what is | x | in norms
I/O
lim sup
log in
why is e irrational
group G of order n
Home → Settings
is 20°C warm?
Erdős–Rényi
Σωκράτης
矩阵
x, y and z
I've 3 apples; you've 4
a(n) example
""".strip().splitlines()


def formulas(text: str) -> list[str]:
    """Return the LaTeX of the formulas that are read in a text."""
    return [piece.latex for piece in typed_pieces(text) if not isinstance(piece, str)]


@pytest.mark.parametrize(("typed", "latex"), [*CASES.items(), *MORE.items()])
def test_a_formula_is_read_in_any_notation(typed: str, latex: str) -> None:
    [read] = formulas(typed)

    assert layout_tree(query_mathml(read) or "") == layout_tree(query_mathml(latex) or "")


@needs_data
def test_each_case_of_the_shared_file_has_its_formula() -> None:
    lines = (DATA.parent / "cases/typed-formulas.txt").read_text(encoding="utf-8").splitlines()[1:]

    assert [line.split("\t")[0] for line in lines] == list(CASES)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_no_formula_and_stays_as_it_is(text: str) -> None:
    assert typed_pieces(text) == [text]


def test_words_and_formulas_stay_in_their_order() -> None:
    pieces = typed_pieces(r"if $x$ is even, then x² too, tag:parity -\(y\)")

    shown = [piece if isinstance(piece, str) else (piece.latex,) for piece in pieces]
    assert shown == ["if ", ("x",), " is even, then ", ("x^2",), " too, tag:parity -", ("y",)]


def test_what_was_typed_is_html_without_tags_of_its_own() -> None:
    html = typed_html("<script>x()</script> a<b & x^2<1")

    assert "<script" not in html
    assert html.count("<span") == html.count("</span>") == 1 + html.count("$a&lt;b$")


def test_a_wildcard_leaves_its_name_where_it_cannot_be_read() -> None:
    assert without_wildcards(r"\qvar{f}(x) = \qvar {y2}") == "f(x) = y2"


@needs_data
@pytest.mark.parametrize("marks", ["${}$", "$${}$$", r"\({}\)", r"\[{}\]"])
def test_the_latex_of_the_collection_is_read_as_it_is_between_marks(marks: str) -> None:
    with gzip.open(
        DATA / "collection/formulas.latex.tsv.gz", "rt", encoding="utf-8", newline=""
    ) as lines:
        latex = sorted({row[-1].strip() for row in csv.reader(lines, delimiter="\t")})
    odd = ("?", r"\(", r"\)", r"\[", r"\]")  # wildcards, and marks within a formula
    plain = [one for one in latex if one and not any(sign in one for sign in odd)]
    whole = [one for one in plain if not one.endswith("\\")]
    sample = random.Random(43).sample(whole, 1000)

    read = {one: formulas(marks.replace("{}", one)) for one in sample}
    assert {one: got for one, got in read.items() if got != [with_commands(one).strip()]} == {}

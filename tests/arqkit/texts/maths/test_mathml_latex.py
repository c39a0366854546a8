r"""MathML that is pasted becomes LaTeX, and signs of Unicode the LaTeX that they stand for."""

import csv
import gzip
import random
import re

import pytest

from arqkit.retrieval.layout_trees import layout_tree
from arqkit.texts.maths.mathml_latex import DEEPEST, latex_of_mathml
from arqkit.texts.maths.typesetting import presentation_mathml
from arqkit.texts.maths.unicode_signs import with_commands
from tests.real_data import DATA, needs_data

X, Y, TWO = "<mi>x</mi>", "<mi>y</mi>", "<mn>2</mn>"
MATRIX = r"\begin{matrix} x & y \end{matrix}"
LATEX = {
    f"<msup>{X}{TWO}</msup>": "x^2",
    f"<msup><mrow>{X}{Y}</mrow>{TWO}</msup>": "{x y}^2",
    f"<msup>{X}<mo>′</mo></msup>": "x'",
    f"<msup>{X}<mrow>{X}{TWO}</mrow></msup>": "x^{x 2}",
    f"<msub>{X}{TWO}</msub>": "x_2",
    f"<msubsup>{X}{TWO}{Y}</msubsup>": "x_2^y",
    f"<mfrac>{X}{Y}</mfrac>": r"\frac{x}{y}",
    f'<mfrac linethickness="0pt">{X}{Y}</mfrac>': r"{x \atop y}",
    f"<msqrt>{X}{Y}</msqrt>": r"\sqrt{x y}",
    f"<mroot>{X}<mn>3</mn></mroot>": r"\sqrt[3]{x}",
    f"<mfenced>{X}{Y}</mfenced>": "( x , y )",
    f'<mfenced open="[" close="]">{X}</mfenced>': "[ x ]",
    f"<munder><mo>∑</mo>{X}</munder>": r"\sum_x",
    f"<mover><mo>∑</mo>{X}</mover>": r"\sum^x",
    f"<munderover><mo>∑</mo>{X}{Y}</munderover>": r"\sum_x^y",
    f"<mover>{X}<mo>¯</mo></mover>": r"\overline{x}",
    f"<munder>{X}<mo>_</mo></munder>": r"\underline{x}",
    f"<mover>{X}<mo>*</mo></mover>": r"\overset{*}{x}",
    f"<munder>{X}<mo>*</mo></munder>": r"\underset{*}{x}",
    f'<menclose notation="top">{X}</menclose>': r"\overline{x}",
    f'<menclose notation="other">{X}</menclose>': "x",
    f"<mtable><mtr><mtd>{X}</mtd><mtd>{Y}</mtd></mtr></mtable>": MATRIX,
    f'<?xml version="1.0" encoding="utf-8"?><math>{X}</math>': "x",
    "<mi>sin</mi>": r"\sin",
    "<mo>max</mo>": r"\max",
    "<mi>mod</mi>": r"\bmod",
    "<mo>mod</mo>": r"\bmod",
    "<mi>abc</mi>": r"\mathrm{abc}",
    "<mo>{</mo>": r"\{",
    "<mtext>50% of $</mtext>": r"\text{50\% of \$}",
    f"{X}<mspace/><mtext> </mtext><mphantom>{Y}</mphantom>": "x",
    '<mrow><qvar name="v"></qvar></mrow>': r"\qvar{v}",
    f"<math><semantics>{X}<annotation encoding='other'>y</annotation></semantics></math>": "x",
    f"<math><semantics></semantics>{X}</math>": "x",
    f"<math>{X}<annotation encoding='TeX'> y_1 </annotation></math>": "y_1",
    f'<math alttext="x squared">{X}</math>': "x",
    f'<math alttext="{{\\displaystyle y_2}}">{X}</math>': "y_2",
    "<m:math><m:mi>x</m:mi><!-- note --></m:math>": "x",
    "<mmultiscripts><mi>x</mi></mmultiscripts>": "x",
}


ODD = ["<math></math>", "", "<mspace/>", "<math>\x00</math>", '<?xml version="1.0" <math>']


@pytest.mark.parametrize(("mathml", "latex"), LATEX.items())
def test_mathml_becomes_latex(mathml: str, latex: str) -> None:
    assert latex_of_mathml(mathml) == latex


@pytest.mark.parametrize("mathml", ODD)
def test_what_shows_nothing_is_no_formula(mathml: str) -> None:
    assert latex_of_mathml(mathml) is None


def test_absurd_depth_ends() -> None:
    deep = "<mrow>" * (2 * DEEPEST) + X + "</mrow>" * (2 * DEEPEST)

    assert latex_of_mathml(deep) is None


@needs_data
def test_the_trees_of_real_formulas_survive_both_ways() -> None:
    with gzip.open(
        DATA / "collection/formulas.latex.tsv.gz", "rt", encoding="utf-8", newline=""
    ) as lines:
        latex = sorted({row[-1] for row in csv.reader(lines, delimiter="\t")})
    sample = random.Random(43).sample(latex, 500)

    shown = [mathml for one in sample if (mathml := presentation_mathml(one))]
    back = [presentation_mathml(latex_of_mathml(_bare(mathml)) or "") for mathml in shown]
    pairs = zip(shown, back, strict=True)
    same = sum(layout_tree(mathml) == layout_tree(again or "") for mathml, again in pairs)
    assert same > 0.9 * len(shown)


def _bare(mathml: str) -> str:
    return re.sub(r' alttext="[^"]*"', "", mathml)


@pytest.mark.parametrize(
    ("signs", "latex"),
    [
        ("plain^2", "plain^2"),
        ("x²", "x^2"),
        ("xₙ₊₁", "x_{n+1}"),
        ("e⁻ˣ", "e^{-x}"),
        ("√2 √(x+1) ∛{y} √", r"\sqrt{2} \sqrt{x+1} \sqrt[3]{y} \sqrt{}"),
        ("½ ↉", r"\frac{1}{2} \frac{0}{3}"),
        ("𝑥 𝐱 𝔸 𝓐", r"x \mathbf{x} \mathbb{A} \mathcal{A}"),
        ("a·b f′ 90° x−1", r"a\cdot b f' 90^{\circ} x-1"),
        ("x̄ v⃗", r"\bar{x} \vec{v}"),
        ("α ≤ ∞ ℝ", "α ≤ ∞ ℝ"),
    ],
)
def test_signs_become_the_latex_that_they_stand_for(signs: str, latex: str) -> None:
    assert with_commands(signs) == latex

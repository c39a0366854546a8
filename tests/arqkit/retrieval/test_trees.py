"""Trees of formulas: as Tangent-S draws them, from Presentation and from Content MathML."""

import re
from collections import Counter, defaultdict
from statistics import mean

import pytest

from arqkit.retrieval.layout_trees import layout_tree
from arqkit.retrieval.mathml import query_mathml
from arqkit.retrieval.operator_trees import content_tree, operator_tree
from arqkit.retrieval.trees import Tree
from tests.arqkit.retrieval.gold import (
    collection_formulas,
    dice,
    formulas_of_topics,
    judged,
    topic_formulas,
    tree_of,
)  # fmt: skip
from tests.real_data import DATA, needs_data

CLOSE = 0.95  # the mean Dice coefficient that the converters must reach


def math(content: str) -> str:
    """Return elements wrapped as in LaTeXML's output."""
    return f'<math alttext="x" class="ltx_Math"><semantics>{content}</semantics></math>'


@pytest.mark.parametrize(
    ("content", "layout", "operators"),
    [
        ("<mi>x</mi>", "[V!x]", "[V!𝑥]"),
        ("<mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow>", "[V!x[+[N!1]]]", "[U!plus,0[V!𝑥],1[N!1]]"),
        (
            "<mrow><mi>f</mi><mo>⁢</mo><mrow><mo>(</mo><mi>x</mi><mo>,</mo><mi>y</mi><mo>)</mo></mrow></mrow>",
            "[V!f[M!()1x2,w[V!x[,],e[V!y]]]]",
            "[U!times,0[V!𝑓],1[O!interval(O-O),0[V!𝑥],1[V!𝑦]]]",
        ),
        ("<mrow><mi>sin</mi><mo>⁡</mo><mi>x</mi></mrow>", "[V!sin[V!x]]", "[F!sin,0[V!𝑥]]"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "[O!root,w[V!x],c[N!3]]", "[O!root,0[V!𝑥],1[N!3]]"),
        (
            '<mrow><mi>x</mi><mo>=</mo><qvar xmlns="urn:wildcard" name="y"/></mrow>',
            "[V!x[=[?!y]]]",
            "[U!eq,0[V!𝑥],1[?!y]]",
        ),
    ],
)
def test_presentation_mathml_becomes_two_trees(content: str, layout: str, operators: str) -> None:
    trees = layout_tree(math(content)), operator_tree(math(content))
    assert trees == (tree_of(layout), tree_of(operators))


def test_a_row_without_invisible_operators_is_parsed_as_a_product() -> None:
    temml = "<mn>2</mn><mo>(</mo><mi>a</mi><mo>+</mo><mi>b</mi><msup><mo>)</mo><mn>2</mn></msup>"
    assert operator_tree(f"<math>{temml}</math>") == tree_of(
        "[U!times,0[N!2],1[O!SUP,0[U!plus,0[V!𝑎],1[V!𝑏]],1[N!2]]]"
    )


def test_mathml_of_temml_gives_the_trees_of_latexml() -> None:
    temml = (
        "<mi>|</mi><mi>a</mi><mo>−</mo><mi>b</mi><mi>|</mi><mo>=</mo><mi>a</mi><mi>/</mi><mi>b</mi>"
    )
    latexml = (
        "<mrow><mrow><mo>|</mo><mrow><mi>a</mi><mo>-</mo><mi>b</mi></mrow><mo>|</mo></mrow>"
        "<mo>=</mo><mrow><mi>a</mi><mo>/</mo><mi>b</mi></mrow></mrow>"
    )
    for convert in (layout_tree, operator_tree):
        assert convert(f"<math>{temml}</math>") == convert(math(latexml))


def test_a_wildcard_in_latex_becomes_a_node_with_its_name() -> None:
    mathml = query_mathml(r"\qvar{*1*}+\frac{\qvar{y}}{2}")
    assert mathml is not None
    assert layout_tree(mathml) == tree_of("[?!*1*[+[O!divide,o[?!y],u[N!2]]]]")


@needs_data
def test_every_wildcard_topic_of_ntcir_12_has_its_wildcards() -> None:
    lines = (DATA / "ntcir-12-wfb/topics.wildcards.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 20
    for latex in (line.split("\t")[1] for line in lines):
        tree = layout_tree(query_mathml(latex) or "")
        assert tree is not None
        in_texts = re.findall(r"\\text\{[^{}]*\\qvar\{(.*?)\}", latex)
        names = {*re.findall(r"qvar\{(.*?)\}", latex)} - {*in_texts}
        assert {label[2:] for label in tree.labels if label.startswith("?!")} == names


@pytest.mark.parametrize(
    "formula",
    [
        "",
        "x",
        "<math><mi>x</math>",
        "<math></math>",
        f"<math>{'<msqrt>' * 5000}",
        "<math>" + "<mo>(</mo>" * 5000,
    ],
)
@pytest.mark.parametrize("convert", [layout_tree, operator_tree, content_tree])
def test_what_is_no_formula_has_no_tree(formula: str, convert) -> None:
    tree = convert(formula)
    assert tree is None or tree.labels == ["W!"]


@needs_data
def test_the_trees_are_close_to_those_of_tangent_s() -> None:
    layouts = {visual_id: tree for topic in judged("slt") for visual_id, tree, _ in topic.formulas}
    operators = {
        visual_id: tree for topic in judged("opt") for visual_id, tree, _ in topic.formulas
    }
    looks = defaultdict[str, Counter[str]](Counter)
    for _, visual_id, mathml in collection_formulas():
        looks[visual_id][mathml] += 1
    shown = {visual_id: count.most_common(1)[0][0] for visual_id, count in looks.items()}
    for convert, expected in ((layout_tree, layouts), (operator_tree, operators)):
        known = [
            visual_id for visual_id in expected.keys() & shown if "merror" not in shown[visual_id]
        ]
        assert len(known) > 290
        assert mean(dice(convert(shown[name]), expected[name]) for name in known) >= CLOSE


@needs_data
@pytest.mark.parametrize("kind", ["slt", "opt"])
def test_the_trees_of_topics_are_close_to_those_of_tangent_s(kind: str) -> None:
    formulas, shown, ids = topic_formulas(1, kind), topic_formulas(1, "slt"), formulas_of_topics()
    convert = layout_tree if kind == "slt" else content_tree
    known = [
        (convert(formulas[ids[topic.topic]]), topic.tree)
        for topic in judged(kind)
        if "merror" not in shown.get(ids.get(topic.topic, ""), "merror")
    ]
    assert len(known) > 50
    assert mean(dice(*pair) for pair in known) >= CLOSE


@needs_data
@pytest.mark.parametrize("edition", [1, 2, 3])
def test_the_operators_are_found_in_presentation_mathml(edition: int) -> None:
    presentation, content = topic_formulas(edition, "slt"), topic_formulas(edition, "opt")
    trees: list[tuple[Tree | None, Tree | None]] = [
        (operator_tree(presentation[name]), content_tree(content[name]))
        for name in presentation.keys() & content
        if presentation[name] and content[name] and "merror" not in presentation[name]
    ]
    assert len(trees) > 800
    assert mean(dice(*pair) for pair in trees if all(pair)) >= CLOSE

"""Macros defined in a formula apply to later ones."""

import pytest

from arqkit.texts.maths.macros import LONGEST, Definitions
from arqkit.texts.maths.typesetting import typeset


def after(definition: str, formula: str) -> str:
    """Return the second of two formulas, as it is typeset."""
    definitions = Definitions()
    definitions.before(definition)
    return definitions.before(formula)


@pytest.mark.parametrize(
    ("definition", "formula", "whole"),
    [
        (r"\newcommand{\A}{x^2}", r"\A+1", r"\def\A{x^2}\A+1"),
        (r"\newcommand\A[1]{f(#1)}", r"\A{1}", r"\def\A#1{f(#1)}\A{1}"),
        (r"\renewcommand{\A}[2][0]{#1,#2}", r"\A{1}", r"\def\A#1{0,#1}\A{1}"),
        (r"\def\A#1#2{{#1}{#2}}", r"\A12", r"\def\A#1#2{{#1}{#2}}\A12"),
        (
            r"\DeclareMathOperator{\Spec}{Spec}",
            r"\Spec A",
            r"\def\Spec{\operatorname{Spec}}\Spec A",
        ),
        (r"\DeclareMathOperator*{\M}{max}", r"\M_x", r"\def\M{\operatorname*{max}}\M_x"),
        (r"\newcommand{\A}{\}}", r"\A", r"\def\A{\}}\A"),
    ],
)
def test_a_definition_is_put_before_later_formulas_that_use_it(
    definition: str, formula: str, whole: str
) -> None:
    assert after(definition, formula) == whole


@pytest.mark.parametrize("formula", ["x", r"\Alpha", r"\def\A{1}\A"])
def test_a_formula_that_does_not_use_a_definition_is_unchanged(formula: str) -> None:
    assert after(r"\newcommand{\A}{2}", formula) == formula


def test_a_definition_is_preceded_by_those_it_uses() -> None:
    definitions = Definitions()
    definitions.before(r"\def\a{1}\def\b{\a+\a}\def\c{3}")

    assert definitions.before(r"\b") == r"\def\a{1}\def\b{\a+\a}\b"


def test_a_recursive_macro_terminates() -> None:
    assert after(r"\def\a{\b}\def\b{\a}", r"\a") == r"\def\a{\b}\def\b{\a}\a"


def test_the_latest_definition_applies() -> None:
    definitions = Definitions()
    definitions.before(r"\def\a{1}")
    definitions.before(r"\def\a{2}")

    assert definitions.before(r"\a") == r"\def\a{2}\a"


def test_an_unclosed_definition_stays_in_its_formula() -> None:
    assert Definitions().before(r"\newcommand{\a}{x") == r"\newcommand{\a}{x"


def test_too_many_definitions_are_not_added() -> None:
    assert after(rf"\def\a{{{'x' * LONGEST}}}", r"\a") == r"\a"


def test_a_built_in_macro_may_be_redefined() -> None:
    assert (
        typeset(Definitions().before(r"\newcommand{\vec}{v}\vec"), display=False).mathml
        == "<math><mi>v</mi></math>"
    )

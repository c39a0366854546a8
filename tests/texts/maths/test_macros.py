"""Macros that a formula defines hold for the later ones."""

from __future__ import annotations

import pytest

from arqlab.texts.maths.macros import LONGEST, Definitions
from arqlab.texts.maths.typesetting import typeset


def after(definition: str, formula: str) -> str:
    """The second of two formulas, as it is typeset."""
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
def test_a_definition_stands_before_a_later_formula_that_uses_it(
    definition: str, formula: str, whole: str
) -> None:
    assert after(definition, formula) == whole


@pytest.mark.parametrize("formula", ["x", r"\Alpha", r"\def\A{1}\A"])
def test_a_formula_that_does_not_use_it_is_left_as_it_is(formula: str) -> None:
    assert after(r"\newcommand{\A}{2}", formula) == formula


def test_a_definition_brings_those_that_it_uses() -> None:
    definitions = Definitions()
    definitions.before(r"\def\a{1}\def\b{\a+\a}\def\c{3}")

    assert definitions.before(r"\b") == r"\def\a{1}\def\b{\a+\a}\b"


def test_a_macro_that_uses_itself_ends() -> None:
    assert after(r"\def\a{\b}\def\b{\a}", r"\a") == r"\def\a{\b}\def\b{\a}\a"


def test_the_newest_definition_holds() -> None:
    definitions = Definitions()
    definitions.before(r"\def\a{1}")
    definitions.before(r"\def\a{2}")

    assert definitions.before(r"\a") == r"\def\a{2}\a"


def test_a_definition_that_never_ends_is_left_in_its_formula() -> None:
    assert Definitions().before(r"\newcommand{\a}{x") == r"\newcommand{\a}{x"


def test_a_hostile_heap_of_definitions_is_not_carried_along() -> None:
    assert after(rf"\def\a{{{'x' * LONGEST}}}", r"\a") == r"\a"


def test_a_name_that_the_typesetter_knows_may_be_defined_again() -> None:
    assert (
        typeset(Definitions().before(r"\newcommand{\vec}{v}\vec"), display=False).mathml
        == "<math><mi>v</mi></math>"
    )

"""Conversions have names, so that they can be stored and compared; LaTeXML is optional."""

import pytest

from arqkit.formulas.layout import layout_string
from arqkit.texts.maths import conversion
from arqkit.texts.maths.conversion import converter, converter_name, latexml_name

needs_latexml = pytest.mark.skipif(
    latexml_name() is None,
    reason="LaTeXML is not installed; apt-get install latexml to run this test.",
)


def test_the_name_has_engine_version_and_rules() -> None:
    assert converter_name(exact=False) == "temml 0.13.5, rules 3"
    with converter(exact=False) as convert:
        assert layout_string(convert("e^x") or "") == "V!e a[ V!x ]"


def test_missing_latexml_is_reported_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arqkit.texts.maths.conversion.latexml_name", lambda: None)

    with pytest.raises(RuntimeError, match="apt-get install latexml"), converter(exact=True):
        pass


@needs_latexml
def test_latexml_and_temml_give_the_same_layout() -> None:
    formulas = [
        r"\frac{a}{b}",
        r"n\choose k",
        "f''",
        r"\begin{align}a&=b\\c&=d\end{align}",
        r"x=1\tag{1}",
    ]

    with converter(exact=True) as exact, converter(exact=False) as quick:
        for latex in formulas:
            assert (
                layout_string(exact(latex) or "") == layout_string(quick(latex) or "") is not None
            )


@needs_latexml
def test_definitions_and_failures_do_not_affect_the_next_formula() -> None:
    with converter(exact=True) as exact:
        for latex in (r"\def\alpha{B}\alpha", r"\frac{", r"\begin{align}", "}"):
            exact(latex)

        assert layout_string(exact(r"\alpha") or "") == "V!α"


@needs_latexml
@pytest.mark.parametrize(
    "latex", [r"\input{/etc/hostname}", r"\inp^^75t{/etc/hostname}", "", r"\frac{"]
)
def test_latexml_reads_no_file_and_fails_alone(latex: str) -> None:
    with conversion.latexml() as convert:
        assert convert(latex) is None
        assert convert("x") is not None

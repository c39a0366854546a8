"""Formulas damaged by conversion and copying are repaired."""

import pytest
from lxml import etree

from arqkit.texts.maths.typesetting import typeset


def text_of(latex: str) -> str:
    """Return the visible text of a formula."""
    found = typeset(latex, display=False).mathml
    assert found is not None
    return "".join(etree.fromstring(found).itertext()).replace("\N{FUNCTION APPLICATION}", "")


@pytest.mark.parametrize(
    ("latex", "seen"),
    [
        (r"\begin{aligned} a&\displaystyle amp;=b\\ &\displaystyle amp;=c\end{aligned}", "a=b=c"),
        (r"\int_{|u|\hfil&\displaystyle lt;a}f", "∫|u|<af"),
        (r"\begin{split}a&=&b\\&=&c\end{split}", "a=b=c"),
        (r"\boxed{\@@eqnarray a&=&b\\&+&c}", "a=b+c"),
        (r"\left\{\@@eqnarray$a$&$\displaystyle amp;=$&$b$\right.", "{a=b"),
        (r"\begin{array} & 0 & 1\\2 & 3\end{array}", "0123"),
        (r"\left[\begin{array}[cc]{\\}A&C\\ 0&B\end{array}\right]", "[AC0B]"),
        (
            r"\left(\begin{matrix}{I\hfil&A\\ B&tI}\right)=C$ \par\end{document}\end{matrix}",
            "(IABtI)=C",
        ),
        (r"} \\ 1, & \text{if", "1,if"),
        (r"\mapsto x \right) = \left( \text{int", "↦x)=(int"),
        (r"\mat{a&b\\c&d}", "⧵mat{abcd}"),
        (r"a\space$$b", "a\u00a0b"),
    ],
)
def test_damage_from_conversion_is_repaired(latex: str, seen: str) -> None:
    assert "".join(text_of(latex).split(" ")).replace("\\", "⧵") == seen


def test_repairs_do_not_change_valid_formulas() -> None:
    assert typeset(r"a\lt b;c", display=False).mathml == typeset(r"a<b;c", display=False).mathml

"""Text of people as LaTeX."""

import pytest

from arqkit.formats.latex import latex_text


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_b & 5% #1 $x$ {y}", r"a\_b \& 5\% \#1 \$x\$ \{y\}"),
        ("~^\\", r"\textasciitilde{}\textasciicircum{}\textbackslash{}"),
        ("<|>", r"\textless{}\textbar{}\textgreater{}"),
        ("[x]*", "{[}x{]}{*}"),
        ("a--b---c", "a{}-{}-b{}-{}-{}-c"),
        ("``x''", r"\`{}\`{}x{}'{}'"),
        ("Été Łódź", r"\'{E}t\'{e} \L{}\'{o}d\'{z}"),
        ("ệ ą", r"\^{\d{e}} a"),
        ("αΩΑ ς", r"$\alpha$$\Omega$$A$ $\varsigma$"),
        ("nDCG′", "nDCG$'$"),
        ("ﬁ½", "fi1/2"),
        ("北Ͱ", "{[}U+5317{]}{[}U+0370{]}"),
        ("a\tb\x00\u200b\u0301c", "a bc"),
    ],
)  # fmt: skip
def test_text_is_printed_as_it_is(text, latex):
    assert latex_text(text) == latex

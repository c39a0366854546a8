"""Layout strings: what a formula looks like, independent of its markup."""

import csv
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.formulas import layout
from arqkit.formulas.layout import layout_string, layout_strings
from tests.real_data import DATA, needs_data


def math(content: str) -> str:
    """Return elements wrapped as in LaTeXML's output."""
    return (
        '<math alttext="x" class="ltx_Math" display="inline" xmlns="http://www.w3.org/1998/Math/MathML">'
        f"<semantics>{content}</semantics></math>"
    )


def shown(content: str) -> str | None:
    """Return the layout string of elements."""
    return layout_string(math(content))


def slts(name: str) -> list[str]:
    """Return the SLT column of a lab's index."""
    with gzip.open(DATA / name, "rt", encoding="utf-8", newline="") as lines:
        return [row[-1] for row in list(csv.reader(lines, delimiter="\t"))[1:]]


def test_the_string_has_an_item_for_each_node_and_each_edge() -> None:
    assert (
        shown("<msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mn>1</mn>") == "V!x a[ N!2 ] n O!+ n N!1"
    )


@pytest.mark.parametrize(
    ("content", "string"),
    [
        ("<mfrac><mi>a</mi><mi>b</mi></mfrac>", "F o[ V!a ] u[ V!b ]"),
        ('<mfrac linethickness="0pt"><mi>a</mi><mi>b</mi></mfrac>', "B o[ V!a ] u[ V!b ]"),
        ("<msqrt><mi>a</mi><mi>b</mi></msqrt>", "R w[ V!a n V!b ]"),
        ("<mroot><mi>a</mi><mn>3</mn></mroot>", "R w[ V!a ] i[ N!3 ]"),
        ("<msubsup><mi>a</mi><mi>i</mi><mn>2</mn></msubsup>", "V!a b[ V!i ] a[ N!2 ]"),
        ("<mover><mi>x</mi><mo>^</mo></mover>", "A w[ V!x ] o[ O!^ ]"),
        ("<munder><mi>x</mi><mo>¯</mo></munder>", "A w[ V!x ] u[ O!¯ ]"),
        ('<menclose notation="box"><mi>x</mi></menclose>', "E!box w[ V!x ]"),
        ('<mrow style="padding:3pt;border:1px solid;"><mi>x</mi></mrow>', "E!box w[ V!x ]"),
        ("<munder><mrow></mrow><mi>x</mi></munder>", "A w[ ] u[ V!x ]"),
        ('<mspace width="1em"></mspace><mi>x</mi>', "V!x"),
        (
            "<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr></mtable>",
            "M r[ e[ V!a ] e[ V!b ] ]",
        ),
        ("<mtext>if so</mtext>", "T!ifso"),
    ],
)
def test_every_structure_has_its_node_and_edges(content: str, string: str) -> None:
    assert shown(content) == string


def test_pre_scripts_come_before_their_base() -> None:
    scripts = "<mi>k</mi><none/><mprescripts/><mi>n</mi><none/>"

    assert shown(f"<mmultiscripts><mi>C</mi>{scripts}</mmultiscripts>") == "b[ V!n ] n V!C b[ V!k ]"


@pytest.mark.parametrize(
    "same",
    [
        "<mrow><mrow><mi>a</mi></mrow><mo>⁢</mo><mi>b</mi></mrow>",
        '<mstyle displaystyle="true"><mi mathvariant="normal">a</mi>'
        '<mi mathcolor="red">b</mi></mstyle>',
        '<mpadded width="+5pt"><mi>a</mi></mpadded><mspace width="1em"/><mi>b</mi>',
        "<mi> a\n</mi><mi>&#8290;</mi><mi>b</mi>",
        "<!-- note --><mi>a</mi><mphantom><mi>c</mi></mphantom><mi>b</mi>",
        '<mi>a</mi><mi>b</mi><annotation encoding="application/x-tex">ab</annotation>',
        '<mi>a</mi><mi>b</mi><annotation-xml encoding="MathML-Content"><ci>a</ci></annotation-xml>',
        "<mi>a</mi><mi>&InvisibleTimes;</mi><mi>b</mi>",
        "<mi>𝑎</mi><mi>𝑏</mi>",
    ],
)
def test_invisible_markup_does_not_matter(same: str) -> None:
    assert shown(same) == "V!a n V!b"


def test_limits_beside_and_below_an_operator_are_equal() -> None:
    inline = "<msubsup><mo>∑</mo><mi>i</mi><mi>n</mi></msubsup>"

    assert shown(inline.replace("msubsup", "munderover")) == shown(inline)
    assert shown("<munder><mi>lim</mi><mi>n</mi></munder>") == shown(
        "<msub><mi>lim</mi><mi>n</mi></msub>"
    )


def test_a_mark_below_a_variable_is_not_a_subscript() -> None:
    assert shown("<munder><mi>x</mi><mi>n</mi></munder>") != shown(
        "<msub><mi>x</mi><mi>n</mi></msub>"
    )


def test_what_an_accent_covers_matters() -> None:
    over_both = "<mover><mrow><mi>a</mi><mi>b</mi></mrow><mo>¯</mo></mover>"

    assert shown(over_both) != shown("<mi>a</mi><mover><mi>b</mi><mo>¯</mo></mover>")


def test_blackboard_and_bold_letters_differ_from_plain_letters() -> None:
    assert len({shown(f"<mi>{letter}</mi>") for letter in "Rℝ𝐑ℛℜ"}) == 5


def test_an_undefined_macro_is_shown_by_its_name() -> None:
    assert shown("<mi>k</mi><merror><mtext>\\zz</mtext></merror>") == "V!k n T!\\zz"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("<mo>−</mo>", "<mo>-</mo>"),
        ("<mi>f</mi><mo>″</mo>", "<mi>f</mi><mo>′</mo><mo>′</mo>"),
        ("<mo>.</mo><mo>.</mo><mo>.</mo>", "<mi>…</mi>"),
        ("<mn>0,1</mn>", "<mn>0</mn><mo>,</mo><mn>1</mn>"),
        ("<mn>1</mn><mspace/><mn>000</mn>", "<mn>1000</mn>"),
        ("<mo>=</mo><mo>&#824;</mo>", "<mo>≠</mo>"),
        ('<menclose notation="top"><mi>a</mi></menclose>', "<mover><mi>a</mi><mo>¯</mo></mover>"),
        ("<mo>&amp;</mo><mi>g</mi><mi>t</mi><mo>;</mo><mn>0</mn>", "<mo>&gt;</mo><mn>0</mn>"),
        ("<msup><mi>x</mi><mrow></mrow></msup>", "<mi>x</mi>"),
        (
            "<mfenced><mi>a</mi><mi>b</mi></mfenced>",
            "<mo>(</mo><mi>a</mi><mo>,</mo><mi>b</mi><mo>)</mo>",
        ),
        ('<maction actiontype="toggle"><mi>a</mi><mi>b</mi></maction>', "<mi>a</mi>"),
        (
            "<mtable><mlabeledtr><mtd><mn>1</mn></mtd><mtd><mi>a</mi></mtd></mlabeledtr></mtable>",
            "<mtable><mtr><mtd><mi>a</mi></mtd><mtd></mtd></mtr></mtable>",
        ),
        ("<mtext><b>if</b> so</mtext>", "<mtext>if so</mtext>"),
        (
            "<munder><mi>arg</mi><mi>max</mi><mi>x</mi></munder>",
            "<mi>arg</mi><munder><mi>max</mi><mi>x</mi></munder>",
        ),
    ],
)
def test_different_markup_of_the_same_formula_has_one_layout(left: str, right: str) -> None:
    assert shown(left) == shown(right) is not None


def test_scripts_swallowed_by_an_unclosed_mpadded_are_restored() -> None:
    assert shown("<msup><mpadded><mi>a</mi><mn>2</mn></mpadded></msup>") == "V!a a[ N!2 ]"


def test_a_declaration_a_prefix_and_a_bare_ampersand_are_read() -> None:
    plain = '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi></math>'

    assert layout_string(f'<?xml version="1.0" encoding="UTF-8"?> {plain}\n') == "V!x"
    assert (
        layout_string(
            '<m:math xmlns:m="http://www.w3.org/1998/Math/MathML"><m:mi>x</m:mi></m:math>'
        )
        == "V!x"
    )
    assert (
        layout_string('<math alttext="a & b > c"><msub><mi>x</mi><!-- --><mi>i</mi></msub></math>')
        == "V!x b[ V!i ]"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "x^2",
        "<p>x</p>",
        "<math></math>",
        "<math><mi> </mi></math>",
        "<math><mi>x</mi>",
        "<math><mi>x</math>",
        "<math><mrow><mi>x</mi></math></mrow>",
        "<math><msup><mi>x</mi></msup></math>",
        "<math><mi>x</mi></math><mi>y</mi>",
        "<math><unknown><mi>x</mi></unknown></math>",
        "<math><mfrac/></math>",
        "<math><mi>x",
        '<!DOCTYPE math [<!ENTITY a "b">]><math><mi>&a;</mi></math>',
        '<math><!DOCTYPE math [<!ENTITY a SYSTEM "file:///etc/passwd">]><mi>&a;</mi></math>',
        "<math>" + "<mrow>" * 100_000 + "<mi>x</mi>",
        "<m:math>" + "<m:mrow>" * 100_000 + "</m:mrow>" * 100_000 + "</m:math>",
        "<math><mi>" + "x" * 1_000_000 + "</mi></math>",
    ],
)
def test_unreadable_mathml_has_no_layout(text: str) -> None:
    assert layout_string(text) is None


def test_deep_nesting_is_read() -> None:
    deep = "<math>" + "<msqrt>" * 10_000 + "<mi>x</mi>" + "</msqrt>" * 10_000 + "</math>"

    assert (layout_string(deep) or "").count("R w[") == 10_000


@pytest.mark.parametrize(
    ("depth", "string"), [(layout.DEEPEST, "V!x"), (layout.DEEPEST + 2, "A w[ A w[ V!x ] ]")]
)
def test_each_pass_removes_one_accent_without_a_mark(depth: int, string: str) -> None:
    assert shown("<mover>" * depth + "<mi>x</mi>" + "<mrow></mrow></mover>" * depth) == string


def test_an_unknown_entity_is_kept() -> None:
    assert shown("<mi>&lol9;</mi>") == "V!&lol9;"


def test_hostile_tokens_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "CACHED", 10)
    layout_strings(math(f"<mi>x{number}</mi>") for number in range(100))

    assert len(layout._meanings) < 20


def test_many_formulas_are_read_in_order_and_gaps_are_kept() -> None:
    assert layout_strings([math("<mi>x</mi>"), None, "", math("<mi>y</mi>")]) == [
        "V!x",
        None,
        None,
        "V!y",
    ]


TREES = st.recursive(
    st.sampled_from(
        ["<mi>x</mi>", "<mn>2</mn>", "<mo>+</mo>", "<mtext>ab</mtext>", "<mo>⁢</mo>", "<mspace/>"]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda parts: f"<mrow>{''.join(parts)}</mrow>"),
        st.tuples(inner, inner).map(lambda parts: f"<msup>{''.join(parts)}</msup>"),
        st.tuples(inner, inner).map(lambda parts: f"<mfrac>{''.join(parts)}</mfrac>"),
        st.tuples(inner, inner, inner).map(
            lambda parts: f"<munderover>{''.join(parts)}</munderover>"
        ),
        inner.map(lambda part: f"<mtable><mtr><mtd>{part}</mtd></mtr></mtable>"),
    ),
    max_leaves=20,
)


@given(TREES)
def test_nested_rows_change_nothing(tree: str) -> None:
    assert shown(f"<mrow><mrow>{tree}</mrow></mrow>") == shown(tree)


@given(TREES)
def test_the_slow_and_the_fast_path_agree(tree: str) -> None:
    assert shown(f"<!-- slow -->{tree}") == shown(tree)


@given(TREES)
def test_brackets_are_balanced(tree: str) -> None:
    items = (shown(tree) or "").split(" ")

    assert sum(item.endswith("[") and "!" not in item for item in items) == items.count("]")


@given(st.text())
def test_no_text_raises_an_error(text: str) -> None:
    assert layout_string(text) is None or text.lstrip().startswith("<")
    layout_string(math(text))


@needs_data
@pytest.mark.parametrize("year", [1, 2, 3])
def test_the_formulas_of_every_edition_have_layouts(year: int) -> None:
    found = slts(f"arqmath-{year}/topic-formulas.slt.tsv.gz")
    strings = layout_strings(found)

    assert sum(string is None for string in strings) <= len(found) * 0.03


@needs_data
def test_nearly_all_formulas_of_the_sample_have_layouts() -> None:
    found = slts("collection/formulas.slt.tsv.gz")

    assert len(found) == 62_131
    assert sum(string is None for string in layout_strings(found)) <= 102  # spaces only, and errors

"""Addresses in pasted text, as mail programs, tables and people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqlab.notices.addresses import pasted_addresses
from tests.paths import ROOT
from tests.test_structure import product_files

A, B, C = "a@example.org", "b@example.org", "c@example.org"


@pytest.mark.parametrize(
    ("pasted", "parts"),
    [
        (f"{A} {B},{C};\r\n{A}", [A, B, C, A]),
        (f'Ada L. <{A}>, "Byron, B." < {B} >\n{C}', [A, B, C]),
        (f"Name A <{A}>, {B}", [A, B]),
        (f"{B}, Name A <{A}>", [B, A]),
        (f"Lovelace, Ada <{A}>; Byron, B. <{B}>", [A, B]),
        (f"Ada <{A}> Byron <{B}> {C}", [A, B, C]),
        (f"{A} <{A}>, '{B}' <{B}>", [A, f"'{B}'", B]),
        (f'"{A}" <{A}>', [A]),
        (f"{B} <{A}>", [B, A]),
        (f"ada, {A}", ["ada", A]),
        (f"Ada <{A}>, Bob", [A, "Bob"]),
        (f"Ada <{A}; {B}", ["Ada", "<", A, B]),
        ("Ada <>, <ada>", ["<>", "ada"]),
        ("ada", ["ada"]),
        (" \n;, ", []),
    ],
)
def test_addresses_are_read_from_pasted_text(pasted, parts):
    assert [address.text for address in pasted_addresses(pasted)] == parts


def test_each_has_its_line():
    pasted = pasted_addresses(f"{A}\n\nAda <{B}>, {C}")

    assert [(address.line, address.text) for address in pasted] == [(1, A), (3, B), (3, C)]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["{}", "<{}>", "Ada <{}>", "Ada L. <{}>", '"Byron, B." <{}>', "B <{}>"]
            ),
            st.sampled_from([", ", "; ", "\n", ",", " \r\n", ",\n"]),
        ),
        max_size=8,
    )
)
def test_no_address_is_lost_however_names_and_separators_are_mixed(entries):
    addresses = [f"person{number}@example.org" for number in range(len(entries))]
    text = "".join(
        form.format(address) + separator
        for address, (form, separator) in zip(addresses, entries, strict=True)
    )

    assert [address.text for address in pasted_addresses(text)] == addresses


def test_nothing_else_reads_addresses_from_text():
    names = ("validate_email", "getaddresses", "parseaddr")
    reading = {
        str(path.relative_to(ROOT))
        for path in product_files()
        if any(name in path.read_text(encoding="utf-8") for name in names)
    }

    assert reading == {"arqlab/notices/addresses.py"}

"""What a page shows is declared, and no part hides another one."""

from dataclasses import dataclass

import pytest

from arqlab.web import context_of


@dataclass(frozen=True)
class Page:
    lab: str
    runs: int = 0


@dataclass(frozen=True)
class Chart:
    bars: list[int]


def test_a_context_has_the_fields_of_all_parts():
    assert context_of(Page("lab", 3), None, Chart([1])) == {"lab": "lab", "runs": 3, "bars": [1]}


def test_a_context_is_not_the_page_itself():
    page = Page("lab")
    context_of(page)["lab"] = "another"
    assert page.lab == "lab"


def test_two_parts_have_no_field_of_the_same_name():
    with pytest.raises(ValueError, match="the fields lab, runs"):
        context_of(Page("lab"), Page("lab"))

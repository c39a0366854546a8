"""Every kind of problem is put into full sentences."""

import re

import pytest

from arqlab.formats.runs.problems import KINDS, describe, sort_problems
from arqlab.formats.runs.report import Finding, listed
from arqlab.ir.records import Severity

FACTS = (
    "format", "wanted", "unknown", "item", "best", "limit", "order", "counts", "ties", "tag", "limit_answers",
    "max_characters", "part",
)  # fmt: skip


def a_group(kind: str, *, count: int = 1, can_repair: bool = True, **options: object):
    places = listed([(line, "A.1", "x", "y") for line in range(1, count + 1)])
    return describe(
        Finding(kind, places, dict.fromkeys(FACTS, "..."), **options), can_repair=can_repair
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_told_in_full_sentences(kind):
    group = a_group(kind)

    assert re.fullmatch(r"[A-Z.\d].*\.", group.message)
    assert re.fullmatch(r"[A-Z].*\.", group.todo)


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_repaired_file_does_is_said_only_where_there_is_one(kind):
    assert a_group(kind).repairable == ("The repaired file" in a_group(kind).todo)
    assert "repaired" not in a_group(kind, can_repair=False).todo
    assert "repaired" not in a_group(kind, repairable=False).todo


def test_figures_and_words_agree_in_number():
    assert "On 1 line the rank" in a_group("rank-jump").message
    assert "On 1,200 lines the rank" in a_group("rank-jump", count=1200).message


def test_a_check_may_say_how_bad_it_is_here():
    assert a_group("unknown-item").severity is Severity.ERROR
    assert a_group("unknown-item", severity=Severity.NOTE).severity is Severity.NOTE


def test_a_note_asks_nobody_to_take_items_out():
    assert "Take out" in a_group("unknown-item").todo
    assert a_group("unknown-item", severity=Severity.NOTE).todo == "Nothing is to be done."


def test_errors_are_first_and_kinds_stand_as_one_reads_a_file():
    groups = [a_group(kind) for kind in ("crlf", "rank-jump", "over-limit", "columns", "bom")]

    assert [group.kind for group in sort_problems(groups)] == [
        "columns",
        "over-limit",
        "bom",
        "rank-jump",
        "crlf",
    ]

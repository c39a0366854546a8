"""The tables of a lab.toml, read key by key."""

from datetime import UTC, date, datetime

import pytest

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.labs.tables import LabTable, Mistakes, closing_time, opening_time, slug_text
from arqkit.records import FileRefusedError


@pytest.fixture
def table_of(tmp_path):
    """Read a TOML text; gives its outermost table and the mistakes noted so far."""

    def read(text: str) -> tuple[LabTable, Mistakes]:
        path = tmp_path / "lab.toml"
        path.write_text(text)
        mistakes = Mistakes(SourceFolder(path.parent))
        return mistakes.read_root(), mistakes

    return read


def found(mistakes: Mistakes) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.found) for problem in mistakes.problems]


def test_a_key_that_is_there_is_read(table_of):
    table, mistakes = table_of('name = "x"\n')

    assert table.text("name") == "x"
    assert not mistakes.problems


def test_a_missing_key_is_noted_unless_it_has_a_default(table_of):
    table, mistakes = table_of("a = 1\n")

    assert (table.text("name"), table.take("slug", slug_text, "none")) == (None, "none")
    assert found(mistakes) == [(None, "no name")]


def test_a_wrong_value_is_noted_with_its_line(table_of):
    table, mistakes = table_of('a = 1\nname = " "\n')

    assert table.text("name") is None
    assert found(mistakes) == [(2, "name = ' '")]


def test_keys_that_nobody_asked_for_are_noted_with_the_nearest_known_one(table_of):
    table, mistakes = table_of('name = "x"\nlimitt = 1\nzzz = 2\n')
    table.text("name")

    table.close("limit")

    assert found(mistakes) == [(2, "the key limitt"), (3, "the key zzz")]
    assert [problem.todo for problem in mistakes.problems] == ["Did you mean limit?", "Remove it."]


def test_tables_in_tables_know_their_lines(table_of):
    table, mistakes = table_of('[[tasks]]\nname = "x"\n[[tasks]]\nname = 3\n')

    assert [inner.text("name") for inner in table.tables("tasks")] == ["x", None]
    assert found(mistakes) == [(4, "name = 3")]


def test_a_key_that_is_not_a_table_is_reported(table_of):
    table, mistakes = table_of("collection = 3\n")

    assert table.table("collection") is None
    assert found(mistakes) == [(1, "collection = 3")]


def test_no_problem_is_no_refusal(table_of):
    _, mistakes = table_of("a = 1\n")

    mistakes.refuse_any()
    assert mistakes.problems == []


def test_all_problems_make_one_refusal_in_the_order_of_the_lines(table_of):
    table, mistakes = table_of("b = 1\na = 2\n")
    table.text("a")
    table.text("b")

    with pytest.raises(FileRefusedError) as refused:
        mistakes.refuse_any()

    assert [problem.line for problem in refused.value.problems] == [1, 2]


@pytest.mark.parametrize("slug", ["a", "arqmath-1", "0-0"])
def test_a_slug_is_lower_case_words(slug):
    assert slug_text(slug) == slug


@pytest.mark.parametrize("slug", ["", "A", "a b", "-a", "a--b", "a_b", "ä", "a/b", 3, "a" * 51])
def test_anything_else_is_no_slug(slug):
    with pytest.raises(ValueError, match="lower-case"):
        slug_text(slug)


def test_a_day_opens_and_closes_where_it_ends_last():
    assert opening_time(date(2022, 5, 1)).astimezone(UTC) == datetime(
        2022, 5, 1, 12, 0, 0, tzinfo=UTC
    )
    assert closing_time(date(2022, 5, 1)).astimezone(UTC) == datetime(
        2022, 5, 2, 11, 59, 59, tzinfo=UTC
    )


# the fault
@pytest.mark.parametrize("value", ["2022-05-01", datetime(2022, 5, 1), 20220501, None])  # noqa: DTZ001
def test_what_is_no_moment_is_refused(value):
    with pytest.raises(ValueError, match="offset"):
        closing_time(value)

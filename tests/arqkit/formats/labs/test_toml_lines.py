"""The lines of the keys of a TOML text."""

import tomllib

import pytest

from arqkit.formats.labs.tables import TomlLines, syntax_fault

TEXT = """[lab]
slug = "a"  # a comment
[[tasks]]
slug = "one"
qrels = [{ name = "x" }]
[[tasks]]
slug = "two"
qrels = [
  { name = "x" },
  { name = "y" },
]
[tasks.more]
deep = 1
[[tasks.list]]
key = 1
[[tasks.list]]
key = 2
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("lab",), 1),
        (("lab", "slug"), 2),
        (("tasks", 0), 3),
        (("tasks", 0, "slug"), 4),
        (("tasks", 1, "slug"), 7),
        (("tasks", 1, "qrels", 0), 9),
        (("tasks", 1, "qrels", 1), 10),
        (("tasks", 1, "more", "deep"), 13),
        (("tasks", 1, "list", 0, "key"), 15),
        (("tasks", 1, "list", 1, "key"), 17),
    ],
)
def test_a_path_has_its_line(path, line):
    assert TomlLines(TEXT)(path) == line


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("tasks", 0, "qrels", 0, "name"), 5),
        (("tasks", 1, "qrels", 1, "name"), 10),
        (("lab", "missing"), 1),
        (("nowhere",), None),
    ],
)
def test_a_path_without_a_line_has_that_of_what_is_around_it(path, line):
    assert TomlLines(TEXT)(path) == line


@pytest.mark.parametrize(("text", "line"), [("a = 1\nb = \n", 2), ("[a\n", 1), ('a = """', None)])
def test_a_syntax_error_has_its_line_where_the_reader_reports_it(text, line):
    with pytest.raises(tomllib.TOMLDecodeError) as error:
        tomllib.loads(text)

    found, reason = syntax_fault(error.value)
    assert found == line
    assert reason
    assert "(at" not in reason

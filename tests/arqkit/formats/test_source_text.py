"""Text in UTF-8, and a sentence for everything else."""

import codecs

import pytest

from arqkit.formats.source_text import source_text
from arqkit.records import FileRefusedError


def test_text_in_utf_8_is_itself_with_its_line_ends():
    assert source_text("a\r\nß\n".encode(), path="t") == "a\r\nß\n"


def test_a_byte_order_mark_is_taken_off():
    assert source_text(codecs.BOM_UTF8 + b"a", path="t") == "a"


@pytest.mark.parametrize(
    ("data", "line", "found"),
    [
        (b"", None, "an empty file"),
        (b" \n\t ", None, "an empty file"),
        ("a".encode("utf-16"), 1, "text in UTF-16"),
        (codecs.BOM_UTF16_BE + "a".encode("utf-16-be"), 1, "text in UTF-16"),
        (b"a\nb\n\0", 3, "a null byte"),
        (b"a\n\xe4b", 2, "the byte 0xE4, which is not UTF-8"),
    ],
)
def test_what_is_not_text_in_utf_8_is_named_with_its_line(data, line, found):
    with pytest.raises(FileRefusedError) as refused:
        source_text(data, path="t")

    (problem,) = refused.value.problems
    assert (problem.path, problem.line, problem.found) == ("t", line, found)

"""The diff of a repair has the changed lines with their numbers, also when it is cut."""

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from arqkit.formats.runs import results
from arqkit.formats.runs.results import DIFF_LINES, repair_lines

FILES = st.lists(st.sampled_from("abcdefgh"), max_size=30).map(
    lambda lines: "".join(f"{line}\n" for line in lines).encode()
)


def shown(before: bytes, after: bytes) -> list[tuple[int | None, str]]:
    return [(line["line"], line["text"]) for line in repair_lines(before, after)]


def test_equal_files_have_no_diff():
    assert repair_lines(b"a\n", b"a\n") == []


def test_a_changed_line_appears_beside_what_it_became():
    before = b"".join(b"%d\n" % number for number in range(20))
    around = [(8, " 7"), (9, " 8"), (10, " 9")], [(12, " 11"), (13, " 12"), (14, " 13")]
    changed = [(11, "-10"), (None, "+ten")]

    assert shown(before, before.replace(b"10\n", b"ten\n")) == [
        (None, "@@ line 8 @@"),
        *around[0],
        *changed,
        *around[1],
    ]


def test_lines_that_are_left_out_are_shown():
    assert shown(b"a\n\nb\n", b"a\nb\n")[1:] == [(1, " a"), (2, "-"), (3, " b")]


def test_a_byte_order_mark_and_carriage_returns_that_went_are_made_visible():
    assert shown("\ufeffa\r".encode(), b"a\n")[1][1].startswith("-⟨BOM⟩a")


def test_carriage_returns_that_were_kept_are_not_shown():
    assert all(r"\r" not in text for _, text in shown(b"a\r\n\r\nb\r\n", b"a\r\nb\r\n"))


def test_a_long_diff_is_cut_and_shows_how_much_was_left_out():
    before = b"".join(b"%d\n" % number for number in range(1000))
    lines = shown(before, before.replace(b"\n", b".\n"))

    assert len(lines) == DIFF_LINES + 1
    assert lines[-1][1] == f"… and {2000 - DIFF_LINES + 1:,} more changed lines are not shown here."


@settings(max_examples=300, deadline=None)
@given(FILES, FILES)
def test_the_diff_makes_one_file_out_of_the_other(before, after):
    lines, results.DIFF_LINES = results.DIFF_LINES, 1_000
    try:
        assert patched(before, repair_lines(before, after)) == after.decode().splitlines()
    finally:
        results.DIFF_LINES = lines


def patched(before: bytes, diff: list[dict]) -> list[str]:
    """Apply a diff, strictly: every line must be where its number says."""
    old, new, at = before.decode().splitlines(), [], 0
    for line in diff:
        if line["kind"] == "gap" and line["text"].startswith("@@"):
            begin = int(line["text"].split()[2]) - 1
            new += old[at:begin]
            at = begin
        if line["line"]:
            assert old[line["line"] - 1] == line["text"][1:]
            assert line["line"] == at + 1
            at += 1
        if line["kind"] in ("", "added"):
            new.append(line["text"][1:])
    return new + old[at:]


def test_100_000_lines_take_no_time_to_speak_of():
    before = b"".join(b"A.1\t%d\t%d\t1.0\tt\n" % (number, number + 1) for number in range(100_000))
    after = b"".join(b"A.1\t%d\t%d\t1.0\tt\n" % (number, number) for number in range(0, 100_000, 2))
    start = time.process_time()
    repair_lines(before, after)

    assert time.process_time() - start < 2


def test_lines_beyond_those_that_are_compared_are_not_taken_for_changed():
    before = b"".join(b"%d\n" % number for number in range(10_000))

    assert shown(before, before.replace(b"\n5\n", b"\n"))[-1] == (9, " 8")
    assert shown(before.replace(b"\n5\n", b"\n"), before)[-1] == (8, " 8")

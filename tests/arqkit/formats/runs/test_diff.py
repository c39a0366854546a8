"""The diff of a repair is a unified diff, also when it is cut."""

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from arqkit.formats.runs.results import repair_diff

FILES = st.lists(st.sampled_from("abcdefgh"), max_size=30).map(
    lambda lines: "".join(f"{line}\n" for line in lines).encode()
)


def test_equal_files_have_no_diff():
    assert repair_diff(b"a\n", b"a\n") == ""


def test_a_changed_line_appears_beside_what_it_became():
    before = b"".join(b"%d\n" % number for number in range(20))
    after = before.replace(b"10\n", b"ten\n")

    assert repair_diff(before, after) == (
        "--- as sent\n+++ repaired\n@@ -8,7 +8,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"
    )


def test_lines_that_are_left_out_are_shown():
    assert (
        repair_diff(b"a\n\nb\n", b"a\nb\n")
        == "--- as sent\n+++ repaired\n@@ -1,3 +1,2 @@\n a\n-\n b\n"
    )


def test_a_byte_order_mark_and_carriage_returns_that_went_are_made_visible():
    diff = repair_diff("\ufeffa\r\n".encode(), b"a\n")

    assert "-⟨BOM⟩a␍\n+a\n" in diff


def test_carriage_returns_that_were_kept_are_not_shown():
    assert "␍" not in repair_diff(b"a\r\n\r\nb\r\n", b"a\r\nb\r\n")


def test_a_long_diff_is_cut_and_shows_how_much_was_left_out():
    before = b"".join(b"%d\n" % number for number in range(1000))
    after = before.replace(b"\n", b".\n")
    lines = repair_diff(before, after, most=10).splitlines()

    assert len(lines) == 2 + 1 + 10 + 1
    assert lines[-1] == "… and 1,990 more changed lines are not shown here."


@settings(max_examples=300, deadline=None)
@given(FILES, FILES)
def test_the_diff_makes_one_file_out_of_the_other(before, after):
    diff = repair_diff(before, after, most=10_000)

    assert patched(before, diff) == after


def patched(before: bytes, diff: str) -> bytes:
    """Apply a diff as `patch` does, strictly: every context line must be where the head says."""
    old, new, at = before.decode().splitlines(), [], 0
    for line in diff.splitlines()[2:]:
        if line.startswith("@@"):
            start, count = (int(part) for part in line.split()[1][1:].split(","))
            begin = start - (count > 0)
            new += old[at:begin]
            at = begin
        elif line[0] in " -":
            assert old[at] == line[1:]
            at += 1
        if line[0] in " +":
            new.append(line[1:])
    new += old[at:]
    return "".join(f"{line}\n" for line in new).encode()


def test_100_000_lines_take_no_time_to_speak_of():
    before = b"".join(b"A.1\t%d\t%d\t1.0\tt\n" % (number, number + 1) for number in range(100_000))
    after = b"".join(b"A.1\t%d\t%d\t1.0\tt\n" % (number, number) for number in range(0, 100_000, 2))
    start = time.process_time()
    repair_diff(before, after)

    assert time.process_time() - start < 2

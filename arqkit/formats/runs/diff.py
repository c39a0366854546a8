"""Show the changes of a repair as a unified diff."""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from arqkit.ids import visible

CONTEXT = 3  # unchanged lines shown around a change
SLACK = 50  # how many lines later than expected a line may still be found in the repaired file


class _Change(NamedTuple):
    """Lines `begin` to `end` became lines `new_begin` to `new_end` (from 0, ends excluded)."""

    begin: int
    end: int
    new_begin: int
    new_end: int


def repair_diff(before: bytes, after: bytes, *, most: int = 200) -> str:
    """Return the unified diff from a run file to its repaired form.

    It has at most `most` lines of changes and context; a last line counts the changed lines that
    are not shown. A byte order mark that the repair removed is shown as ⟨BOM⟩, a carriage return as
    ␍. The time is linear in the file, because a repair never moves a line.
    """
    if b"\r" in after:  # the repair kept them, so they are not a change
        before, after = before.replace(b"\r\n", b"\n"), after.replace(b"\r\n", b"\n")
    old, new = _lines(before), _lines(after)
    changes = list(_changes(old, new))
    if not changes:
        return ""
    diff = ["--- as sent", "+++ repaired"]
    room, left_out = most, 0
    for hunk in _hunks(changes):
        lines = _hunk_lines(old, new, hunk, room)
        changed = sum(
            change.end - change.begin + change.new_end - change.new_begin for change in hunk
        )
        left_out += changed - sum(line[0] in "+-" for line in lines)
        if lines:
            diff += [_hunk_head(lines, hunk), *lines]
        room -= len(lines)
    if left_out:
        diff.append(
            f"… and {left_out:,} more changed {'line is' if left_out == 1 else 'lines are'} "
            "not shown here."
        )
    return "\n".join(diff) + "\n"


def _lines(data: bytes) -> list[str]:
    lines = data.decode(errors="replace").split("\n")
    return lines if lines[-1] else lines[:-1]


def _changes(old: list[str], new: list[str]) -> Iterator[_Change]:
    """Yield the changes: each old line is looked up among the remaining new lines."""
    places: dict[str, list[int]] = defaultdict(list)
    for index in range(len(new) - 1, -1, -1):
        places[new[index]].append(index)
    begin = new_begin = 0
    for index, line in enumerate(old):
        left = places.get(line, [])
        while left and left[-1] < new_begin:
            left.pop()
        if left and left[-1] - new_begin <= index - begin + SLACK:
            place = left.pop()
            if index > begin or place > new_begin:
                yield _Change(begin, index, new_begin, place)
            begin, new_begin = index + 1, place + 1
    if begin < len(old) or new_begin < len(new):
        yield _Change(begin, len(old), new_begin, len(new))


def _hunks(changes: list[_Change]) -> Iterator[list[_Change]]:
    """Group changes whose contexts touch."""
    hunk = changes[:1]
    for change in changes[1:]:
        if change.begin - hunk[-1].end > 2 * CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    yield hunk


def _hunk_lines(old: list[str], new: list[str], hunk: list[_Change], room: int) -> list[str]:
    """Return the first `room` lines of a hunk, including context."""
    lines: list[str] = []
    at = max(hunk[0].begin - CONTEXT, 0)
    for change in hunk:
        lines += [f" {_visible(line)}" for line in old[at : change.begin]]
        if len(lines) >= room:
            return lines[: max(room, 0)]
        size = room - len(lines)
        lines += _changed_lines(
            old[change.begin : change.end][:size], new[change.new_begin : change.new_end][:size]
        )
        at = change.end
    lines += [f" {_visible(line)}" for line in old[at : at + CONTEXT]]
    return lines[:room]


def _changed_lines(removed: list[str], added: list[str]) -> list[str]:
    """Return removed and added lines, in pairs if there are as many, so that a cut diff helps."""
    minus = [f"-{_visible(line)}" for line in removed]
    plus = [f"+{_visible(line)}" for line in added]
    if len(minus) != len(plus):
        return minus + plus
    return [line for pair in zip(minus, plus, strict=True) for line in pair]


def _hunk_head(lines: list[str], hunk: list[_Change]) -> str:
    """Return the head of a hunk: where its lines start and how many there are."""
    context = min(CONTEXT, hunk[0].begin)
    start, new_start = hunk[0].begin - context, hunk[0].new_begin - context
    count = sum(line[0] != "+" for line in lines)
    new_count = sum(line[0] != "-" for line in lines)
    return f"@@ -{start + (count > 0)},{count} +{new_start + (new_count > 0)},{new_count} @@"


def _visible(line: str) -> str:
    return visible(line.replace("\r", "␍"))

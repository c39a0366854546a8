"""Retrieval times of a run by topic, as the first overview has them (000 Table 3)."""

import math
from collections.abc import Container, Mapping
from statistics import fmean, pstdev
from typing import NamedTuple

from arqkit.records import FileProblems
from arqkit.topics import natural_key

PATH = "the retrieval times"


class TimeFacts(NamedTuple):
    """The least and most seconds of a run, with their topics; the mean, and the deviation."""

    least: float
    least_topic: str
    most: float
    most_topic: str
    mean: float
    deviation: float

    @classmethod
    def of(cls, times: Mapping[str, float]) -> "TimeFacts":
        """Return the facts of one topic or more; of equal times, the first topic is named."""
        topics = sorted(times, key=natural_key)
        least, most = (choose(topics, key=times.__getitem__) for choose in (min, max))
        values = list(times.values())
        facts = (times[least], least, times[most], most)
        return cls(*facts, fmean(values), pstdev(values))


def read_times(text: str, *, topics: Container[str] | None = None) -> dict[str, float]:
    """Return the seconds by topic of lines such as `A.1 0.316`; empty lines are skipped.

    `topics` are those that a run may have times of, if they are known.
    Raise FileRefusedError with every line that is wrong.
    """
    times: dict[str, float] = {}
    problems = FileProblems(PATH)
    for number, line in enumerate(text.splitlines(), start=1):
        if not (words := line.split()):
            continue
        topic, seconds = words[0], _seconds(words[-1])
        if len(words) != 2 or seconds is None:
            expected = "a topic and its seconds, such as A.1 0.316"
            problems.add(number, line.strip()[:80], expected, "Correct the line.")
        elif topics is not None and topic not in topics:
            todo = "Correct the topic, or remove the line."
            problems.add(number, f"the topic {topic[:80]}", "a topic of the task", todo)
        elif topic in times:
            problems.add(number, f"the topic {topic} again", "each topic once", "Remove the line.")
        else:
            times[topic] = seconds
    problems.refuse_any()
    return times


def _seconds(cell: str) -> float | None:
    try:
        seconds = float(cell)
    except ValueError:
        return None
    return seconds if 0 <= seconds < math.inf else None


def write_times(times: Mapping[str, float]) -> str:
    """Return the lines of times, in the order of the topics."""
    return "\n".join(f"{topic} {times[topic]}" for topic in sorted(times, key=natural_key))

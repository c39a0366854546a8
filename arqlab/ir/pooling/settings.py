"""What the settings of a pool may be, for a kind of task: one rule for forms and commands."""

from collections.abc import Iterator
from dataclasses import asdict

from arqlab.ir.protocols.presets import PoolProtocol
from arqlab.ir.records import TaskKind

DEEPEST = 1000
MOST_INSTANCES = 50
LARGEST_SEED = 2**63 - 1
OF_KIND = {
    TaskKind.ANSWERS: frozenset({"extra_threads", "holds_written_answers"}),
    TaskKind.FORMULAS: frozenset(
        {"visually_distinct", "instances", "instance_policy", "extra_depth"}
    ),
    TaskKind.WRITTEN_ANSWERS: frozenset[str](),
}
"""The settings that only one kind of task has."""

_BOUNDS = {
    "primary": (0, DEEPEST),
    "alternate": (0, DEEPEST),
    "manual": (0, DEEPEST),
    "size": (0, DEEPEST),
    "extra_depth": (0, DEEPEST),
    "instances": (1, MOST_INSTANCES),
    "seed": (0, LARGEST_SEED),
}


def impossible(protocol: PoolProtocol, *, kind: TaskKind, seed: int) -> Iterator[str]:
    """Return a sentence for each setting that a pool of such a task cannot have; nothing where all
    can be.
    """
    values = {**asdict(protocol), "seed": seed}
    for name, (lowest, highest) in _BOUNDS.items():
        value = values[name]
        if value is not None and not lowest <= value <= highest:
            yield f"{_said(name)} is {value}; give a whole number from {lowest} to {highest}."
    if protocol.method == "rank-by-rank" and protocol.size == 0:
        yield "Rank by rank the pool grows until it has a size; give one from 1."
    for name in sorted(frozenset().union(*OF_KIND.values()) - OF_KIND[kind]):
        if name not in ("instances", "instance_policy") and values[name] not in (None, False):
            yield f"{_said(name)} is for another kind of task; leave it out."


def _said(name: str) -> str:
    return name.replace("_", " ").capitalize()

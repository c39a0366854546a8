"""Bounds of pool settings by kind of task, for forms and commands."""

from collections.abc import Iterator
from dataclasses import asdict

from arqkit.protocols.presets import PoolProtocol
from arqkit.records import TaskKind

DEEPEST = 1000
MAX_INSTANCES = 50
LARGEST_SEED = 2**63 - 1
OF_KIND = {
    TaskKind.ANSWERS: frozenset({"extra_threads", "includes_generated_answers", "shows_threads"}),
    TaskKind.FORMULAS: frozenset(
        {"visually_distinct", "instances", "instance_policy", "extra_depth"}
    ),
    TaskKind.GENERATED_ANSWERS: frozenset[str](),
    TaskKind.DOCUMENTS: frozenset[str](),
}
"""The settings that exist for one kind of task only."""

_BOUNDS = {
    "primary": (0, DEEPEST),
    "alternate": (0, DEEPEST),
    "manual": (0, DEEPEST),
    "size": (0, DEEPEST),
    "extra_depth": (0, DEEPEST),
    "instances": (1, MAX_INSTANCES),
    "seed": (0, LARGEST_SEED),
}


def invalid_settings(protocol: PoolProtocol, *, kind: TaskKind, seed: int) -> Iterator[str]:
    """Yield a message for each setting that is invalid for the kind of task."""
    values = {**asdict(protocol), "seed": seed}
    for name, (lowest, highest) in _BOUNDS.items():
        value = values[name]
        if value is not None and not lowest <= value <= highest:
            yield f"{_title(name)} is {value}. Use a whole number from {lowest} to {highest}."
    if protocol.method == "rank-by-rank" and protocol.size == 0:
        yield "Rank-by-rank pooling needs a pool size. Use 1 or more."
    for name in sorted(frozenset().union(*OF_KIND.values()) - OF_KIND[kind]):
        if name not in ("instances", "instance_policy") and values[name] not in (None, False):
            yield f"{_title(name)} does not apply to this kind of task. Leave it out."


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()

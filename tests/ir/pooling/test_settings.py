"""What the settings of a pool may be."""

import pytest

from arqlab.ir.pooling.settings import LARGEST_SEED, impossible
from arqlab.ir.protocols.presets import PROTOCOLS, PoolProtocol
from arqlab.ir.records import TaskKind


def test_every_preset_is_possible_for_its_own_kind_of_task():
    for preset in PROTOCOLS.values():
        for kind, task in preset.tasks.items():
            assert list(impossible(task.pool, kind=kind, seed=LARGEST_SEED)) == []


@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        (
            PoolProtocol(method="rank-by-rank"),
            "Rank by rank the pool grows until it has a size; give one from 1.",
        ),
        (PoolProtocol(primary=1001), "Primary is 1001; give a whole number from 0 to 1000."),
        (PoolProtocol(manual=-1), "Manual is -1; give a whole number from 0 to 1000."),
        (PoolProtocol(instances=0), "Instances is 0; give a whole number from 1 to 50."),
        (
            PoolProtocol(visually_distinct=True),
            "Visually distinct is for another kind of task; leave it out.",
        ),
        (PoolProtocol(extra_depth=5), "Extra depth is for another kind of task; leave it out."),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(protocol, said):
    assert list(impossible(protocol, kind=TaskKind.ANSWERS, seed=1)) == [said]


def test_a_seed_is_as_large_as_the_database_takes():
    assert list(impossible(PoolProtocol(), kind=TaskKind.ANSWERS, seed=LARGEST_SEED + 1))

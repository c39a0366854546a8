"""Bounds of pool settings."""

import pytest

from arqkit.pooling.pools import LARGEST_SEED, invalid_settings
from arqkit.protocols.presets import PROTOCOLS, PoolProtocol
from arqkit.records import TaskKind


def test_every_preset_is_valid_for_its_kind_of_task():
    for preset in PROTOCOLS.values():
        for kind, task in preset.tasks.items():
            assert list(invalid_settings(task.pool, kind=kind, seed=LARGEST_SEED)) == []


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        (
            PoolProtocol(method="rank-by-rank"),
            "Rank-by-rank pooling needs a pool size. Use 1 or more.",
        ),
        (PoolProtocol(primary=1001), "Primary is 1001. Use a whole number from 0 to 1000."),
        (PoolProtocol(manual=-1), "Manual is -1. Use a whole number from 0 to 1000."),
        (PoolProtocol(instances=0), "Instances is 0. Use a whole number from 1 to 50."),
        (
            PoolProtocol(visually_distinct=True),
            "Visually distinct does not apply to this kind of task. Leave it out.",
        ),
        (
            PoolProtocol(extra_depth=5),
            "Extra depth does not apply to this kind of task. Leave it out.",
        ),
    ],
)
def test_an_invalid_setting_gets_a_message(protocol, message):
    assert list(invalid_settings(protocol, kind=TaskKind.ANSWERS, seed=1)) == [message]


def test_a_seed_is_limited_to_what_the_database_can_store():
    assert list(invalid_settings(PoolProtocol(), kind=TaskKind.ANSWERS, seed=LARGEST_SEED + 1))

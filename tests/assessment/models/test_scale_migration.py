"""Pools and qrels of a running lab get the scale that their task had."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.core.management import call_command

from arqlab.ir.protocols.overrides import with_overrides
from arqlab.ir.protocols.presets import PROTOCOLS
from arqlab.ir.protocols.scales import ARQMATH, NTCIR
from assessment.models import Pool, Qrel, QrelSet
from tests.assessment.factories import make_pool
from tests.evaluation.factories import make_qrels
from tests.factories import make_lab

MIGRATION = import_module("assessment.migrations.0004_pools_and_qrels_take_the_scale_of_their_task")
EVERY = [
    (slug, rules, labels)
    for slug, protocol in PROTOCOLS.items()
    for rules in protocol.tasks.values()
    for labels in ("", "0-1", "0-2", "0-3", "1-3", "0-4", "2 – 4")
]


@pytest.mark.parametrize(("slug", "rules", "labels"), EVERY)
def test_a_task_has_the_scale_of_its_protocol_and_overrides(slug, rules, labels):
    overrides = {"labels": labels} if labels else {}

    assert (
        MIGRATION.scale_of_task(slug, overrides) == with_overrides(rules, overrides).labels.rows()
    )


@pytest.mark.django_db(transaction=True)
def test_what_was_frozen_before_gets_its_scale_and_keeps_its_bytes():
    scene = make_lab()
    pool, graded = make_pool(scene.task), make_qrels(scene.task)
    loaded = make_qrels(scene.task, {"A.1": {"10": 4, "11": 0}})  # on a scale of its own
    hashes = pool.sha256, graded.sha256, loaded.sha256
    labels = list(Qrel.objects.order_by("pk").values())
    try:
        call_command("migrate", "assessment", "0002_first_release", verbosity=0)
    finally:
        call_command("migrate", verbosity=0)

    kept = [Pool.objects.get(), *QrelSet.objects.order_by("version")]
    assert [one.label_scale for one in kept] == [ARQMATH, ARQMATH, NTCIR]
    assert tuple(one.sha256 for one in kept) == hashes
    assert list(Qrel.objects.order_by("pk").values()) == labels

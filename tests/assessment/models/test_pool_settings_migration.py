"""Frozen pools keep their settings when a setting is renamed."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from tests.assessment.factories import make_pool
from tests.factories import make_lab

MIGRATION = import_module("assessment.migrations.0007_pools_include_generated_answers")


@pytest.mark.django_db
def test_the_setting_is_renamed_in_frozen_pools_and_renamed_back():
    pool = make_pool(make_lab().task)
    after = {**pool.settings, "includes_generated_answers": True}
    before = {**pool.settings, "holds_written_answers": True}
    before.pop("includes_generated_answers", None)
    pool.settings = before
    pool.save()

    MIGRATION.forwards(apps, None)
    pool.refresh_from_db()
    assert pool.settings == after

    MIGRATION.backwards(apps, None)
    pool.refresh_from_db()
    assert pool.settings == before

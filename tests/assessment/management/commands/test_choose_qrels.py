"""The command `choose_qrels`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from arqlab.core.models import AuditEvent
from assessment.models import QrelSet
from tests.evaluation.factories import make_qrels


def test_it_makes_a_version_current_and_records_who_did(task, organizer):
    make_qrels(task), make_qrels(task)
    out = StringIO()

    call_command("choose_qrels", str(task), "v2", by=organizer.email, stdout=out)

    assert "v2 is the current version" in out.getvalue()
    assert QrelSet.objects.get(is_current=True).name == "v2"
    assert AuditEvent.objects.get(verb="qrels.choose").actor == organizer


def test_an_unknown_version_is_refused_with_the_known_ones(task):
    make_qrels(task)

    with pytest.raises(CommandError, match="no qrels 'v9'"):
        call_command("choose_qrels", str(task), "v9")

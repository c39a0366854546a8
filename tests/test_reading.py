"""No page and no API writes while it is read: see `tests.reading`, which all tests use."""

import pytest
from django.db import DatabaseError, transaction
from django.test import Client

from arqlab.core.models import AuditEvent, Lab
from arqlab.notices.models import Notice
from tests import test_access
from tests.factories import LabFactory
from tests.reading import refused_writes
from tests.test_access import address, rows

filled = test_access.filled


def test_a_database_that_is_read_refuses_writes_and_takes_them_afterwards(db):
    lab = LabFactory(slug="read")
    with pytest.raises(DatabaseError), transaction.atomic(), refused_writes():
        Lab.objects.update(name="Another")

    Lab.objects.filter(pk=lab.pk).update(name="Mine")
    lab.refresh_from_db()
    assert lab.name == "Mine"


@pytest.mark.parametrize("name", sorted({name for method, name, _ in rows() if method == "GET"}))
def test_a_head_request_writes_nothing(name, filled, db):
    client = Client(raise_request_exception=False)
    client.force_login(filled.public.organizer)
    before = AuditEvent.objects.count(), Notice.objects.filter(read_at=None).count()

    status = client.head(address(name, filled.public, filled.run.pk)).status_code

    assert status < 500
    assert (AuditEvent.objects.count(), Notice.objects.filter(read_at=None).count()) == before

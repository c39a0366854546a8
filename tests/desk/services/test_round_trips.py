"""Files that the product writes and reads: written, read on an empty place, and written again."""

from datetime import UTC, datetime

import pytest

from arqkit.formats.qrels.judgments import COLUMNS
from assessment.guidelines.services.versions import write_guideline
from assessment.judging.services.importing import import_judgments
from assessment.models import Judgment, PoolInstance, PoolItem, Ticket
from desk.services.exports import official_table
from tests.assessment.factories import NOW, judge, make_pool

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 21, 12, 30, 1, 250, tzinfo=UTC)


@pytest.fixture
def judged(task, assessor):
    """A task with a label that changed, one that was returned, and one from elsewhere."""
    make_pool(task)
    guideline = write_guideline(task=task, text="<p>Judge.</p>", at=NOW, by=None)
    first, second, third = PoolInstance.objects.filter(item__topic__query_id="A.1").order_by(
        "doc_id"
    )
    marks = [{"exact": 'it is\t"even"', "formulas": []}]
    told = {"comment": 'No\tproof\n"at all"', "reason": "A slip", "active_ms": 1501}
    old = judge(assessor, first, 3, is_current=False, marks=marks, judged_at=AT, given_at=AT)
    judge(assessor, first, 0, supersedes=old, guideline=guideline, judged_at=AT, **told)
    judge(assessor, second, 1, is_current=False, judged_at=AT)
    judge(None, third, 2, is_imported=True, judged_at=AT)
    return task


def written(task, **names):
    return b"".join(official_table(task, **names))


def read(task, data):
    return import_judgments(task=task, data=data, path="judgments.tsv", at=NOW, by=None).line


@pytest.mark.parametrize("with_names", [True, False])
def test_judgments_are_read_with_their_history_as_they_were_written(judged, with_names):
    file = written(judged, with_names=with_names)
    assert read(judged, file) == "0 new, 0 changed, 4 unchanged."

    Judgment.objects.update(supersedes=None)
    Ticket.objects.all().delete()
    Judgment.objects.all().delete()
    PoolItem.objects.update(done_at=None)

    assert read(judged, file) == "4 new, 0 changed, 0 unchanged."
    assert written(judged, with_names=with_names) == file
    assert list(PoolItem.objects.exclude(done_at=None).values_list("item", flat=True)) == [
        "10",
        "12",
    ]
    assert read(judged, file) == "0 new, 0 changed, 4 unchanged."


def test_each_column_of_written_judgments_is_one_that_is_read(judged):
    [heading, *_] = written(judged).decode().splitlines()

    assert set(heading.split("\t")) <= set(COLUMNS)

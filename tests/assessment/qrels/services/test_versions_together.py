"""Several processes at once: of those who freeze under one name one does, and an item has one label
that counts.
"""

from pathlib import Path

import pytest

from tests.databases import UseDatabase
from tests.submissions.processes import MAKE_LAB, output_of, outputs_together

JUDGED = """
from assessment.models import *
from assessment.judging.services.importing import import_judgments
from assessment.pools.services.changing import discard_pool
from assessment.qrels.services.versions import *
scale = task.protocol.labels.rows()
at = timezone.now()
fields = dict(settings={}, scale=scale, seed=1, runs=[], sha256="0" * 64)
pool = Pool.objects.create(task=task, number=1, frozen_at=at, **fields)
topic = Topic.objects.get()
for place, post in enumerate(["10", "11"], start=1):
    item = PoolItem.objects.create(
        pool=pool, topic=topic, kind="posts", item=post, position=place
    )
    PoolInstance.objects.create(item=item, doc_id=post)
import_judgments(task=task, data=b"A.1 0 10 3\\nA.1 0 11 2\\n", path="a", at=at, by=None)
print(0)
"""
START = """
from assessment.models import *
from assessment.judging.services.importing import import_judgments
from assessment.pools.services.changing import discard_pool
from assessment.qrels.services.versions import *
task = Task.objects.select_related("lab").get()
try:
    {step}
    print(json.dumps("done"))
except UserError as refused:
    print(json.dumps(refused.code))
"""
FREEZE = 'freeze_qrels(task=task, choice=QrelsChoice("{name}"), by=None, at=timezone.now())'
IMPORT = (
    'import_judgments(task=task, data=b"A.1 0 10 {label}\\n", path="a", at=timezone.now(), by=None)'
)
DISCARD = "discard_pool(pool=Pool.objects.get(), by=None)"
UNJUDGED = "from assessment.models import *\nJudgment.objects.all().delete()\nprint(0)"
CURRENT = 'sorted(Judgment.objects.values_list("instance__doc_id", "is_current"))'


@pytest.fixture
def data(tmp_path: Path, use_tested_database: UseDatabase) -> Path:
    """Return a data folder with a judged pool; its database is on the tests' server."""
    use_tested_database(tmp_path)
    output_of(tmp_path, MAKE_LAB, JUDGED)
    return tmp_path


def test_of_three_who_freeze_under_one_name_one_does(data: Path) -> None:
    outcomes = outputs_together(data, [START.format(step=FREEZE.format(name="official"))] * 3)

    assert sorted(outcomes) == ["done", "name", "name"]


def test_those_who_freeze_at_once_get_versions_of_their_own_and_none_is_current(data: Path) -> None:
    assert (
        outputs_together(data, [START.format(step=FREEZE.format(name=name)) for name in "abc"])
        == ["done"] * 3
    )

    versions = "QrelSet.objects.order_by('version').values_list('version', 'is_current')"
    show = f"from assessment.models import QrelSet\nprint(json.dumps(list({versions})))"
    assert output_of(data, show) == [[1, False], [2, False], [3, False]]


def test_a_pool_is_discarded_or_judged_and_never_both(data: Path) -> None:
    output_of(data, UNJUDGED)

    outcomes = outputs_together(
        data, [START.format(step=IMPORT.format(label=1)), START.format(step=DISCARD)]
    )

    assert outcomes in (["done", "pool-judged"], ["no-pool", "done"], ["judged-meanwhile", "done"])


def test_of_labels_that_are_imported_at_once_one_counts_and_each_that_was_taken_is_kept(
    data: Path,
) -> None:
    outcomes = outputs_together(
        data, [START.format(step=IMPORT.format(label=label)) for label in (0, 1, 2)]
    )

    assert set(outcomes) <= {"done", "judged-meanwhile", "unconfirmed"}
    rows = output_of(data, f"from assessment.models import Judgment\nprint(json.dumps({CURRENT}))")
    assert rows == [["10", False]] * outcomes.count("done") + [["10", True], ["11", True]]

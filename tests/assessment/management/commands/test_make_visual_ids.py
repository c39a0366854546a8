"""`manage.py make_visual_ids`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from collection.services.importing.formulas import import_formulas
from tests.assessment.qrels.selectors.test_rejudging import index
from tests.collection.factories import NOW, load_small
from tests.evaluation.factories import make_qrels
from tests.factories import FormulaTaskFactory

pytestmark = pytest.mark.django_db


def make(slug: str = "small") -> str:
    out = StringIO()
    call_command("make_visual_ids", slug, stdout=out)
    return out.getvalue()


def test_the_same_formulas_change_nothing(lab, tmp_path):
    load_small(lab, tmp_path, formulas=index())

    assert make().splitlines() == [
        "Nothing to change.",
        "Visual ids, version 1: 2 formulas in 3 instances.",
        f"{lab.slug}: no judged formula changed.",
    ]


def test_judged_formulas_that_changed_are_counted_and_linked(lab, tmp_path):
    collection = load_small(lab, tmp_path, formulas=index())
    make_qrels(FormulaTaskFactory(lab=lab), {"B.1": {"9": 2}}, items="formula-ids")
    (tmp_path / "new.tsv").write_text(index(f9="70"))
    import_formulas(collection=collection, files={"latex": tmp_path / "new.tsv"}, at=NOW)

    assert make().splitlines() == [
        "Visual ids, version 2: 1 formulas in 3 instances; 1 merges, 1 would split.",
        f"{lab.slug}: 1 judgments of formulas with changed visual ids;"
        f" see /labs/{lab.slug}/visual-ids/2/judged/",
    ]


def test_an_unknown_collection_is_named_with_those_that_there_are(lab, tmp_path):
    load_small(lab, tmp_path)

    with pytest.raises(CommandError, match="Collection not found: large"):
        make("large")

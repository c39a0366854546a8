"""`manage.py import_formulas`."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from collection.models import Collection
from tests.collection.services.importing.test_formulas import write_index

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("import_formulas", "--collection", "small", *arguments, stdout=out)
    return out.getvalue()


def test_counts_and_problems_are_printed(tmp_path):
    path = write_index(tmp_path, "latex.tsv", "7\t1\t1\ttitle\t70\tx", "b\t1\t1\ttitle\t\ty")
    printed = run("--latex", str(path)).splitlines()

    assert printed[0].startswith("Formulas in LaTeX (latex.tsv): 1 of 2 rows kept; 1 instances")
    assert printed[1] == "1 problem:"
    assert printed[2].startswith("  latex.tsv:3: found the formula id 'b'")
    assert printed[-1] == "Now run: manage.py make_visual_ids small"


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(CommandError, match=r"There is no .*none"):
        run("--slt", str(tmp_path / "none.tsv"))
    assert not Collection.objects.exists()


def test_a_file_must_be_named():
    with pytest.raises(CommandError, match="Name at least one file"):
        run()


def test_twenty_problems_are_printed_and_the_others_counted(tmp_path):
    path = write_index(tmp_path, "latex.tsv", *(f"b{number}\t1\t1\ttitle\t70\tx" for number in range(25)))

    assert "5 more stand on the collection's page of this import." in run("--latex", str(path))

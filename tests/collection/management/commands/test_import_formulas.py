"""`manage.py import_formulas`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from collection.models import Collection
from collection.selectors.collections import scan_columns
from tests.collection.services.importing.test_formulas import (
    HEADINGS,
    index_of,
    mathml,
    write_index,
)

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
    assert printed[-1] == "Next, run: manage.py make_visual_ids small"


def test_the_remedy_for_a_bad_header_is_printed(tmp_path):
    path = tmp_path / "wide.tsv"
    path.write_text(f"{HEADINGS}\n7\t1\t1\ttitle\t70\tx\n", encoding="utf-16")

    assert "must be tab-separated UTF-8 text" in run("--latex", str(path))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(CommandError, match=r"File not found: .*none"):
        run("--slt", str(tmp_path / "none.tsv"))
    assert not Collection.objects.exists()


def test_at_least_one_file_is_required():
    with pytest.raises(CommandError, match="Name at least one file"):
        run()


def test_twenty_problems_are_printed_and_the_others_counted(tmp_path):
    path = write_index(
        tmp_path, "latex.tsv", *(f"b{number}\t1\t1\ttitle\t70\tx" for number in range(25))
    )

    assert "5 more are listed on the import's page." in run("--latex", str(path))


@pytest.mark.parametrize(
    "text", ["", "7\t1\t1\ttitle\t70\tx\n", f"{HEADINGS}\nb\t1\t1\ttitle\t70\tx\n"]
)
def test_an_unreadable_index_replaces_nothing(tmp_path, text):
    run("--latex", str(write_index(tmp_path, "latex.tsv", "7\t1\t1\ttitle\t70\tx")))
    run("--slt", str(write_index(tmp_path, "slt.tsv", f"7\t1\t1\ttitle\t70\t{mathml('x')}")))
    broken = tmp_path / "broken.tsv"
    broken.write_text(text, encoding="utf-8")

    assert "0 of 1 rows kept" in run("--latex", str(broken), "--yes")
    assert "0 of 1 rows kept" in run("--slt", str(broken), "--yes")
    collection = Collection.objects.get()
    assert index_of(collection).select("formula_id", "latex", "layout").rows() == [
        ("7", "x", "V!x")
    ]
    assert scan_columns(collection.slt_index).collect().height == 1


def test_extracted_formulas_are_kept_if_the_index_cannot_be_read(tmp_path):
    posts = tmp_path / "Posts.xml"
    posts.write_text(
        '<posts>\n<row Id="1" PostTypeId="1" Body="$x$" />\n</posts>', encoding="utf-8"
    )
    call_command("import_posts", str(posts), "--collection", "small", verbosity=0)

    run("--latex", str(write_index(tmp_path, "broken.tsv", "b\t1\t1\ttitle\t70\tx")))
    assert index_of(Collection.objects.get())["latex"].to_list() == ["x"]

"""The files of a collection as the labs publish them, which an import reads again."""

import gzip

import polars as pl
import pytest
from django.core.management import call_command
from lxml import etree

from arqlab.core.errors import UserError
from collection.models import Collection, Comment, Post
from collection.services.exporting import export_collection
from collection.services.visual_maps import make_visual_map
from tests.collection.factories import NOW
from tests.real_data import DATA, needs_data

pytestmark = pytest.mark.django_db
POSTS = """<posts>
  <row Id="1" PostTypeId="1" Title="Why is $x^2$ so?"
 Body="&lt;p&gt;As $x^2$ &amp;amp; $$\\frac{1}{2}$$ here.&lt;/p&gt;"
 Tags="&lt;calculus&gt;&lt;limits&gt;" Score="3" ViewCount="9" AcceptedAnswerId="2"
 CreationDate="2017-03-04T05:06:07.890" OwnerUserId="7" />
  <row Id="2" PostTypeId="2" ParentId="1" Body="&lt;p&gt;So $\\frac{1}{2}$&lt;/p&gt;" Score="-1"
 OwnerDisplayName="A &amp;quot;B&amp;quot;" />
</posts>"""
COMMENTS = """<comments><row Id="5" PostId="2" Text="But $y$?" UserId="8" Score="0" /></comments>"""
LOST = (
    "id",
    "collection_id",
    "rules",
    "title",
    "body",
    "text",
    "clean_title",
    "clean_body",
    "clean_text",
)


def imported(folder, slug):
    call_command("import_posts", str(folder), "--collection", slug)
    indexes = {kind: folder / f"formulas.{kind}.tsv" for kind in ("latex", "slt", "opt")}
    given = {kind: path for kind, path in indexes.items() if path.exists()}
    if given:
        call_command("import_formulas", collection=slug, **given)
    return Collection.objects.get(slug=slug)


def rows(collection):
    """Return what is stored of posts and comments, with the texts that pages show."""
    posts = Post.objects.filter(collection=collection).order_by("post_id")
    comments = Comment.objects.filter(collection=collection).order_by("comment_id")
    shown = [(post.safe_title, post.safe_body) for post in posts] + [
        one.safe_text for one in comments
    ]
    stored = [*posts.values(), *comments.values()]
    return shown, [{name: row[name] for name in row if name not in LOST} for row in stored]


def read(path):
    return pl.read_csv(path, separator="\t", infer_schema=False)


def test_posts_comments_and_indexes_are_imported_as_they_were_exported(tmp_path, settings):
    settings.LATEXML = True
    given, out = tmp_path / "given", tmp_path / "out"
    given.mkdir()
    (given / "Posts.xml").write_text(POSTS)
    (given / "Comments.xml").write_text(COMMENTS)
    first = imported(given, "first")
    make_visual_map(collection=first, at=NOW, judged=[])

    lines = export_collection(collection=first, folder=out)

    assert lines == [
        "Posts.xml: 2 rows.",
        "Comments.xml: 1 rows.",
        *(f"formulas.{kind}.tsv: 5 formulas." for kind in ("latex", "slt", "opt")),
    ]
    index = read(out / "formulas.latex.tsv")
    assert index.columns[0] == "id"
    assert index["formula"].to_list() == ["x^2", "x^2", r"\frac{1}{2}", r"\frac{1}{2}", "y"]
    assert index["visual_id"].n_unique() == 3
    body = etree.parse(out / "Posts.xml").find("row[@Id='2']").get("Body")
    assert (
        body
        == f'<p>So <span class="math-container" id="{index["id"][3]}">$\\frac{{1}}{{2}}$</span></p>'
    )
    slt, opt = (read(out / f"formulas.{kind}.tsv")["formula"] for kind in ("slt", "opt"))
    assert "<mfrac" in slt[2]
    assert "<divide/>" in opt[2]
    assert "<mfrac" not in opt[2]

    second = imported(out, "second")
    assert rows(second) == rows(first)
    again = tmp_path / "again"
    assert export_collection(collection=second, folder=again) == lines
    for path in out.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_folder_with_files_and_an_empty_collection_are_refused(tmp_path):
    empty = Collection.objects.create(slug="empty", loaded_at=NOW)
    with pytest.raises(UserError, match="no posts and no formulas"):
        export_collection(collection=empty, folder=tmp_path / "new")
    (tmp_path / "Posts.xml").write_text(POSTS)
    collection = imported(tmp_path, "first")
    with pytest.raises(UserError, match="has files"):
        export_collection(collection=collection, folder=tmp_path)


@needs_data
def test_the_indexes_of_the_labs_come_out_as_they_were(tmp_path):
    names = {kind: f"formulas.{kind}.tsv.gz" for kind in ("latex", "slt")}
    files = {kind: DATA / "collection" / name for kind, name in names.items()}
    call_command("import_formulas", collection="real", **files)
    collection = Collection.objects.get(slug="real")

    export_collection(collection=collection, folder=tmp_path / "out")

    for kind, path in files.items():
        with gzip.open(path) as file:
            expected = read(file)
        written = read(tmp_path / "out" / f"formulas.{kind}.tsv").select(expected.columns)
        lost = expected.join(written, on=expected.columns, how="anti", nulls_equal=True)
        assert (written.height, lost.height) == (expected.height, 0)

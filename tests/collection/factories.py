"""Small collections for tests."""

from datetime import UTC, datetime
from pathlib import Path

from arqkit.formats.labs.folder import CollectionFile
from arqkit.loads import LoadChoice
from arqlab.core.models import JobProblem, Lab
from collection.models import Collection, Comment, Import, Post, PostLink
from collection.services.loading import load_collection

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
POSTS = """<?xml version="1.0" encoding="utf-8"?>
<posts>
  <row Id="1" PostTypeId="1"
    Title="Why is &lt;span class=&quot;math-container&quot; id=&quot;7&quot;&gt;$a^2$&lt;/span&gt;\
 even?"
    Body="&lt;p&gt;I do not see it.&lt;/p&gt;" Tags="&lt;parity&gt;&lt;squares&gt;" />
  <row Id="10" PostTypeId="2" ParentId="1"
    Body="&lt;p&gt;\
Since &lt;span class=&quot;math-container&quot; id=&quot;8&quot;&gt;$a=2b$&lt;/span&gt;\
.&lt;/p&gt;" />
  <row Id="11" PostTypeId="2" ParentId="1"
    Body="&lt;p onclick=&quot;x()&quot;&gt;See &lt;script&gt;x()&lt;/script&gt; there.&lt;/p&gt;" />
  <row Id="2" PostTypeId="1" Title="Another" Body="&lt;p&gt;Question&lt;/p&gt;" Tags="|limits|" />
  <row Id="12" PostTypeId="2" ParentId="2" Body="&lt;p&gt;Answer&lt;/p&gt;" />
  <row Id="90" PostTypeId="5" Body="a tag wiki" />
</posts>
"""
FORMULAS = (
    "id\tpost_id\tthread_id\ttype\tvisual_id\tformula\n"
    "7\t1\t1\ttitle\t70\ta^2\n"
    "8\t10\t1\tanswer\t\ta=2b\n"
    "9\t12\t2\tanswer\t70\ta^2\n"
)


def collection_file(
    folder: Path,
    *,
    posts: str | None = POSTS,
    formulas: str | None = FORMULAS,
    complete: bool = True,
    slug: str = "small",
) -> CollectionFile:
    """Write the files of a collection and return their description in a lab's folder."""
    paths = {}
    for name, text in (("Posts.xml", posts), ("formulas.tsv", formulas)):
        if text is not None:
            paths[name] = folder / name
            paths[name].write_text(text, encoding="utf-8")
    index = {"latex": paths["formulas.tsv"]} if formulas is not None else {}
    files = {"posts": paths["Posts.xml"]} if posts is not None else {}
    return CollectionFile(slug=slug, complete=complete, files=files, formulas=index)


def load_small(lab: Lab, folder: Path, **changes: object) -> Collection:
    """Load the small collection for a lab, whatever it replaces."""
    choice = LoadChoice(confirmed=True)
    return load_collection(lab=lab, file=collection_file(folder, **changes), at=NOW, choice=choice)


def make_dump(slug: str = "dump", *, later: int = 3) -> Collection:
    """Make a collection of two questions that are searched (1, 2), and some later ones (101, 102,
    …) that are not.

    Each later question has a formula, an answer and a comment, and is a duplicate of 1, which links
    back to 102.
    """
    collection = Collection.objects.create(slug=slug, loaded_at=NOW)
    span = '<span class="math-container" id="{}">${}$</span>'
    Post.objects.bulk_create(
        Post(
            collection=collection,
            post_id=str(number),
            kind="question",
            thread_id=str(number),
            title=f"Old {number}",
        )
        for number in (1, 2)
    )
    for number in range(101, 101 + later):
        post_id = str(number)
        first, second = span.format(f"{post_id}.1", "x"), span.format(f"{post_id}.2", "x^2+1")
        body = f"<p>Is {first} at most {second}?</p>\n"
        Post.objects.create(
            collection=collection,
            post_id=post_id,
            kind="question",
            thread_id=post_id,
            is_searched=False,
            title=f"Question number {'very ' * number}{number}",
            body=body,
            tags=["sums", "limits"],
            score=number - 100,
            views=7,
            created_at=datetime(2019, 1, number - 100, tzinfo=UTC),
        )
        Post.objects.create(
            collection=collection, post_id=f"{post_id}0", kind="answer", thread_id=post_id
        )
        Comment.objects.create(
            collection=collection, comment_id=post_id, post_id=post_id, text="Why?"
        )
        PostLink.objects.create(
            collection=collection, post_id=post_id, related_id="1", kind="duplicate"
        )
    PostLink.objects.create(collection=collection, post_id="1", related_id="102", kind="duplicate")
    PostLink.objects.create(collection=collection, post_id="2", related_id="101", kind="related")
    return collection


def make_import(collection: Collection, *, problems: int = 2, **changes: object) -> Import:
    """Create the record of a finished import of comments, with problems by line."""
    digest = f"{changes.get('kind', 'comments'):c<64}"
    known = {"kind": "comments", "source": "Comments.xml", "sha256": digest, "state": "done"}
    numbers = {"rows": 5, "kept": 3, "problem_count": problems, "counts": {"outside_the_window": 1}}
    times = {"created_at": NOW, "updated_at": NOW, "finished_at": NOW}
    record = Import.objects.create(collection=collection, **known | numbers | times | changes)
    JobProblem.objects.bulk_create(
        JobProblem(
            job=record,
            source="Comments.xml",
            line=line,
            found=f"the Id 'c{line}'",
            expected="Id, a number of at most 18 digits",
            todo="Correct the row and import the file again.",
        )
        for line in range(2, 2 + problems)
    )
    return record


def pairs(*, merged: bool) -> str:
    """Return an index of 130 pairs of formulas, 1000 and 5000 to 1129 and 5129, apart or merged."""
    lines = ["id\tpost_id\tthread_id\ttype\tvisual_id\tformula"]
    for number in range(130):
        for base in (1000, 5000):
            visual = number + (1000 if merged else base)
            lines.append(f"{number + base}\t1\t1\tanswer\t{visual}\tx_{{{number + base}}}")
    return "\n".join(lines) + "\n"

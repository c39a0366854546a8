"""Small collections for tests, written by us."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from arqlab.core.models import Lab
from arqlab.ir.labfile import CollectionFile
from collection.models import Collection
from collection.services import load_collection

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
POSTS = """<?xml version="1.0" encoding="utf-8"?>
<posts>
  <row Id="1" PostTypeId="1" Title="Why is &lt;span class=&quot;math-container&quot; id=&quot;7&quot;&gt;$a^2$&lt;/span&gt; even?"
    Body="&lt;p&gt;I do not see it.&lt;/p&gt;" Tags="&lt;parity&gt;&lt;squares&gt;" />
  <row Id="10" PostTypeId="2" ParentId="1" Body="&lt;p&gt;Since &lt;span class=&quot;math-container&quot; id=&quot;8&quot;&gt;$a=2b$&lt;/span&gt;.&lt;/p&gt;" />
  <row Id="11" PostTypeId="2" ParentId="1" Body="&lt;p onclick=&quot;x()&quot;&gt;See &lt;script&gt;x()&lt;/script&gt; there.&lt;/p&gt;" />
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
    folder: Path, *, posts: str | None = POSTS, formulas: str | None = FORMULAS, complete: bool = True
) -> CollectionFile:
    """Write the files of a collection and give what a lab's folder says of them."""
    paths = {}
    for name, text in (("Posts.xml", posts), ("formulas.tsv", formulas)):
        if text is not None:
            paths[name] = folder / name
            paths[name].write_text(text, encoding="utf-8")
    index = {"latex": paths["formulas.tsv"]} if formulas is not None else {}
    files = {"posts": paths["Posts.xml"]} if posts is not None else {}
    return CollectionFile(slug="small", complete=complete, files=files, formulas=index)


def load_small(lab: Lab, folder: Path, **changes: object) -> Collection:
    """Load the small collection for a lab."""
    return load_collection(lab=lab, file=collection_file(folder, **changes), at=NOW)

"""Two `manage.py import_posts` at the same time, on one server."""

import os
import subprocess
import sys

import pytest

from collection.models import Collection, Import, Post
from tests.paths import ROOT

pytestmark = [pytest.mark.servers, pytest.mark.django_db(transaction=True)]
POSTS = 6_000


@pytest.fixture
def started(tmp_path, settings):
    """Return what starts the command on the tested database, with a file of many posts, and a
    collection's slug.
    """
    rows = (
        f'<row Id="{n}" PostTypeId="1" Title="x" Body="{"&lt;p&gt;w&lt;/p&gt;" * 60}" />'
        for n in range(POSTS)
    )
    path = tmp_path / "Posts.xml"
    path.write_text("<posts>\n" + "\n".join(rows) + "\n</posts>\n", encoding="utf-8")
    known = settings.DATABASES["default"]
    address = f"postgresql://{known['USER']}@{known['HOST']}:{known['PORT']}/{known['NAME']}"
    variables = {"DATABASE_URL": address, "ARQLAB_DATA": str(tmp_path)}

    def start(slug: str) -> subprocess.Popen[str]:
        command = [sys.executable, "manage.py", "import_posts", str(path), "--collection", slug]
        return subprocess.Popen(
            command, cwd=ROOT, env=os.environ | variables, stderr=subprocess.PIPE, text=True
        )

    return start


def test_only_one_of_two_simultaneous_imports_of_a_file_imports_it(started):
    processes = [started("big"), started("big")]
    said = [process.communicate()[1] for process in processes]

    failed = [text for process, text in zip(processes, said, strict=True) if process.returncode]
    # A process that starts after the other is done has nothing to do.
    assert len(failed) < 2
    assert all("Another process is importing Posts.xml." in text for text in failed)
    assert Import.objects.values_list("state", "rows", "kept").get() == ("done", POSTS, POSTS)
    assert Post.objects.count() == POSTS


def test_two_collections_can_be_imported_at_the_same_time(started):
    processes = [started("one"), started("two")]

    assert [process.communicate() and process.returncode for process in processes] == [0, 0]
    assert [each.posts.count() for each in Collection.objects.all()] == [POSTS, POSTS]
    assert list(Import.objects.values_list("state", "kept")) == [("done", POSTS)] * 2

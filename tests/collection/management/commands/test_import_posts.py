import gzip
import io
import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import polars as pl
import py7zr
import pytest
from django.core.management import CommandError, call_command

from arqlab.core.models import Lab
from collection.management.reporting import ProgressLine
from collection.models import Collection, Comment, Import, Post
from collection.selectors.collections import scan_columns
from tests.collection.factories import POSTS
from tests.paths import ROOT

COMMENTS = '<comments>\n<row Id="7" PostId="1" Text="Is $c$ odd?" />\n</comments>\n'
RAW = POSTS.replace(
    "&lt;span class=&quot;math-container&quot; id=&quot;7&quot;&gt;$a^2$&lt;/span&gt;", "$a^2$"
).replace(
    "&lt;span class=&quot;math-container&quot; id=&quot;8&quot;&gt;$a=2b$&lt;/span&gt;", "$$a=2b$$"
)


def run(*arguments: str | Path) -> str:
    out = io.StringIO()
    call_command("import_posts", *(str(one) for one in arguments), stdout=out, stderr=out)
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Posts.xml").write_text(RAW, encoding="utf-8")
    (tmp_path / "Comments.xml").write_text(COMMENTS, encoding="utf-8")
    return tmp_path


@pytest.mark.django_db
def test_all_files_of_a_folder_are_imported_and_a_raw_dump_gets_a_formula_index(folder):
    printed = run(folder, "--collection", "raw")
    frame = scan_columns(Collection.objects.get().formulas_index).collect()

    assert (Post.objects.count(), Comment.objects.count()) == (5, 1)
    assert frame.select(
        "formula_id", "post_id", "thread_id", "type", "comment_id", "latex"
    ).rows() == [
        ("1.1", "1", "1", "title", None, "a^2"),
        ("10.1", "10", "1", "answer", None, "a=2b"),
        ("c7.1", "1", "1", "comment", "7", "c"),
    ]
    assert "Posts (Posts.xml): 5 of 6 rows kept" in printed


@pytest.mark.django_db
def test_importing_files_one_by_one_or_together_gives_the_same_index(folder):
    run(folder, "--collection", "together")
    for name in ("Posts.xml", "Comments.xml"):
        run(folder / name, "--collection", "apart")
    together, apart = (
        scan_columns(Collection.objects.get(slug=slug).formulas_index).collect()
        for slug in ("together", "apart")
    )

    assert apart["formula_id"].to_list() == ["1.1", "10.1", "c7.1"]
    assert apart.equals(together)


@pytest.mark.django_db
def test_no_formula_is_extracted_from_code_in_a_comment(folder):
    text = r"Type `$x$` for $y$, ``$z`` or $\text{`a}$ and $\text{`b}$ at $5."
    (folder / "Comments.xml").write_text(COMMENTS.replace("Is $c$ odd?", text), encoding="utf-8")
    run(folder, "--collection", "raw")

    found = scan_columns(Collection.objects.get().formulas_index).filter(type="comment").collect()
    assert found["latex"].to_list() == ["y", r"\text{`a}", r"\text{`b}"]
    assert "`$x$`" in Comment.objects.get().safe_text


@pytest.mark.django_db
def test_comments_keep_their_formulas_when_their_post_is_imported_again(folder):
    run(folder, "--collection", "raw")
    newer = RAW.replace("Another", "$z$").replace(
        '<row Id="1"', '<row CreationDate="2019-01-01" Id="1"'
    )
    (folder / "Posts.xml").write_text(newer, encoding="utf-8")
    found = []
    for year in (2019, 2018, 2019):
        window = ("--keep-later", "--until", f"{year}-12-31")
        run(folder / "Posts.xml", "--collection", "raw", "--yes", *window)
        found.append(
            scan_columns(Collection.objects.get().formulas_index).collect()["formula_id"].to_list()
        )

    assert found == [["1.1", "10.1", "2.1", "c7.1"], ["2.1"], ["1.1", "10.1", "2.1", "c7.1"]]


@pytest.mark.django_db
def test_an_imported_index_is_kept_when_posts_are_imported(folder):
    run(folder / "Posts.xml", "--collection", "raw")
    (folder / "index.tsv").write_text(
        "id\tpost_id\tthread_id\ttype\tformula\n5\t1\t1\ttitle\ta^2\n"
    )
    call_command("import_formulas", collection="raw", latex=folder / "index.tsv", verbosity=0)
    run(folder / "Comments.xml", "--collection", "raw")

    assert scan_columns(Collection.objects.get().formulas_index).collect()[
        "formula_id"
    ].to_list() == ["5"]


@pytest.mark.django_db
def test_the_last_window_applies_even_if_it_was_used_before(folder):
    rows = "".join(
        f'<row Id="{n}" PostTypeId="1" Body="b" CreationDate="{2016 + n}-05-01" />\n'
        for n in (1, 2, 3)
    )
    (folder / "Posts.xml").write_text(f"<posts>\n{rows}</posts>\n")
    found = []
    for until in ("2018-12-31", "2019-12-31", "2018-12-31", "2017-12-31"):
        run(folder / "Posts.xml", "--collection", "dated", "--yes", "--until", until)
        found.append([*Post.objects.values_list("post_id", flat=True)])

    assert found == [["1", "2"], ["1", "2", "3"], ["1", "2"], ["1"]]
    assert [one.kept for one in Import.objects.order_by("pk")] == [2, 3, 1]
    assert [one.counts["questions"] for one in Import.objects.order_by("pk")] == [2, 3, 1]


@pytest.mark.django_db
def test_the_report_does_not_mention_a_window_without_one(tmp_path):
    answer = '<row Id="1" PostTypeId="2" ParentId="2" Body="It came before its question." />'
    question = '<row Id="2" PostTypeId="1" Title="x" Body="y" />'
    (tmp_path / "Posts.xml").write_text(f"<posts>{answer}{question}</posts>", encoding="utf-8")

    printed = run(tmp_path, "--collection", "raw")

    assert "2 of 2 rows kept; 1 answers, 1 questions." in printed


@pytest.mark.django_db
def test_an_archive_is_read_like_a_folder(folder):
    with py7zr.SevenZipFile(folder / "site.7z", "w") as archive:
        archive.write(folder / "Posts.xml", "Posts.xml")
        archive.write(folder / "Comments.xml", "Comments.xml")
    run(folder / "site.7z", "--collection", "raw")

    assert (Post.objects.count(), Comment.objects.count()) == (5, 1)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("Posts.xml", gzip.compress(RAW.encode())),
        ("Posts.xml.gz", RAW.encode()),
        ("Posts.xml.bz2", gzip.compress(RAW.encode())),
        ("Posts.xml", RAW.encode("utf-16-le")),
        ("Posts.xml", RAW.encode("utf-16-be")),
    ],
)
def test_compression_and_format_are_detected_from_the_bytes(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)

    assert "5 of 6 rows kept" in run(tmp_path / name, "--collection", "raw")


@pytest.mark.django_db
@pytest.mark.parametrize("is_hidden", [False, True])
def test_an_archive_with_a_password_is_refused(folder, is_hidden):
    with py7zr.SevenZipFile(
        folder / "site.7z", "w", password="x", header_encryption=is_hidden
    ) as archive:
        archive.write(folder / "Posts.xml", "Posts.xml")
    try:
        printed = run(folder / "site.7z", "--collection", "raw")
    except CommandError as refused:  # nothing can be told of its members
        printed = str(refused)

    assert "site.7z: found an archive with a password" in printed


@pytest.mark.django_db
@pytest.mark.parametrize("method", [py7zr.FILTER_ZSTD, py7zr.FILTER_BROTLI])
def test_a_damaged_archive_is_refused(folder, method):
    path = folder / "site.7z"
    with py7zr.SevenZipFile(path, "w", filters=[{"id": method, "level": 3}]) as archive:
        archive.write(folder / "Posts.xml", "Posts.xml")
    data = bytearray(path.read_bytes())
    data[32:64] = bytes(32)
    path.write_bytes(data)

    assert "site.7z: found " in run(path, "--collection", "raw")


@pytest.mark.django_db
def test_an_invalid_slug_is_refused(folder):
    with pytest.raises(CommandError, match="is not a slug"):
        run(folder, "--collection", "../../raw")
    assert not Collection.objects.exists()


@pytest.mark.django_db
def test_two_files_of_one_kind_are_refused(folder):
    (folder / "old-Posts.xml").write_text(RAW, encoding="utf-8")
    with py7zr.SevenZipFile(folder / "sites.7z", "w") as archive:
        archive.write(folder / "Posts.xml", "a/Posts.xml")
        archive.write(folder / "Posts.xml", "b/Posts.xml")

    with pytest.raises(CommandError, match=r"2 files of one kind \(Posts\.xml, old-Posts\.xml\)"):
        run(folder, "--collection", "raw")
    with pytest.raises(CommandError, match=r"2 files of one kind \(a/Posts\.xml, b/Posts\.xml\)"):
        run(folder / "sites.7z", "--collection", "raw")
    assert not Collection.objects.exists()


@pytest.mark.django_db
def test_an_imported_file_is_reported_as_such(folder):
    message = "Posts.xml is already imported and was not read again."

    assert message not in run(folder / "Posts.xml", "--collection", "raw")
    assert message in run(folder / "Posts.xml", "--collection", "raw")


@pytest.mark.django_db
def test_a_file_of_another_name_needs_its_kind(folder):
    path = (folder / "Posts.xml").rename(folder / "all.xml")
    with pytest.raises(CommandError, match="--kind"):
        run(path, "--collection", "raw")

    assert "5 of 6 rows" in run(path, "--collection", "raw", "--kind", "posts")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.xml",), r"none\.xml does not exist"),
        ((".", "--kind", "votes"), "contains no such file"),
        ((".", "--lab", "x"), "Lab not found: x"),
        ((".", "--keep-later"), "needs --until"),
        ((".", "--since", "2018-01-02", "--until", "2018-01-01"), "before --since 2018-01-02"),
    ],
)
def test_missing_files_and_labs_are_refused(folder, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    with pytest.raises(CommandError, match=message):
        run(*arguments, "--collection", "raw")


@pytest.mark.django_db
def test_an_import_assigns_the_collection_to_a_lab_without_another_one(folder, lab: Lab):
    run(folder, "--collection", "raw", "--lab", lab.slug)
    assert lab.collections.get().slug == "raw"

    with pytest.raises(CommandError, match="already uses the collection raw"):
        run(folder, "--collection", "other", "--lab", lab.slug)
    assert list(Collection.objects.values_list("slug", flat=True)) == ["raw"]


@pytest.mark.django_db
def test_verbosity_0_prints_nothing(folder):
    assert run(folder, "--collection", "raw", "--verbosity", "0") == ""


class Terminal(io.StringIO):
    ending = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str, ending: str = "") -> int:
        return super().write(text + ending)


def test_the_bar_shows_how_much_of_the_file_was_read(tmp_path, monkeypatch):
    path, out, clock = tmp_path / "x", Terminal(), iter((0.0, 0.0, 10.0, 11.0))
    path.write_bytes(b"x" * 4_000_000)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    line = ProgressLine(out, "Posts", path=path)
    line(100, 1000)
    line(250, 1000)

    assert (
        "Posts: [#####...............] 25%, 1 of 4 MB, 250 rows, 15 per second, 0:00:50 left"
        in out.getvalue()
    )


@pytest.mark.parametrize(
    ("calls", "shown"),
    [
        ([(0, 100), (150, 100)], "100%, of 100, 150 rows, 15 per second, 0:00:00 left"),
        ([(500, 1000), (100, 1000)], "10%, of 1,000, 100 rows"),
    ],
)
def test_a_progress_line_is_never_negative(calls, shown, monkeypatch):
    out, clock = Terminal(), iter((0.0, 0.0, 10.0, 11.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    line = ProgressLine(out, "Posts")
    for call in calls:
        line(*call)

    assert f"] {shown}\x1b[K" in out.getvalue()
    assert "-" not in out.getvalue()


@pytest.mark.servers  # a process that is killed needs a server beside it
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_same_command_continues_an_interrupted_import(tmp_path, settings, how):
    path = tmp_path / "Posts.xml"
    rows = (
        f'<row Id="{n}" PostTypeId="1" Title="$x$" Body="{"&lt;p&gt;word&lt;/p&gt;" * 60}" />'
        for n in range(1, 30_001)
    )
    path.write_text("<posts>\n" + "\n".join(rows) + "\n</posts>\n", encoding="utf-8")
    command = [sys.executable, "manage.py", "import_posts", str(path), "--collection", "big"]
    database = settings.DATABASES["default"]
    address = (
        f"postgresql://{database['USER']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    )
    variables = {"DATABASE_URL": address, "ARQLAB_DATA": str(tmp_path)}
    variables["DJANGO_SETTINGS_MODULE"] = "arqlab.settings"
    process = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | variables, start_new_session=True
    )
    while not Import.objects.filter(rows__gt=0).exists():
        assert process.poll() is None
    os.killpg(process.pid, how) if how == signal.SIGINT else process.kill()
    process.wait()
    record = Import.objects.get()
    assert 0 < record.rows < 30_000
    assert record.state == ("stopped" if how == signal.SIGINT else "running")
    assert Post.objects.count() == record.kept == record.rows
    Import.objects.update(updated_at=record.updated_at - timedelta(minutes=2))

    subprocess.run(command, cwd=ROOT, env=os.environ | variables, check=True)
    assert Import.objects.get().state == "done"
    assert Post.objects.count() == 30_000
    index = pl.read_parquet(tmp_path / "files" / Collection.objects.get().formulas_index.name)
    assert index["formula_id"].to_list() == [f"{number}.1" for number in range(1, 30_001)]

import gzip
import re
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest
from django.db import transaction

from arqkit.formats.dumps import blocks
from arqkit.formats.dumps.records import Window
from arqkit.records import FileRefusedError
from arqkit.texts.html.allowed_html import FORMULA
from arqkit.texts.html.sanitizer import RULES
from arqlab.core.errors import UserError
from collection.models import Collection, Import, Post
from collection.selectors.collections import scan_columns
from collection.services.importing import formulas, posts
from collection.services.importing import posts as importing
from collection.services.importing.posts import import_posts
from tests.collection.factories import NOW
from tests.real_data import DATA, needs_data

pytestmark = pytest.mark.django_db
EVERY_DAY = Window()
IN_2018 = Window(date(2018, 1, 1), date(2018, 12, 31))

THREAD = (
    'Id="1" PostTypeId="1" Title="Is $x$ even?" Body="&lt;p&gt;Is $y$?&lt;/p&gt;" Score="3" '
    'CreationDate="2018-05-01T10:00:00"',
    'Id="2" PostTypeId="2" ParentId="1" Body="&lt;p onclick=&quot;x()&quot;&gt;No&lt;/p&gt;" '
    'CreationDate="2018-06-01T10:00:00"',
    'Id="3" PostTypeId="2" ParentId="1" Body="&lt;p&gt;Later.&lt;/p&gt;" '
    'CreationDate="2019-06-01T10:00:00"',
)


def row(post_id: int, parent: int = 0, day: str = "2018-05-01", body: str = "So") -> str:
    kind = f'PostTypeId="2" ParentId="{parent}"' if parent else 'PostTypeId="1" Title="Why?"'
    return f'Id="{post_id}" {kind} Body="&lt;p&gt;{body}&lt;/p&gt;" CreationDate="{day}T10:00:00"'


def dump(folder: Path, *rows: str, name: str = "Posts.xml") -> Path:
    """Write a Posts.xml with one row per line, starting on line 2."""
    path = folder / name
    path.write_text(
        "<posts>\n" + "".join(f"<row {one} />\n" for one in rows) + "</posts>\n", encoding="utf-8"
    )
    return path


@pytest.fixture
def collection() -> Collection:
    return Collection.objects.create(slug="small", loaded_at=NOW)


def take(
    collection: Collection, path: Path, window: Window = EVERY_DAY, at: datetime = NOW
) -> Import:
    return import_posts(collection=collection, path=path, window=window, at=at)


def stored(collection: Collection) -> dict[str, bool]:
    return dict(Post.objects.filter(collection=collection).values_list("post_id", "is_searched"))


def index(collection: Collection) -> list[tuple[str, ...]]:
    with collection.posts_index.open() as file:
        return pl.read_parquet(file).rows()


def found(collection: Collection) -> list[tuple[str, str]]:
    """Return the ids and LaTeX in the formula index."""
    return scan_columns(collection.formulas_index).select("formula_id", "latex").collect().rows()


def test_posts_are_stored_unchanged_and_sanitized(collection, tmp_path):
    record = take(collection, dump(tmp_path, *THREAD))
    question, answer, plain = Post.objects.order_by("post_id")

    assert (record.state, record.rows, record.kept, record.problem_count) == ("done", 3, 3, 0)
    assert "$x$" in question.title
    assert '<span class="math-container" id="1.1">$x$</span>' in question.safe_title
    assert '<span class="math-container" id="1.2">$y$</span>' in question.safe_body
    assert (question.clean_body, answer.clean_body, plain.clean_body) == (None, "<p>No</p>", None)
    assert (question.score, question.created_at.year, answer.thread_id, question.rules) == (
        3,
        2018,
        "1",
        RULES,
    )


def test_the_index_has_the_searched_posts(collection, tmp_path):
    take(collection, dump(tmp_path, *THREAD))

    assert index(collection) == [("1", "question", "1"), ("2", "answer", "1"), ("3", "answer", "1")]


def test_all_characters_are_preserved(collection, tmp_path):
    body = "a\\b\\\\N \\. &#9;tab&#10;line&#13; &quot;q&quot; é 𝔸 \\N"
    take(
        collection,
        dump(tmp_path, f'Id="1" PostTypeId="1" Title="\\N" Tags="&lt;a\\b&gt;" Body="{body}"'),
    )
    post = Post.objects.get()

    assert post.body == 'a\\b\\\\N \\. \ttab\nline\r "q" é 𝔸 \\N'
    assert (post.title, post.tags) == ("\\N", ["a\\b"])


def test_bad_rows_are_reported_by_line_and_the_others_are_imported(collection, tmp_path):
    bad = (
        'PostTypeId="1" Body="x"',
        'Id="abc" PostTypeId="1"',
        'Id="9" PostTypeId="1" Body="a < b"',
        row(1),
    )
    record = take(collection, dump(tmp_path, row(1), *bad, row(2, 1), 'Id="8" PostTypeId="5"'))

    assert set(stored(collection)) == {"1", "2"}
    assert sorted(record.problems.values_list("line", flat=True)) == [3, 4, 5, 6]
    assert record.counts["other_types"] == 1


def test_a_truncated_file_is_imported_up_to_its_end(collection, tmp_path):
    path = dump(tmp_path, row(1), row(2, 1), row(3, 1))
    path.write_text(path.read_text()[:-40])
    record = take(collection, path)

    assert (set(stored(collection)), record.problem_count, record.state) == ({"1", "2"}, 1, "done")


def test_an_answer_without_its_question_is_imported_and_reported(collection, tmp_path):
    record = take(collection, dump(tmp_path, row(1), row(2, 99), row(3, 1)))

    assert stored(collection) == {"1": True, "2": True, "3": True}
    assert [(one.line, one.found) for one in record.problems.all()] == [
        (3, "the answer 2 to the missing question 99")
    ]


def test_an_answer_may_precede_its_question_or_have_it_in_the_database(collection, tmp_path):
    take(collection, dump(tmp_path, row(1), name="first.xml"))
    record = take(collection, dump(tmp_path, row(6, 5), row(5), row(2, 1)))

    assert record.problem_count == 0


def test_questions_outside_the_window_are_skipped_with_their_answers(collection, tmp_path):
    old, new, inside = row(1, 0, "2017-12-31"), row(3, 0, "2019-01-01"), row(5, 0, "2018-12-31")
    answers = (row(2, 1), row(4, 3), row(6, 5), row(7, 5, "2019-02-02"))
    record = take(collection, dump(tmp_path, old, new, inside, *answers), IN_2018)

    assert (set(stored(collection)), record.counts["outside_the_window"]) == ({"5", "6"}, 5)
    assert record.problem_count == 0


def test_later_posts_can_be_stored_without_being_searched(collection, tmp_path):
    posts = (row(3, 0, "2019-01-01"), row(4, 3, "2019-01-01"), row(5), row(7, 5, "2019-02-02"))
    take(collection, dump(tmp_path, *posts), IN_2018._replace(keep_later=True))

    assert stored(collection) == {"3": False, "4": False, "5": True, "7": False}
    assert index(collection) == [("5", "question", "5")]


def test_an_answer_before_its_question_follows_it_in_the_window(collection, tmp_path):
    posts = (row(2, 1), row(4, 3), row(1, 0, "2017-01-01"), row(3, 0, "2019-01-01"))
    record = take(collection, dump(tmp_path, *posts), IN_2018._replace(keep_later=True))

    assert (stored(collection), record.kept) == ({"4": False, "3": False}, 2)


def test_the_same_file_is_not_read_again_and_another_changes_only_its_posts(collection, tmp_path):
    path = dump(tmp_path, row(1), row(2, 1))
    assert take(collection, path).pk == take(collection, path).pk
    Post.objects.filter(post_id="1").update(up_votes=7)
    take(collection, dump(tmp_path, row(1, body="changed"), row(3), name="newer.xml"))

    assert set(stored(collection)) == {"1", "2", "3"}
    assert (Post.objects.get(post_id="1").body, Post.objects.get(post_id="1").up_votes) == (
        "<p>changed</p>",
        7,
    )
    assert len(index(collection)) == 3


class Interrupt:
    """A progress callback that stops an import after some batches, as Ctrl-C does."""

    def __init__(self, batches: int) -> None:
        self.left = batches

    def __call__(self, done: int, total: int | None) -> None:
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


@pytest.fixture
def in_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 10)
    monkeypatch.setattr(formulas, "TEXTS", 7)
    monkeypatch.setattr(blocks, "BLOCK", 500)


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_truncated_file_is_reported_once_after_resuming(collection, tmp_path, monkeypatch, after):
    monkeypatch.setattr(importing, "BATCH", 1)
    monkeypatch.setattr(blocks, "BLOCK", 20)
    path = dump(tmp_path, *(row(number) for number in range(1, 4)))
    path.write_text(
        path.read_text(encoding="utf-8").replace("</posts>", "<row Id="), encoding="utf-8"
    )
    with pytest.raises(KeyboardInterrupt):
        import_posts(
            collection=collection, path=path, window=EVERY_DAY, at=NOW, progress=Interrupt(after)
        )

    assert take(collection, path).problem_count == 1


@pytest.mark.usefixtures("in_small_batches")
def test_a_stopped_import_resumes_where_it_was(collection, tmp_path):
    rows = [row(number, number - 1 if number % 2 == 0 else 0) for number in range(1, 200)]
    path = dump(tmp_path, *rows, row(3), row(501, 500))
    with pytest.raises(KeyboardInterrupt):
        import_posts(
            collection=collection, path=path, window=EVERY_DAY, at=NOW, progress=Interrupt(4)
        )
    record = Import.objects.get()
    assert (record.state, record.rows) == ("stopped", record.kept)
    assert 0 < len(stored(collection)) == record.rows < 199
    Post.objects.filter(post_id="1").update(body="not read again")

    record = take(collection, path)
    assert (record.state, record.kept, record.rows, record.problem_count) == ("done", 200, 201, 2)
    assert Post.objects.get(post_id="1").body == "not read again"


@pytest.mark.usefixtures("in_small_batches")
def test_the_formulas_of_all_posts_are_found_after_resuming(collection, tmp_path):
    path = dump(
        tmp_path,
        *(row(number, body=f"$x_{number}$ &amp;lt; $\\{number}\n$") for number in range(1, 100)),
    )
    with pytest.raises(KeyboardInterrupt):
        import_posts(
            collection=collection, path=path, window=EVERY_DAY, at=NOW, progress=Interrupt(4)
        )
    assert not Collection.objects.get().formulas_index

    take(collection, path)
    assert found(collection) == [
        one for n in range(1, 100) for one in ((f"{n}.1", f"x_{n}"), (f"{n}.2", f"\\{n}"))
    ]


def test_a_newer_file_changes_only_the_formulas_of_its_posts(collection, tmp_path):
    take(collection, dump(tmp_path, *(row(n, body=f"$a_{n}$") for n in (1, 2, 3, 4))))
    out = row(3, day="2017-01-01", body="$b_3$")
    take(
        collection,
        dump(tmp_path, row(1, body="none"), row(2, body="$b_2$"), out, name="newer.xml"),
        IN_2018,
    )

    assert sorted(found(collection)) == [("2.1", "b_2"), ("4.1", "a_4")]


def test_formulas_are_extracted_only_from_searched_posts(collection, tmp_path):
    late, old = row(3, day="2019-01-01", body="$l$"), row(5, day="2017-01-01", body="$o$")
    posts = (
        row(4, 3, body="$m$"),
        row(6, 5, body="$p$"),
        late,
        old,
        row(1, body="$x$"),
        row(1, body="$again$"),
    )
    take(collection, dump(tmp_path, *posts), IN_2018._replace(keep_later=True))

    assert found(collection) == [("1.1", "x")]


@pytest.mark.usefixtures("in_small_batches")
def test_a_running_import_cannot_start_again_until_it_is_stale(collection, tmp_path):
    path = dump(tmp_path, *(row(number) for number in range(1, 100)))
    with pytest.raises(KeyboardInterrupt):
        import_posts(
            collection=collection, path=path, window=EVERY_DAY, at=NOW, progress=Interrupt(2)
        )
    Import.objects.update(state="running")
    with pytest.raises(UserError, match="Another process"):
        take(collection, path)

    Import.objects.update(updated_at=NOW.replace(year=2020))
    assert take(collection, path).kept == 99


def test_nothing_is_left_after_a_rolled_back_transaction(collection, tmp_path):
    with transaction.atomic():
        take(collection, dump(tmp_path, *THREAD))
        transaction.set_rollback(True)

    assert (stored(collection), Import.objects.count()) == ({}, 0)


def test_a_missing_file_is_refused(collection, tmp_path):
    with pytest.raises(FileRefusedError, match="no such file"):
        take(collection, tmp_path / "Posts.xml")


def test_progress_reports_rows_and_an_estimate_of_their_total(collection, tmp_path):
    told = []
    path = dump(tmp_path, *THREAD)
    import_posts(
        collection=collection,
        path=path,
        window=EVERY_DAY,
        at=NOW,
        progress=lambda *now: told.append(now),
    )

    assert told[-1] == (3, 3)


@needs_data
def test_a_pool_of_processes_imports_the_same_posts(collection, tmp_path, monkeypatch):
    marked = gzip.decompress((DATA / "collection/Posts.xml.gz").read_bytes())
    real = tmp_path / "Posts.xml"
    real.write_bytes(re.sub(rb"(math-container&quot;) id=&quot;\d+&quot;", rb"\1", marked))
    other = Collection.objects.create(slug="other", loaded_at=NOW)
    record = take(collection, real)
    monkeypatch.setattr(posts, "process_count", lambda size: 2)
    monkeypatch.setattr(importing, "process_count", lambda size: 2)
    again = take(other, real)
    fields = ("post_id", "title", "body", "clean_title", "clean_body", "tags", "thread_id")

    assert (record.kept, record.counts, record.problem_count) == (6164, again.counts, 0)
    assert list(collection.posts.values_list(*fields)) == list(other.posts.values_list(*fields))
    assert collection.posts_index.read() == other.posts_index.read()
    assert len(found(collection)) == record.counts["formulas"] == record.counts["formulas_numbered"]
    assert found(collection) == found(other)
    shown = [
        FORMULA.findall(text)
        for post in other.posts.all()
        for text in (post.safe_title, post.safe_body)
    ]
    assert sorted(known for formulas in shown for known, _ in formulas) == sorted(
        known for known, _ in found(other)
    )
    assert other.posts.exclude(clean_body=None).count() < 0.05 * record.kept

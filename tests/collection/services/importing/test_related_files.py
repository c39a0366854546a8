"""The import of comments, links, tags, users, votes and badges."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from arqkit.formats.dumps import blocks
from arqkit.formats.dumps.records import Window
from collection.models import Author, Collection, Comment, Import, Post, PostLink, Tag
from collection.services.importing import related_files
from collection.services.importing.related_files import import_file
from tests.collection.factories import NOW

pytestmark = pytest.mark.django_db
EVERY_DAY = Window()

COMMENTS = (
    'Id="1" PostId="1" Text="Is $a$ an &lt;b&gt;integer&lt;/b&gt;?" Score="3" UserId="7" '
    'CreationDate="2018-01-01T00:00:00"',
    'Id="2" PostId="10" Text="&lt;script&gt;x()&lt;/script&gt;Yes" UserDisplayName="Emmy"',
    'Id="3" PostId="99" Text="On a post that is elsewhere"',
)
VOTES = (
    'Id="1" PostId="1" VoteTypeId="2"',
    'Id="2" PostId="1" VoteTypeId="2"',
    'Id="3" PostId="1" VoteTypeId="3"',
    'Id="4" PostId="10" VoteTypeId="3"',
    'Id="5" PostId="10" VoteTypeId="1"',
    'Id="6" PostId="99" VoteTypeId="2"',
)
USERS = (
    'Id="-1" DisplayName="Community" Reputation="1"',
    'Id="7" DisplayName="Emmy" Reputation="101"',
)
BADGES = (
    'Id="1" UserId="7" Name="Teacher" Class="3" Date="2018-01-01T00:00:00"',
    'Id="2" UserId="7" Name="Fanatic" Class="1" Date="2018-01-01T00:00:00"',
    'Id="3" UserId="7" Name="Student" Class="3" Date="2018-01-01T00:00:00"',
    'Id="4" UserId="8" Name="Student" Class="3" Date="2018-01-01T00:00:00"',
)


@pytest.fixture
def small(db: None) -> Collection:
    """Return a collection with thread 1, its answer 10, and the questions 2 and 3."""
    collection = Collection.objects.create(slug="small", loaded_at=NOW)
    for post_id, thread_id in (("1", "1"), ("10", "1"), ("2", "2"), ("3", "3")):
        kind = "question" if post_id == thread_id else "answer"
        Post.objects.create(
            collection=collection, post_id=post_id, thread_id=thread_id, kind=kind, body="<p>.</p>"
        )
    return collection


def dump(folder: Path, name: str, rows: tuple[str, ...]) -> Path:
    """Write a file of a data dump with one row per line, starting on line 2."""
    path = folder / name
    # The first 1,024 bytes are read at once to detect the format of the file.
    path.write_text(
        f"{'<rows>':1024}\n" + "".join(f"  <row {row} />\n" for row in rows) + "</rows>\n",
        encoding="utf-8",
    )
    return path


def take(
    collection: Collection, kind: str, path: Path, *, window: Window = EVERY_DAY, at: datetime = NOW
) -> Import:
    return import_file(collection=collection, kind=kind, path=path, window=window, at=at)


def votes_of(collection: Collection) -> dict[str, tuple[int | None, ...]]:
    rows = Post.objects.filter(collection=collection).values_list(
        "post_id", "up_votes", "down_votes", "score"
    )
    return {post_id: tuple(numbers) for post_id, *numbers in rows}


def test_comments_are_stored_unchanged_and_sanitized(small: Collection, tmp_path: Path) -> None:
    record = take(small, "comments", dump(tmp_path, "Comments.xml", COMMENTS))

    first, second = Comment.objects.filter(collection=small)
    assert (first.post_id, first.score, first.author_id) == ("1", 3, "7")
    assert first.created_at == datetime(2018, 1, 1, tzinfo=UTC)
    assert (second.text, second.safe_text, second.author_name) == (
        "<script>x()</script>Yes",
        "Yes",
        "Emmy",
    )
    assert (record.state, record.rows, record.kept, record.problem_count) == ("done", 3, 2, 0)
    assert record.counts["on_posts_that_are_not_here"] == 1


def test_the_formulas_of_a_comment_are_numbered_by_its_id(
    small: Collection, tmp_path: Path
) -> None:
    record = take(small, "comments", dump(tmp_path, "Comments.xml", COMMENTS))

    assert (
        '<span class="math-container" id="c1.1">$a$</span>'
        in Comment.objects.get(comment_id="1").safe_text
    )
    assert record.counts["formulas"] == 1


def test_bad_rows_are_reported_by_line_and_the_others_are_imported(
    small: Collection, tmp_path: Path
) -> None:
    bad = (
        COMMENTS[0],
        'PostId="1" Text="no id"',
        'Id="x" PostId="1" Text="letters"',
        COMMENTS[0],
        COMMENTS[1],
    )
    record = take(small, "comments", dump(tmp_path, "Comments.xml", bad))

    assert (record.kept, record.problem_count) == (2, 3)
    assert [(problem.line, problem.found) for problem in record.problems.all()] == [
        (3, "a row without Id"),
        (4, "the Id 'x'"),
        (5, "1 again in the comments"),
    ]


def test_a_truncated_file_is_imported_up_to_its_end(small: Collection, tmp_path: Path) -> None:
    path = dump(tmp_path, "Comments.xml", COMMENTS)
    path.write_text(path.read_text(encoding="utf-8")[:-60], encoding="utf-8")
    record = take(small, "comments", path)

    assert (record.kept, record.problem_count, record.state) == (2, 1, "done")


def test_distinct_links_between_posts_of_the_collection_are_stored(
    small: Collection, tmp_path: Path
) -> None:
    links = (
        'Id="1" PostId="1" RelatedPostId="2" LinkTypeId="3"',
        'Id="2" PostId="1" RelatedPostId="2" LinkTypeId="3"',
        'Id="3" PostId="2" RelatedPostId="1" PostLinkTypeId="1"',
        'Id="4" PostId="1" RelatedPostId="99" LinkTypeId="1"',
        'Id="5" PostId="1" RelatedPostId="3" LinkTypeId="2"',
    )
    record = take(small, "post_links", dump(tmp_path, "PostLinks.xml", links))

    stored = list(
        PostLink.objects.filter(collection=small).values_list("post_id", "related_id", "kind")
    )
    assert stored == [("1", "2", "duplicate"), ("2", "1", "related")]
    assert (record.kept, record.problem_count) == (2, 1)
    assert record.counts == {
        "duplicate": 1,
        "related": 1,
        "linked_again": 1,
        "to_posts_that_are_not_here": 1,
    }


def test_tags_are_stored_with_their_counts(small: Collection, tmp_path: Path) -> None:
    tags = (
        'Id="1" TagName="limits" Count="12"',
        'Id="2" TagName="algebra" Count="3"',
        'Id="3" TagName="limits"',
    )
    record = take(small, "tags", dump(tmp_path, "Tags.xml", tags))

    assert list(Tag.objects.values_list("name", "count")) == [("algebra", 3), ("limits", 12)]
    assert record.problem_count == 1


def test_badges_are_counted_by_class(small: Collection, tmp_path: Path) -> None:
    take(small, "users", dump(tmp_path, "Users.xml", USERS))
    record = take(small, "badges", dump(tmp_path, "Badges.xml", BADGES))

    emmy = Author.objects.get(collection=small, author_id="7")
    assert (emmy.name, emmy.reputation, emmy.gold, emmy.silver, emmy.bronze) == (
        "Emmy",
        101,
        1,
        0,
        2,
    )
    assert record.counts["of_authors_who_are_not_here"] == 1


def test_votes_are_counted_and_give_a_score_to_posts_without_one(
    small: Collection, tmp_path: Path
) -> None:
    Post.objects.filter(post_id="2").update(score=40)
    record = take(small, "votes", dump(tmp_path, "Votes.xml", VOTES))

    assert votes_of(small) == {"1": (2, 1, 1), "10": (0, 1, -1), "2": (0, 0, 40), "3": (0, 0, 0)}
    assert (record.kept, record.counts["up_votes"], record.counts["down_votes"]) == (4, 2, 2)
    assert (record.counts["other_kinds_of_votes"], record.counts["on_posts_that_are_not_here"]) == (
        1,
        1,
    )


def test_votes_and_badges_do_not_count_twice(small: Collection, tmp_path: Path) -> None:
    take(small, "users", dump(tmp_path, "Users.xml", USERS))
    first = take(small, "votes", dump(tmp_path, "Votes.xml", VOTES))
    counted = votes_of(small)
    again = take(small, "votes", dump(tmp_path, "Votes.xml", VOTES))
    assert (again.pk, votes_of(small)) == (first.pk, counted)

    more = (*VOTES, 'Id="7" PostId="10" VoteTypeId="2"')
    take(small, "votes", dump(tmp_path, "Votes.xml", more))
    assert votes_of(small) == counted | {"10": (1, 1, 0)}
    for rows in (BADGES, BADGES[:3], BADGES):
        take(small, "badges", dump(tmp_path, "Badges.xml", rows))
    assert Author.objects.get(author_id="7").bronze == 2
    assert Import.objects.filter(kind__in=["votes", "badges"]).count() == 2


@pytest.mark.parametrize("stop_after", [1, 2, 3, 5])
def test_a_stopped_import_resumes_where_it_was(
    small: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_after: int
) -> None:
    monkeypatch.setitem(
        related_files._IMPORTERS, "votes", replace(related_files._IMPORTERS["votes"], batch=1)
    )
    monkeypatch.setattr(blocks, "BLOCK", 20)  # a row each
    path = dump(tmp_path, "Votes.xml", VOTES)

    def stop(rows: int, total: int | None) -> None:
        if rows == stop_after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_file(
            collection=small, kind="votes", path=path, window=Window(), at=NOW, progress=stop
        )
    record = take(small, "votes", path)

    assert votes_of(small) == {"1": (2, 1, 1), "10": (0, 1, -1), "2": (0, 0, 0), "3": (0, 0, 0)}
    assert (record.rows, record.kept, record.state) == (6, 4, "done")


def test_a_duplicate_id_is_found_after_resuming(
    small: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        related_files._IMPORTERS, "comments", replace(related_files._IMPORTERS["comments"], batch=1)
    )
    monkeypatch.setattr(blocks, "BLOCK", 20)  # a row each
    path = dump(tmp_path, "Comments.xml", (COMMENTS[0], COMMENTS[1], COMMENTS[0]))

    def stop(rows: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_file(
            collection=small, kind="comments", path=path, window=Window(), at=NOW, progress=stop
        )
    record = take(small, "comments", path)

    assert (record.kept, [problem.line for problem in record.problems.all()]) == (2, [4])


@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_a_problem_is_reported_once_after_resuming(
    small: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_after: int
) -> None:
    monkeypatch.setitem(
        related_files._IMPORTERS, "comments", replace(related_files._IMPORTERS["comments"], batch=1)
    )
    monkeypatch.setattr(blocks, "BLOCK", 20)  # a row each
    path = dump(
        tmp_path, "Comments.xml", (COMMENTS[0], 'Id="5" Text="a < b"', 'Id="six"', COMMENTS[1])
    )

    told: list[int] = []

    def stop(rows: int, total: int | None) -> None:
        told.append(rows)
        if len(told) == stop_after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_file(
            collection=small, kind="comments", path=path, window=Window(), at=NOW, progress=stop
        )
    record = take(small, "comments", path)

    assert (record.rows, record.kept, [problem.line for problem in record.problems.all()]) == (
        4,
        2,
        [3, 4],
    )
    assert sum(cause["count"] for cause in record.problem_groups) == record.problem_count == 2


def test_comments_are_read_again_if_posts_were_imported_later(
    small: Collection, tmp_path: Path
) -> None:
    path = dump(tmp_path, "Comments.xml", COMMENTS)
    take(small, "comments", path)
    Post.objects.create(
        collection=small, post_id="99", thread_id="99", kind="question", body="<p>.</p>"
    )
    later = NOW + timedelta(hours=1)
    Import.objects.create(
        collection=small,
        kind="posts",
        sha256="1",
        state="done",
        created_at=later,
        updated_at=later,
        finished_at=later,
    )

    record = take(small, "comments", path, at=later + timedelta(hours=1))
    assert (record.kept, record.rows, Comment.objects.count()) == (3, 3, 3)


def test_rows_outside_the_window_are_counted_and_skipped(small: Collection, tmp_path: Path) -> None:
    window = Window(until=date(2017, 12, 31))
    record = take(small, "comments", dump(tmp_path, "Comments.xml", COMMENTS), window=window)

    assert (record.kept, record.counts["outside_the_window"], record.problem_count) == (1, 1, 0)


def test_another_file_replaces_the_comments(small: Collection, tmp_path: Path) -> None:
    take(small, "comments", dump(tmp_path, "Comments.xml", COMMENTS))
    take(small, "comments", dump(tmp_path, "Comments.xml", COMMENTS[1:]))

    assert [comment.comment_id for comment in Comment.objects.all()] == ["2"]
    assert Import.objects.filter(kind="comments").count() == 1


def test_a_file_without_readable_rows_deletes_nothing(small: Collection, tmp_path: Path) -> None:
    take(small, "comments", dump(tmp_path, "Comments.xml", COMMENTS))
    take(small, "comments", dump(tmp_path, "Comments.xml", ('Id="x"',)))

    assert Comment.objects.count() == 2


def test_the_number_of_queries_does_not_grow_with_the_rows(
    small: Collection, tmp_path: Path, django_assert_max_num_queries: object
) -> None:
    many = tuple(
        f'Id="{number}" PostId="{number % 3 + 1}" VoteTypeId="2"' for number in range(1, 3001)
    )
    comments = tuple(f'Id="{number}" PostId="1" Text="No. {number}"' for number in range(1, 1501))

    with django_assert_max_num_queries(24):
        take(small, "votes", dump(tmp_path, "Votes.xml", many))
    with django_assert_max_num_queries(54):
        take(small, "comments", dump(tmp_path, "Comments.xml", comments))
    assert votes_of(small)["2"] == (1000, 0, 1000)

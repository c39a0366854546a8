"""`manage.py make_topics`: the list of candidates, and the topics of chosen questions."""

import csv
import io

import pytest
from django.core.management import CommandError, call_command

from arqlab.core.models import Topic
from collection.models import Post
from tests.collection.factories import make_dump

pytestmark = pytest.mark.django_db


def run(*args, **options):
    out, told = io.StringIO(), io.StringIO()
    call_command("make_topics", "dump", *args, stdout=out, stderr=told, **options)
    return out.getvalue(), told.getvalue()


def listed(*args):
    return [row["post_id"] for row in csv.DictReader(io.StringIO(run(*args)[0]))]


def test_candidates_are_listed_by_score():
    make_dump()

    assert listed() == ["103", "102", "101"]
    assert listed("--score", "2..", "--dates", "..2019-01-02") == ["102"]
    assert listed("--from", "searched", "--unlinked") == []


def test_each_filter_reports_how_many_questions_it_left_out(task):
    make_dump()
    Topic.objects.filter(query_id="A.1").update(thread_id="102")
    _, told = run("--score", "2")

    assert "3 questions of dump, later" in told
    assert "2 left out: score out of bounds" in told
    assert "1 left out: already a topic" in told
    assert "0 candidates" in told


def test_candidates_are_drawn_and_what_the_dump_lacks_is_reported():
    make_dump()
    out, told = run("--draw", "2", "--by", "score", "--seed", "5")

    assert len(out.splitlines()) == 3
    assert "2 drawn" in told
    assert "The data dump has no reputations of askers." in run("--reputation", "1..")[1]


def test_an_edited_list_becomes_topics(tmp_path, task):
    make_dump()
    chosen, folder = tmp_path / "chosen.csv", tmp_path / "topics"
    run("--out", str(chosen))
    _, told = run("--chosen", str(chosen), "--out", str(folder))

    assert "Wrote 3 topics of task 1 and 3 of task 2" in told
    assert b'<Topic number="B.3">' in (folder / "topics.task2.xml").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == [
        "topic-formulas.latex.tsv",
        "topic-info.task1.csv",
        "topic-info.task2.csv",
        "topics.task1.xml",
        "topics.task2.xml",
    ]


def test_a_question_without_a_formula_is_reported(tmp_path):
    Post.objects.filter(collection=make_dump(), post_id="101").update(body="<p>Words</p>")
    (tmp_path / "chosen.csv").write_text("post_id\n101\n")
    _, told = run("--chosen", str(tmp_path / "chosen.csv"), "--out", str(tmp_path / "topics"))

    assert "A.1 has no formula, so it has no topic in task 2." in told


def test_existing_files_are_not_overwritten(tmp_path):
    make_dump()
    chosen = tmp_path / "chosen.csv"
    chosen.write_text("post_id\n101\n")
    run("--chosen", str(chosen), "--out", str(tmp_path))

    with pytest.raises(CommandError, match="already exists"):
        run("--chosen", str(chosen), "--out", str(tmp_path))


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--score", "many"], "'many' is not a range"),
        (["--dates", "2019"], "'2019' is not a range"),
        (["--chosen", "gone.csv", "--out", "there"], "Cannot read gone.csv"),
        (["--chosen", "gone.csv"], "Name the folder for the topics with --out"),
        (["--out", "/dev/null/there"], "Cannot write the files"),
    ],
)
def test_invalid_options_are_refused(args, told):
    make_dump()

    with pytest.raises(CommandError, match=told):
        run(*args)


def test_every_bad_id_is_reported_by_line(tmp_path):
    make_dump()
    chosen = tmp_path / "chosen.csv"
    chosen.write_text("post_id\n999\n101\n998\n")

    with pytest.raises(CommandError) as refused:
        run("--chosen", str(chosen), "--out", str(tmp_path / "topics"))

    assert "chosen.csv:2: found the post 999" in str(refused.value)
    assert "chosen.csv:4: found the post 998" in str(refused.value)
    assert not (tmp_path / "topics").exists()


def test_an_unknown_collection_is_refused_with_a_list_of_collections():
    make_dump("other")

    with pytest.raises(CommandError, match=r"Collection not found: dump\. Collections: other"):
        run()


@pytest.mark.parametrize("first", ["-3", "9999999", "A.3"])
def test_an_invalid_first_number_is_refused(tmp_path, first):
    make_dump()
    with pytest.raises(CommandError, match="is not a topic number"):
        run("--chosen", str(tmp_path / "chosen.csv"), "--out", str(tmp_path), f"--first={first}")

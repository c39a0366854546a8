"""Loading labs and qrels: all or nothing, twice changes nothing, and qrels never change."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from arqlab.core.models import AuditEvent, Lab, Membership, Topic
from assessment.models import Qrel, QrelSet
from assessment.qrels.selectors.versions import qrels_frame, qrels_named, topic_judgments
from tests.assessment.factories import assign, make_pool
from tests.factories import UserFactory

LAB = """
[lab]
slug = "tiny"
name = "A tiny lab"
protocol = "arqmath-3"

[[tasks]]
slug = "task1"
name = "Answer retrieval"
kind = "answers"
topics = "topics.xml"
qrels = [{ name = "official", file = "official.tsv" }, { name = "complete", file = "complete.tsv" }]
"""
TOPICS = """<?xml version="1.0"?>
<Topics>
<Topic number="A.301"><Title>One</Title>\
<Question>&lt;p&gt;What is one?&lt;/p&gt;</Question><Tags>numbers</Tags></Topic>
<Topic number="A.302"><Title>Two</Title>\
<Question>&lt;p&gt;What is two?&lt;/p&gt;</Question><Tags>numbers</Tags></Topic>
</Topics>
"""


@pytest.fixture
def folder(tmp_path: Path, db: None) -> Path:
    (tmp_path / "lab.toml").write_text(LAB)
    (tmp_path / "topics.xml").write_text(TOPICS)
    (tmp_path / "official.tsv").write_bytes(
        b"A.301\t0\t10\t3\r\nA.301\t0\t11\t0\r\nA.302\t0\t10\t2"
    )
    (tmp_path / "complete.tsv").write_bytes(b"A.301\t0\t10\t3\nA.301\t0\t12\t5\n")
    return tmp_path


def load(folder: Path, *arguments: str) -> str:
    out = StringIO()
    call_command("load_lab", str(folder), *arguments, stdout=out)
    return out.getvalue()


def test_a_lab_is_loaded_with_its_topics_and_qrels(folder):
    printed = load(folder)

    assert Topic.objects.filter(task__lab__slug="tiny").count() == 2
    assert [(one.name, one.version, one.is_current) for one in QrelSet.objects.all()] == [
        ("official", 1, False),
        ("complete", 2, False),
    ]
    assert "task1                      2  official                         2        3" in printed


def test_loading_twice_changes_nothing(folder):
    load(folder)
    before = (list(Qrel.objects.values_list()), AuditEvent.objects.count())

    assert load(folder).startswith("Nothing to change.")
    assert (list(Qrel.objects.values_list()), AuditEvent.objects.count()) == before


def test_qrels_that_changed_under_their_name_are_refused(folder):
    load(folder)
    (folder / "official.tsv").write_text("A.301\t0\t10\t1\n")

    with pytest.raises(
        CommandError, match=r"official\.tsv.*qrels never change.*new name for the new version"
    ):
        load(folder)
    assert Qrel.objects.filter(qrel_set__name="official").count() == 3


def test_the_same_judgments_in_another_order_are_no_change(folder):
    load(folder)
    (folder / "official.tsv").write_text("A.302 0 10 2\nA.301 0 11 0\nA.301 0 10 3\n")

    assert load(folder).startswith("Nothing to change.")


def test_the_command_names_the_tasks_without_current_qrels(folder):
    assert "qrels of tiny/task1 is current. Choose one: choose_qrels tiny/task1" in load(folder)
    call_command("choose_qrels", "tiny/task1", "official")
    assert "Choose one" not in load(folder)


def test_a_new_version_under_a_new_name_is_loaded_and_the_current_one_stays(folder):
    load(folder)
    call_command("choose_qrels", "tiny/task1", "official")
    (folder / "lab.toml").write_text(LAB.replace('name = "complete"', 'name = "corrected"'))
    load(folder)

    lab = Lab.objects.get(slug="tiny")
    assert QrelSet.objects.get(name="corrected").version == 3
    assert qrels_named(lab.tasks.get()).name == "official"


def test_whatever_is_wrong_is_named_and_nothing_is_loaded(folder):
    (folder / "official.tsv").write_text("A.301\t0\t10\t9\nA.999\t0\t10\t1\n")
    (folder / "complete.tsv").write_text("A.301\t0\t10\n")

    with pytest.raises(CommandError) as refusal:
        load(folder)
    for place in ("official.tsv:1", "official.tsv:2", "complete.tsv:1"):
        assert place in str(refusal.value)
    assert not Lab.objects.exists()


COLLECTION = '\n[collection]\nslug = "posts"\nposts = "Posts.xml"\n'


def test_what_a_collection_holds_and_what_could_not_be_read_is_printed(folder):
    (folder / "lab.toml").write_text(LAB + COLLECTION)
    (folder / "Posts.xml").write_text(
        "<posts><row Id='1' PostTypeId='1' Title='A' Body='B'/><row Id='2'"
    )
    printed = load(folder)

    assert "Collection posts, complete: 1 posts." in printed
    assert "1 problem:" in printed
    assert "posts has no formulas, so it has no visual ids." in printed


def test_a_missing_file_of_the_collection_loads_nothing(folder):
    (folder / "lab.toml").write_text(LAB + COLLECTION)

    with pytest.raises(CommandError, match=r"Posts\.xml"):
        load(folder)
    assert not Lab.objects.exists()
    assert not QrelSet.objects.exists()


def test_an_index_whose_headings_cannot_be_understood_loads_nothing(folder):
    (folder / "lab.toml").write_text(
        LAB + '\n[collection]\nslug = "posts"\nformulas = { latex = "index.tsv" }\n'
    )
    (folder / "index.tsv").write_text("formula\tplace\n")

    with pytest.raises(CommandError, match=r"index\.tsv:1"):
        load(folder)
    assert not Lab.objects.exists()
    assert not QrelSet.objects.exists()


def test_the_organizer_is_named_by_address(folder):
    person = UserFactory()
    load(folder, "--organizer", person.email)

    assert Membership.objects.get(user=person).role == Membership.Role.ORGANIZER


def test_an_organizer_without_an_account_is_refused_before_anything_is_loaded(folder):
    with pytest.raises(CommandError, match="sign up first"):
        load(folder, "--organizer", "nobody@example.org")
    assert not Lab.objects.exists()


def test_qrels_come_back_as_the_kernel_takes_them(folder):
    load(folder)
    frame = qrels_frame(QrelSet.objects.get(name="complete"))

    assert frame.columns == ["topic", "item", "label"]
    assert frame.rows() == [("A.301", "10", 3), ("A.301", "12", 5)]


def test_system_failure_and_do_not_know_are_not_counted_as_judged(folder):
    load(folder)

    assert topic_judgments(QrelSet.objects.get(name="complete")) == {"A.301": (1, 1)}


def test_a_topic_that_judging_needs_is_not_dropped_with_the_folders(folder):
    load(folder)
    first, second = Topic.objects.order_by("position")
    assign(UserFactory(), second)
    (folder / "lab.toml").write_text(
        LAB.partition("qrels")[0].replace("A tiny lab", "Another name")
    )
    only = TOPICS.replace('<Topic number="A.302">', '<Topic number="A.303">')

    (folder / "topics.xml").write_text(only)
    with pytest.raises(CommandError, match=r"in use: A\.302\. .* nothing was loaded\. Add them"):
        load(folder)
    make_pool(first.task, {"A.301": ["10"]})
    (folder / "topics.xml").write_text(only.replace("A.301", "A.304"))
    with pytest.raises(CommandError, match=r"in use: A\.301, A\.302\. .*nothing"):
        load(folder)

    assert list(Topic.objects.order_by("position")) == [first, second]
    assert Lab.objects.get().name == "A tiny lab"

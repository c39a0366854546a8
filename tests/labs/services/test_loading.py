"""A lab folder becomes a lab with tasks and topics."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.labs.folder import read_lab
from arqkit.loads import LoadChoice
from arqlab.core.errors import UnconfirmedLoadError, UserError
from arqlab.core.models import AuditEvent, Lab, Task, Topic
from arqlab.labs.permissions import may_organize
from arqlab.labs.services.labs import change_task
from arqlab.labs.services.loading import FolderEditsError, load_lab_file

LAB = """
[lab]
slug = "small"
name = "A small lab"
protocol = "arqmath-3"

[[tasks]]
slug = "task1"
name = "Answers"
kind = "answers"
topics = "topics.xml"
topic_info = "info.json"
"""
TOPIC = """<Topic number="A.{number}">
  <Title>Why is {formula} so?</Title>
  <Question>&lt;p onclick="x()"&gt;Question {number}&lt;/p&gt;</Question>
  <Tags>algebra,limits</Tags>
</Topic>"""
FORMULA = '&lt;span class="math-container" id="q_1"&gt;$x^2$&lt;/span&gt;'


def write(folder: Path, *, numbers=(1, 2), lab=LAB, formula=FORMULA) -> Path:
    topics = "".join(TOPIC.format(number=number, formula=formula) for number in numbers)
    (folder / "lab.toml").write_text(lab, encoding="utf-8")
    (folder / "topics.xml").write_text(f"<Topics>{topics}</Topics>", encoding="utf-8")
    (folder / "info.json").write_text('{"A.1": {"Category": "Proof"}}', encoding="utf-8")
    return folder


def load(folder: Path, by=None, **choice) -> Lab:
    return load_lab_file(
        read_lab(SourceFolder(folder, reads_beside=True)), by=by, choice=LoadChoice(**choice)
    )


@pytest.mark.django_db
class TestLoading:
    def test_a_folder_becomes_a_lab_with_its_tasks_and_topics(self, tmp_path):
        lab = load(write(tmp_path))

        assert (lab.name, lab.protocol, lab.is_public) == ("A small lab", "arqmath-3", True)
        task = lab.tasks.get()
        assert (task.name, task.kind, task.trec_items, task.position) == (
            "Answers",
            "answers",
            "posts",
            1,
        )
        assert [topic.query_id for topic in task.topics.all()] == ["A.1", "A.2"]

    def test_topics_keep_their_source_and_are_typeset(self, tmp_path):
        load(write(tmp_path))

        topic = Topic.objects.get(query_id="A.1")
        assert (topic.tags, topic.info) == (["algebra", "limits"], {"category": "proof"})
        assert "$x^2$" in topic.title
        assert "<math" in topic.title_html
        assert "onclick" in topic.body
        assert "onclick" not in topic.body_html

    def test_loading_twice_changes_nothing(self, tmp_path):
        load(write(tmp_path))
        before = list(Topic.objects.values())

        load(tmp_path)

        assert list(Topic.objects.values()) == before
        assert AuditEvent.objects.filter(verb="lab.load").count() == 1

    def test_edits_of_topic_information_survive_loading(self, tmp_path):
        load(write(tmp_path))
        Topic.objects.filter(query_id="A.1").update(info_edits={"category": "concept"})
        (tmp_path / "info.json").write_text('{"A.1": {"Category": "Proof", "Difficulty": "Low"}}')
        load(tmp_path, confirmed=True)

        topic = Topic.objects.get(query_id="A.1")
        assert topic.facts == {"category": "concept", "difficulty": "easy"}

    def test_a_topic_gets_its_thread_from_the_folder(self, tmp_path):
        (tmp_path / "formulas.tsv").write_text(
            "id\ttopic_id\tthread_id\ttype\tformula\nq_1\tA.1\t4235721\ttitle\tx\n"
        )
        load(write(tmp_path, lab=LAB + 'topic_formulas = "formulas.tsv"\n'))

        assert list(Topic.objects.values_list("query_id", "thread_id")) == [
            ("A.1", "4235721"),
            ("A.2", ""),
        ]

    def test_a_changed_topic_keeps_its_row(self, tmp_path):
        load(write(tmp_path))
        before = Topic.objects.get(query_id="A.2").pk

        load(write(tmp_path, formula="it"), confirmed=True)

        topic = Topic.objects.get(query_id="A.2")
        assert (topic.pk, topic.title_html) == (before, "Why is it so?")

    def test_a_changed_text_is_asked_about_and_the_earlier_text_is_kept(self, tmp_path):
        load(write(tmp_path))
        before = Topic.objects.get(query_id="A.2").title
        with pytest.raises(UnconfirmedLoadError) as asked:
            load(write(tmp_path, formula="it"))
        assert Topic.objects.get(query_id="A.2").title == before
        assert "Why is $x^2$ so? → Why is it so?" in "\n".join(asked.value.changes.lines)

        load(tmp_path, confirmed=asked.value.changes.digest)

        changes = AuditEvent.objects.filter(verb="lab.load").first().detail["changes"]
        assert changes["task1 A.2 title"] == [before, "Why is it so?"]
        assert [one.title for one in Topic.objects.get(query_id="A.2").versions.all()] == [before]

    def test_a_confirmation_counts_only_for_the_changes_that_were_shown(self, tmp_path):
        load(write(tmp_path))
        with pytest.raises(UnconfirmedLoadError) as asked:
            load(write(tmp_path, formula="it"))
        Topic.objects.filter(query_id="A.1").update(title="Changed since")

        with pytest.raises(UnconfirmedLoadError):
            load(tmp_path, confirmed=asked.value.changes.digest)

    def test_topics_missing_from_the_folder_are_deleted(self, tmp_path):
        load(write(tmp_path))

        load(write(tmp_path, numbers=(2, 3)), confirmed=True)

        found = Topic.objects.values_list("query_id", "position")
        assert list(found) == [("A.2", 1), ("A.3", 2)]

    def test_values_set_on_the_pages_are_kept_if_the_folder_does_not_set_them(self, tmp_path):
        task = load(write(tmp_path)).tasks.get()
        deadline = datetime(2127, 6, 1, tzinfo=UTC)
        change_task(task=task, changes={"deadline": deadline}, protocol={"quota": 9}, by=None)

        load(tmp_path)

        task = Task.objects.get()
        assert (task.deadline, task.protocol.quota) == (deadline, 9)

    def test_values_of_the_folder_take_precedence(self, tmp_path):
        folder = write(tmp_path, lab=LAB + "deadline = 2127-06-01T12:00:00Z\nlimit = 100\n")

        task = load(folder).tasks.get()

        assert task.deadline == datetime(2127, 6, 1, 12, tzinfo=UTC)
        assert (task.overrides, task.protocol.limit) == ({"limit": 100}, 100)

    def test_the_runs_that_a_folder_publishes_are_kept_if_it_no_longer_says_so(self, tmp_path):
        assert load(write(tmp_path)).tasks.get().published_runs == "all"

        load(write(tmp_path, lab=LAB + 'published_runs = "none"\n'))
        load(write(tmp_path))

        assert Task.objects.get().published_runs == "none"

    def test_an_edited_judging_deadline_is_asked_about(self, tmp_path):
        folder = write(tmp_path, lab=LAB + "judging_deadline = 2127-07-01T12:00:00Z\n")
        task = load(folder).tasks.get()
        later = datetime(2127, 7, 9, tzinfo=UTC)
        change_task(task=task, changes={"judging_deadline": later}, protocol={}, by=None)

        with pytest.raises(FolderEditsError) as asked:
            load(folder)
        assert "judging_deadline: 2127-07-09 00:00:00 UTC -> 2127-07-01 12:00:00 UTC" in str(
            asked.value.edits[0]
        )
        load(folder, keeps_edits=True)
        assert Task.objects.get().judging_deadline == later

    def test_a_kept_date_must_fit_the_dates_of_the_folder(self, tmp_path):
        task = load(write(tmp_path)).tasks.get()
        early = datetime(2127, 1, 1, tzinfo=UTC)
        change_task(task=task, changes={"judging_deadline": early}, protocol={}, by=None)
        write(tmp_path, lab=LAB + "deadline = 2127-06-01T12:00:00Z\n")

        with pytest.raises(UserError, match="judging deadline is before the task closes"):
            load(tmp_path)

    def test_topics_are_kept_if_the_folder_does_not_name_them(self, tmp_path):
        load(write(tmp_path))
        before = list(Topic.objects.values())
        keys = 'topics = "topics.xml"\ntopic_info = "info.json"\n'
        load(write(tmp_path, lab=LAB.replace(keys, "limit = 7\n")))

        assert Task.objects.get().overrides == {"limit": 7}
        assert list(Topic.objects.values()) == before

    def test_the_user_who_loads_a_new_lab_organizes_it(self, tmp_path, outsider):
        assert may_organize(outsider, load(write(tmp_path), by=outsider))

    def test_loading_an_existing_lab_does_not_make_the_user_an_organizer(self, tmp_path, outsider):
        load(write(tmp_path))

        assert not may_organize(outsider, load(tmp_path, by=outsider))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("arqmath-1", {"task1": (98, "posts"), "task2": (85, "visual-ids")}),
        (
            "arqmath-3",
            {"task1": (100, "posts"), "task2": (100, "visual-ids"), "task3": (100, "answers")},
        ),
        ("ntcir-12-wfb", {"concrete": (20, "formula-ids")}),
    ],
)
def test_the_fields_labs_load_with_their_topics(shared_data, name, counts):
    lab = load(shared_data / name)

    assert {task.slug: (task.topics.count(), task.trec_items) for task in lab.tasks.all()} == counts


@pytest.mark.django_db
def test_every_formula_of_the_last_labs_topics_is_typeset(shared_data):
    load(shared_data / "arqmath-3")

    assert not Topic.objects.filter(body_html__contains='class="latex"').exists()
    assert Topic.objects.filter(task__slug="task2", formula_html__contains="<math").count() == 100

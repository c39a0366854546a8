"""`manage.py import_judgments`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from arqlab.core.models import AuditEvent
from assessment.guidelines.services.versions import write_guideline
from assessment.models import Judgment, PoolInstance, PoolItem
from tests.assessment.factories import NOW, judge, make_pool, make_written_pool, raise_ticket
from tests.factories import TopicFactory, WrittenTaskFactory

pytestmark = pytest.mark.django_db
WHOLE = (
    "topic\titem\tlabel\tassessor\tcomment\tseconds\tjudged_at\n"
    "A.1\t10\t3\t{name}\tYes.\t12.5\t2026-05-01T12:00:00Z\n"
    "A.1\t11\t0\t\t\t\t\n"
)


@pytest.fixture
def bring(task, tmp_path, organizer):
    """Import a text as a file, and give what the command prints."""

    def run(text: str, to: str = "arqmath-x/task1", **options: bool) -> str:
        (tmp_path / "labels.tsv").write_text(text)
        out, path = StringIO(), tmp_path / "labels.tsv"
        call_command(
            "import_judgments", to, path, by=organizer.username, stdout=out, stderr=out, **options
        )
        return out.getvalue()

    make_pool(task)
    return run


def instance(doc_id: str) -> PoolInstance:
    return PoolInstance.objects.get(item__topic__query_id="A.1", doc_id=doc_id)


def test_labels_become_judgments_with_all_their_details(bring, assessor):
    assert bring(WHOLE.format(name=assessor.username)) == "2 new, 0 changed, 0 unchanged.\n"

    first = instance("10").judgments.get()
    assert (first.label, first.assessor, first.comment, first.active_ms) == (
        3,
        assessor,
        "Yes.",
        12_500,
    )
    assert (first.judged_at.isoformat(), first.is_imported) == ("2026-05-01T12:00:00+00:00", True)
    assert instance("11").judgments.get().assessor is None


def test_an_item_is_done_when_each_of_its_instances_has_a_label(bring):
    bring("A.1\t0\t10\t3\n")

    assert set(PoolItem.objects.filter(done_at=None).values_list("item", flat=True)) == {"11", "12"}


def test_a_second_time_changes_nothing(bring, assessor):
    text = WHOLE.format(name=assessor.email)
    bring(text)

    assert bring(text) == "Nothing to change.\n0 new, 0 changed, 2 unchanged.\n"
    assert Judgment.objects.count() == 2
    assert AuditEvent.objects.filter(verb="judgments.import").count() == 1


def test_an_open_ticket_is_closed_or_goes_with_the_label_that_replaces_its_own(bring, assessor):
    closed, moved, other = (
        raise_ticket(assessor, instance(doc_id)) for doc_id in ("10", "11", "12")
    )
    bring("A.1\t0\t10\t3\nA.1\t0\t11\t6\n", yes=True)

    for ticket in (closed, moved, other):
        ticket.refresh_from_db()
    assert closed.answer == "A label that was judged elsewhere was imported since."
    assert (moved.answered_at, moved.judgment) == (
        None,
        instance("11").judgments.get(is_current=True),
    )
    assert (other.answered_at, other.judgment.is_current) == (None, True)


def test_another_label_supersedes_the_one_before_which_is_kept(bring, assessor):
    before = judge(assessor, instance("10"), 1, comment="Hm.")

    assert bring("A.1\t0\t10\t3\nA.1\t0\t11\t2\n", yes=True) == "1 new, 1 changed, 0 unchanged.\n"

    now = instance("10").judgments.get(is_current=True)
    assert (now.label, now.comment, now.assessor, now.supersedes) == (3, "", None, before)
    assert Judgment.objects.get(pk=before.pk).label == 1


def test_the_same_label_is_kept_whatever_else_is_known_of_it_here(bring, assessor):
    judge(assessor, instance("10"), 3, comment="Hm.")

    assert "0 new, 0 changed, 1 unchanged." in bring("A.1\t0\t10\t3\n")


def test_more_that_is_known_of_a_label_is_added_and_the_rest_of_it_kept(bring, assessor):
    judge(assessor, instance("10"), 3, comment="Hm.")

    bring("topic\titem\tlabel\tseconds\nA.1\t10\t3\t9\n", yes=True)

    now = instance("10").judgments.get(is_current=True)
    assert (now.comment, now.assessor, now.active_ms) == ("Hm.", assessor, 9000)


def test_a_label_is_imported_with_the_version_of_its_guidelines(bring, task):
    guideline = write_guideline(task=task, text="<p>Judge.</p>", at=NOW, by=None)
    text = "topic\titem\tlabel\tguidelines\nA.1\t10\t3\t1\nA.1\t11\t3\t\nA.1\t12\t3\t0\n"

    assert bring(text).startswith("3 new")
    assert bring(text).startswith("Nothing to change.")
    assert [instance(item).judgments.get().guideline for item in ("10", "11", "12")] == [
        *(guideline, None, None)
    ]


def test_a_label_to_which_more_is_added_keeps_its_guidelines(bring, task, assessor):
    guideline = write_guideline(task=task, text="<p>Judge.</p>", at=NOW, by=None)
    judge(assessor, instance("10"), 3, guideline=guideline)
    judge(assessor, instance("11"), 3, guideline=guideline)

    bring("topic\titem\tlabel\tseconds\nA.1\t10\t3\t9\nA.1\t11\t2\t9\n", yes=True)

    same, other = (instance(item).judgments.get(is_current=True) for item in ("10", "11"))
    assert (same.active_ms, same.guideline) == (9000, guideline)
    assert (other.label, other.guideline) == (2, None)


def test_a_version_that_the_task_does_not_have_is_refused(bring):
    with pytest.raises(CommandError, match="found version 4; expected a version"):
        bring("topic\titem\tlabel\tguidelines\nA.1\t10\t3\t4\n")


OLDER = "topic\titem\tlabel\tjudged_at\nA.1\t10\t3\t2020-05-01T12:00:00Z\n"


def test_a_newer_label_and_its_ticket_stay(bring, assessor):
    ticket = raise_ticket(assessor, instance("10"))

    assert bring(OLDER) == (
        "Nothing to change.\n"
        "0 new, 0 changed, 1 older than stored (the newer stays), 0 unchanged.\n"
    )

    ticket.refresh_from_db()
    assert (instance("10").judgments.get(), ticket.answered_at) == (ticket.judgment, None)


def test_an_older_label_replaces_a_newer_one_only_by_choice_and_with_a_confirmation(
    bring, assessor
):
    judge(assessor, instance("10"), 1)
    with pytest.raises(CommandError, match="add --yes"):
        bring(OLDER, take_older=True)
    assert instance("10").judgments.get().label == 1

    assert "1 replaced by older" in bring(OLDER, take_older=True, yes=True)
    assert instance("10").judgments.get(is_current=True).label == 3


def test_changed_labels_are_listed_and_asked_about(bring, assessor, capsys):
    judge(assessor, instance("10"), 1)

    with pytest.raises(CommandError, match="Nothing was changed"):
        bring("A.1\t0\t10\t3\nA.1\t0\t11\t2\n")

    assert [one.label for one in Judgment.objects.all()] == [1]


def test_labels_of_items_in_the_pool_are_loaded_by_choice(bring):
    text = "A.1\t0\t10\t3\nA.1\t0\t99\t3\nA.7\t0\t10\t3\n"

    assert bring(text, in_pool=True) == "1 new, 0 changed, 2 outside (left out), 0 unchanged.\n"


def test_problems_of_one_cause_are_three_examples_and_a_number(bring):
    lines = "".join(f"A.1\t0\t{item}\t3\n" for item in range(900, 1000))

    with pytest.raises(CommandError) as refused:
        bring(lines)

    first, *examples, last = str(refused.value).splitlines()
    assert (first, len(examples)) == ("Nothing was loaded: 100 problems.", 3)
    assert last == "  … and 97 more: expected an item of arqmath-x/task1's pools."


def test_every_problem_is_reported_by_file_and_line_and_nothing_is_stored(bring):
    text = (
        "topic\titem\tlabel\tassessor\nA.1\t10\t3\tnobody\nA.1\t99\t3\t\n"
        "A.7\t10\t3\t\nA.1\t11\t4\t\nA.1\t12\t3\t\n"
    )

    with pytest.raises(CommandError) as refused:
        bring(text)

    first, *told = str(refused.value).splitlines()
    assert first == "Nothing was loaded: 4 problems."
    for line, found in zip(
        told,
        [
            "tsv:2: found the assessor nobody",
            "tsv:3: found 99 of topic A.1",
            "tsv:4: found the topic A.7",
            "tsv:5: ",
        ],
        strict=True,
    ):
        assert found in line
    assert "supplement to the pool" in told[1]
    assert not Judgment.objects.exists()


def test_a_closed_pool_takes_no_other_label_but_knows_those_that_it_has(bring, task, assessor):
    judge(assessor, instance("10"), 3)
    task.pools.update(closed_at=NOW)

    assert bring("A.1\t0\t10\t3\n").startswith("Nothing to change.")
    with pytest.raises(CommandError, match="whose pool is closed"):
        bring("A.1\t0\t10\t2\n")


def test_generated_answers_of_task_3_are_found_in_the_pool_of_task_1(bring, task):
    own = WrittenTaskFactory(lab=task.lab, slug="task3")
    TopicFactory(task=own, query_id="A.1")
    make_written_pool(task, {"A.1": {"gpt:A.1": "Yes."}})

    assert bring("A.1\t0\tgpt:A.1\t2\n", to="arqmath-x/task3").startswith("1 new")
    with pytest.raises(CommandError, match="which is not in a pool"):
        bring("A.1\t0\t10\t2\n", to="arqmath-x/task3")


def test_a_ticket_of_a_generated_answer_in_the_pool_of_task_1_is_handled_too(bring, task, assessor):
    own = WrittenTaskFactory(lab=task.lab, slug="task3")
    TopicFactory(task=own, query_id="A.1")
    make_written_pool(task, {"A.1": {"gpt:A.1": "Yes."}})
    ticket = raise_ticket(assessor, instance("gpt:A.1"))

    bring("A.1\t0\tgpt:A.1\t2\n", to="arqmath-x/task3", yes=True)

    ticket.refresh_from_db()
    assert ticket.answer == "A label that was judged elsewhere was imported since."


def test_a_task_without_a_pool_is_refused(bring, lab):
    WrittenTaskFactory(lab=lab, slug="task9")

    with pytest.raises(CommandError, match="Build the pool first"):
        bring("A.1\t0\t10\t2\n", to="arqmath-x/task9")


def test_a_file_that_cannot_be_read_is_refused(task, tmp_path):
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_judgments", "arqmath-x/task1", tmp_path / "none.tsv")


def test_results_of_turkle_are_imported_and_unused_columns_are_named(bring, assessor):
    heading = "Input.topic,Input.item,Answer.label,Answer.mood,Turkle.Username\r\n"
    out = bring(f'{heading}"A.1","10","3","good","{assessor.email}"\r\n')

    assert out == "1 new, 0 changed, 0 unchanged. Columns not used: Answer.mood.\n"
    assert instance("10").judgments.get().assessor == assessor


def test_all_unknown_people_of_turkle_are_reported_at_once(bring):
    heading = "Input.topic,Input.item,Answer.label,Turkle.Username\r\n"
    with pytest.raises(CommandError, match=r"2 problems(?s:.)*assessor ann;(?s:.)*assessor bo;"):
        bring(heading + "A.1,10,3,ann\r\nA.1,11,3,bo\r\n")

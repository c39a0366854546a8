"""Counts that are kept are those that counting gives, whoever changed which labels and how."""

from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from arqkit.loads import LoadChoice
from arqlab.core.caches import NotComputedError, computed_values, computing_at_most
from arqlab.core.models import Task
from arqlab.labs.services.labs import change_task
from arqlab.labs.services.people import revoke_role
from assessment.assignments.services.assigning import assign_topics
from assessment.judging.services.judgments import return_for_judging
from assessment.judging.services.late_labels import decide_late_labels
from assessment.models import Judgment, LateLabel, PoolInstance, PoolItem, Ticket, TicketPolicy
from assessment.pools.services.changing import close_pool, open_pool
from assessment.qrels.selectors.counts import Size, topic_tallies
from assessment.qrels.selectors.drafts import draft_of, draft_topics
from assessment.rounds.services.adjudication import Ruling, decide_label
from assessment.tickets.services.answers import answer_ticket
from tests.assessment.factories import assign, judge, make_formula_pool, make_pool
from tests.assessment.judging.desk import Desk
from tests.assessment.rounds.factories import round_of, vote
from tests.factories import AssessorFactory, FormulaTaskFactory, TopicFactory

ITEMS = {"A.1": [str(number) for number in range(10, 20)], "A.2": ["10", "11"]}


class Judging:
    """A task whose first topic is half judged by two people, and what they do next."""

    def __init__(self, task, tmp_path, people) -> None:
        self.task, self.path, (self.organizer, self.person, self.other) = task, tmp_path, people
        self.topic = task.topics.get(query_id="A.1")
        make_pool(task, ITEMS)
        assign(self.person, *task.topics.all())
        assign(self.other, self.topic)
        self.desk, self.second = Desk(self.person), Desk(self.other)
        for label in (3, 0, 5):
            self.submit(self.desk.next(), label)
        self.submit(self.second.next(), 2, desk=self.second)

    def submit(self, item, *labels, desk=None, **fields):
        """Send labels that take no time, so that no earlier label is dated back."""
        return (desk or self.desk).submit(item, *labels, active_ms=None, **fields)

    def again(self):
        """Return an item of the first assessor, to correct its label."""
        return self.desk.get(f"items/{Judgment.objects.earliest('pk').instance.item_id}/")

    def late(self, label=1):
        """Store a correction that comes too late, and return it."""
        item = self.again()
        revoke_role(lab=self.task.lab, user=self.person, role="assessor", by=self.organizer)
        self.submit(item, label)
        return LateLabel.objects.get()

    def decide(self, late, decision):
        decide_late_labels(
            task=self.task,
            labels=[late.pk],
            decision=decision,
            reason="It was in time.",
            at=timezone.now(),
            by=self.organizer,
        )

    def bring(self, text):
        (self.path / "labels.tsv").write_text(text)
        arguments = ("arqmath-x/task1", self.path / "labels.tsv")
        call_command(
            "import_judgments", *arguments, by=self.organizer.username, yes=True, stdout=StringIO()
        )

    def give_back(self):
        wanted = Judgment.objects.filter(is_current=True).values_list("pk", flat=True)[:2]
        return_for_judging(task=self.task, judgments=list(wanted), by=self.organizer)

    def answer(self, *, returns_item):
        answer_ticket(
            ticket=Ticket.objects.get(),
            answer="Judge it.",
            returns_item=returns_item,
            at=timezone.now(),
            by=self.organizer,
        )

    def report_to_another(self):
        TicketPolicy.objects.create(task=self.task, actions={"5": "another"})
        self.submit(self.desk.next(), 5)

    def adjudicate(self):
        ruling, instance = Ruling(2, "We met."), PoolInstance.official.first()
        where = {"task": self.task, "instance": instance, "ruling": ruling}
        decide_label(**where, by=self.organizer, at=timezone.now())

    def lose_a_lease(self):
        item = self.desk.next()
        PoolItem.objects.update(leased_until=timezone.now())
        taken = self.second.next()
        self.submit(taken, 1, desk=self.second)
        self.submit(item, 3)

    def judge_twice(self):
        made = round_of(self.task, "second", self.other)
        vote(made, self.other, "17", 0)

    def supplement(self):
        made = make_pool(self.task, {"A.2": ["12"], "A.1": ["30"]})
        judge(self.person, PoolInstance.official.get(item__pool=made, doc_id="12"), 2)
        close_pool(pool=made, by=self.organizer, at=timezone.now())
        open_pool(pool=made, by=self.organizer)

    def reassign(self):
        pairs = [(self.topic, self.other)]
        assign_topics(
            task=self.task,
            pairs=pairs,
            replaces=True,
            at=timezone.now(),
            by=self.organizer,
            choice=LoadChoice(confirmed=True),
        )
        self.submit(self.second.next(), 0, desk=self.second)


DOORS = {
    "a label": lambda judging: judging.submit(judging.desk.next(), 1),
    "a corrected label": lambda judging: judging.submit(judging.again(), 0),
    "a label after a lost lease": Judging.lose_a_lease,
    "labels returned": Judging.give_back,
    "a ticket that returns its item": lambda judging: judging.answer(returns_item=True),
    "a late label kept": lambda judging: judging.decide(judging.late(), "kept"),
    "labels imported": lambda judging: judging.bring("A.1\t0\t15\t3\nA.2\t0\t11\t1\n"),
    "labels changed by an import": lambda judging: judging.bring("A.1\t0\t10\t1\n"),
    "a supplement": Judging.supplement,
    "another assessor of the topic": Judging.reassign,
}
LEAVING_COUNTS = {
    "a ticket that goes to another assessor": Judging.report_to_another,
    "a ticket answered": lambda judging: judging.answer(returns_item=False),
    "a late label excluded": lambda judging: judging.decide(judging.late(), "excluded"),
    "a decision": Judging.adjudicate,
    "a second judgment": Judging.judge_twice,
    "an item skipped": lambda judging: judging.desk.post(
        "skip/", {"item": judging.desk.next()["item"]}
    ),
}


def counted(task):
    """Return the counts without any that are kept."""
    computed_values.clear()
    return topic_tallies(task)


@pytest.fixture
def judging(task, tmp_path, organizer, assessor, lab):
    other = AssessorFactory(lab=lab).user
    return Judging(task, tmp_path, (organizer, assessor, other))


@pytest.mark.parametrize("door", [*DOORS, *LEAVING_COUNTS])
def test_kept_counts_are_those_that_counting_gives(judging, door):
    before = counted(judging.task)

    (DOORS | LEAVING_COUNTS)[door](judging)
    kept = topic_tallies(judging.task)

    assert kept == counted(judging.task)
    assert (kept != before) == (door in DOORS)


@pytest.mark.parametrize("door", [*DOORS, *LEAVING_COUNTS])
def test_the_draft_on_pages_is_that_of_all_labels(judging, door):
    drafts = [draft_topics(judging.task)]

    (DOORS | LEAVING_COUNTS)[door](judging)
    change_task(task=judging.task, changes={}, protocol={"min_relevant": 5}, by=None)
    task = Task.objects.get(pk=judging.task.pk)
    drafts.append(draft_topics(task))
    computed_values.clear()

    assert drafts[1] == draft_topics(task) != drafts[0]
    assert drafts[1].topics == draft_of(task).topics
    assert (drafts[1].digest != drafts[0].digest) == (door in DOORS or door == "a decision")


def test_a_label_of_an_item_with_several_is_counted_and_returned(lab, organizer, assessor):
    task = FormulaTaskFactory(lab=lab)
    TopicFactory(task=task, query_id="B.1")
    make_formula_pool(task, {"B.1": {"v1": [("f1", "1"), ("f2", "2")]}})
    first, second = PoolInstance.official.order_by("position")
    judge(assessor, first, 3)
    [before] = topic_tallies(task).values()

    judge(assessor, second, 3)
    [both] = topic_tallies(task).values()
    PoolItem.objects.update(done_at=None)
    judgments = list(second.judgments.values_list("pk", flat=True))
    return_for_judging(task=task, judgments=judgments, by=organizer)

    [size], [all_done] = before.sizes.values(), both.sizes.values()
    assert (size, all_done) == (Size(1, 2, 1, 2), Size(1, 2, 0, 0))
    assert before.relevant == both.relevant == {"visual-ids": 1}
    assert both.people[assessor.pk].items == 1
    assert list(topic_tallies(task).values()) == [before]


def test_a_page_asks_only_whether_labels_changed(judging, django_assert_max_num_queries):
    topic_tallies(judging.task)
    # On PostgreSQL, this test goes on, so its labels are looked at again.
    most = 12 if connection.vendor == "postgresql" else 3

    with django_assert_max_num_queries(most):
        topic_tallies(judging.task)


@pytest.mark.django_db(transaction=True)
def test_a_label_counts_that_was_being_stored_while_a_newer_one_was_counted(judging):
    first, second = PoolInstance.official.filter(item__topic__query_id="A.2")
    topic_tallies(judging.task)
    other = connection.copy()
    other.set_autocommit(False)
    names = [field.column for field in Judgment._meta.concrete_fields if not field.primary_key]
    values = ", ".join({"instance_id": "%s", "key": "%s"}.get(name, name) for name in names)
    with other.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO assessment_judgment ({', '.join(names)}) SELECT {values}"
            " FROM assessment_judgment WHERE is_current LIMIT 1",
            [first.pk, uuid4().hex],
        )
    if connection.vendor == "postgresql":  # SQLite has one writer at a time
        judge(judging.person, second, 1)
    before = topic_tallies(judging.task)

    other.commit()
    other.close()

    assert before != topic_tallies(judging.task) == counted(judging.task)


def test_a_page_leaves_it_to_a_job_to_count_a_large_task(judging):
    with computing_at_most(0), pytest.raises(NotComputedError):
        topic_tallies(judging.task)


def test_counts_of_a_restored_database_are_not_those_before(judging):
    kept, last = topic_tallies(judging.task), Judgment.objects.latest("pk")

    pk = last.pk
    last.delete()
    other = PoolInstance.official.get(item__topic__query_id="A.2", doc_id="11")
    judge(judging.person, other, 1, pk=pk)

    assert topic_tallies(judging.task) == counted(judging.task) != kept

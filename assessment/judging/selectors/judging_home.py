"""What a person judges in a lab, and what is new for them there."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from arqkit.labels import ScaleLabel
from arqlab.core.models import Lab, Task, User
from arqlab.labs.selectors import LabRoles, roles_in
from assessment.assignments.selectors.grid import TopicRow
from assessment.assignments.selectors.roster import own_rosters
from assessment.guidelines.selectors.versions import changed_guidelines, current_versions
from assessment.judging.selectors.own_work import OwnWork, RoundTopic, own_round_topics, own_work
from assessment.models import Guideline, Ticket
from assessment.qrels.selectors.counts import Judged
from assessment.tickets.selectors import own_answered_tickets, policy_sentences, sent_tickets

MOST_TICKETS = 20
"""The answered tickets that are listed, the newest."""


@dataclass(frozen=True, kw_only=True)
class JudgingHome:
    """What a person judges in a lab.

    - work, rows, tasks: the official topics with items left first, each with what the person
      judged, and their tasks.
    - round_topics, earlier: topics of rounds, and how many more of earlier ones there are.
    - changed, versions: guidelines that are new since the person judged, and the current versions.
    - rosters: the tasks whose topics the person can mark.
    - sent, answered: tickets for the person's opinion, and those of theirs with an answer.
    - policies: what happens with each label that is not a judgment, by task.
    """

    standing: LabRoles
    work: OwnWork | None
    rows: Sequence[tuple[TopicRow, Judged]]
    tasks: Sequence[Task]
    round_topics: Sequence[RoundTopic]
    earlier: int
    changed: Sequence[tuple[Guideline, int]]
    versions: Mapping[int, int]
    rosters: QuerySet[Task]
    sent: int
    answered: QuerySet[Ticket]
    policies: Sequence[tuple[Task, Sequence[tuple[ScaleLabel, str]]]]

    @property
    def topic_keys(self) -> Collection[int]:
        """Return the keys of the official topics."""
        return {row.topic.pk for row, _ in self.rows}


def judging_home_of(user: User, lab: Lab, *, with_earlier: bool) -> JudgingHome:
    """Return what a person judges in a lab, perhaps with the topics of earlier rounds."""
    work = own_work(user, [lab], texts=("title_html", "formula_html")).get(lab.pk)
    rows = sorted(work.rows, key=lambda row: not row.left) if work else []
    rounds = own_round_topics(user, lab=lab)
    later = [row for row in rounds if with_earlier or not row.is_earlier]
    tasks = list({row.topic.task_id: row.topic.task for row in work.rows}.values()) if work else []
    return JudgingHome(
        standing=roles_in(user, lab),
        work=work,
        rows=[(row, row.shares[user.pk].judged) for row in rows],
        tasks=tasks,
        round_topics=later,
        earlier=len(rounds) - len(later),
        changed=changed_guidelines(user, tasks),
        versions=current_versions(tasks),
        rosters=own_rosters(user, lab),
        sent=sent_tickets(lab, user).filter(advised_at=None).count(),
        answered=own_answered_tickets(lab, user)[:MOST_TICKETS],
        policies=policy_sentences(Task.objects.filter(pk__in=[task.pk for task in tasks])),
    )

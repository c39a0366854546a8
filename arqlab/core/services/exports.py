"""The files of topics, teams and the audit log that labs and tasks hand out."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import NamedTuple

from arqkit.formats.labs.files import TOPIC_FORMULAS, TOPIC_INFO, TOPICS
from arqkit.formats.tables import tsv_lines
from arqkit.formats.topics.files import TopicFormula, write_topic_formulas
from arqkit.formats.topics.information import write_topic_info
from arqlab.core.models import AuditEvent, Lab, Membership, Task, Team
from arqlab.core.models.reading import rows_in_chunks
from arqlab.core.selectors import teams_with_members, topics_xml
from arqlab.web.exports import Audience, Document, Export, declare_documents, declare_exports

MEMBER_COLUMNS: dict[str, Callable[["TeamMember"], object]] = {
    "team": attrgetter("team.name"),
    "affiliation": attrgetter("team.affiliation"),
    "paper": attrgetter("team.paper"),
    "code": attrgetter("team.code"),
    "citation": attrgetter("team.citation"),
    "member": lambda row: row.membership and row.membership.user.name,
    "email": lambda row: row.membership and row.membership.user.email,
    "since": lambda row: row.membership and row.membership.created_at,
}
EVENT_COLUMNS: dict[str, Callable[[AuditEvent], object]] = {
    "at": attrgetter("at"),
    "by": lambda event: event.actor and event.actor.username,
    "event": attrgetter("verb"),
    "target": attrgetter("target"),
    "detail": lambda event: json.dumps(event.detail, ensure_ascii=False),
}


class TeamMember(NamedTuple):
    """A team with a member, or without one if it has none."""

    team: Team
    membership: Membership | None


def topic_info_csv(facts: Mapping[str, Mapping[str, str]]) -> bytes:
    """Return information about topics as CSV, with all fields that any topic has."""
    return write_topic_info(
        facts, dict.fromkeys(name for topic_facts in facts.values() for name in topic_facts)
    )


def _topics(task: Task) -> Iterable[bytes]:
    yield topics_xml(task)


def _has_topics(task: Task) -> bool:
    return task.topics.exists()


def _topic_info(task: Task) -> Iterable[bytes]:
    topics = task.topics.order_by("position")
    yield topic_info_csv({topic.query_id: topic.facts for topic in topics})


def _topic_formulas(task: Task) -> Iterable[bytes]:
    """Yield the query formulas of topics with the threads from which the topics were made."""
    topics = task.topics.exclude(thread_id="").order_by("position")
    yield write_topic_formulas(
        TopicFormula(
            topic.formula_id or f"q_{topic.position}",
            topic.query_id,
            topic.thread_id,
            "title",
            topic.latex,
        )
        for topic in topics
    )


def _documents(task: Task, *, published: bool) -> Iterator[Document]:
    """Yield the threads of topics, which published archives leave closed."""
    if not published and task.topics.exclude(thread_id="").exists():
        yield TOPIC_THREADS.document(task)


def _teams(lab: Lab) -> Iterable[bytes]:
    """Yield a line for each member, and one for a team without members."""
    rows = (
        TeamMember(team, member)
        for team in teams_with_members(lab)
        for member in tuple(team.memberships.all()) or (None,)
    )
    return tsv_lines(MEMBER_COLUMNS, rows)


def _audit(lab: Lab) -> Iterable[bytes]:
    events = lab.audit_events.select_related("actor")
    return tsv_lines(EVENT_COLUMNS, rows_in_chunks(events))


TOPIC_THREADS = Export(
    TOPIC_FORMULAS.name,
    "The threads of the topics.",
    Audience.ORGANIZERS,
    _topic_formulas,
    kind=TOPIC_FORMULAS,
)
declare_documents(of_task=_documents)
declare_exports(
    tasks=[
        Export(
            TOPICS.name,
            "The topics, in the labs' XML.",
            Audience.EVERYONE,
            _topics,
            kind=TOPICS,
            exists=_has_topics,  # a file without topics could not be loaded
        ),
        Export(
            TOPIC_INFO.name,
            "The information about each topic.",
            Audience.ORGANIZERS,
            _topic_info,
            kind=TOPIC_INFO,
            published=_topic_info,
        ),
    ],
    labs=[
        Export("teams.tsv", "Teams and their members.", Audience.ORGANIZERS, _teams),
        # Names runs by their keys on this server; the tables of an archive have all of it.
        Export("audit.tsv", "The audit log.", Audience.ORGANIZERS, _audit, is_archived=False),
    ],
)

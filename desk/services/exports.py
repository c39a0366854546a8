"""The files that a lab hands out: topics, runs, judgments, qrels, scores, teams, audit log.

Teams and visitors get what is published; organizers can take the whole lab with them.
"""

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import partial
from operator import attrgetter, itemgetter, methodcaller
from typing import NamedTuple

import polars as pl
from django.db.models import QuerySet

from arqkit.formats.qrels.read import write_qrels
from arqkit.formats.runs.packs import pack_chunks
from arqkit.formats.tables import tsv_lines, zip_chunks
from arqkit.formats.topics.information import write_topic_info
from arqkit.standings import WITHDRAWN
from arqlab.core.models import AuditEvent, Lab, Membership, Task, Team
from arqlab.core.models.reading import rows_in_chunks
from arqlab.core.selectors import pseudonym, teams_with_members, topics_xml
from arqlab.web.exports import Audience, Export, declare_exports, exports_of_labs, exports_of_tasks
from assessment.assignments.selectors.grid import TOPIC_TEXTS
from assessment.guidelines.selectors.versions import current_guideline, guideline_source
from assessment.guidelines.services.versions import guidelines_json
from assessment.judging.services.turkle import turkle_files
from assessment.models import Assignment, Judgment, Pool, QrelSet
from assessment.models.kinds import KINDS, RoundKind
from assessment.pools.selectors.frozen import contributions_of, pool_file, pooled_tops
from assessment.qrels.selectors.drafts import task_scale
from assessment.qrels.selectors.versions import qrels_frame
from assessment.rounds.selectors.votes import round_judgments
from collection.selectors.collections import collection_of
from collection.selectors.imports import holdings_of
from desk.services.run_files import run_files
from evaluation.selectors.boards import released_board, released_leaderboard, scores_by_topic
from submissions.models import Run
from submissions.selectors import task_pack

JUDGMENT_COLUMNS: dict[str, Callable[[Judgment], object]] = {
    "pool": attrgetter("instance.item.pool.number"),
    "topic": attrgetter("instance.item.topic.query_id"),
    "item": attrgetter("instance.item.item"),
    "doc_id": attrgetter("instance.doc_id"),
    "label": attrgetter("label"),
    "word": attrgetter("scale_label.word"),
    "current": attrgetter("is_current"),
    "judged": attrgetter("judged_at"),
    "given": attrgetter("given_at"),
    "active_ms": attrgetter("active_ms"),
    "guidelines": attrgetter("guidelines"),
    "imported": attrgetter("is_imported"),
    "comment": attrgetter("comment"),
    "reason": attrgetter("reason"),
    "marks": lambda one: json.dumps(one.marks, ensure_ascii=False) if one.marks else "",
}
RELATED = ("instance__item__pool", "instance__item__topic", "guideline", "assessor")
# Long fields that would be read again with each judgment.
UNREAD = (
    "guideline__text",
    "instance__item__text",
    *(f"instance__item__pool__{name}" for name in ("settings", "inputs", "runs")),
    *(f"instance__item__topic__{name}" for name in TOPIC_TEXTS),
)

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


def official_table(
    task: Task, *, with_names: bool = False, without: Container[str] = ()
) -> Iterable[bytes]:
    """Yield the official judgments of a task with their history, without some columns."""
    return _table(
        task,
        Judgment.official.filter(instance__item__pool__task=task),
        columns={name: of for name, of in JUDGMENT_COLUMNS.items() if name not in without},
        with_names=with_names,
    )


def round_table(task: Task, *, kind: RoundKind, with_names: bool = False) -> Iterable[bytes]:
    """Yield the judgments of a task's rounds of a kind, when organizers see their labels."""
    round_of: Callable[[Judgment], object] = attrgetter("instance.item.pool.round.key")
    columns = {"round" if name == "pool" else name: of for name, of in JUDGMENT_COLUMNS.items()}
    judgments = round_judgments(task, kind).select_related("instance__item__pool__round")
    return _table(task, judgments, columns=columns | {"round": round_of}, with_names=with_names)


def _table(
    task: Task,
    judgments: QuerySet[Judgment],
    *,
    columns: dict[str, Callable[[Judgment], object]],
    with_names: bool,
) -> Iterable[bytes]:
    # Numbers in the file instead of keys, which the lab has on this server only.
    numbers: dict[int, int] = {}
    cells = {
        "judgment": lambda judgment: numbers.setdefault(judgment.pk, len(numbers) + 1),
        **columns,
        "supersedes": lambda judgment: numbers.get(judgment.supersedes_id or 0),
        "assessor": _assessor(task.lab, with_names=with_names),
    }
    rows = judgments.select_related(*RELATED).defer(*UNREAD)
    return tsv_lines(cells, rows_in_chunks(rows), exact=True)


def _assessor(lab: Lab, *, with_names: bool) -> Callable[[Judgment], str]:
    """Return what reads the user name or the pseudonym of the assessor of a judgment."""

    def name(judgment: Judgment) -> str:
        if judgment.assessor is None:
            return ""
        user = judgment.assessor
        return str(user.username) if with_names else pseudonym(lab, user.pk)

    return name


def judgments_with_columns(task: Task) -> QuerySet[Judgment]:
    """Return the official judgments of a task with what their columns read."""
    official = Judgment.official.filter(instance__item__pool__task=task)
    return official.select_related(*RELATED).defer(*UNREAD)


def judgment_columns(task: Task) -> dict[str, Callable[[Judgment], object]]:
    """Return the columns of judgments in the API, which names them by their keys."""
    return {
        **JUDGMENT_COLUMNS,
        "supersedes": attrgetter("supersedes_id"),
        "assessor": _assessor(task.lab, with_names=False),
        "marks": attrgetter("marks"),
    }


def lab_exports(*, organizes: bool) -> list[Export[Lab]]:
    """Return the files of a lab for people who see the lab, or for its organizers."""
    return [
        export for export in exports_of_labs() if organizes or export.audience == Audience.EVERYONE
    ]


def task_exports(task: Task, *, organizes: bool) -> list[Export[Task]]:
    """Return the files of a task for people who see the task, or for organizers of its lab."""
    audiences = {Audience.EVERYONE}
    if organizes:
        audiences.add(Audience.ORGANIZERS)
    if released_leaderboard(task):
        audiences.add(Audience.AFTER_RELEASE)
    # A file without topics could not be loaded.
    has_topics = task.topics.exists()
    exports = tuple(
        export for export in exports_of_tasks() if has_topics or export.name != "topics.xml"
    )
    if organizes:
        kinds = {round_.kind for round_ in task.rounds.all()}
        files = [ROUND_EXPORTS[kind] for kind in ROUND_EXPORTS if kind in kinds]
        exports = sum(files, start=exports) + _pool_exports(task) + _qrels_exports(task)
    allowed = [export for export in exports if export.audience in audiences]
    return sorted(allowed, key=lambda export: export.audience == Audience.ORGANIZERS)


def _pool_exports(task: Task) -> tuple[Export[Task], ...]:
    """Return the files of each pool of a task: its items, and how they came into it."""
    exports = []
    for pool in Pool.official.filter(task=task).select_related("task__lab").order_by("number"):
        name = "pool" if pool.number == 1 else f"pool-{pool.number}"
        files = (
            (
                "tsv",
                "The items of the pool, of which its SHA-256 was computed.",
                lambda _, one: [pool_file(one)],
            ),
            ("json", "The runs of the pool, its settings, seed, labels and SHA-256.", _pool_facts),
            (
                "runs.tsv",
                "The runs that put each item into the pool, and at which depth.",
                _pool_runs,
            ),
            (
                "turkle.zip",
                "The pool as a batch of Turkle: the HTML template, and a CSV with what to judge.",
                lambda _, one: zip_chunks(turkle_files(one)),
            ),
        )
        exports += [
            Export(f"{name}.{end}", contents, Audience.ORGANIZERS, partial(chunks, one=pool))
            for end, contents, chunks in files
        ]
    return tuple(exports)


def _pool_facts(task: Task, one: Pool) -> Iterable[bytes]:
    runs = Run.objects.in_bulk([row["run"] for row in one.runs])
    facts = {
        "task": str(task),
        "number": one.number,
        "reason": one.reason,
        "frozen": one.frozen_at.isoformat(),
        "sha256": one.sha256,
        "seed": one.seed,
        "preset": one.preset,
        "settings": one.settings,
        "inputs": one.inputs,
        "visual_ids_version": one.visual_map and one.visual_map.version,
        "labels": one.scale,
        "runs": [
            {**row, "run": run.identifier, "standing": run.standing.key}
            for row in one.runs
            if (run := runs.get(row["run"]))
        ],
        "left_out": one.left_out,
    }
    yield (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode()


def _pool_runs(task: Task, one: Pool) -> Iterable[bytes]:
    tops = [top for top in pooled_tops(task) if top.pool == one]
    named = [(str(run.pk), run.identifier, run.standing.key) for top in tops for run in top.runs]
    schema = dict.fromkeys(("run", "run_id", "standing"), pl.String)
    names = pl.DataFrame(named, schema=schema, orient="row")
    rows = contributions_of(task, tops).join(names.unique(), on="run")
    columns = {name: name for name in ("topic", "doc_id", "run_id", "standing")} | {
        "depth": "needs"
    }
    return tsv_lines(
        {name: itemgetter(field) for name, field in columns.items()},
        rows.sort("topic", "doc_id", "needs", "run_id").to_dicts(),
    )


def _qrels_exports(task: Task) -> tuple[Export[Task], ...]:
    """Return a file for each version of a task's qrels."""

    def lines(_: Task, version: QrelSet) -> Iterable[bytes]:
        yield write_qrels(qrels_frame(version))

    return tuple(
        Export(
            f"qrels.{version.name}.tsv",
            f"Version {version.version} of the qrels.",
            Audience.ORGANIZERS,
            partial(lines, version=version),
        )
        for version in task.qrel_sets.order_by("version")
    )


def _topics(task: Task) -> Iterable[bytes]:
    yield topics_xml(task)


def _topic_info(task: Task) -> Iterable[bytes]:
    topics = task.topics.order_by("position")
    yield topic_info_csv({topic.query_id: topic.facts for topic in topics})


def topic_info_csv(facts: Mapping[str, Mapping[str, str]]) -> bytes:
    """Return information about topics as CSV, with all fields that any topic has."""
    return write_topic_info(
        facts, dict.fromkeys(name for topic_facts in facts.values() for name in topic_facts)
    )


def _assignments(task: Task) -> Iterable[bytes]:
    """Yield the assignments that have not ended, as `assign_topics` reads them."""
    columns: dict[str, Callable[[Assignment], object]] = {
        "topic": attrgetter("topic.query_id"),
        "assessor": attrgetter("assessor.username"),
    }
    running = Assignment.objects.filter(topic__task=task, ended_at=None)
    rows = running.select_related("topic", "assessor").order_by("topic__position", "pk")
    return tsv_lines(columns, rows, exact=True)


def _guidelines(task: Task) -> Iterable[bytes]:
    yield guideline_source(task, current_guideline(task), task_scale(task)).encode()


def _pack(task: Task) -> Iterable[bytes]:
    topics = b"".join(_topics(task)) if task.topics.exists() else b""
    yield from pack_chunks(task_pack(task, lazily=True), topics=topics)


def _qrels(task: Task) -> Iterable[bytes]:
    if leaderboard := released_leaderboard(task):
        yield write_qrels(qrels_frame(leaderboard.qrel_set))


def _scores(task: Task) -> Iterable[bytes]:
    leaderboard = released_leaderboard(task)
    if leaderboard is None:
        return
    board = released_board(leaderboard)
    runs = leaderboard.runs.in_bulk()
    scores = scores_by_topic(board, runs=runs, qrel_set=leaderboard.qrel_set)
    columns: dict[str, Callable[[dict[str, object]], object]] = {
        name: itemgetter(name)
        for name in ("run_id", "team", "run", "standing", "withdrawn", "topic")
    }
    for measure in board.measures:
        columns[measure.label] = methodcaller("get", measure.label)

    def rows() -> Iterator[dict[str, object]]:
        for row in board.rows:
            run = runs[row.run.key]
            cells: dict[str, object] = {"run_id": run.identifier, "team": row.run.team}
            cells |= {"run": row.run.tag, "standing": row.run.standing.key}
            cells |= {"withdrawn": WITHDRAWN in row.run.standings}
            for topic, values in scores[run.pk].items():
                yield {**cells, "topic": topic, **values}

    yield from tsv_lines(columns, rows())


def _runs(task: Task) -> Iterable[bytes]:
    return zip_chunks(run_files(task))


def _collection(lab: Lab) -> Iterable[bytes]:
    collection = collection_of(lab)
    if collection is None:
        yield b"{}\n"
        return
    holdings = holdings_of(collection)
    facts = {
        "collection": collection.slug,
        "is_complete": collection.is_complete,
        "first_post": holdings.first_post and holdings.first_post.isoformat(),
        "last_post": holdings.last_post and holdings.last_post.isoformat(),
        **{name: getattr(holdings, name) for name in ("questions", "answers", "comments", "tags")},
        "formulas": holdings.formulas,
        "visual_ids_version": holdings.visual_map and holdings.visual_map.version,
    }
    yield (json.dumps(facts, indent=2) + "\n").encode()


class TeamMember(NamedTuple):
    """A team with a member, or without one if it has none."""

    team: Team
    membership: Membership | None


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


TASK_EXPORTS: tuple[Export[Task], ...] = (
    Export("topics.xml", "The topics, in the labs' XML.", Audience.EVERYONE, _topics),
    Export(
        "task-pack.zip",
        "The task pack, by which arqkit check reports on a run offline: rules, limits, topics, the "
        "ids of the collection, and a short program that makes a first run.",
        Audience.EVERYONE,
        _pack,
    ),
    Export(
        "qrels.tsv",
        "The qrels of the released leaderboard: topic, 0, item, label.",
        Audience.AFTER_RELEASE,
        _qrels,
    ),
    Export(
        "scores.tsv",
        "Scores of the released runs by topic, in all measures of the leaderboard.",
        Audience.AFTER_RELEASE,
        _scores,
    ),
    Export(
        "runs.zip",
        "All submitted run files, unpacked, with a manifest of runs, teams and states, and the "
        "details of each run as ir_metadata.",
        Audience.ORGANIZERS,
        _runs,
    ),
    Export(
        "judgments.tsv",
        "All judgments with history, comments, reasons and marks. Assessors have pseudonyms.",
        Audience.ORGANIZERS,
        official_table,
    ),
    Export(
        "judgments-with-names.tsv",
        "All judgments, with the assessors' user names.",
        Audience.ORGANIZERS,
        partial(official_table, with_names=True),
    ),
    Export("topic-info.csv", "The information about each topic.", Audience.ORGANIZERS, _topic_info),
    Export("assignments.tsv", "Topics and their assessors.", Audience.ORGANIZERS, _assignments),
    Export("guidelines.html", "The current guidelines.", Audience.ORGANIZERS, _guidelines),
    Export(
        "guidelines.json", "All versions of the guidelines.", Audience.ORGANIZERS, guidelines_json
    ),
)


def _round_exports(kind: RoundKind) -> tuple[Export[Task], ...]:
    """Return the files of the rounds of a kind: with pseudonyms, and with names."""
    pseudonymous, named = partial(round_table, kind=kind), "These judgments with user names."
    with_names = partial(pseudonymous, with_names=True)
    return (
        Export(f"{kind.file}.tsv", kind.contents, Audience.ORGANIZERS, pseudonymous),
        Export(f"{kind.file}-with-names.tsv", named, Audience.ORGANIZERS, with_names),
    )


ROUND_EXPORTS = {key: _round_exports(kind) for key, kind in KINDS.items() if kind.file}
LAB_EXPORTS: tuple[Export[Lab], ...] = (
    Export(
        "collection.json",
        "The collection in numbers: posts, dates, formulas.",
        Audience.EVERYONE,
        _collection,
    ),
    Export("teams.tsv", "Teams and their members.", Audience.ORGANIZERS, _teams),
    Export("audit.tsv", "The audit log.", Audience.ORGANIZERS, _audit),
)

declare_exports(labs=LAB_EXPORTS, tasks=TASK_EXPORTS)

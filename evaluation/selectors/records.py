"""The records of released leaderboards: what a version lists, whatever is changed afterwards.

What shows the runs, standings, scores or rules of a version asks here; docs/adr/0047 has the
reasons.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy

from django.db.models import Count, Max
from django.db.models.fields.json import KeyTransform

from arqkit.leaderboard import BoardRun
from arqkit.records import ItemKind
from arqkit.standings import BASELINE, FLAGS, OUT_OF_COMPETITION, STANDINGS, WITHDRAWN, Standing
from arqkit.topics import natural_key
from arqlab.core.models import Task, Topic
from arqlab.labs.selectors import PUBLIC_INFO, topics_xml
from assessment.models import Pool, QrelSet
from collection.models import VisualMap
from evaluation.models import RUN_FACTS, Leaderboard, ReleasedRun, RunFacts, TopicScore
from submissions.models import Run, standings_of

RULES = ("max_characters", "order", "pooling_order", "tokenizer", "answered_only")
"""The rules of a task on which scores depend, beside its measures and the labels of qrels."""

_LISTED = (
    *(f"run__{name}" for name in ("tag", "data_used", "team__name")),
    *(f"run__{known.field}" for known in (*FLAGS, *STANDINGS) if known.field),
)
"""The fields of a run that its facts come from."""


def run_facts(run: Run, standings: Collection[Standing]) -> RunFacts:
    """Return what a leaderboard lists of a run: team, tag, data, and keys of flags, standings."""
    return {
        "team": run.team.name,
        "tag": run.tag,
        "data": run.data_used.capitalize(),  # Both, Text, Math, Links, as in the overview papers
        "flags": [flag.key for flag in run.flags],
        "standings": [standing.key for standing in STANDINGS if standing in standings],
    }


def task_record(qrel_set: QrelSet) -> dict[str, object]:
    """Return the names, rules, topics and pools of a task, as a release of its qrels stores them.

    The version of the visual ids is stored, because no version is ever taken away or changed.
    Pools are stored as their number in each task of the lab, because no pool is ever taken away
    that others follow.
    """
    task, protocol = qrel_set.task, qrel_set.task.protocol
    pools = Pool.official.filter(task__lab=task.lab_id).order_by()
    versions = VisualMap.objects.filter(collection__labs=task.lab_id)
    return {
        "lab": task.lab.name,
        "task": task.name,
        "descriptions": {"lab": task.lab.description, "task": task.description},
        "protocol": task.lab.protocol,
        "overrides": {
            **task.overrides,
            **{name: getattr(protocol, name) for name in RULES},
            "measures": list(protocol.measures),
        },
        "topics": {
            topic.query_id: {"title": topic.title, "html": topic.title_html, "info": topic.facts}
            for topic in task.topics.order_by("position").defer("body", "body_html")
        },
        "pools": dict(pools.values_list("task__slug").annotate(Count("pk"))),
        "visual_ids": versions.aggregate(newest=Max("version"))["newest"] or 0,
    }


def recorded_qrels(leaderboard: Leaderboard) -> QrelSet:
    """Return the qrels of a version, whose task has the names and rules of the release.

    Runs are compared with them by the visual ids of the release.
    """
    qrel_set, record = copy(leaderboard.qrel_set), leaderboard.record
    if record:
        task = copy(leaderboard.task)
        task.__dict__.pop("protocol", None)
        task.lab = copy(task.lab)
        task.lab.name, task.lab.protocol = record["lab"], record["protocol"]
        task.name, task.overrides = record["task"], record["overrides"]
        if texts := record.get("descriptions"):
            task.description, task.lab.description = texts["task"], texts["lab"]
        qrel_set.task, qrel_set.visual_version = task, record.get("visual_ids")
    return qrel_set


def recorded_topics(leaderboard: Leaderboard) -> bytes:
    """Return the topics of a version in the labs' XML; those of now if it recorded none."""
    if not leaderboard.topics_file:
        return topics_xml(leaderboard.task)
    with leaderboard.topics_file.open() as file:
        return bytes(file.read())


def recorded_topic_info(leaderboard: Leaderboard) -> dict[str, dict[str, str]]:
    """Return the information about the topics of a version by their ids, in the order of these."""
    topics = leaderboard.record.get("topics", {})
    return {query_id: topics[query_id]["info"] for query_id in sorted(topics, key=natural_key)}


def as_released(run: Run, entry: ReleasedRun) -> Run:
    """Return a run with what a version lists of it; it is never saved.

    What teams may add at any time, such as the address of a paper, is as it is now.
    """
    listed, leaderboard = copy(run), entry.leaderboard
    listed.task, listed.team = recorded_qrels(leaderboard).task, copy(run.team)
    listed.team.name, listed.tag = entry.team, entry.tag
    listed.data_used, listed.answer_ids = entry.data.lower(), entry.answer_ids
    for flag in FLAGS:
        setattr(listed, flag.field, flag.key in entry.flags)
    listed.is_baseline = BASELINE.key in entry.standings
    reasons = {row["run"]: row["reason"] for row in leaderboard.out_of_competition}
    listed.out_of_competition = reasons.get(run.pk, "")
    listed.withdrawn_at, listed.withdrawal_reason = None, ""  # no withdrawn run is released
    return listed


def with_recorded_answers(runs: Iterable[Run], qrel_set: QrelSet, release: int | None) -> list[Run]:
    """Return runs with the ids of their answers (Task 3) that a release (key) has recorded.

    They are never saved. Runs that it does not have, and those of other tasks, stay as they are.
    """
    listed = list(runs)
    if release is None or qrel_set.items != ItemKind.ANSWERS:
        return listed
    entries = ReleasedRun.objects.filter(leaderboard=release, run__in=listed)
    recorded = dict(entries.values_list("run", "answer_ids"))
    for place, run in enumerate(listed):
        listed[place] = copy(run)
        listed[place].answer_ids = recorded.get(run.pk, run.answer_ids)
    return listed


def board_topics(task: Task, release: int | None) -> dict[str, Topic]:
    """Return the topics of a task by their ids, without their texts.

    With a release (key), they have the titles and the information that its version shows.
    """
    topics = task.topics.defer("body", "body_html", "formula_html")
    topics_by_id = {topic.query_id: topic for topic in topics.order_by("position")}
    if release is None:
        return topics_by_id
    records = Leaderboard.objects.filter(pk=release).values_list("record", flat=True)
    for query_id, facts in (records.first() or {}).get("topics", {}).items():
        if topic := topics_by_id.get(query_id):
            topic.title, topic.title_html = facts["title"], facts["html"]
            topic.info, topic.info_edits = facts["info"], {}
    return topics_by_id


def topic_attributes(task: Task, release: int | None = None) -> dict[str, dict[str, str]]:
    """Return the attributes by which topics can be grouped: values by topic, for each attribute.

    Attributes that no topic has are left out. Those of a release (key) are recorded.
    """
    facts = {name: topic.facts for name, topic in board_topics(task, release).items()}
    attributes = {
        name: {topic: values[name] for topic, values in facts.items() if values.get(name)}
        for name in PUBLIC_INFO
        if name != "elements"  # free text, which makes no groups
    }
    return {name: values for name, values in attributes.items() if values}


def listed_run(
    key: int, facts: RunFacts, values: Mapping[str, float], *, erratum: str = ""
) -> BoardRun:
    """Return a run (key) with its facts and values, as a board lists it."""
    return BoardRun(
        key=key,
        team=facts["team"],
        tag=facts["tag"],
        values=values,
        flags=tuple(flag for flag in FLAGS if flag.key in facts["flags"]),
        standings=frozenset(
            standing for standing in STANDINGS if standing.key in facts["standings"]
        ),
        data=facts["data"],
        erratum=erratum,
    )


def released_runs(leaderboard: Leaderboard) -> list[ReleasedRun]:
    """Return the runs of a version as it lists them, without their scores by topic.

    A version that was released before there were records, and has none yet, is read from what is
    known now.
    """
    if leaderboard.recorded_at is None:
        return drafted_runs(leaderboard)
    entries = leaderboard.entries.select_related("run__team").order_by("run")
    return list(entries.only("leaderboard", *RUN_FACTS, *_LISTED))


def drafted_runs(leaderboard: Leaderboard) -> list[ReleasedRun]:
    """Return the runs of a version from what is known now, unsaved.

    No withdrawn run is released, and `out_of_competition` has the runs that were released apart.
    """
    runs = Run.objects.filter(pk__in=list(map(int, leaderboard.scores))).select_related("team")
    scores = _live_scores(leaderboard)
    apart = leaderboard.apart
    drafts = []
    for run in runs.order_by("pk"):
        standings = standings_of(run) - {WITHDRAWN, OUT_OF_COMPETITION}
        standings |= {OUT_OF_COMPETITION} if run.pk in apart else set()
        draft = ReleasedRun(leaderboard=leaderboard, run=run, **run_facts(run, standings))
        draft.answer_ids, draft.topic_scores = run.answer_ids, scores[run.pk]
        drafts.append(draft)
    return drafts


def _live_scores(leaderboard: Leaderboard) -> Mapping[int, dict[str, dict[str, float]]]:
    """Return the current scores of the runs of a version, by run, measure and topic."""
    scores: dict[int, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    rows = TopicScore.objects.filter(
        qrel_set=leaderboard.qrel_set,
        run__in=list(map(int, leaderboard.scores)),
        measure__in=leaderboard.measures,
    )
    for run, measure, query_id, value in rows.values_list("run", "measure", "query_id", "value"):
        scores[run][measure][query_id] = value
    return scores


def score_rows(
    qrel_set: QrelSet,
    release: int | None,
    *,
    runs: Iterable[int],
    measures: Iterable[str],
    query_id: str = "",
) -> Iterator[tuple[int, str, str, float]]:
    """Yield the run, topic, measure and value of scores by topic, of all topics or of one.

    Those of a release (key) are recorded. Runs that it does not have, such as post-hoc runs, have
    the current scores, and so has everything without a release.
    """
    keys, names = list(runs), list(measures)
    if release is not None:
        columns = {
            f"scores_{place}": KeyTransform(name, "topic_scores")
            for place, name in enumerate(names)
        }
        recorded = ReleasedRun.objects.filter(leaderboard=release, run__in=keys).annotate(**columns)
        for run, *scores in recorded.order_by("run").values_list("run", *columns):
            keys.remove(run)
            for name, values in zip(names, scores, strict=True):
                for topic in sorted(values or {}, key=natural_key):
                    if topic == query_id or not query_id:
                        yield run, topic, name, values[topic]
    if keys:
        stored = TopicScore.objects.filter(qrel_set=qrel_set, run__in=keys, measure__in=names)
        stored = stored.filter(query_id=query_id) if query_id else stored
        yield from stored.order_by("pk").values_list("run", "query_id", "measure", "value")

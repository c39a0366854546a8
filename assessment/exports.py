"""The files of assessment that tasks hand out: judgments, pools, qrels, guidelines, assignments."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import attrgetter, itemgetter

import polars as pl

from arqkit.formats.archives.folders import safe_name
from arqkit.formats.labs.files import ASSIGNMENTS, GUIDELINES, JUDGMENTS, QRELS
from arqkit.formats.labs.folder import TaskFile
from arqkit.formats.qrels.read import write_qrels
from arqkit.formats.tables import tsv_lines, zip_chunks
from arqkit.loads import LoadChoice
from arqkit.records import FileRefusedError
from arqlab.core.exports import Audience, Export, declare_exports
from arqlab.core.folder_loads import FolderLoad, declare_folder_loads
from arqlab.core.models import Task
from assessment.assignments.services.assigning import (
    assign_topics,
    assignment_changes,
    pairs_of_file,
)
from assessment.guidelines.selectors.versions import current_guideline, guideline_source
from assessment.guidelines.services.rendering import clean_guideline
from assessment.guidelines.services.versions import guidelines_json
from assessment.judging.selectors.judgment_tables import (
    JUDGMENT_COLUMNS,
    judgment_table,
    official_table,
)
from assessment.judging.services.importing import import_judgments
from assessment.judging.services.turkle import turkle_files
from assessment.models import Assignment, Judgment, Pool, QrelSet
from assessment.models.kinds import KINDS, RoundKind
from assessment.pools.selectors.frozen import contributions_of, pool_file, pooled_tops
from assessment.qrels.selectors.drafts import task_scale
from assessment.qrels.selectors.versions import qrels_frame
from assessment.qrels.services.loading import load_task_qrels
from assessment.rounds.selectors.votes import round_judgments
from assessment.tickets.services.policies import load_judging_rules
from submissions.models import Run

REMARKS = {"comment", "reason", "marks", "active_ms"}
"""The columns of judgments that are not published."""

IN_NAMES = re.compile(r"[^\x00-\x1f\x7f/\\]+")
"""What a path in a lab folder and an address may have."""


def round_table(task: Task, *, kind: RoundKind, with_names: bool = False) -> Iterable[bytes]:
    """Yield the judgments of a task's rounds of a kind, when organizers see their labels."""
    round_of: Callable[[Judgment], object] = attrgetter("instance.item.pool.round.key")
    columns = {"round" if name == "pool" else name: of for name, of in JUDGMENT_COLUMNS.items()}
    judgments = round_judgments(task, kind).select_related("instance__item__pool__round")
    columns |= {"round": round_of}
    return judgment_table(task, judgments, columns=columns, with_names=with_names)


def _round_exports(kind: RoundKind) -> tuple[Export[Task], ...]:
    """Return the files of the rounds of a kind: with pseudonyms, and with names."""
    pseudonymous, named = partial(round_table, kind=kind), "These judgments with user names."
    with_names = partial(pseudonymous, with_names=True)
    return (
        Export(
            f"{kind.file}.tsv",
            kind.contents,
            Audience.ORGANIZERS,
            pseudonymous,
            is_archived=False,  # pseudonyms are of one server
        ),
        Export(f"{kind.file}-with-names.tsv", named, Audience.ORGANIZERS, with_names),
    )


ROUND_EXPORTS = {key: _round_exports(kind) for key, kind in KINDS.items() if kind.file}


def _of_rounds(task: Task) -> Iterator[Export[Task]]:
    """Yield the files of the kinds of rounds that a task has."""
    kinds = {round_.kind for round_ in task.rounds.all()}
    for kind, exports in ROUND_EXPORTS.items():
        if kind in kinds:
            yield from exports


def _of_pools(task: Task) -> Iterator[Export[Task]]:
    """Yield the files of each pool of a task: its items, and how they came into it."""
    for pool in Pool.official.filter(task=task).select_related("task__lab").order_by("number"):
        is_first = pool.number == 1
        file = "pool" if is_first else f"pool-{pool.number}"
        items, facts = partial(_pool_items, pool=pool), partial(_pool_facts, pool=pool)
        yield Export(
            f"{file}.tsv",
            "The items of the pool, of which its SHA-256 was computed.",
            Audience.ORGANIZERS,
            items,
            published=items if is_first else None,
        )
        yield Export(
            f"{file}.json",
            "The runs of the pool, its settings, seed, labels and SHA-256.",
            Audience.ORGANIZERS,
            facts,
            published=facts if is_first else None,
        )
        yield Export(
            f"{file}.runs.tsv",
            "The runs that put each item into the pool, and at which depth.",
            Audience.ORGANIZERS,
            partial(_pool_runs, pool=pool),
        )
        yield Export(
            f"{file}.turkle.zip",
            "The pool as a batch of Turkle: the HTML template, and a CSV with what to judge.",
            Audience.ORGANIZERS,
            partial(_turkle, pool=pool),
            is_archived=False,
        )


def _pool_items(_: Task, pool: Pool) -> Iterable[bytes]:
    return [pool_file(pool)]


def _turkle(_: Task, pool: Pool) -> Iterable[bytes]:
    return zip_chunks(turkle_files(pool))


def _pool_facts(task: Task, pool: Pool) -> Iterable[bytes]:
    runs = Run.objects.in_bulk([row["run"] for row in pool.runs])
    facts = {
        "task": str(task),
        "number": pool.number,
        "reason": pool.reason,
        "frozen": pool.frozen_at.isoformat(),
        "sha256": pool.sha256,
        "seed": pool.seed,
        "preset": pool.preset,
        "settings": pool.settings,
        "inputs": pool.inputs,
        "visual_ids_version": pool.visual_map and pool.visual_map.version,
        "labels": pool.scale,
        "runs": [
            {**row, "run": run.identifier, "standing": run.standing.key}
            for row in pool.runs
            if (run := runs.get(row["run"]))
        ],
        "left_out": pool.left_out,
    }
    yield (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode()


def _pool_runs(task: Task, pool: Pool) -> Iterable[bytes]:
    tops = [top for top in pooled_tops(task) if top.pool == pool]
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


def qrels_details(_: Task, version: QrelSet) -> dict[str, object]:
    """Return what a lab.toml says about a file of qrels."""
    return {
        "name": version.name,
        "items": version.items,
        "labels": version.scale,
        "relevant_from": version.relevant_from,
    }


def _of_qrels(task: Task) -> Iterator[Export[Task]]:
    """Yield a file for each version of a task's qrels."""
    for version in task.qrel_sets.order_by("version"):
        yield Export(
            _file_of(version),
            f"Version {version.version} of the qrels.",
            Audience.ORGANIZERS,
            partial(_qrels, version=version),
            kind=QRELS,
            details=partial(qrels_details, version=version),
        )


def _file_of(version: QrelSet) -> str:
    """Return the name of the file of qrels; a lab folder may name versions as no file is named."""
    if IN_NAMES.fullmatch(version.name):
        return QRELS.name.replace("*", version.name)
    safe = safe_name(version.name.replace("/", "_").replace("\\", "_"))
    return QRELS.name.replace("*", f"{safe}-{version.version}")


def _qrels(_: Task, version: QrelSet) -> Iterable[bytes]:
    yield write_qrels(qrels_frame(version))


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


def _clean_guidelines(task: Task) -> Iterable[bytes]:
    """Yield the guidelines as strangers open them in a browser: sanitized as on their page."""
    yield clean_guideline(b"".join(_guidelines(task)).decode()).encode()


def _of_task(task: Task) -> Iterator[Export[Task]]:
    yield from _of_rounds(task)
    yield from _of_pools(task)
    yield from _of_qrels(task)


def _load_judging_rules(task: Task, file: TaskFile, load: FolderLoad) -> None:
    load_judging_rules(task=task, rules=file.judging, at=load.at, by=load.by)


def _load_assignments(task: Task, file: TaskFile, load: FolderLoad) -> None:
    if source := file.unread.get(ASSIGNMENTS.key):
        pairs, problems = pairs_of_file(source.content(), path=str(source.path), task=task)
        load.problems.extend(problems)
        if not problems:
            load.changes.extend(assignment_changes(task, pairs, replaces=False))
            assign_topics(task=task, pairs=pairs, replaces=False, at=load.at, by=load.by)


def _load_judgments(task: Task, file: TaskFile, load: FolderLoad) -> None:
    if source := file.unread.get(JUDGMENTS.key):
        confirmed = LoadChoice(confirmed=True)  # with the rest of the folder
        try:
            changes = import_judgments(
                task=task,
                data=source.content(),
                path=str(source.path),
                at=load.at,
                by=load.by,
                choice=confirmed,
            )
            load.changes.extend(changes)
        except FileRefusedError as refused:
            load.problems.extend(refused.problems)


TASK_EXPORTS: tuple[Export[Task], ...] = (
    Export(
        "judgments.tsv",
        "All judgments with history, comments, reasons and marks. Assessors have pseudonyms.",
        Audience.ORGANIZERS,
        official_table,
        is_archived=False,  # pseudonyms are of one server
        published=partial(official_table, without=REMARKS),
        published_contents="All judgments with history. Assessors have pseudonyms.",
    ),
    Export(
        JUDGMENTS.name,
        "All judgments, with the assessors' user names.",
        Audience.ORGANIZERS,
        partial(official_table, with_names=True),
        kind=JUDGMENTS,
    ),
    Export(
        ASSIGNMENTS.name,
        "Topics and their assessors.",
        Audience.ORGANIZERS,
        _assignments,
        kind=ASSIGNMENTS,
    ),
    Export(
        GUIDELINES.name,
        "The current guidelines.",
        Audience.ORGANIZERS,
        _guidelines,
        kind=GUIDELINES,
        published=_clean_guidelines,
    ),
    Export(
        "guidelines.json",
        "All versions of the guidelines.",
        Audience.ORGANIZERS,
        guidelines_json,
        published=guidelines_json,
    ),
)
declare_exports(tasks=TASK_EXPORTS, of_task=_of_task)
declare_folder_loads(
    {
        QRELS: load_task_qrels,
        GUIDELINES: _load_judging_rules,
        ASSIGNMENTS: _load_assignments,
        JUDGMENTS: _load_judgments,
    }
)

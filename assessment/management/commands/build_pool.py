"""`manage.py build_pool LAB/TASK`: freeze the pool of a task or a supplement, or preview it."""

from argparse import BooleanOptionalAction
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypedDict, Unpack

from django.utils import timezone

from arqkit.pooling.pools import write_pool
from arqkit.protocols.presets import RunKind
from arqlab.core.errors import UserError
from arqlab.core.models import Task
from arqlab.labs.management.labcommand import CeremonyCommand, reasons, switch
from arqlab.labs.selectors import task_named, topic_ids
from assessment.models import Pool
from assessment.pools.selectors.choices import PoolChoice, candidate_runs, choice_of, runs_to_choose
from assessment.pools.selectors.frozen import presets_for
from assessment.pools.selectors.oddities import pool_oddities
from assessment.pools.services.freezing import (
    ComputedPool,
    compute_pool,
    freeze_pool,
    supplement_pool,
)
from submissions.services.left_out import reasons_by_run, require_reasons

NUMBERS = {
    "primary": "depth of primary runs",
    "alternate": "depth of alternate runs",
    "manual": "depth of manual runs",
    "size": "number of items for rank-by-rank",
    "instances": "maximum instances judged of each formula",
    "extra_depth": "add formulas down to this rank whose answer post is relevant in Task 1",
}
SWITCHES = {
    "visually_distinct": "count depth in visually distinct formulas",
    "extra_threads": "add the answers in the topic's own thread and its duplicates",
    "includes_generated_answers": "mix the answers of Task 3 into the pool of Task 1",
    "shows_threads": "posts keep their thread links beside answers of Task 3",
    "shows_formulas_alone": "assessors see formulas without their documents, as in NTCIR-10",
    "includes_post_hoc_runs": "also pool runs that were submitted after the deadline",
}
CHOICES: dict[str, dict[str, object]] = {
    "method": {
        "choices": ["depth", "rank-by-rank"],
        "help": "pool the top of every run, or rank by rank up to --size",
    },
    "instance_policy": {
        "choices": ["runs", "reciprocal-rank", "threads"],
        "help": "how the instances of a formula are selected",
    },
    "baselines": {
        "choices": ["primary", "alternate", "marked"],
        "help": "depth of baselines: as primary or alternate runs, or as each is marked",
    },
}
"""The settings of a pool that are options, with their help."""


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _whole_number(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError
    return number


class _Options(TypedDict):
    """The options of the command, without the settings of a pool."""

    task: str
    preset: str | None
    seed: int
    dry_run: bool
    format: str
    baselines: str | None
    as_alternate: list[str]
    supplement: bool
    reason: str
    without_run: list[list[str]]
    without_topic: list[list[str]]


class Command(CeremonyCommand):
    """Freeze the pool of a task from its valid runs.

    With --supplement, freeze the items that are not yet in a pool of the task.
    """

    arguments = {
        **CeremonyCommand.arguments,
        "--preset": {
            "metavar": "NAME",
            "help": "preset, such as arqmath-2 (default: the protocol's for a pool, the last "
            "pool's settings for a supplement)",
        },
        "--seed": {
            "type": int,
            "default": 1,
            "metavar": "N",
            "help": "seed of the order and of ties (default: %(default)s)",
        },
        "--dry-run": switch("compute the pool without storing it"),
        "--format": {
            "choices": ["text", "tsv"],
            "default": "text",
            "help": "tsv prints the pool itself",
        },
        **{
            _option(name): {"type": _whole_number, "metavar": "N", "help": text}
            for name, text in NUMBERS.items()
        },
        **{_option(name): choices for name, choices in CHOICES.items()},
        **{
            _option(name): {"action": BooleanOptionalAction, "help": text}
            for name, text in SWITCHES.items()
        },
        "--as-alternate": {
            "action": "append",
            "default": [],
            "metavar": "RUN",
            "help": "tag of a baseline to pool as an alternate run, or of a control, which is not "
            "pooled otherwise; can be repeated",
        },
        "--supplement": switch("freeze a supplement to the task's pool"),
        "--reason": {"default": "", "help": "reason for the supplement"},
        "--without-run": reasons("RUN", 'leave out this run, named "TEAM TAG"'),
        "--without-topic": reasons("TOPIC", "leave out this topic"),
    }

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Compute the pool, freeze it unless it is a dry run, and print its sizes or its file."""
        task = task_named(options["task"])
        choice = _choice(task, options)
        computed = compute_pool(task=task, choice=choice)
        oddities = pool_oddities(
            task, choice, labels=computed.labels, texts=computed.texts, at=timezone.now()
        )
        reasons = {f"topics-{topic}": reason for topic, reason in choice.without_topics.items()}
        reasons |= {f"runs-{run}": reason for run, reason in choice.without_runs.items()}
        self.confirm(oddities, options, reasons)
        if not options["dry_run"]:
            self._freeze(computed, options)
        if options["format"] == "tsv":
            self.stdout.write(write_pool(computed.labels).decode(), ending="")
        else:
            self._print_summary(computed)

    def _freeze(self, computed: ComputedPool, options: _Options) -> None:
        supplement = partial(supplement_pool, reason=options["reason"])
        pool = (supplement if options["supplement"] else freeze_pool)(
            task=computed.sources.task,
            choice=computed.sources.choice,
            by=self.actor(options),
            at=timezone.now(),
            expected=computed.sha256,
        )
        self.stderr.write(f"Frozen as pool {pool.number} of {pool.task}.")

    def _print_summary(self, computed: ComputedPool) -> None:
        sources, line = computed.sources, "{:<44} {:<20} {:>6}"
        self.stdout.write(line.format("run", "pooled as", "depth"))
        for run in sources.runs:
            depth = sources.choice.depth_of(run)
            cells = (str(run), sources.choice.kind_of(run), "–" if depth is None else depth)
            self.stdout.write(line.format(*cells))
        for run in sources.written:
            self.stdout.write(line.format(str(run), "generated answers", ""))
        for run, why in sources.left_out:
            self.stderr.write(f"{run} is not pooled. {why}")
        topics = computed.labels["topic"].n_unique()
        self.stdout.write(
            f"{computed.items:,} items in {topics} topics, {computed.label_count:,} labels "
            "required."
        )
        self.stdout.write(f"sha256 {computed.sha256}")


def _choice(task: Task, options: _Options) -> PoolChoice:
    """Read the settings. Raises `UserError` that lists the known presets or baselines."""
    initial = _initial_choice(task, options)
    values: Mapping[str, object] = options
    settings: dict[str, Any] = {
        name: values[name] for name in (*NUMBERS, *CHOICES, *SWITCHES) if values[name] is not None
    }
    kinds = {} if options["baselines"] else initial.kinds
    return PoolChoice(
        replace(initial.protocol, **settings),
        options["seed"],
        {**kinds, **_kinds(task, options["as_alternate"])},
        without_runs={
            **initial.without_runs,
            **reasons_by_run(candidate_runs(task), options["without_run"]),
        },
        without_topics={**initial.without_topics, **_topics(task, options["without_topic"])},
    )


def _topics(task: Task, pairs: list[list[str]]) -> dict[str, str]:
    reasons = dict(pairs)
    if unknown := reasons.keys() - set(topic_ids(task)):
        raise UserError(
            f"{task} has no topic {', '.join(sorted(unknown))}. Check the topics that you leave "
            "out.",
            code="unknown-topic",
        )
    require_reasons(reasons)
    return reasons


def _initial_choice(task: Task, options: _Options) -> PoolChoice:
    """Return the initial settings: a preset's, the last pool's or the protocol's."""
    presets, name = presets_for(task), options["preset"]
    if name and name not in presets:
        raise UserError(
            f"Unknown preset {name!r} for {task}. Presets: {', '.join(presets)}.",
            code="unknown-preset",
        )
    last = Pool.official.filter(task=task).order_by("number").last()
    if options["supplement"] and last and not name:
        return choice_of(last)
    return PoolChoice(presets[name] if name else task.protocol.pool, seed=0)


def _kinds(task: Task, tags: list[str]) -> dict[int, RunKind]:
    baselines = runs_to_choose(task)
    names = list(dict.fromkeys(run.tag for run in baselines))
    if unknown := [tag for tag in tags if tag not in names]:
        tag_list = ", ".join(names) or "none"
        raise UserError(
            f"Unknown baseline of {task}: {', '.join(unknown)}. Baselines: {tag_list}.",
            code="unknown-run",
        )
    return {run.pk: "baseline-alternate" for run in baselines if run.tag in tags}

"""Pools built by the command: on real runs against unions made here, and what it refuses."""

import gzip
import re
from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from arqkit.formats.archives.folders import SourceFolder
from arqkit.protocols.presets import PROTOCOLS
from arqkit.records import TaskKind
from assessment.models import Pool
from assessment.qrels.services.loading import load_lab
from tests.assessment.factories import make_written_pool
from tests.evaluation.factories import make_run
from tests.factories import LabFactory, TaskFactory, TeamFactory, TopicFactory, WrittenTaskFactory

pytestmark = pytest.mark.django_db

PSU = {
    "PSU1": "PSU-task1-PSU1-auto-both-A.tsv.gz",
    "PSU2": "judged-only/PSU-task1-PSU2-auto-both-P.tsv.gz",
    "PSU3": "judged-only/PSU-task1-PSU3-auto-both-A.tsv.gz",
}
MATHDOWSERS = {
    "alpha05noReRank": "judged-only/MathDowsers-task1-alpha05noReRank-auto-both-A.tsv.gz"
}
# Primary and alternate depth as the table of protocol §5 prints them; the lab's one primary run is
# PSU2.
DEPTHS = {"arqmath-1": (50, 20), "arqmath-2": (45, 15), "arqmath-3": (45, 20)}


def build(*options: str) -> list[list[str]]:
    """Build a pool and give its lines after the header: topic, position, kind, item, doc_id,
    post_id.
    """
    out = StringIO()
    shown = ("--format", "tsv", "--yes", "--acknowledge")
    call_command("build_pool", *options, *shown, stdout=out, stderr=StringIO())
    return [line.split("\t") for line in out.getvalue().splitlines()[1:]]


def by_topic(lines: Iterable[list[str]]) -> dict[str, set[str]]:
    """Return the items of each topic."""
    items: dict[str, set[str]] = defaultdict(set)
    for topic, _, _, item, *_ in lines:
        items[topic].add(item)
    return items


def union_of_tops(folder: Path, depths: dict[str, int]) -> dict[str, set[str]]:
    """Take the top of each file with nothing of ours: by score as a 32-bit float, ties by id, both
    descending.
    """
    union: dict[str, set[str]] = defaultdict(set)
    for name, depth in depths.items():
        ranked: dict[str, list[tuple[np.float32, str]]] = defaultdict(list)
        with gzip.open(folder / name, "rt", encoding="utf-8") as file:
            for topic, _, post, _, score, _ in map(str.split, file):
                ranked[topic].append((np.float32(score), post))
        for topic, rows in ranked.items():
            union[topic] |= {post for _, post in sorted(rows, reverse=True)[:depth]}
    return union


@pytest.fixture
def real_lab(shared_data: Path) -> Path:
    """Submit the runs of PSU and MathDowsers to ARQMath-1 by the command; return their folder."""
    load_lab(
        folder=SourceFolder(shared_data / "arqmath-1", reads_beside=True),
        at=timezone.now(),
        by=None,
    )
    folder = shared_data / "arqmath-1" / "runs" / "task1"
    for team, files in (("PSU", PSU), ("MathDowsers", MATHDOWSERS)):
        for file in files.values():
            call_command(
                "submit_run",
                str(folder / file),
                task="arqmath-1/task1",
                team=team,
                new_team=True,
                stdout=StringIO(),
            )
    return folder


def test_the_pool_of_real_runs_is_the_union_of_their_tops_in_an_order_of_the_seed(real_lab):
    for preset, (primary, alternate) in DEPTHS.items():
        depths = dict.fromkeys((*PSU.values(), *MATHDOWSERS.values()), alternate) | {
            PSU["PSU2"]: primary
        }
        lines = build("arqmath-1/task1", "--preset", preset, "--no-extra-threads", "--dry-run")
        assert by_topic(lines) == union_of_tops(real_lab, depths), preset

    first, again = (build("arqmath-1/task1", "--seed", "7", "--dry-run") for _ in range(2))
    other = build("arqmath-1/task1", "--seed", "8", "--dry-run")
    assert first == again
    assert other != first
    assert by_topic(other) == by_topic(first)


@pytest.fixture
def runs(task, team, other_team):
    """A primary run, an alternate one and a baseline."""
    make_run(team, task, {"A.1": ["10", "11", "12"], "A.2": ["12"]}, tag="deep", is_primary=True)
    make_run(other_team, task, {"A.1": ["12", "13", "14"]}, tag="flat")
    make_run(other_team, task, {"A.1": ["15", "16"]}, tag="tfidf", is_baseline=True)


DEPTHS_OF_OURS = ("--primary", "2", "--alternate", "1")


def test_a_frozen_pool_is_what_the_command_prints_and_what_is_exported(runs, task):
    lines = build(str(task), *DEPTHS_OF_OURS, "--preset", "arqmath-2")
    out = StringIO()
    call_command("export_pool", str(task), stdout=out)

    assert by_topic(lines) == {"A.1": {"10", "11", "12", "15", "16"}, "A.2": {"12"}}
    assert [line.split("\t") for line in out.getvalue().splitlines()[1:]] == lines
    assert sha256(out.getvalue().encode()).hexdigest() == Pool.objects.get().sha256


def test_baselines_of_one_tag_are_all_pooled_as_alternate(runs, task, team):
    make_run(team, task, {"A.1": ["17", "18"]}, tag="tfidf", is_baseline=True)

    lines = build(
        str(task), *DEPTHS_OF_OURS, "--preset", "arqmath-2", "--as-alternate", "tfidf", "--dry-run"
    )

    assert by_topic(lines)["A.1"] == {"10", "11", "12", "15", "17"}


def test_a_dry_run_stores_nothing_and_shows_runs_and_sizes(runs, task):
    out = StringIO()
    call_command(
        "build_pool", str(task), *DEPTHS_OF_OURS, dry_run=True, stdout=out, stderr=StringIO()
    )

    assert "5 items in 2 topics, 5 labels required." in out.getvalue()
    assert "Alpha deep" in out.getvalue()
    call_command(
        "build_pool",
        str(task),
        "--method",
        "rank-by-rank",
        "--size",
        "3",
        dry_run=True,
        stdout=(ranked := StringIO()),
        stderr=StringIO(),
    )
    assert {line.split()[-1] for line in ranked.getvalue().splitlines()[1:4]} == {"–"}
    assert not Pool.objects.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--preset", "ntcir-10"], "Unknown preset 'ntcir-10'"),
        (
            ["--as-alternate", "deep"],
            "Unknown baseline of arqmath-x/task1: deep. Baselines: tfidf.",
        ),
        (["--supplement", "--reason", "x"], "has no pool yet"),
        (["--by", "nobody"], "No account found for nobody"),
        (["--method", "rank-by-rank", "--size", "0"], "Use 1 or more"),
        (["--seed", "1" + "0" * 25], "Seed is 1"),
        (["--visually-distinct"], "Visually distinct does not apply to this kind of task"),
        (["--primary", "-1"], "invalid _whole_number value"),
        (["--without-run", "Alpha x", "Broken."], "Unknown run: Alpha x. Use the team and the"),
        (["--without-run", "Alpha deep", ""], "Enter a reason to leave out Alpha deep."),
        (["--without-topic", "A.9", "Broken."], "arqmath-x/task1 has no topic A.9."),
        (["--without-topic", "A.2", " "], "Enter a reason to leave out A.2."),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(runs, task, options, said):
    with pytest.raises(CommandError, match=re.escape(said)):
        build(str(task), *options)
    assert not Pool.objects.exists()


def test_runs_and_topics_are_left_out_and_stay_out_of_a_supplement(runs, task, team):
    build(str(task), *DEPTHS_OF_OURS, "--without-topic", "A.2", "Edited.")
    make_run(team, task, {"A.1": ["99"], "A.2": ["98"]}, tag="late")
    make_run(team, task, {"A.1": ["97"]}, tag="broken")

    build(str(task), "--supplement", "--reason", "Late.", "--without-run", "Alpha broken", "A bug.")

    first, second = Pool.objects.order_by("number")
    assert set(first.items.values_list("topic__query_id", flat=True)) == {"A.1"}
    assert list(second.items.values_list("item", flat=True)) == ["99"]
    assert second.left_out["topics"] == [{"topic": "A.2", "reason": "Edited."}]
    [left_out] = second.left_out["runs"]
    assert (left_out["tag"], left_out["reason"]) == ("broken", "A bug.")


def test_the_command_lists_what_is_odd_and_asks(runs, task):
    errors = StringIO()

    with pytest.raises(CommandError, match="add --yes"):
        call_command("build_pool", str(task), stdout=StringIO(), stderr=errors)

    assert errors.getvalue().splitlines() == [
        "Red: Submission is open and has no deadline.",
        "1 team has valid runs but no primary run: Beta.",
        "Red: 8 of 8 items have no text. Assessors can only report them.",
    ]
    assert not Pool.objects.exists()


def test_a_second_pool_is_refused_and_a_supplement_wants_a_reason(runs, task):
    build(str(task))

    with pytest.raises(CommandError, match="already has a pool"):
        build(str(task))
    with pytest.raises(CommandError, match="Enter a reason"):
        build(str(task), "--supplement")
    with pytest.raises(CommandError, match=r"has no pool 3\. Its pools: 1"):
        call_command("export_pool", str(task), pool=3)


@pytest.mark.parametrize(
    ("slug", "kind"), [(slug, kind) for slug, one in PROTOCOLS.items() for kind in one.tasks]
)
def test_every_preset_of_a_kind_builds_a_pool_but_that_of_the_known_item(slug, kind, scene):
    lab = LabFactory(protocol=slug)
    task = TaskFactory(lab=lab, kind=kind.value, trec_items=PROTOCOLS[slug].tasks[kind].items)
    TopicFactory(task=task, query_id="1")
    fields = {"answers": {"1": "text"}} if kind == TaskKind.GENERATED_ANSWERS else {}
    make_run(TeamFactory(lab=lab), task, {"1": ["7"]}, **fields)

    if PROTOCOLS[slug].tasks[kind].pool.method == "none":
        with pytest.raises(CommandError, match="A known-item task has no pool"):
            build(str(task))
    else:
        assert len(build(str(task))) == 1


def test_generated_answers_that_another_task_froze_in_the_meantime_are_not_mixed_in(
    task, team, monkeypatch
):
    third = WrittenTaskFactory(lab=task.lab, slug="task3")
    TopicFactory(task=third, query_id="A.1")
    make_run(team, third, {"A.1": ["A.1"]}, tag="gpt", answers={"A.1": "Because."})

    computed = list[object]()

    def freeze_the_other(labels: object) -> None:
        computed.append(labels)
        if len(computed) == 2:  # the command computes the pool, then freezes the same
            make_written_pool(third, {"A.1": {"gpt:A.1": "Because."}})

    monkeypatch.setattr("assessment.pools.services.freezing._require_storable", freeze_the_other)
    with pytest.raises(CommandError, match="are in a pool of that task"):
        build("arqmath-x/task1", "--includes-generated-answers")
    assert not task.pools.exists()

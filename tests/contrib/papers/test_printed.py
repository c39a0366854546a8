"""What a protocol prints: columns in order, definitions, topics by level, runs by pool depth."""

import csv
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from arqkit.formats.papers.figures import levels_figure
from arqkit.formats.papers.listings import groups_table
from arqkit.formats.papers.tables import (
    LOWER,
    NOT_LOWER,
    PaperRun,
    PaperTable,
    ScoreColumn,
    caption,
)
from arqkit.formats.topics.information import read_topic_info
from arqkit.judgments.qrels import JudgedTopic
from arqkit.leaderboard import BoardRun
from arqkit.measures.names import parse_measures
from arqkit.protocols.overrides import OverrideRefusedError, with_overrides
from arqkit.protocols.presets import PROTOCOLS, PoolProtocol
from arqkit.protocols.scales import ARQMATH
from arqkit.records import TaskKind
from arqkit.topics import info_fields, level_field
from arqlab.core.models import Lab, Task, Topic
from assessment.models import PoolInstance, QrelSet
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.services.freezing import freeze_pool
from assessment.qrels.services.versions import QrelsChoice, freeze_qrels
from benchmarks.papers.published import GROUPS
from contrib.papers.services.paper_kits import paper_kit
from evaluation.services.scoring import score_waiting
from tests.assessment.factories import judge
from tests.evaluation.factories import NOW, make_run
from tests.factories import make_lab

PRINTED = {
    ("arqmath-1", "answers"): ["nDCG′", "MAP′", "P@10"],  # 000 A1
    ("arqmath-1", "formulas"): ["nDCG′", "MAP′", "P@10"],  # 000 A2
    ("arqmath-3", "answers"): ["nDCG′", "MAP′", "P′@10"],  # 004 T3
    ("arqmath-3", "formulas"): ["nDCG′", "MAP′", "P′@10"],  # 004 T4
    ("arqmath-3", "written-answers"): ["AR", "P@1", "LO"],  # 004 T5, without CS
    ("ntcir-10", "formulas"): ["MAP", "P@5", "P@10", "SetP"],  # 003 §4: SetP is P@hit
    ("ntcir-12-simto", "formulas"): ["P@5", "P@10", "P@15", "P@20"],  # 003 §4
}


@pytest.mark.parametrize(("lab", "kind"), PRINTED)
def test_a_preset_prints_the_columns_of_its_paper(lab, kind):
    rules = PROTOCOLS[lab].tasks[TaskKind(kind)]
    measures = parse_measures(rules.measures, relevant_from=rules.relevant_from)

    assert [m.heading for m in measures[: rules.printed]] == PRINTED[lab, kind]
    assert all(measure.is_rating for measure in measures[: rules.printed])


@pytest.fixture(scope="module")
def first_lab(kept_db) -> SimpleNamespace:
    """A lab by the rules of ARQMath-1, pooled and judged, and the files of its kit."""
    scene = make_lab()
    Lab.objects.update(protocol="arqmath-1")
    scene = replace(scene, task=Task.objects.get(pk=scene.task.pk))
    facts = {"A.1": ("proof", "easy"), "A.2": ("concept", "hard")}
    for query_id, (category, difficulty) in facts.items():
        info = {"category": category, "difficulty": difficulty}
        Topic.objects.filter(task=scene.task, query_id=query_id).update(info=info)
    lists = {topic: ["p1", "p2", "p3", "p4"] for topic in facts}
    make_run(scene.team, scene.task, lists, tag="one", is_primary=True)
    make_run(scene.team, scene.task, lists, tag="two")
    make_run(scene.other_team, scene.task, lists, tag="base", is_baseline=True)
    rules = PoolProtocol(primary=4, alternate=2, manual=4)
    pool = freeze_pool(task=scene.task, choice=PoolChoice(rules, 1), by=None, at=NOW)
    for instance in PoolInstance.objects.filter(item__pool=pool):
        judge(scene.assessor, instance, 3 if instance.doc_id in ("p1", "p2") else 0)
    qrels = freeze_qrels(task=scene.task, choice=QrelsChoice("v1"), by=None, at=NOW)
    score_waiting(at=NOW)
    QrelSet.objects.update(is_current=True)
    return SimpleNamespace(scene=scene, files=paper_kit(qrels, scene.organizer).texts)


@pytest.mark.django_db
def test_the_page_and_the_kit_have_the_columns_of_the_paper(first_lab, client):
    client.force_login(first_lab.scene.organizer)
    page = client.get("/labs/arqmath-x/tasks/task1/leaderboard/", follow=True).content.decode()

    shown = re.findall(
        r">\s*(nDCG′|MAP′|P′?@10)\s*<", page.partition("<thead")[2].partition("</thead>")[0]
    )
    assert list(dict.fromkeys(shown)) == ["nDCG′", "MAP′", "P@10"]
    assert r"nDCG$'$ & MAP$'$ & P@10 \\" in first_lab.files["tables/results.tex"]
    assert (
        "For MAP$'$ and P@10, H+M binarization was used." in first_lab.files["tables/results.tex"]
    )


@pytest.mark.django_db
def test_the_kit_counts_the_runs_by_depth(first_lab):
    assert first_lab.files["sentences/pools.tex"].startswith(
        "Pools were created by taking the top 4 answers of one primary run and one baseline and "
        "the top 2 of one alternate run."
    )


@pytest.mark.django_db
def test_the_kit_defines_the_labels_and_counts_the_topics(first_lab):
    labels = rows_of(first_lab.files["tables/labels.tsv"])
    groups = rows_of(first_lab.files["tables/groups.tsv"])

    assert [row["Rating"] for row in labels] == ["High", "Medium", "Low", "Not relevant"]
    assert labels[0]["Definition"] == "Sufficient to answer the complete question on its own"
    assert [list(row.values()) for row in groups] == [
        ["Category", "concept", "1", "", "1"],
        ["Category", "proof", "1", "1", ""],
        ["All topics", "Total", "2", "1", "1"],
    ]
    assert "levels" in "".join(path for path in first_lab.files if path.startswith("figures/"))


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines(), delimiter="\t"))


def test_other_labels_have_other_definitions():
    preset = PROTOCOLS["arqmath-3"].tasks[TaskKind.ANSWERS]

    assert len(preset.definitions) == 4
    assert with_overrides(preset, {"labels": "0-4"}).definitions == ()
    both = {"labels": "0-2", "definitions": ["All of it", "Some of it", "None"]}
    assert with_overrides(preset, both).definitions == ("All of it", "Some of it", "None")
    with pytest.raises(
        OverrideRefusedError, match=r"Found a list of 1; expected a definition of each"
    ):
        with_overrides(preset, {"definitions": ["All of it"]})


@pytest.mark.shared_data
def test_topics_are_counted_as_in_the_paper(shared_data):
    """000 §4.1 prints these numbers for the 77 judged topics of ARQMath-1."""
    folder = shared_data / "arqmath-1"
    facts = read_topic_info((folder / "topic-info.task1.json").read_bytes(), path="topic-info")
    judged = {
        line.split()[0] for line in (folder / "qrels.task1.tsv").read_text("utf-8").splitlines()
    }
    kind = TaskKind.ANSWERS
    table = groups_table(
        [facts[topic] for topic in sorted(judged)], info_fields(kind), level_field(kind)
    )

    rows = rows_of(table.tsv())
    of = {row[""]: row for row in rows}
    for group in GROUPS:
        if group.attribute == "category":
            assert {name: of[name]["Topics"] for name in group.printed} == group.printed
        else:
            assert {
                name: of["Total"][f"Difficulty {name}"] for name in group.printed
            } == group.printed


def runs_of_paper(*marks: tuple[set[str], set[str]]) -> tuple[PaperRun, ...]:
    """Return runs of three teams whose values differ, with the columns of each that are lower, and
    those that are not.
    """
    return tuple(
        PaperRun(
            BoardRun(place, f"Team {place // 20}", f"run{place}", {"a": 0.9 - place / 100}),
            lower=frozenset(lower),
            close=frozenset(close),
        )
        for place, (lower, close) in enumerate(marks)
    )


@pytest.mark.parametrize(
    ("marks", "sign", "marked"),
    [
        ([(set(), set()), (set(), {"a"}), (set(), {"a"}), ({"a"}, set())], LOWER, "run3"),
        ([(set(), set()), (set(), {"a"}), ({"a"}, set()), ({"a"}, set())], NOT_LOWER, "run1"),
    ],
)
def test_the_rarer_outcome_of_the_tests_has_the_mark(marks, sign, marked):
    runs = runs_of_paper(*marks)
    table = PaperTable("t", caption("T", runs), (ScoreColumn("a", "A", "Topics"),), runs)

    rows = [line for line in table.latex().splitlines() if rf"{sign}}}$}}" in line]
    assert [row.split(" ")[0] for row in rows] == [marked]
    assert rf"$^{sign}$: " in table.caption


def test_the_pages_of_a_table_are_about_equally_long():
    runs = runs_of_paper(*[(set(), set())] * 60)  # three teams of twenty
    table = PaperTable("t", "T.", (ScoreColumn("a", "A", "Topics"),), runs)

    first, second = table.latex().split("Continued")
    assert (first.count("run"), second.count("run")) == (40, 20)
    teams = PaperTable(
        "t",
        "T.",
        table.columns,
        tuple(replace(r, run=replace(r.run, team=r.run.tag)) for r in runs),
    )
    sizes = [part.count(r"\textbf{run") for part in teams.latex().split("Continued")]
    assert max(sizes) - min(sizes) <= 1


def test_relevant_items_are_averaged_by_level():
    """003 Figure 2 shows the mean number of relevant formulas by complexity of the query."""
    topics = [
        JudgedTopic("B.1", 9, 9, {3: 2, 2: 1, 1: 0, 0: 6, 5: 0, 6: 0}, 3),
        JudgedTopic("B.2", 9, 9, {3: 0, 2: 3, 1: 4, 0: 2, 5: 0, 6: 0}, 3),
        JudgedTopic("B.3", 9, 9, {3: 5, 2: 0, 1: 1, 0: 3, 5: 0, 6: 0}, 5),
    ]
    levels = {"B.1": "low", "B.2": "low", "B.3": "high"}
    figure = levels_figure(topics, ARQMATH, levels, "complexity")

    assert [list(row.values()) for row in rows_of(figure.tsv)] == [
        ["low", "2", "1.0", "2.0", "2.0"],
        ["high", "1", "5.0", "0.0", "1.0"],
    ]
    assert levels_figure(topics, ARQMATH, {"B.1": "low"}, "complexity") is None

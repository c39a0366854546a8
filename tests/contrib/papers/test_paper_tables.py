"""The tables of a paper kit over several labs and for Task 3, against the pages and scipy."""

import csv
import re
from types import SimpleNamespace

import pytest
from scipy.stats import kendalltau, pearsonr

from arqkit.formats.papers.matrices import PREAMBLE, CorrelationTable, main_document
from arqkit.formats.papers.tables import PaperRun, PaperTable, ScoreColumn
from arqkit.leaderboard import BoardRun
from arqkit.standings import BASELINE
from assessment.models import PoolInstance, QrelSet
from benchmarks.papers.published import ANSWERS as ANSWERS_OF_004
from benchmarks.papers.published import MEASURES_OF_TASK_3
from contrib.papers.services.paper_kits import paper_board, paper_figures, paper_tables
from evaluation.models import Leaderboard, RunScore
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.services.changing import link_runs
from tests.assessment.factories import judge, make_written_pool
from tests.assessment.rounds.factories import questions_of
from tests.contrib.papers.compiling import needs_pdflatex, pages_of
from tests.evaluation.factories import GOOD, NOW, POOR, make_qrels, make_run
from tests.factories import (
    LabFactory,
    MemberFactory,
    Scene,
    TaskFactory,
    TeamFactory,
    TopicFactory,
    WrittenTaskFactory,
    make_lab,
)

pytestmark = pytest.mark.django_db
MEASURES = ("nDCG(judged_only=True)@1000", "AP(rel=2,judged_only=True)")
TOPICS = ("A.1", "A.2", "A.3")
# run: official label, machine-generated (1) or not, by topic
ANSWERS = {
    "GPT": [(3, 1), (0, 1), (1, 0)],
    "Cut": [(2, 0), (1, 0), (0, 0)],
    "Mix": [(3, 1), (3, 0), (2, 1)],
    "Lone": [(0, 1), (1, 1), (1, 1)],
}


@pytest.fixture(scope="module")
def labs(kept_db) -> SimpleNamespace:
    """Two labs with the runs of one system, and a Task 3 with a special question."""
    scene = make_lab()
    qrels = make_qrels(scene.task)
    new = make_run(scene.team, scene.task, GOOD, tag="new", data_used="both")
    make_run(scene.other_team, scene.task, POOR, tag="alone", is_manual=True, data_used="math")
    make_run(scene.other_team, scene.task, GOOD, tag="too_late", is_post_hoc=True)
    earlier = TaskFactory(
        lab=LabFactory(slug="earlier", name="Earlier lab", is_public=True), slug="task1"
    )
    team = TeamFactory(lab=earlier.lab, name=scene.team.name)
    MemberFactory(team=team, user=scene.member)
    old_qrels = make_qrels(earlier)
    old = make_run(team, earlier, POOR, tag="old", is_post_hoc=True)
    make_run(team, earlier, GOOD, tag="not linked")
    link_runs(run=new, links={new.pk: False, old.pk: True}, by=scene.member, at=NOW)
    third = answers_of(scene)
    score_waiting(at=NOW)
    release_leaderboard(qrel_set=old_qrels, by=None, at=NOW)
    return SimpleNamespace(
        organizer=scene.organizer, qrels=qrels, third=third, old=RunScore.objects.filter(run=old)
    )


def answers_of(scene: Scene) -> QrelSet:
    """Make a Task 3 whose answers are judged and asked about; return its qrels."""
    fields = {"slug": "task3", "name": "Task 3", "overrides": {"measures": ["AR", "P@1", "LO"]}}
    task = WrittenTaskFactory(lab=scene.lab, **fields)
    labels: dict[str, dict[str, int]] = {}
    for number, topic in enumerate(TOPICS):
        TopicFactory(task=task, query_id=topic, position=number + 1)
        labels[topic] = {f"{tag}:{topic}": values[number][0] for tag, values in ANSWERS.items()}
    make_written_pool(
        task, {topic: dict.fromkeys(items, "An answer.") for topic, items in labels.items()}
    )
    for tag in ANSWERS:
        team = scene.other_team if tag == "Mix" else scene.team
        texts = {topic: f"{tag} on {topic}" for topic in TOPICS}
        make_run(
            team,
            task,
            {topic: [topic] for topic in TOPICS},
            tag=tag,
            answers=texts,
            answer_kind="generate",
            is_baseline=tag == "GPT",
        )
    asked = questions_of(task, scene.assessor)
    for instance in PoolInstance.objects.filter(item__pool=asked.pool).select_related("item"):
        tag, _, topic = instance.item.item.partition(":")
        judge(scene.assessor, instance, ANSWERS[tag][TOPICS.index(topic)][1])
    return make_qrels(task, labels, items="answers")


@pytest.fixture
def tables(labs) -> dict[str, PaperTable | CorrelationTable]:
    """Return the tables of both tasks by name; those of Task 3 are prefixed."""
    found = {}
    for prefix, qrels in (("", labs.qrels), ("third-", labs.third)):
        for table in paper_tables(labs.organizer, paper_board(qrels)):
            found[f"{prefix}{table.name}"] = table
    return found


def rows_of(text: str) -> dict[str, dict[str, str]]:
    return {row["run"]: row for row in csv.DictReader(text.splitlines(), delimiter="\t")}


def cells_of(latex: str, tag: str) -> list[str]:
    [line] = [line for line in latex.splitlines() if line.startswith((tag, rf"\textit{{{tag}}}"))]
    return [cell.strip() for cell in line.removesuffix(r"\\").split("&")]


def test_each_task_has_the_tables_of_its_data(tables):
    assert list(tables) == [
        *("labels", "runs", "results", "results-by-lab"),
        *(
            "third-labels",
            "third-runs",
            "third-results",
            "third-correlations",
            "third-first-answers",
        ),
    ]


def test_a_system_has_its_scores_in_each_lab(labs, tables):
    latex, rows = (
        call() for call in (tables["results-by-lab"].latex, tables["results-by-lab"].tsv)
    )
    stored = dict(labs.old.values_list("measure", "value"))

    run = rows_of(rows)["new"]
    assert set(rows_of(rows)) == {"new", "alone"}
    for name in MEASURES:
        assert float(run[f"earlier/task1:{name}"]) == pytest.approx(stored[name], abs=1e-12)
    assert (
        cells_of(latex, "new")[4]
        == rf"\textbf{{{stored[MEASURES[0]]:.3f}}}\rlap{{$^{{\ddagger}}$}}"
    )
    assert cells_of(latex, "alone")[:7] == ["alone", "M", "", r"$\checkmark$", "--", "--", "--"]
    assert r"Earlier lab \\ 2 topics\end{tabular}}" in latex
    assert "Data: (M)ath, (B)oth text and math." in latex


def test_a_lab_without_a_released_board_has_no_columns_for_organizers_of_another(labs):
    Leaderboard.objects.update(hidden_at=NOW)

    found = paper_tables(labs.organizer, paper_board(labs.qrels))
    for table in found:
        assert "Earlier lab" not in table.latex()
        assert "earlier/" not in table.tsv()


def test_no_table_or_figure_has_a_post_hoc_run_or_one_that_nobody_linked(labs, tables):
    texts = [text for table in tables.values() for text in (table.latex(), table.tsv())]
    texts += [figure.tsv for figure in paper_figures(paper_board(labs.qrels))]

    assert any("alone" in text for text in texts)
    assert not any(
        tag in text for text in texts for tag in ("too_late", "too\\_late", "not linked")
    )


def test_results_of_task_3_have_the_answers_to_special_questions(tables):
    latex = tables["third-results"].latex()

    for tag, values in ANSWERS.items():
        labels, marked = zip(*values, strict=True)
        expected = [f"{sum(labels) / 3:.3f}", f"{sum(marked) / 3:.3f}"]
        cells = cells_of(latex, tag)
        assert [expected[0] in cells[-4], expected[1] in cells[-1]] == [True, True]
    assert rf"\textbf{{{0:.3f}}}" in cells_of(latex, "Cut")[-1]  # The fewest are the best.
    assert "MG: ratio of answers labeled ``Yes'' for ``Is it MG?''." in latex


def test_the_best_values_are_bold_as_in_table_5_of_the_paper():
    columns = tuple(ScoreColumn(name, name, "78 topics") for name in MEASURES_OF_TASK_3)
    runs = []
    for number, (tag, printed) in enumerate(ANSWERS_OF_004.items()):
        values = dict(zip(MEASURES_OF_TASK_3, printed, strict=True))
        base = tag == "GPT-3"
        runs.append(PaperRun(BoardRun(number, "Teams", tag, values, standings=[BASELINE] * base)))
    latex = PaperTable("t", "", columns, tuple(runs)).latex()

    bold = [re.findall(r"\\textbf\{(\(?\d[.\d]+\)?)\}", line) for line in latex.splitlines()]
    assert [values for values in bold if values] == [
        ["(1.346)", "(0.500)"],
        ["1.282", "0.436", "0.886"],
        ["0.515", "0.886"],
    ]


def test_correlations_are_scipy_s(tables):
    table = tables["third-correlations"]
    [first, *_] = csv.DictReader(table.tsv().splitlines(), delimiter="\t")
    rated = [sum(label for label, _ in values) for values in ANSWERS.values()]
    precise = [sum(label >= 2 for label, _ in values) for values in ANSWERS.values()]
    pearson, kendall = pearsonr(rated, precise)[0], kendalltau(rated, precise)[0]

    assert (first["measure"], first["other"], first["runs"]) == ("AR", "P@1", "4")
    assert float(first["pearson"]) == pytest.approx(pearson, abs=1e-9)
    assert float(first["kendall"]) == pytest.approx(kendall, abs=1e-9)
    assert f"AR & $1.000$ & ${pearson:.3f}$" in table.latex()


def test_first_answers_are_those_of_the_page(labs, tables, client):
    client.force_login(labs.organizer)
    page = client.get(
        "/labs/arqmath-x/tasks/task3/leaderboard/first-answers/?format=tsv"
    ).content.decode()

    expected = {tag: (row["AR"], row["P@1"]) for tag, row in rows_of(page).items()}
    found = rows_of(tables["third-first-answers"].tsv())
    assert set(expected) == set(found) == {"new", "alone"}
    for tag, row in found.items():
        assert (f"{float(row['AR']):.4f}", f"{float(row['P(rel=2)@1']):.4f}") == expected[tag]


@needs_pdflatex
def test_the_tables_compile_and_fit_the_page(tables, tmp_path):
    columns = tuple(ScoreColumn(str(place), "nDCG′", "A lab") for place in range(6))
    values = {column.key: 0.5 for column in columns}
    rows = [
        PaperRun(BoardRun(n, f"Team {n}", f"a_long_name_{n}_" * (n % 4), values)) for n in range(99)
    ]
    large = PaperTable("large", "A large table.", columns, tuple(rows))
    every = tables | {"large": large}
    files = {f"tables/{name}.tex": table.latex() for name, table in every.items()}
    files |= {"preamble.tex": PREAMBLE}
    files["main.tex"] = main_document("A kit", [("Results", [f"tables/{name}" for name in every])])
    assert pages_of(files, tmp_path) >= files["tables/large.tex"].count(r"\begin{table}") > 2

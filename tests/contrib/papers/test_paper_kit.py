"""The paper kit of a version: its numbers are the leaderboard's, and its LaTeX compiles."""

import csv
from io import BytesIO
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from zipfile import ZipFile

import pytest
from django.core.cache.backends.locmem import LocMemCache
from sklearn.metrics import cohen_kappa_score

from analyses.services.certificates import certification_of
from arqkit.formats.papers.figures import PaperFigure
from arqkit.formats.papers.matrices import kit_archive
from arqkit.leaderboard import MAIN_MEASURES
from arqlab.core.caches import computed_values
from arqlab.core.models import Job
from arqlab.jobs.services.jobs import run_waiting_job
from assessment.models import Judgment, PoolInstance
from contrib.papers.services.paper_kits import paper_board, paper_kit, paper_tables
from evaluation.models import RunScore, TopicScore
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.assessment.factories import judge, make_pool
from tests.assessment.rounds.factories import round_of
from tests.contrib.papers.compiling import needs_pdflatex, pages_of
from tests.evaluation.factories import GOOD, NOW, POOR, QRELS, make_qrels, make_run
from tests.factories import AssessorFactory, Scene, TeamFactory, make_lab

pytestmark = (
    pytest.mark.django_db
)  # Tests without a database would run last, in a kit of their own.
PAGE = "/labs/arqmath-x/tasks/task1/qrels/1/paper-kit/"
NAME = "arqmath-x_task1_qrels-v1_paper-kit"
HOSTILE = ["[x] ~^\\{$%_#}&", "*<é|ą>* 北京 Ω''``", "-- \u200b′Ł½ {\\end{table}"]
VOTES: dict[tuple[str, str], list[int]] = {}


@pytest.fixture(autouse=True)
def nothing_computed() -> None:
    """Keep the figures, which are drawn once."""


@pytest.fixture(scope="module")
def kit(kept_db) -> SimpleNamespace:
    """A lab with runs of two teams and a baseline, and the files of its kit."""
    scene = make_lab()
    odd = TeamFactory(lab=scene.lab, name="[A] & _B_ \\")
    good = make_run(scene.team, scene.task, GOOD, tag="good", is_primary=True, data_used="both")
    make_run(odd, scene.task, POOR, tag=HOSTILE[0], is_manual=True)
    for tag in HOSTILE[1:]:
        make_run(odd, scene.task, POOR, tag=tag)
    Run.objects.filter(pk=good.pk).update(retrieval_times="A.1 0.5\nA.2 1.5")
    base = make_run(scene.other_team, scene.task, GOOD, tag="base", is_baseline=True)
    pooled = [{"run": good.pk, "kind": "primary", "tag": "good"}]
    pooled += [{"run": base.pk, "kind": "baseline-primary", "tag": "base"}]
    make_pool(scene.task, {topic: list(items) for topic, items in QRELS.items()}, runs=pooled)
    judge_all(scene)
    dropped = [{"topic": "A.3", "relevant": 1, "reason": "One relevant item."}]
    qrels = make_qrels(scene.task, dropped=dropped)
    score_waiting(at=NOW)
    made = paper_kit(qrels, scene.organizer)
    return SimpleNamespace(scene=scene, qrels=qrels, texts=made.texts, figures=made.figures)


@pytest.fixture(scope="module")
def drawn(kit) -> dict[str, str | bytes]:
    """All files of the kit, with the images."""
    computed_values.clear()
    certification_of(kit.qrels, computes=True)
    return paper_kit(kit.qrels, kit.scene.organizer).files()


def judge_all(scene: Scene) -> None:
    """Judge the pool: four seconds for each label, and again by two people in a training round."""
    people = [scene.assessor, AssessorFactory(lab=scene.lab).user]
    training = round_of(scene.task, "training", *people)
    for place, instance in enumerate(PoolInstance.official.select_related("item__topic")):
        topic = instance.item.topic.query_id
        judge(scene.assessor, instance, QRELS[topic][instance.doc_id], active_ms=4000)
        VOTES[topic, instance.doc_id] = [min(place, 3), 3 if place > 1 else place]
    for instance in PoolInstance.objects.filter(item__pool=training.pool):
        votes = VOTES[instance.item.topic.query_id, instance.doc_id]
        label = votes[people.index(instance.item.assessor)]
        judge(instance.item.assessor, instance, label)


def rows_of(kit: SimpleNamespace, table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(kit.texts[f"tables/{table}.tsv"].splitlines(), delimiter="\t"))


def test_the_tables_have_the_scores_of_the_leaderboard(kit):
    rows = {row["run"]: row for row in rows_of(kit, "results")}

    scores = RunScore.objects.filter(qrel_set=kit.qrels, measure__in=rows["good"])
    stored = scores.values_list("run__tag", "measure", "value")
    assert len(stored) == 5 * MAIN_MEASURES
    for tag, measure, value in stored:
        # A cell that a spreadsheet would compute begins with an apostrophe.
        row = rows.get(tag.strip()) or rows[f"'{tag.strip()}"]
        assert float(row[measure]) == pytest.approx(value, abs=1e-12)


def test_the_numbers_are_printed_as_in_the_papers(kit):
    latex = kit.texts["tables/results.tex"]

    value = RunScore.objects.get(run__tag="good", measure=kit.scene.task.protocol.measures[0]).value
    assert f"good & Both & $\\checkmark$ &  & \\textbf{{{value:.3f}}} & " in latex
    assert f"\\textit{{base}} & n/a & ($\\checkmark$) &  & \\textbf{{({value:.3f})}} & " in latex
    assert "averaged over 2 topics" in latex
    assert "For MAP$'$ and P$'$@10, H+M binarization was used." in latex


def test_a_lab_whose_systems_have_no_runs_elsewhere_has_no_table_by_lab(kit):
    assert [path for path in kit.texts if path.startswith("tables/") and path.endswith(".tex")] == [
        f"tables/{name}.tex" for name in ("labels", "runs", "times", "results", "topics")
    ]


def test_the_certificate_of_the_kit_is_that_of_its_page(kit, drawn, client):
    client.force_login(kit.scene.organizer)
    [table] = [
        t
        for t in paper_tables(kit.scene.organizer, paper_board(kit.qrels))
        if t.name == "certificate"
    ]

    page = client.get(PAGE.replace("paper-kit", "certificate"))
    findings = page.context["tables"]["findings"].rows
    assert [[*row.teams, *row.runs] for row in findings] == [row[1:] for row in table.rows]
    assert "certificate" in paper_kit(kit.qrels, kit.scene.organizer).parts["tables"]


def test_the_appendix_has_the_labels_and_scores_of_each_topic(kit):
    first, second = rows_of(kit, "topics")
    main = kit.scene.task.protocol.measures[0]
    scores = TopicScore.objects.filter(qrel_set=kit.qrels, measure=main, query_id="A.1")
    values = sorted(scores.values_list("value", flat=True))

    labels = ["Items High", "Items Medium", "Items Low", "Items Not relevant"]
    assert [first["Topic"], first["Items Judged"]] == ["A.1", "4"]
    assert [first[label] for label in labels] == ["1", "1", "1", "1"]
    assert [second[label] for label in labels] == ["0", "1", "0", "1"]
    assert float(first["nDCG′ Median"]) == pytest.approx(median(values))
    assert float(first["nDCG′ Best"]) == pytest.approx(values[-1])


def test_the_runs_are_counted_by_team(kit):
    rows = [list(row.values()) for row in rows_of(kit, "runs")]

    assert rows[0] == ["Answer retrieval", "Baselines", "1", "", "", ""]
    assert rows[-1] == ["Answer retrieval", "Totals (5 runs)", "2", "2", "", "1"]


def test_the_archive_has_the_drawn_files(kit, drawn, client):
    client.force_login(kit.scene.organizer)

    answer = client.get(f"{PAGE}?format=zip")

    assert answer["Content-Disposition"] == f'attachment; filename="{NAME}.zip"'
    assert answer.content == kit_archive(NAME, drawn)
    with ZipFile(BytesIO(answer.content)) as archive:
        assert {Path(name).parts[0] for name in archive.namelist()} == {NAME}


def test_the_same_numbers_give_the_same_bytes(kit, drawn):
    figure = kit.figures[-1]

    for ending, image in figure.images().items():
        assert image == drawn[f"figures/{figure.name}.{ending}"]


def test_no_file_names_an_assessor(kit):
    people = [row.assessor for row in Judgment.objects.select_related("assessor")]

    assert people
    for text in kit.texts.values():
        assert not any(person.username in text or person.email in text for person in people)


def test_the_page_offers_the_kit_when_a_worker_has_drawn_it(kit, client, monkeypatch):
    client.force_login(kit.scene.organizer)
    monkeypatch.setattr(PaperFigure, "images", lambda figure: {"pdf": figure.name.encode()})
    for module in ("contrib.papers.services.paper_kits", "arqlab.core.caches"):
        monkeypatch.setattr(f"{module}.computed_values", LocMemCache("nothing drawn", {}))
    assert "Build paper kit" in client.get(PAGE).text

    client.post(PAGE)
    client.post(PAGE)
    job = Job.objects.get()
    waiting = client.get(PAGE).text
    run_waiting_job(job_id=job.pk, at=NOW)

    assert 'hx-get="?seen=waiting-0-0-False"' in waiting
    assert client.get(f"{PAGE}?seen=waiting-0-0-False").headers["HX-Refresh"] == "true"
    ready = client.get(PAGE).text
    assert "?format=zip" in ready
    assert "hx-get" not in ready


def sentence(kit: SimpleNamespace, name: str) -> str:
    return kit.texts[f"sentences/{name}.tex"].strip()


def test_the_sentences_have_the_numbers_of_pools_and_time(kit):
    assert sentence(kit, "runs").startswith("A total of four runs were received from two teams.")
    assert sentence(kit, "pools") == (
        "Pools were created by taking the top 10 answers of one primary run and one baseline. "
        "The baseline base was pooled as a primary run. "
        "On average, the judgment pools contain 3.5 answers per topic."
    )
    assert sentence(kit, "assessment") == (
        "Among 3 topics assessed, one (A.3) was removed from the collection, for having too few "
        "items assessed as relevant (H+M binarization). For the remaining 2 topics, an average of "
        "3.0 answers were assessed, with an average assessment time of 4.0 seconds per answer "
        "post. One assessor worked for a total of 0.0 hours. The average number of answers labeled "
        "with any degree of relevance (H+M+L binarization) was 2.0 per topic, with the highest "
        "number being 3 (for topic A.1) and the lowest being 1 (for topic A.2)."
    )


def test_the_sentence_on_agreement_has_cohens_kappa(kit):
    graded = cohen_kappa_score(*zip(*VOTES.values(), strict=True))
    binary = cohen_kappa_score(*zip(*[[x > 1 for x in two] for two in VOTES.values()], strict=True))

    assert f"over seven items, an average Cohen's kappa of {graded:.2f}" in sentence(
        kit, "agreement"
    )
    assert f"and of {binary:.2f} with H+M binarization" in sentence(kit, "agreement")


def test_each_figure_is_in_three_formats_with_its_data(drawn):
    starts = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}
    for name in ("scores", "topics", "labels", "agreement"):
        assert drawn[f"figures/{name}.tsv"].count("\n") > 2
        for ending, start in starts.items():
            assert drawn[f"figures/{name}.{ending}"].startswith(start)


@needs_pdflatex
def test_the_latex_compiles_with_hostile_names(drawn, tmp_path):
    assert pages_of(drawn, tmp_path) >= 1

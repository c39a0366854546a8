"""Baselines of generated answers, from the configured language model or a file."""

import csv
import hashlib
import logging
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from arqlab.core.models import Job
from arqlab.jobs.tasks import run_waiting_jobs
from contrib.retrieval.models import SystemRun
from contrib.retrieval.services import systems
from submissions.models import Run
from submissions.selectors import run_index
from submissions.services.changing import withdraw_run
from tests.arqkit.retrieval.sample import topics_of
from tests.arqkit.retrieval.test_generation import failure
from tests.factories import TopicFactory, WrittenTaskFactory
from tests.model_server import model_server
from tests.real_data import DATA, needs_data

pytestmark = pytest.mark.django_db
KEY = "sk-4711-secret"


@pytest.fixture
def task(scene, settings, tmp_path):
    """Return a task for generated answers with two topics."""
    settings.DATA_DIR, settings.GENERATION_URL = tmp_path / "data", ""
    task = WrittenTaskFactory(lab=scene.lab, slug="task3")
    for name, body in (("A.1", "What is a group?"), ("A.2", "What is a ring?")):
        TopicFactory(task=task, query_id=name, title="", body=body)
    return task


@pytest.fixture
def server(settings):
    """Yield the language model that is configured."""
    with model_server() as server:
        settings.GENERATION_URL, settings.GENERATION_MODEL = server.url, "a-model"
        settings.GENERATION_KEY = KEY
        yield server


def make(task, system="generated", **options):
    out = StringIO()
    path = f"{task.lab.slug}/{task.slug}"
    call_command("make_baseline", path, system=system, stdout=out, stderr=out, **options)
    return out.getvalue()


def page(task):
    return reverse("retrieval:baseline-list", args=[task.lab.slug])


def choose(scene, task, client_of):
    """Choose the system on the page, and return its job after a worker ran it."""
    client_of(scene.organizer).post(page(task), {"chosen": ["task3/generated"]})
    run_waiting_jobs()
    return Job.objects.get()


def answers_of(run):
    return dict(run_index(run, columns=["topic", "answer"]).iter_rows())


@needs_data
def test_answers_to_real_topics_are_a_checked_baseline(task, server):
    task.topics.all().delete()
    for name, title, body, *_ in topics_of(3)[:3]:
        TopicFactory(task=task, query_id=name, title=title, body=body)
    server.replies = ["a" * 1201, ' Because\n$x="1"$.\n', "Yes.\tNo."]
    make(task)

    run = Run.objects.get(task=task)
    assert (run.status, run.is_baseline, run.answer_kind) == ("valid", True, "generate")
    texts = {"A.301": 'Because\n$x="1"$.', "A.302": "Yes.\tNo.", "A.303": "An answer."}
    assert answers_of(run) == texts
    first, again, *_ = server.prompts
    assert first == again
    assert first.startswith(
        "Q: Inequality between norm 1,norm 2 and norm $\\infty$ of Matrices\n\n"
    )
    assert first.endswith("\n\nA:")


def test_the_prompt_the_parameters_and_the_model_are_on_record(scene, task, server, client_of):
    task.overrides = {"max_characters": 99}
    task.save()
    server.replies = ["a" * 100]
    make(task)

    made = SystemRun.objects.get()
    assert made.settings == {
        "model": "a-model",
        "prompt": "Q: {question}\n\nA:",
        "max_tokens": 570,
        "temperature": 0.7,
        "max_characters": 99,
        "tries": 10,
    }
    assert made.collection == ""
    address = reverse("desk:run-detail", args=[task.lab.slug, task.slug, made.run_id])
    shown = client_of(scene.organizer).get(address).text
    assert "Q: {question}<br><br>A:" in shown
    assert "<dt>Max tokens</dt>" in shown
    assert "SHA-256 of the collection" not in shown


def test_the_system_is_chosen_on_the_page_and_its_run_linked_there(scene, task, server, client_of):
    job = choose(scene, task, client_of)

    assert (job.state, job.summary) == ("done", ["generated in Generated answers: valid."])
    shown = client_of(scene.organizer).get(page(task)).text
    assert f"/runs/{Run.objects.get().pk}/" in shown
    assert reverse("retrieval:run-combine", args=[task.lab.slug, task.slug]) not in shown


def test_without_a_model_the_page_and_the_command_say_what_to_set(scene, task, client_of):
    assert "Set ARQLAB_GENERATION_URL" in client_of(scene.organizer).get(page(task)).text
    for system in ("generated", "all"):
        with pytest.raises(CommandError, match=r"Set ARQLAB_GENERATION_URL.*--answers FILE"):
            make(task, system)


def test_a_job_that_was_cut_off_goes_on_where_it_was(scene, task, server, client_of):
    server.replies = ["one", None]
    job = choose(scene, task, client_of)
    assert job.state == "refused"
    assert "cannot be reached" in job.message
    assert "The answers so far are kept" in job.message
    server.replies = ["two"]
    make(task)

    assert answers_of(Run.objects.get()) == {"A.1": "one", "A.2": "two"}
    assert len(server.asked) == 3


def test_a_topic_without_a_short_answer_is_named_after_all_others_were_asked(task, server):
    server.replies = [*["a" * 1201] * 10, "two"]
    with pytest.raises(CommandError, match=r"no answer of 1 to 1,200 characters to A\.1 in 10 tr"):
        make(task)
    server.replies = ["one"]
    make(task)

    assert answers_of(Run.objects.get()) == {"A.1": "one", "A.2": "two"}


def test_after_the_run_was_withdrawn_every_answer_is_asked_for_again(scene, task, server):
    make(task)
    withdraw_run(run=Run.objects.get(), reason="Too bold", by=scene.organizer, at=timezone.now())
    make(task)

    assert len(server.asked) == 4


def test_a_job_can_be_stopped_while_it_waits_for_a_busy_server(
    scene, task, server, client_of, monkeypatch
):
    server.replies = [failure(429, **{"Retry-After": "500"})]
    monkeypatch.setattr(systems, "sleep", lambda _: Job.objects.update(is_stopping=True))
    monkeypatch.setattr("arqlab.jobs.services.jobs.BETWEEN_UPDATES", 0.0)

    assert choose(scene, task, client_of).state == "stopped"


def test_a_busy_server_is_asked_again_after_the_seconds_that_it_names(task, server):
    server.replies = [failure(429, **{"Retry-After": "1"}), "one"]
    started = systems.monotonic()
    make(task)

    assert systems.monotonic() - started >= 1
    assert answers_of(Run.objects.get())["A.1"] == "one"


@pytest.mark.parametrize("key", [KEY, f"{KEY}\nX: y"])
def test_the_key_is_in_no_job_record_page_or_log(
    scene, task, server, client_of, settings, caplog, key, tmp_path
):
    settings.GENERATION_KEY = key
    server.replies = [failure(400, f"Bearer {KEY} is wrong")] * 2
    caplog.set_level(logging.DEBUG)
    shown = client_of(scene.organizer).get(page(task)).text
    with pytest.raises(CommandError) as refused:
        make(task)
    if key == KEY:
        assert choose(scene, task, client_of).state == "refused"
        shown += client_of(scene.organizer).get(page(task)).text

    stored = [*Job.objects.values(), *SystemRun.objects.values(), *Run.objects.values()]
    files = [path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert KEY not in f"{shown}{refused.value}{stored}{caplog.text}{files}"
    assert len(server.asked) == (2 if key == KEY else 0)


@needs_data
def test_published_answers_are_a_baseline_named_after_their_file(scene, task, client_of, tmp_path):
    with (DATA / "arqmath-3/task3-answers/gpt4.tsv").open(newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.reader(lines, delimiter="\t") if len(row[1].strip()) <= 1200]
    file = tmp_path / "gpt4.tsv"
    with file.open("w", newline="", encoding="utf-8") as lines:
        csv.writer(lines, delimiter="\t").writerows(rows)
    for topic, _ in rows:
        TopicFactory(task=task, query_id=topic)
    make(task, answers=file)

    run = Run.objects.get()
    assert (run.tag, run.status) == ("generated-gpt4", "valid")
    assert answers_of(run) == {topic: answer.strip() for topic, answer in rows}
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert run.made_by.settings == {"file": "gpt4.tsv", "sha256": digest}
    shown = client_of(scene.organizer).get(page(task)).text
    assert "Generated answers of gpt4.tsv" in shown
    assert "Answers that were generated outside ArqLab." in shown
    assert f"/runs/{run.pk}/" in shown


def test_a_file_with_problems_makes_nothing_and_each_is_listed(task, tmp_path):
    file = tmp_path / "answers.tsv"
    file.write_text("A.1\tshort\nA.9\tother\nA.2\n")

    with pytest.raises(CommandError, match=r"answers\.tsv:2: .*A\.9(.|\n)*answers\.tsv:3: "):
        make(task, answers=file)
    with pytest.raises(CommandError, match=r"Cannot read .*none"):
        make(task, answers=tmp_path / "none")
    with pytest.raises(CommandError, match="--answers needs --system generated"):
        make(task, "all", answers=file)
    assert not Run.objects.exists()


def test_answers_go_to_no_other_kind_of_task(scene, tmp_path):
    file = tmp_path / "answers.tsv"
    file.write_text("A.1\tshort\n")

    with pytest.raises(CommandError, match="does not retrieve an answer post"):
        make(scene.task, answers=file)

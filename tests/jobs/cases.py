"""A small job of each kind, stored as the pages store it, and what all jobs have made."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arqlab.core.models import Job, Lab, Task, Team, Topic, User
from arqlab.jobs.services.computing import AskedPage, start_computing
from arqlab.jobs.services.jobs import start_job
from arqlab.web.jobs import JOB_KINDS
from assessment.models import Judgment, Qrel, QrelSet
from collection.models import Collection, Comment, Import, LabCollection, Post, PostLink, VisualMap
from submissions.models import Run
from tests.assessment.factories import make_pool
from tests.collection.factories import load_small, make_dump
from tests.evaluation.factories import make_qrels, make_run
from tests.factories import FormulaTaskFactory, Scene, TopicFactory, make_lab
from tests.installed import optional
from tests.paths import ROOT

LAB = """[lab]
slug = "tiny"
name = "A tiny lab"
protocol = "arqmath-3"
[[tasks]]
slug = "task1"
name = "Answer retrieval"
kind = "answers"
topics = "topics.xml"
qrels = [{ name = "official", file = "official.tsv" }]
"""
TOPIC = (
    '<Topic number="A.30{0}"><Title>Title {0}</Title><Question>What is ${0}$?</Question>'
    "<Tags>numbers</Tags></Topic>"
)
TOPICS = f"<Topics>{''.join(map(TOPIC.format, range(1, 5)))}</Topics>"
FILES = {"lab.toml": LAB, "topics.xml": TOPICS, "official.tsv": "A.301\t0\t10\t3\n"}
RUN = "A.1\t10\t1\t9.5\tr\nA.1\t11\t2\t8.5\tr\nA.2\t12\t1\t7.5\tr\n"
RUNS = dict.fromkeys([f"New-task1-r{number}-auto-both-A.tsv" for number in range(1, 4)], RUN)
TASK = "/labs/arqmath-x/tasks/task1/"


class Ground(NamedTuple):
    """A lab with two tasks, a collection, runs, a pool and qrels, and its organizer's browser."""

    scene: Scene
    formulas: Task
    qrels: QrelSet
    client: Client

    def post(self, path: str, **form: Any) -> Job:
        """Send the form of a page that starts a job, and return the job."""
        response = self.client.post(path, form)
        assert response.status_code == 302, response.content.decode()
        return Job.objects.filter(kind__in=JOB_KINDS).latest("pk")

    def start(self, kind: str) -> Job:
        """Return a job that computes something from the qrels, as its page starts it."""
        key = self.scene.task.pk if kind == "look-alikes" else self.qrels.pk
        job = Job(kind=kind, key=str(key))
        by = self.scene.organizer
        return start_job(job=job, place=self.scene.task, at=timezone.now(), by=by)


def make_ground(folder: Path) -> Ground:
    """Store what the jobs of all kinds read."""
    scene = make_lab()
    formulas = FormulaTaskFactory(lab=scene.lab, slug="task2", position=2)
    TopicFactory(task=formulas, query_id="B.1", position=1, latex="a^2", formula_id="q_1")
    load_small(scene.lab, folder)
    labels = {"A.1": {"10": 3, "11": 0}, "A.2": {"12": 2}}
    make_pool(scene.task, labels)
    for team, items in ((scene.team, ["10", "11"]), (scene.other_team, ["11", "10"])):
        make_run(team, scene.task, {"A.1": items, "A.2": ["12"]}, tag=f"run-{team.name}")
    qrels = make_qrels(scene.task, labels)
    client = Client()
    client.force_login(scene.superuser)
    return Ground(scene, formulas, qrels, client)


def known_ground() -> Ground:
    """Return the ground that another process made."""
    lab = Lab.objects.get(slug="arqmath-x")
    tasks = {task.slug: task for task in lab.tasks.all()}
    members = User.objects.filter(memberships__lab=lab)
    people = {
        "organizer": members.get(memberships__role="organizer"),
        "superuser": User.objects.get(is_superuser=True),
    }
    client = Client()
    client.force_login(people["superuser"])
    scene = cast(Scene, SimpleNamespace(lab=lab, task=tasks["task1"], **people))
    qrels = QrelSet.objects.get(task=tasks["task1"], version=1)
    return Ground(scene, tasks["task2"], qrels, client)


def _file(name: str, text: str | bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text if isinstance(text, bytes) else text.encode())


def _zipped(files: dict[str, str]) -> SimpleUploadedFile:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return SimpleUploadedFile("files.zip", out.getvalue())


def _page(ground: Ground) -> Job:
    path = reverse("evaluation:leaderboard", args=["arqmath-x", "task1"])
    place = path, "also=ERR@20", "testserver"
    asked = AskedPage("a-key", *place, ground.scene.organizer, "127.0.0.1")
    return start_computing(asked, at=timezone.now())


def _qrels(ground: Ground) -> Job:
    options = {"items": "posts", "labels": "trec-binary", "relevant_from": "1"}
    sent = _file("qrels.tsv", "A.1 0 10 1\nA.2 0 12 0\n")
    return ground.post(f"{TASK}load/qrels/", file=sent, name="binary", **options)


def _judgments(ground: Ground) -> Job:
    sent = _file("judgments.tsv", "A.1 0 10 3\nA.1 0 11 0\nA.2 0 12 2\n")
    return ground.post(f"{TASK}load/judgments/", file=sent)


def _collection(ground: Ground) -> Job:
    LabCollection.objects.all().delete()
    dump = [
        _file(name, (ROOT / "tests/dump" / name).read_bytes())
        for name in ("Comments.xml", "Tags.xml", "Users.xml")
    ]
    posts = (ROOT / "tests/dump/Posts.xml").read_text(encoding="utf-8").splitlines()
    dump.append(_file("Posts.xml", "\n".join([*posts[:40], "</posts>"])))
    return ground.post("/labs/arqmath-x/collection/load/", slug="mse", complete="on", dump=dump)


def _visual_ids(ground: Ground) -> Job:
    VisualMap.objects.all().delete()
    return ground.post("/labs/arqmath-x/collection/visual-ids/")


def _candidates(ground: Ground) -> Job:
    LabCollection.objects.all().delete()
    LabCollection.objects.create(lab=ground.scene.lab, collection=make_dump())
    return ground.post("/labs/arqmath-x/topic-candidates/", which="later", alike="0.8")


CASES: dict[str, Callable[[Ground], Job]] = {
    "page": _page,
    "certificate": lambda ground: ground.start("certificate"),
    "look-alikes": lambda ground: ground.start("look-alikes"),
    "lab": lambda ground: ground.post("/load-lab/", file=[_zipped(FILES)]),
    "topics": lambda ground: ground.post(f"{TASK}load/topics/", topics=_file("topics.xml", TOPICS)),
    "qrels": _qrels,
    "judgments": _judgments,
    "runs": lambda ground: ground.post(f"{TASK}load/runs/", file=[_zipped(RUNS)]),
    "collection": _collection,
    "visual-ids": _visual_ids,
    "archive": lambda ground: ground.post("/labs/arqmath-x/archives/new/", published=False),
    "candidates": _candidates,
    **{name: case for cases in optional("jobs", "CASES") for name, case in cases.items()},
}
"""What starts a job, by its kind; where two jobs of a kind differ, by kind and what it reads."""


def kind_of(case: str) -> str:
    """Return the kind of job of a case."""
    return case.partition(" of ")[0]


OF_MIGRATIONS = {"auth.Permission", "contenttypes.ContentType", "core.Upgrade"}


def rows_by_model() -> dict[str, int]:
    """Return how many rows each model has."""
    return {
        model._meta.label: count
        for model in apps.get_models()
        if model._meta.label not in OF_MIGRATIONS and (count := model._base_manager.count())
    }


def rows_of_lab() -> dict[str, int]:
    """Return how many rows the labs of the jobs have, of what jobs make."""
    runs = Run.objects.filter(task__lab__slug__in=("arqmath-x", "tiny"))
    qrel_sets = QrelSet.objects.filter(task__lab__slug__in=("arqmath-x", "tiny"))
    judgments = Judgment.objects.filter(instance__item__pool__task__lab__slug="arqmath-x")
    return {
        "topics": Topic.objects.filter(task__lab__slug__in=("arqmath-x", "tiny")).count(),
        "runs": runs.count(),
        "valid runs": runs.filter(status="valid").count(),
        "baselines": runs.filter(is_baseline=True).count(),
        "versions of qrels": qrel_sets.count(),
        "qrels": Qrel.objects.filter(qrel_set__in=qrel_sets).count(),
        "judgments": judgments.count(),
        "teams": Team.objects.filter(lab__slug__in=("arqmath-x", "tiny")).count(),
        **{
            str(model._meta.verbose_name_plural): model.objects.count()
            for model in (Collection, Post, Comment, PostLink, VisualMap, Import)
        },
    }

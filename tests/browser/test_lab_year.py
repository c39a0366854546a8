"""A whole lab year in the browser alone: from an empty database to a released leaderboard."""

import re
from statistics import mean

import pytest
import pytrec_eval
from django.core.management import call_command
from django.utils import timezone
from playwright.sync_api import Page, expect

from arqlab.jobs.tasks import run_waiting_jobs
from assessment.models import PoolInstance
from evaluation.services.scoring import score_waiting
from tests.browser.judging import SHOWN, Assessor
from tests.browser.lab_browser import LabBrowser
from tests.factories import PASSWORD
from tests.paths import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LAB, TASK = "/labs/arqmath-4/", "/labs/arqmath-4/tasks/task1/"
TOPIC = (
    '<Topic number="A.{0}"><Title>Sum {0}</Title><Question>Add them.</Question>'
    "<Tags>sums</Tags></Topic>"
)
TOPICS = f"<Topics>{TOPIC.format(401)}{TOPIC.format(402)}</Topics>"
RUN = (
    "A.401\t1004\t1\t3\tours\nA.401\t1008\t2\t2\tours\nA.401\t1011\t3\t1\tours\n"
    "A.402\t1013\t1\t2\tours\nA.402\t1039\t2\t1\tours\n"
)
BASELINE = "A.401\t1008\t1\t2\tbm25\nA.401\t1004\t2\t1\tbm25\nA.402\t1039\t1\t1\tbm25\n"
BROKEN = RUN.replace("A.402\t1039", "A.999\t1039").replace("\t3\t1\tours", "\t3\thigh\tours")
LABELS = {"A.401": {"1004": 3, "1008": 0, "1011": 2}, "A.402": {"1013": 2, "1039": 3}}


def create_lab(it: LabBrowser) -> None:
    it.page.goto("/")
    it.press("Create lab")
    it.fill(Name="ARQMath 4")
    it.see("You become its organizer.")
    it.press("Create lab")
    it.see("was created. Add its tasks.", "No tasks yet")


def create_task(it: LabBrowser) -> None:
    it.press("Create task")
    it.fill(Name="Answer retrieval", Address="task1", Deadline="2099-06-05T23:59:59")
    it.see("= 2099-06-06 11:59 UTC")
    it.press("Create task")
    it.see("was created. Load its topics.")


def load_collection(it: LabBrowser) -> None:
    it.tab(LAB, "Collection")
    it.press("Load files")
    it.fill(Collection="mse-2027")
    it.page.get_by_label("Data dump").set_input_files(ROOT / "tests/dump" / "Posts.xml")
    it.see("Load collection files")
    it.press("Load collection files")
    it.page.wait_for_url("**/loads/*/")
    it.scheduled(run_waiting_jobs)
    it.see("View collection")
    it.press("View collection")
    it.see("mse-2027", "Posts.xml")


def load_topics(it: LabBrowser) -> None:
    it.page.goto(TASK)
    it.see("No topics yet. Load them from a file.")
    it.press("Load topics")
    it.choose_file("Topics", "topics.xml", TOPICS)
    it.press("Load topics")
    it.see("2 topics: 2 new, 0 changed, 0 unchanged.")
    it.press("View topics")
    it.see("A.401", "Sum 402")


def make_public(it: LabBrowser) -> None:
    it.tab(LAB, "Settings")
    it.page.get_by_label("This lab is public").check()
    it.press("Save lab")
    it.see("Lab saved.")


def invite(it: LabBrowser, name: str, role: str) -> str:
    """Invite a person and return the link to pass on."""
    it.tab(LAB, "People")
    it.press("Invite by email")
    it.fill(Email_addresses=f"{name}@example.org")
    it.page.get_by_label("Invite as").select_option(label=role)
    it.press("Create invitations")
    it.see("1 person invited. Nothing was sent. Pass on the links below.")
    return it.page.get_by_label(f"Link for {name}@example.org", exact=True).input_value()


def create_team(it: LabBrowser, name: str) -> None:
    it.page.goto(f"{LAB}teams/new/")
    it.fill(Team_name=name)
    it.press("Create team")
    it.see(f"{name} was created.", "Anyone who opens this link and signs in joins the team.")


def accept(it: LabBrowser, link: str, name: str, place: str) -> None:
    """Sign up by the link of an invitation."""
    it.sign_out()
    it.page.goto(link)
    it.see(f"organizer invited {name}@example.org as {place}.")
    it.press("Sign up")
    it.fill(Email_address=f"{name}@example.org", User_name=name, Password=PASSWORD)
    it.see("Already have an account?")
    it.press("Sign up")
    it.see(f"You are signed in as {name}.")
    it.press("Accept invitation")
    it.see(f"You are now {place} in ARQMath 4.")


def upload(it: LabBrowser, name: str, text: str, baseline: bool = False) -> None:
    it.page.goto(TASK)
    it.press("Upload runs")
    it.choose_file("Run files", name, text)
    it.see("Run details")
    if baseline:
        it.page.get_by_label("Baseline").select_option(label="Yes")
    it.press("Submit runs")
    it.see("1 run was uploaded.")


def take_part(it: LabBrowser) -> None:
    """Upload a broken run, read its report, and upload a good one."""
    upload(it, "Ours-task1-sums-auto-text-P.tsv", BROKEN)
    it.see("2 types of error, 2 occurrences", "A.999", "high")
    upload(it, "Ours-task1-sums-auto-text-P.tsv", RUN)
    it.see("No errors: the run is valid")


def close_task(it: LabBrowser) -> None:
    it.page.goto(TASK)
    it.press("Close task…")
    it.see("Close this task?", "2 valid runs so far.")
    it.press("Close task")
    it.see("The task is closed. Teams can no longer submit runs.", "Reopen task")


def freeze_pool(it: LabBrowser) -> None:
    it.tab(TASK, "Pools")
    it.press("Plan pool")
    expect(it.page.locator(".figures").first).to_have_text(re.compile(r"Items\s*5\s*Labels\s*5"))
    it.see("Choose the items to judge.")
    it.press("Freeze pool…")
    it.see("Freeze this pool?")
    it.press("Freeze pool")
    it.see("The pool is frozen. You can now assign its topics.")


def assign_topics(it: LabBrowser) -> None:
    it.tab(TASK, "Judging")
    it.page.get_by_label("All", exact=True).check()
    it.page.get_by_label("Assessor for the selected topics").select_option(label="emmy")
    it.page.get_by_role("button", name="Assign", exact=True).click()
    it.see("2 assignments made.")


def judge_all(it: LabBrowser) -> None:
    """Judge the topics by keys, from the home page on."""
    assessor = Assessor(it.page)
    it.page.goto("/")
    it.see("2 topics, 5 items left")
    it.press("Start judging A.401")
    for topic, labels in LABELS.items():
        expect(it.page.locator(SHOWN)).to_have_count(1)
        it.see("Add them.")
        for _ in labels:
            expect(it.page.locator(SHOWN)).to_have_count(1)
            [instance] = assessor.standing
            assessor.press(str(labels[PoolInstance.objects.get(pk=instance).doc_id]), "Enter")
            expect(it.page.locator(f"{SHOWN} #instance-{instance}")).to_have_count(0)
        it.see(f"{topic} is complete")
        if topic == "A.401":
            it.press("Judge A.402")


def freeze_qrels(it: LabBrowser) -> None:
    it.tab(TASK, "Qrels")
    it.see("5 of 5 pool items have a label.")
    it.press("Freeze qrels…")
    it.fill(Name="official")
    it.see("Freeze these qrels?")
    it.press("Freeze qrels")
    it.see("official is frozen as version 1.")
    it.tab(TASK, "Qrels")
    it.press("Make official current")
    it.see("official is now the current version.")


def release(it: LabBrowser) -> None:
    it.scheduled(lambda: score_waiting(at=timezone.now()))
    it.tab_with(TASK, "Leaderboard", "Release leaderboard…")
    it.see("Only organizers can see this leaderboard")
    it.press("Release leaderboard…")
    it.see("Release this leaderboard?", "2 scored runs")
    it.press("Release leaderboard")
    it.see("Version 1 is released. Everyone who can see the lab can now see it.")


def expected_score(qrels: str) -> float:
    """Score the team's run against downloaded qrels as pytrec_eval does: nDCG' reads only judged
    items."""
    labels: dict[str, dict[str, int]] = {}
    for topic, _, item, label in map(str.split, qrels.splitlines()):
        labels.setdefault(topic, {})[item] = int(label)
    run: dict[str, dict[str, float]] = {topic: {} for topic in labels}
    for topic, item, _, score, _ in map(str.split, RUN.splitlines()):
        run[topic] |= {item: float(score)} if item in labels[topic] else {}
    scores = pytrec_eval.RelevanceEvaluator(labels, {"ndcg"}).evaluate(run)
    return mean(topic["ndcg"] for topic in scores.values())


def read_the_notice(it: LabBrowser) -> None:
    """Follow the notice of the release to the leaderboard."""
    it.page.goto("/")
    it.see("New notices", "The leaderboard is released.")
    it.press("Answer retrieval: leaderboard released")
    it.see("It lists 2 runs, ordered by nDCG′.")
    it.press("View leaderboard")
    it.see("Released as version 1", "sums")


def read_as_a_visitor(it: LabBrowser) -> None:
    it.sign_out()
    it.press("ARQMath 4")
    it.see("Released")
    it.tab(TASK, "Leaderboard")
    it.see("sums", "bm25")
    row = it.page.get_by_role("row").filter(has_text="sums")
    it.tab(TASK, "Overview")
    qrels, scores = it.download("qrels.tsv"), it.download("scores.tsv")
    assert {tuple(line.split("\t")) for line in qrels.splitlines()} == {
        (topic, "0", item, str(label))
        for topic, labels in LABELS.items()
        for item, label in labels.items()
    }
    assert [line.split("\t")[2] for line in scores.splitlines()].count("sums") == 2
    it.tab(TASK, "Leaderboard")
    expect(row).to_contain_text(f"{expected_score(qrels):.4f}")


def hold_the_year(it: LabBrowser) -> None:
    """Walk from an empty database with an administrator to what visitors read."""
    it.change_person("organizer")
    create_lab(it)
    create_task(it)
    load_collection(it)
    load_topics(it)
    create_team(it, "Ours")
    for_ada = invite(it, "ada", "Ours")
    for_emmy = invite(it, "emmy", "Assessor")
    create_team(it, "Organizers")
    accept(it, for_emmy, "emmy", "an assessor")
    accept(it, for_ada, "ada", "a member of Ours")
    take_part(it)
    it.change_person("organizer")
    make_public(it)
    upload(it, "Organizers-task1-bm25-auto-text-A.tsv", BASELINE, baseline=True)
    it.see("No errors: the run is valid")
    close_task(it)
    freeze_pool(it)
    assign_topics(it)
    it.change_person("emmy")
    judge_all(it)
    it.change_person("organizer")
    freeze_qrels(it)
    release(it)
    it.change_person("ada")
    read_the_notice(it)
    read_as_a_visitor(it)


def test_a_lab_year_in_the_browser(page: Page, look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    person = {"username": "organizer", "email": "organizer@example.org"}
    call_command("createsuperuser", interactive=False, verbosity=0, **person)
    hold_the_year(LabBrowser(page, look))

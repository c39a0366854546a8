"""Uploads in a browser: the team of a run, and uploads that are cancelled, lost or too large."""

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import expect

from arqlab.core.models import Job, Team
from submissions.models import Run
from tests.browser.conftest import enter
from tests.browser.test_first_path import DROP
from tests.browser.test_forms import sign_in
from tests.factories import TeamFactory, make_lab
from tests.submissions.factories import GOOD_RUN

TOPICS = b"""<Topics><Topic number="A.9">
<Title>A title</Title><Question><p>A question</p></Question><Tags></Tags>
</Topic></Topics>"""
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def open_upload(page):
    """Open the upload page as an organizer and return the scene and the list of teams."""
    scene = make_lab()
    page.goto("/health/live")
    enter(page, scene.organizer)
    page.goto("/labs/arqmath-x/tasks/task1/runs/upload/")
    return scene, page.get_by_label("Team", exact=True)


def drop(page, name):
    page.evaluate(DROP, [name, GOOD_RUN.decode()])


def test_the_team_follows_the_file_names_until_it_is_chosen(page):
    scene, team = open_upload(page)
    expect(team).to_have_value("")
    drop(page, "beta-task1-a-auto-both-P.tsv")
    expect(team).to_have_value(str(scene.other_team.pk))
    drop(page, "Alpha-task1-b-auto-both-A.tsv")
    expect(team).to_have_value("")
    team.select_option("Alpha")
    page.get_by_role("button", name="Remove Alpha").click()
    expect(page.get_by_text("Team in the file name: beta.")).to_be_visible()
    expect(team).to_have_value(str(scene.team.pk))


def test_another_team_in_the_file_name_is_confirmed_with_a_checkbox(page, look):
    scene, team = open_upload(page)
    TeamFactory(lab=scene.lab, name="Gamma")
    drop(page, "Gamma-task1-tangent-auto-both-P.tsv")
    expect(page.get_by_text("Team in the file name: Gamma.")).to_be_visible()
    team.select_option("Alpha")
    page.get_by_role("button", name="Submit runs").click()
    box = page.get_by_label("Upload for Alpha although the file name says Gamma")
    expect(box).not_to_be_checked()
    look("team-differs")
    assert not Run.objects.exists()
    box.check()
    page.get_by_role("button", name="Submit runs").click()
    expect(page.get_by_role("heading", level=1, name="tangent")).to_be_visible()
    assert Run.objects.get().team == Team.objects.get(name="Alpha")


RUN = "Alpha-task1-bm25-auto-both-P.tsv"


def open_with_run(page, tmp_path):
    """Open the upload page as a member of Alpha and choose a run. Return the scene and the row."""
    scene = make_lab()
    page.goto("/health/live")
    enter(page, scene.member)
    page.goto("/labs/arqmath-x/tasks/task1/runs/upload/")
    (tmp_path / RUN).write_bytes(GOOD_RUN)
    page.get_by_label("Run files").set_input_files(tmp_path / RUN)
    return scene, page.locator("[data-file-list]").get_by_text(RUN)


def submit(page):
    """Submit when the details of every file are there: until then the button may move."""
    files = page.locator("[data-file-list] li").count()
    expect(page.locator("[data-guess] fieldset")).to_have_count(files)
    page.get_by_role("button", name="Submit runs").click()


def hold_uploads(page):
    """Let no upload reach the server."""
    page.route("**/runs/upload/", lambda route: None)


def test_an_upload_is_cancelled_and_sent_again(page, tmp_path, look):
    _, row = open_with_run(page, tmp_path)
    hold_uploads(page)
    submit(page)
    expect(page.get_by_role("button", name="Cancel upload")).to_be_focused()
    look("uploading")
    page.get_by_role("button", name="Cancel upload").click()
    expect(page.get_by_text("You cancelled the upload. Nothing was stored.")).to_be_visible()
    expect(row).to_be_visible()
    look("cancelled")
    page.unroute_all()
    submit(page)
    expect(page.get_by_role("heading", level=1, name="bm25")).to_be_visible()
    assert Run.objects.count() == 1


def test_the_page_notices_that_it_is_offline(page, tmp_path, look):
    _, row = open_with_run(page, tmp_path)
    expect(page.get_by_role("group", name=RUN)).to_be_visible()
    page.context.set_offline(True)
    expect(page.locator("[data-upload-state]")).to_contain_text("You are offline.")
    submit(page)
    expect(page.get_by_role("alert")).to_contain_text("Submit them when you are online again.")
    look("offline")
    page.context.set_offline(False)
    expect(page.locator("[data-upload-state]")).to_be_empty()
    expect(row).to_be_visible()
    submit(page)
    expect(page.get_by_role("heading", level=1, name="bm25")).to_be_visible()


def test_an_upload_that_loses_its_connection_ends_at_once(page, tmp_path):
    _, row = open_with_run(page, tmp_path)
    hold_uploads(page)
    submit(page)
    expect(page.get_by_role("button", name="Cancel upload")).to_be_visible()
    page.context.set_offline(True)
    expect(page.get_by_text("The connection was lost. Nothing was stored.")).to_be_visible()
    expect(row).to_be_visible()
    page.context.set_offline(False)


def test_the_list_of_files_is_there_after_back(page, tmp_path):
    _, row = open_with_run(page, tmp_path)
    submit(page)
    expect(page.get_by_role("heading", level=1, name="bm25")).to_be_visible()
    page.go_back()
    expect(row).to_be_visible()
    expect(page.get_by_role("button", name="Submit runs")).to_be_enabled()


def test_the_files_stay_selected_while_the_user_signs_in_again(page, tmp_path, look):
    scene, row = open_with_run(page, tmp_path)
    expect(page.get_by_role("group", name=RUN)).to_be_visible()
    Session.objects.all().delete()
    submit(page)
    expect(page.get_by_text("You are signed out. Nothing was stored.")).to_be_visible()
    look("upload-signed-out")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Sign in in a new tab").click()
    sign_in(opened.value, scene.member)
    expect(opened.value.get_by_role("heading", level=1, name="Upload runs")).to_be_visible()
    expect(row).to_be_visible()
    submit(page)
    expect(page.get_by_role("heading", level=1, name="bm25")).to_be_visible()


def test_a_file_that_is_too_large_is_not_sent(page, tmp_path):
    open_with_run(page, tmp_path)
    sent = []
    page.on("request", lambda request: sent.append(request.url.rpartition("/runs/")[2]))
    page.evaluate(DROP, ["Alpha-task1-large-P.tsv", "x" * (16 * 2**20 + 1)])
    submit(page)
    expect(page.get_by_text("Alpha-task1-large-P.tsv is 16.0 MB; the limit")).to_be_visible()
    assert "upload/" not in sent
    page.get_by_role("button", name="Remove Alpha-task1-large").click()
    submit(page)
    expect(page.get_by_role("heading", level=1, name="bm25")).to_be_visible()


def test_files_for_which_the_server_has_no_room_are_not_sent(page):
    scene = make_lab()
    page.goto("/health/live")
    enter(page, scene.organizer)
    page.goto("/labs/arqmath-x/collection/load/")
    page.evaluate("document.querySelector('form[data-upload]').dataset.maxTotalBytes = 1500")
    for field in ("dump", "latex"):
        file = {"name": f"{field}.xml", "mimeType": "text/xml", "buffer": b"x" * 1000}
        page.set_input_files(f"#id_{field}", files=[file])
    page.get_by_role("button", name="Load collection files").click()

    refusal = "The files are 2.0 KB; the server has room for 1.5 KB."
    expect(page.locator("[data-error-summary]")).to_contain_text(refusal)
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("state", "button"), [("unconfirmed", "Load and change"), ("refused", "Load again")]
)
def test_a_load_is_repeated_from_its_page_right_after_it_was_opened(page, state, button):
    scene, _ = open_upload(page)
    moment = {"created_at": timezone.now(), "updated_at": timezone.now()}
    load = Job.objects.create(
        kind="topics", lab=scene.lab, task=scene.task, state=state, by=scene.organizer, **moment
    )
    page.goto(f"/loads/{load.pk}/")
    topics = {"name": "topics.xml", "mimeType": "text/xml", "buffer": TOPICS}
    page.locator('input[type="file"]').first.set_input_files(topics)

    with page.expect_response(f"**/loads/{load.pk}/repeat/") as response:
        page.get_by_role("button", name=button, exact=True).click()

    assert response.value.status == 200
    expect(page.get_by_role("main")).not_to_contain_text("Nothing was loaded")
    load.refresh_from_db()
    assert load.files[0]["name"] == "topics.xml"

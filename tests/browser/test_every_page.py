"""Every page, by somebody who may see it, in both widths and both schemes: nothing overflows,
nothing jumps, axe is content, little is loaded, and every button sends where somebody answers.

The pages are those that the table of `tests/test_access.py` lets somebody see, so a new page is
visited without a word here.
"""

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.urls import Resolver404, resolve
from playwright.sync_api import Page

from arqlab.core.models import Task
from desk.services.static_site import site_files
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.browser.conftest import WIDTHS, enter
from tests.browser.wire import Wire
from tests.buttons import make_loads
from tests.evaluation.factories import make_run
from tests.factories import Scene, make_lab
from tests.submissions.factories import BAD_RUN, sent
from tests.test_access import ALLAUTH, address, fill, rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

AT = datetime(2026, 11, 21, tzinfo=UTC)
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
ROLES = ("visitor", "member", "assessor", "organizer")
# Answers that are no page of ours: files, fragments, machines' addresses, and what drf-spectacular
# and Django draw.
NO_PAGES = {"admin:index", "submissions:run-file", "submissions:run-problems"}
NO_PAGES |= {"labs:topic-information-csv", "accounts:account-data"}
NO_PAGES |= {"assessment:qrels-draft", "assessment:offline-worker"}
NO_PAGES |= {"desk:lab-download", "desk:task-download", "submissions:run-map"}
NO_PAGES |= {"submissions:run-repaired", "submissions:run-guess"}
NO_PAGES |= {"desk:candidate-list", "evaluation:score-link", "radar:radar-detail"}
NO_PAGES |= {"timesheets:time-sheet-csv", "assessment:judging-work-csv"}
NO_PAGES |= {"server:guides", "server:guide-file"}  # tests.browser.test_guides
NO_PAGES |= {"assessment:round-votes", "assessment:guideline-panel"}
# Pages that tell each role something else; every other page is visited once.
FOR_ALL = {
    "desk:home",
    "desk:lab-detail",
    "desk:task-detail",
    "evaluation:leaderboard",
    "submissions:run-list",
}
LONG_TEAM = "Ω-Gruppe für übermäßig-lange-Namen-und-Formelsuche-an-der-Universität-zu-Köln ∑∫√"[:80]
LONG_TAG = "OutOfCompetitionEnsembleWithReciprocalRankFusionOverAllOfOurOtherRuns"
REQUESTS, KILOBYTES = 15, 250
STILL = 0.001  # layout shift that nobody sees
# A busy machine paints half of a table before it has read the rest. What the page does, it does
# each time.
AGAIN = 4
WATCH = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
JUDGE = """async (only) => {
  const found = await axe.run(document, {
    resultTypes: ["violations"], preload: false, ...(only && { runOnly: only }),
  });
  return found.violations.map((each) => `${each.id} ${each.nodes[0].html.slice(0, 160)}`);
}"""

# Presses all buttons of forms, and what htmx sends, and returns what scripts would have sent.
PRESS = """async () => {
  const sent = [];
  const note = (method, url) => {
    const path = new URL(url, location.href).pathname;
    if (/^(post|put|patch|delete)$/i.test(method)) sent.push([method.toUpperCase(), path]);
  };
  const [nothing, never] = [() => {}, new Promise(() => {})];
  XMLHttpRequest.prototype.open = note;
  XMLHttpRequest.prototype.setRequestHeader = XMLHttpRequest.prototype.send = nothing;
  window.fetch = (url, options) => { note(options?.method ?? "GET", url); return never; };
  window.confirm = () => true;
  window.addEventListener("submit", (event) => {
    const [form, button] = [event.target, event.submitter];
    const address = button?.getAttribute("formaction") || form.getAttribute("action") || "";
    if (!event.defaultPrevented) note(form.getAttribute("method") ?? "GET", address);
    event.preventDefault();
  });
  const buttons = "form button:not([type=button]), [hx-post], [hx-put], [hx-delete]";
  for (const button of document.querySelectorAll(buttons)) {
    if (button.form) button.form.noValidate = true;
    button.disabled = false;
    button.click();
    await new Promise((resolve) => setTimeout(resolve));
  }
  return sent;
}"""


def busy_lab(folder: Path) -> tuple[Scene, dict[str, Run]]:
    """Make a lab with a released board, names of every length, and a valid, a refused and a
    withdrawn run of Alpha.
    """
    scene = make_lab()
    Task.objects.filter(pk=scene.task.pk).update(name="Answer retrieval, the third time")
    scene.other_team.name = LONG_TEAM
    scene.other_team.save()
    valid = fill(scene, folder)
    lists = {"A.1": ["10", "11"], "A.2": ["12"]}
    make_run(scene.other_team, scene.task, lists, tag=LONG_TAG, is_primary=True, is_manual=True)
    withdrawn = make_run(scene.team, scene.task, lists, tag="late")
    score_waiting(at=AT)
    release_leaderboard(qrel_set=scene.task.qrel_sets.get(), by=scene.organizer, at=AT)
    Run.objects.filter(pk=withdrawn.pk).update(
        withdrawn_at=AT, withdrawal_reason="A bug.", withdrawn_by=scene.member
    )
    [bad] = submit_upload(
        file=sent(BAD_RUN, "Alpha-task1-bad.tsv"),
        task=scene.task,
        team=scene.team,
        by=scene.member,
        at=AT,
    )
    validate_uploaded_run(run_id=bad.pk, at=AT)
    return scene, {"valid": valid, "refused": bad, "withdrawn": withdrawn}


def first_role(roles: Collection[str]) -> str | None:
    """Return the first role that sees a page."""
    return next((role for role in ROLES if role in roles), None)


def pages_of(role: str, scene: Scene, runs: dict[str, Run]) -> Iterator[str]:
    """Return the paths of the pages that a role is to look at."""
    for method, name, roles in rows():
        is_page = method == "GET" and name not in NO_PAGES and "api-" not in name
        is_page |= name == "server:api-docs"
        if is_page and role in roles and (first_role(roles) == role or name in FOR_ALL):
            yield address(name, scene, runs["valid"].pk)
    if role == "member":
        yield from (
            address("desk:run-detail", scene, runs[kind].pk) for kind in ("refused", "withdrawn")
        )
    if role == "organizer":
        yield address("evaluation:leaderboard", scene, 0) + "?live=1"
    if role == "visitor":
        yield "/no-such-page/"


def strays(page: Page, role: str) -> Iterator[str]:
    """Press each button of the page, and give what it sends to an address that the role may not
    send to, or that takes no such request.
    """
    doors = {(method, name) for method, name, roles in rows() if role in roles}
    for method, path in page.evaluate(PRESS):
        with suppress(Resolver404):
            name = resolve(path).view_name
            if (method, name) in doors or name.startswith(ALLAUTH):
                continue
        yield f"{page.url} {method} {path}"


def faults(page: Page, path: str) -> Iterator[str]:
    """Look at a page in both widths and schemes, and give what is wrong with it."""
    wire = Wire(page)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="light")
        wire.forget()
        page.goto(path)
        page.evaluate("document.fonts.ready.then(() => null)")
        if wire.requests > REQUESTS or wire.kilobytes > KILOBYTES:
            yield f"{path} {width}: {wire.requests} requests, {wire.kilobytes:.0f} kB"
        page.evaluate(AXE)
        found: list[str] = page.evaluate(JUDGE, None)
        yield from (f"{path} {width}: {violation}" for violation in found)
        if (needed := page.evaluate("document.documentElement.scrollWidth")) > width:
            yield f"{path} {width}: {needed} pixels wide"
        shift = page.evaluate("window.shift")
        for _ in range(AGAIN):
            if shift <= STILL:
                break
            page.goto(path)
            page.wait_for_load_state("networkidle")
            page.evaluate(AXE)
            shift = min(shift, page.evaluate("window.shift"))
        if shift > STILL:
            yield f"{path} {width}: shifts by {shift:.4f}"
    wire.close()
    # What the scheme changes are colours.
    page.emulate_media(color_scheme="dark")
    yield from (
        f"{path} dark: {violation}" for violation in page.evaluate(JUDGE, ["color-contrast"])
    )


@pytest.mark.parametrize("role", ROLES)
def test_every_page_fits_the_window_does_not_shift_is_light_and_breaks_no_rule_of_axe(
    role, page, tmp_path
):
    scene, runs = busy_lab(tmp_path)
    page.add_init_script(WATCH)
    page.goto("/health/live")
    if role != "visitor":
        enter(page, scene.people[role])

    found = []
    for path in pages_of(role, scene, runs):
        found += [*faults(page, path), *strays(page, role)]
    for load in make_loads(scene.lab, by=scene.organizer) if role == "organizer" else ():
        page.goto(load.get_absolute_url())
        found += strays(page, role)
    assert found == []


def test_every_page_of_the_static_site_opens_as_a_file(browser, transactional_db, tmp_path):
    scene, _ = busy_lab(tmp_path)
    for name, content in site_files(scene.lab):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    paths = sorted(tmp_path.rglob("index.html"))
    page = browser.new_page()
    page.add_init_script(WATCH)

    assert len(paths) > 5
    found = [fault for path in paths for fault in faults(page, path.as_uri())]
    page.close()
    assert [fault for fault in found if " kB" not in fault] == []  # files are not compressed


def test_the_three_main_measures_appear_in_a_narrow_window_beside_the_run(page, tmp_path):
    busy_lab(tmp_path)
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto("/labs/arqmath-x/tasks/task1/leaderboard/")

    for measure in ("nDCG′", "MAP′", "P′@10"):
        box = page.get_by_role("columnheader", name=measure, exact=True).bounding_box()
        assert box["x"] > 0
        assert box["x"] + box["width"] <= 390


def test_team_and_run_stay_in_sight_while_a_board_is_scrolled_to_its_last_column(page, tmp_path):
    busy_lab(tmp_path)
    page.set_viewport_size({"width": 800, "height": 900})
    page.goto("/labs/arqmath-x/tasks/task1/leaderboard/")
    before = [
        page.locator(f"#board thead .{name}").bounding_box()["x"]
        for name in ("team-column", "run-name")
    ]

    page.locator(".table-frame").first.evaluate("frame => frame.scrollTo(9999, 0)")

    after = [
        page.locator(f"#board thead .{name}").bounding_box()["x"]
        for name in ("team-column", "run-name")
    ]
    assert after == before
    assert page.locator("#board thead th").last.bounding_box()["x"] < 800


def test_a_leaderboard_prints_with_all_columns_across_a_landscape_page(page, tmp_path):
    busy_lab(tmp_path)
    page.goto("/labs/arqmath-x/tasks/task1/leaderboard/")
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", page.pdf(prefer_css_page_size=True))
    assert float(box[1]) > float(box[2])
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1032, "height": 700})  # 273 mm: A4 without its margins

    table = page.locator("#board").bounding_box()
    assert table["x"] + table["width"] <= 1032

"""Claim: in the browser, the report of a 100,000-line run stands within 2 s of the last byte of its
upload.

    python benchmarks/report.py [--rounds 5]

Starts `manage.py serve` on the embedded default in a folder of its own, with a lab of 100 topics,
signs in with Chromium, uploads the run through the page and waits for its report. Beside it, in the
same run, the peer: the same bytes checked by `arqlab.formats.runs.check.check_run` alone. Prints
the seconds from the last byte to the report, the check alone, and their ratio.
"""

import argparse
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))

from arqlab.formats.runs.check import check_run
from arqlab.formats.runs.report import RunRules
from arqlab.ir.records import TaskKind
from tests.everywhere import free_port, wait_for_port

ROOT = Path(__file__).resolve().parent.parent
TOPICS = tuple(f"A.{number}" for number in range(1, 101))
PASSWORD = "a quiet blackboard"
SCENE = f"""
from arqlab.core.models import *
user = User.objects.create_user("ada", "ada@example.org", "{PASSWORD}")
team = Team.objects.create(lab=Lab.objects.get(), name="Ours")
Membership.objects.create(lab=team.lab, user=user, role="member", team=team)
"""
# The moment of the last byte is kept across the change of page, where the report's appearance is
# awaited.
CLOCK = """
const send = XMLHttpRequest.prototype.send;
XMLHttpRequest.prototype.send = function (body) {
  this.upload.addEventListener("load", () => sessionStorage.setItem("last-byte", Date.now()));
  return send.call(this, body);
};
const look = () => {
  if (!document.querySelector(".notice-good, #report-title")) return requestAnimationFrame(look);
  sessionStorage.setItem("report", Date.now());
};
requestAnimationFrame(look);
"""


def main() -> None:
    """Print the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    run = a_run()
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(base_url=address)
        sign_in(page)
        page.add_init_script(CLOCK)
        times = [
            (seconds_to_report(page, run, number), seconds_to_check(run))
            for number in range(rounds + 1)
        ][1:]
        browser.close()
    report, check = (statistics.median(column) for column in zip(*times, strict=True))
    print(
        f"from the last byte to the report  median {report:.2f} s  worst {max(time for time, _ in times):.2f} s  (at most 2 s)"
    )
    print(f"the check alone                   median {check:.2f} s")
    print(f"ratio                             {report / check:.1f}")


def a_run() -> bytes:
    """Make a Task 1 run of 100 topics x 1,000 items."""
    rows = (
        f"{topic}\t{number * 7}\t{number}\t{1000.5 - number}\tours"
        for topic in TOPICS
        for number in range(1, 1001)
    )
    return ("\n".join(rows) + "\n").encode()


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a lab of 100 topics from the folder, and give its address."""
    environment = os.environ | {
        "ARQLAB_DATA": str(folder / "data"),
        "DJANGO_SETTINGS_MODULE": "arqlab.settings",
    }
    (folder / "lab.toml").write_text(
        '[lab]\nslug = "lab"\nname = "Lab"\nprotocol = "arqmath-1"\n'
        '[[tasks]]\nslug = "task1"\nname = "Answers"\nkind = "answers"\ntopics = "topics.xml"\nquota = 100\n'
    )
    topics = "".join(
        f'<Topic number="{topic}"><Title>T</Title><Question>Q</Question></Topic>'
        for topic in TOPICS
    )
    (folder / "topics.xml").write_text(f"<Topics>{topics}</Topics>")
    for command in (["migrate"], ["load_lab", str(folder)], ["shell", "--command", SCENE]):
        subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=environment,
            check=True,
            capture_output=True,
        )
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "manage.py", "serve", "--bind", f"127.0.0.1:{port}"],
        cwd=ROOT,
        env=environment,
    )
    try:
        wait_for_port(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)


def sign_in(page: Page) -> None:
    """Sign in as the member of the lab's team."""
    page.goto("/accounts/login/")
    page.locator("#id_login").fill("ada")
    page.locator("#id_password").fill(PASSWORD)
    page.locator("#id_password").press("Enter")
    page.wait_for_url("**/")


def seconds_to_report(page: Page, run: bytes, number: int) -> float:
    """Upload the run in the browser and give the seconds from its last byte to its report."""
    page.goto("/labs/lab/tasks/task1/runs/upload/")
    name = f"Ours-task1-run{number}-auto-both-A.tsv"
    page.locator("#id_file").set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": run}
    )
    page.evaluate("sessionStorage.clear()")
    page.get_by_role("button", name="Submit runs").click()
    page.locator(".notice-good, #report-title").wait_for()
    page.evaluate("new Promise(requestAnimationFrame)")
    return (
        float(
            page.evaluate("sessionStorage.getItem('report') - sessionStorage.getItem('last-byte')")
        )
        / 1000
    )


def seconds_to_check(run: bytes) -> float:
    """Return the seconds that the check takes by itself."""
    start = time.perf_counter()
    check_run(run, RunRules(TaskKind.ANSWERS, TOPICS))
    return time.perf_counter() - start


if __name__ == "__main__":
    main()

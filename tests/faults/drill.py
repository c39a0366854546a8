"""Judge and upload through faults, and count what is lost and what is there twice.

    python -m tests.faults.drill [--submits 400]

Prints the table of docs/operations.md: for the embedded mode, and for PostgreSQL and Redis.
"""

import argparse
import contextlib
import json
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from tests.everywhere import postgresql_server, redis_server
from tests.faults.judging import Seat
from tests.faults.site import EMBEDDED, LARGE, LONGEST, RUNS, Fault, Site, disk_at

JUDGES, UPLOAD_EVERY = 8, 20
"""Assessors, and the submits after which a team uploads another run."""
OUTAGE = 16
"""Answers that fail before a part that pages need is mended."""
FAILED = "SELECT id FROM submissions_run WHERE status = 'uploaded' AND attempts > 0"
UNCHECKED = "SELECT id FROM submissions_run WHERE status <> 'valid'"
"""Runs whose check failed, and runs that are not checked."""
HEAD = "| fault | in flight | labels | uploads | recovered |\n| --- | --- | --- | --- | --- |"


class Row(NamedTuple):
    """A fault: requests in flight when it began, labels and uploads acknowledged until the site has
    recovered, and the seconds from the mending to the next label.
    """

    fault: str
    in_flight: int
    acknowledged: int
    uploads: int
    recovered: float


class Client:
    """What all clients of a drill share: how many requests are in flight, and what happened."""

    def __init__(self) -> None:
        self.changed, self.happened = threading.Condition(), Counter[str]()
        self.in_flight = 0
        self.may_judge = threading.Event()
        self.may_judge.set()

    def tell(self, event: str) -> None:
        """Count an event."""
        with self.changed:
            self.happened[event] += 1
            self.changed.notify_all()

    def wait(self, event: str, count: int) -> None:
        """Wait for so many events from now on; raises `AssertionError` if somebody gave up."""
        with self.changed:
            end = self.happened[event] + count
            self.changed.wait_for(
                lambda: self.happened["gave up"] or self.happened[event] >= end, LONGEST
            )
            assert not self.happened["gave up"], "An answer was neither 200 nor 503."
            assert self.happened[event] >= end, f"Nothing happened: {self.happened}"

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """Count a request; one that nobody answers, or that is answered with 503, has failed."""
        self.in_flight += 1
        try:
            yield
        except (OSError, HTTPException):
            self.tell("failed")
            time.sleep(0.05)  # as a page, which does not ask at once again
            raise
        finally:
            self.in_flight -= 1


class Judge(Seat):
    """An assessor whose page takes 503 as an outage."""

    def __init__(self, site: Site, number: int, client: Client) -> None:
        super().__init__(site, number)
        self.client = client

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Ask once; raises `OSError` or `HTTPException` also for 503."""
        with self.client.asking():
            try:
                return super().ask(method, path, body, **headers)
            except AssertionError as problem:
                if " answers 503" in str(problem):
                    raise ConnectionError(str(problem)) from problem
                raise

    def work(self, over: threading.Event) -> None:
        """Judge until it is over."""
        try:
            item = self.insist("GET", "next/", None)["item"]
            while item and not over.is_set():
                self.client.may_judge.wait()
                answer = self.insist("POST", "judgments/", self.labels(item))
                self.note(answer)
                self.client.tell("label")
                item = answer["next"]
        except BaseException:
            self.client.tell("gave up")
            raise


class Uploader:
    """A team that uploads a run whenever it is asked to, and again until it is answered."""

    def __init__(self, site: Site, client: Client) -> None:
        self.site, self.client = site, client
        self.wanted: SimpleQueue[int] = SimpleQueue()
        self.acknowledged: dict[int, str] = {}
        """By run: the SHA-256 of what was sent."""

    def work(self) -> None:
        """Upload until asked for 0."""
        while number := self.wanted.get():
            lines = "".join(f"A.0\t{doc}\t{doc}\t{1 / doc}\tu{number}\n" for doc in range(1, 500))
            while number:
                with contextlib.suppress(OSError, HTTPException), self.client.asking():
                    name = f"Alpha-task1-u{number}-auto-both-A.tsv"
                    [run] = self.site.upload(self.site.token, name, lines.encode(), check_only=True)
                    self.acknowledged[run["id"]] = sha256(lines.encode()).hexdigest()
                    number = 0


class Drill:
    """Judges and a team at a site; `rows` are the faults so far."""

    def __init__(self, site: Site) -> None:
        self.site, self.client, self.over = site, Client(), threading.Event()
        self.judges = [Judge(site, number, self.client) for number in range(JUDGES)]
        self.uploader = Uploader(site, self.client)
        self.threads = [
            *(
                threading.Thread(target=one.work, args=(self.over,), daemon=True)
                for one in self.judges
            ),
            threading.Thread(target=self.uploader.work, daemon=True),
        ]
        self.uploads, self.rows, self.found = 0, list[Row](), list[str]()

    def go_on(self, submits: int) -> None:
        """Wait for so many labels, and upload meanwhile."""
        for _ in range(0, submits, UPLOAD_EVERY):
            self.uploads += 1
            self.uploader.wanted.put(self.uploads)
            self.client.wait("label", min(UPLOAD_EVERY, submits))

    def run(self, faults: Mapping[str, Fault], submits: int) -> None:
        """Trigger each fault halfway through the given number of submissions."""
        for thread in self.threads:
            thread.start()
        for name, fault in faults.items():
            self.go_on(submits // 2)
            labels, uploads = self.counts()
            in_flight = self.client.in_flight
            with fault(self.site):
                if "PostgreSQL" in name:
                    self.client.wait("failed", OUTAGE)
                elif "web" not in name:
                    self.go_on(submits // 4)
                if "uploads" in name:
                    self.client.wait("failed", 1)
                if "indexes" in name:
                    self.site.until(FAILED, has_rows=True)
                mended = time.monotonic()
            self.client.wait("label", 1)
            took = time.monotonic() - mended
            self.go_on(submits // 2)
            now = self.counts()
            self.rows.append(Row(name, in_flight, now[0] - labels, now[1] - uploads, took))
        self.stop()

    def stop(self) -> None:
        """Let everybody end what they are at."""
        self.over.set()
        self.client.may_judge.set()
        self.uploader.wanted.put(0)
        for thread in self.threads:
            thread.join()

    def counts(self) -> tuple[int, int]:
        """Return how many labels and uploads were acknowledged so far."""
        labels = sum(len(judge.acknowledged) for judge in self.judges)
        return labels, len(self.uploader.acknowledged)


def problems(site: Site, judges: Sequence[Seat], runs: Mapping[int, str]) -> list[str]:
    """Return what is lost, changed, torn or there twice, once every run is checked.

    `runs` has the SHA-256 of what was sent by run.
    """
    labels = {key: said for one in judges for key, said in one.acknowledged.items()}
    found = site.found(labels)
    lost = {f"labels {name}": getattr(found, name) for name in found._fields[3:]}
    site.until(UNCHECKED, has_rows=False)
    stored = {int(run): row for run, row in json.loads(site.shell(RUNS)).items()}
    return [f"{name}: {count}" for name, count in lost.items() if count] + [
        f"run {run}: {stored.get(run)}"
        for run, digest in runs.items()
        if stored.get(run) != ["valid", digest]
    ]


def drilled(folder: Path, faults: Mapping[str, Fault], submits: int, *, embedded: bool) -> Drill:
    """Run the faults at a site of its own, and return the drill with the site stopped."""
    with contextlib.ExitStack() as stack:
        server = queue = ""
        if not embedded:
            server = stack.enter_context(postgresql_server(fsync=True)) or ""
            queue = stack.enter_context(redis_server()) or ""
        disks = [
            stack.enter_context(disk_at(folder / "files" / kind, "1g"))
            for kind in ("uploads", "indexes")
        ]
        faults = {name: each for name, each in faults.items() if all(disks) or "disk" not in name}
        items = 400 + 2 * submits * len(faults)  # enough, although some assessors are faster
        site = Site(folder, server, queue, items=items)
        stack.callback(site.stop)
        site.start()
        drill = Drill(site)
        drill.run(faults, submits)
        drill.found = problems(site, drill.judges, drill.uploader.acknowledged)
        return drill


def main() -> None:
    """Run all faults in both modes and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submits", type=int, default=400)
    submits = parser.parse_args().submits
    for title, faults in (("Embedded", EMBEDDED), ("PostgreSQL and Redis", LARGE)):
        with tempfile.TemporaryDirectory() as folder:
            drill = drilled(Path(folder), faults, submits, embedded=title == "Embedded")
        print(f"{title}: {drill.found or 'nothing lost, nothing twice'}")  # noqa: T201
        print(HEAD)  # noqa: T201
        for row in drill.rows:
            cells = [*map(str, row[:4]), f"{row.recovered:.1f} s"]
            print(f"| {' | '.join(cells)} |", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()

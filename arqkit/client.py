"""A server of ArqLab from Python: topics, runs, leaderboards and qrels as data frames.

    lab = LabServer("https://lab.example.org", token)
    lab.leaderboard("arqmath-x/task1")

A task is named LAB/TASK, as in all commands. Every method raises `ServerRefusedError` with the
words of the server, and `UnreachableError` if no answer comes.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any, BinaryIO, TypedDict
from urllib.parse import quote

import polars as pl

from arqkit.extras import needs_extra
from arqkit.formats.qrels.read import read_qrels
from arqkit.formats.runs.results import ReportData
from arqkit.records import ServerRefusedError, UnreachableError

with needs_extra("client"):
    import httpx

CHECKED = ("valid", "invalid", "withdrawn")
"""The states of a run whose check has ended."""
SECONDS = 60.0
"""How long the server may be silent."""
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0
"""Seconds between two questions whether a run is checked: they double."""
NO_TASK = "{!r} is no task. Write it as LAB/TASK, such as arqmath-x/task1."
NOT_ENCRYPTED = "{} would send your token as plain text. Use https://."


def _refused(answer: httpx.Response) -> ServerRefusedError:
    """Return the error of an answer, which has one shape in the whole API."""
    try:
        body = answer.json()
        lines, code = [body["message"], *map(_problem, body["errors"])], body["code"]
    except (ValueError, LookupError, TypeError):
        to = answer.headers.get("Location")
        place = f" It sends to {to}." if to else ""
        what = f"{answer.status_code} {answer.reason_phrase}"
        lines, code = [f"{answer.url} answered {what}, and not as ArqLab does.{place}"], ""
    return ServerRefusedError("\n".join(lines), status=answer.status_code, code=code)


def _problem(problem: Mapping[str, object]) -> str:
    """Return one problem of a request as a line, without the parts that the server left empty."""
    parts = [f"{name} {problem[name]}" for name in ("found", "expected") if problem.get(name)]
    place = f"{problem['field']}: " if problem.get("field") else ""
    return f"  {place}{'; '.join([*parts, str(problem.get('todo') or '')])}"


class RoleOfPerson(TypedDict):
    """A role in a lab."""

    lab: str
    role: str
    team: str | None


class Me(TypedDict):
    """Who a token signs in."""

    username: str
    name: str
    email: str
    is_superuser: bool
    roles: list[RoleOfPerson]


class CheckedRun(ReportData):
    """The report of a run, and its state."""

    state: str


class LabServer:
    """The labs of a server, seen with the rights of a token; without one, as a visitor sees them.

    Use it as a context manager, or `close` it. `wait` waits some seconds.
    """

    def __init__(
        self, url: str, token: str = "", *, wait: Callable[[float], object] = time.sleep
    ) -> None:
        """Use this server. Raises ValueError if the URL is invalid, or not encrypted."""
        self.url, self._wait = _server(url), wait
        self._client = httpx.Client(
            base_url=f"{self.url}/api/v1/",
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=httpx.Timeout(SECONDS),
            transport=httpx.HTTPTransport(retries=2),
        )

    def __enter__(self) -> "LabServer":
        """Return the lab itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections to the server."""
        self._client.close()

    def me(self) -> Me:
        """Return who the token signs in: username, name, email and roles."""
        me: Me = self._json("me/")
        return me

    def labs(self) -> pl.DataFrame:
        """Return the labs that you see, with the names of their tasks."""
        return self._table("labs/")

    def tasks(self, lab: str) -> pl.DataFrame:
        """Return the tasks of a lab with their dates, state and rules."""
        return self._table(f"labs/{quote(lab, safe='')}/tasks/")

    def topics(self, task: str) -> pl.DataFrame:
        """Return the topics of a task in their order."""
        return self._table(f"{_task(task)}topics/")

    def runs(self, task: str) -> pl.DataFrame:
        """Return the runs of your teams (for organizers, of all), newest first."""
        return self._table(f"{_task(task)}runs/")

    def leaderboard(self, task: str, *, qrels: str = "") -> pl.DataFrame:
        """Return the leaderboard that you see: a line for each run, and a column for each measure.

        `qrels` names a version (default: the released or current one). No figure is rounded but
        those that the server rounds for everybody.
        """
        board = self._json(f"{_task(task)}leaderboard/", {"qrels": qrels} if qrels else {})
        labels = [measure["label"] for measure in board["measures"]]
        rows = [
            {name: value for name, value in run.items() if name != "scores"}
            | {label: run["scores"].get(label) for label in labels}
            for run in board["runs"]
        ]
        return _frame(rows).with_columns(pl.col(*labels).cast(pl.Float64)) if rows else _frame(rows)

    def scores(self, task: str, run: int, *, qrels: str = "") -> pl.DataFrame:
        """Return the scores of a run, a line for each topic and a column for each measure."""
        address = f"{_task(task)}runs/{run}/scores/"
        topics = self._json(address, {"qrels": qrels} if qrels else {})["topics"]
        return _frame([{"topic": topic, **values} for topic, values in topics.items()])

    def qrels(self, task: str) -> pl.DataFrame:
        """Return the qrels of the released leaderboard: topic, item, label."""
        return read_qrels(self.download(task, "qrels.tsv"), path="qrels.tsv", scale=None)

    def download(self, task: str, name: str) -> bytes:
        """Return a file of the downloads of a task, such as topics.xml or task-pack.zip."""
        return b"".join(chunk for _, chunk in self.chunks(task, name))

    def chunks(self, task: str, name: str) -> Iterator[tuple[int | None, bytes]]:
        """Yield a file of the downloads of a task in parts, each with the size of the whole."""
        with _answers(), self._client.stream("GET", f"{_task(task)}downloads/{name}") as answer:
            if not answer.is_success:
                answer.read()
                raise _refused(answer)
            size = (
                int(answer.headers["Content-Length"]) if "Content-Length" in answer.headers else 0
            )
            for chunk in answer.iter_bytes():
                yield size or None, chunk

    def submit(self, task: str, file: BinaryIO, *, name: str, **details: object) -> list[int]:
        """Upload a run file, and return the numbers of its runs (an archive may have several).

        `name` is that of the file, from which missing details are read; `details` are fields of the
        upload, such as team, is_primary, description or check_only. The server checks the runs
        after its answer: `report` waits for that.
        """
        fields = {key: value for key, value in details.items() if value is not None}
        data = {
            key: str(value).lower() if value in (True, False) else value
            for key, value in fields.items()
        }
        address = f"{_task(task)}runs/"
        answer = self._ask("POST", address, data=data, files={"file": (name, file)})
        return [run["id"] for run in answer.json()]

    def run(self, task: str, run: int) -> dict[str, object]:
        """Return a run with its details."""
        return dict(self._json(f"{_task(task)}runs/{run}/"))

    def change(self, task: str, run: int, **details: object) -> dict[str, object]:
        """Change details of a run, such as is_primary, and return it; the others stay.

        A run on a released leaderboard needs a `reason`.
        """
        return dict(self._ask("PATCH", f"{_task(task)}runs/{run}/", json=details).json())

    def withdraw(self, task: str, run: int, *, reason: str) -> dict[str, object]:
        """Withdraw a run from pools and leaderboards with a reason, and return it."""
        address = f"{_task(task)}runs/{run}/withdraw/"
        return dict(self._ask("POST", address, json={"reason": reason}).json())

    def report(self, task: str, run: int) -> CheckedRun:
        """Return the report of a run, as its page shows it, when the server has checked the run."""
        seconds = FIRST_WAIT
        while True:
            report: CheckedRun = self._json(f"{_task(task)}runs/{run}/report/")
            if report["state"] in CHECKED:
                return report
            self._wait(seconds)
            seconds = min(seconds * 2, LONGEST_WAIT)

    def _table(self, address: str) -> pl.DataFrame:
        """Return all pages of a list."""
        page = self._json(address)
        rows: list[dict[str, object]] = page["results"]
        while page["next"]:
            # Only its parameters: a token goes to no other address than the one it was given for.
            page = self._json(address, dict(httpx.URL(page["next"]).params))
            rows += page["results"]
        return _frame(rows)

    def _json(self, address: str, parameters: dict[str, str] | None = None) -> Any:
        answer = self._ask("GET", address, params=parameters or None)
        while answer.status_code == httpx.codes.ACCEPTED:  # the server computes it for a while
            self._wait(float(answer.headers["Retry-After"]))
            answer = self._ask("GET", address, params=parameters or None)
        return answer.json()

    def _ask(self, method: str, address: str, **sent: Any) -> httpx.Response:
        with _answers():
            answer = self._client.request(method, address, **sent)
        if not answer.is_success:
            raise _refused(answer)
        return answer


@contextmanager
def _answers() -> Iterator[None]:
    try:
        yield
    except httpx.TransportError as error:
        raise UnreachableError(
            f"{error.request.url} did not answer: {error}. Check the address and your network, and "
            "try again."
        ) from error


def _server(url: str) -> str:
    """Return the address of a server without what follows its host, such as the page of a lab."""
    try:
        read = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ValueError(f"{url!r} is no address ({error}).") from error
    if read.scheme not in ("http", "https") or not read.host:
        raise ValueError(f"{url!r} is no address. Write it as https://lab.example.org.")
    if read.scheme == "http" and not _is_here(read.host):
        raise ValueError(NOT_ENCRYPTED.format(url))
    return f"{read.scheme}://{read.netloc.decode()}"


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _task(name: str) -> str:
    """Return the address of a task LAB/TASK below that of the API. Raises ValueError."""
    lab, mark, task = name.partition("/")
    if not (lab and mark and task) or "/" in task:
        raise ValueError(NO_TASK.format(name))
    return f"labs/{quote(lab, safe='')}/tasks/{quote(task, safe='')}/"


def _frame(rows: list[dict[str, object]]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None)

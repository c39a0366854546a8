"""People sign in while an address that was refused already sends its form again and again.

`manage.py serve` runs on SQLite with eight threads, as one command starts it, and reads the address
of a client from `X-Forwarded-For`, as behind a proxy. 24 connections of one address send a form to
sign in as fast as they are answered, long after they are refused. Meanwhile, each of twelve people
opens the form once and sends it once, from an address of their own.
"""

import http.client
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.common import PASSWORD, Benchmark, environment, percentile, serving, start
from tests.everywhere import free_port
from tests.paths import ROOT

CONNECTIONS, PEOPLE, LONGEST = 24, 12, 10
ATTACKER = "203.0.113.1"
MAKE_ACCOUNTS = f"""
from django.contrib.auth.hashers import make_password
from arqlab.core.models import User
stored = make_password("{PASSWORD}")
for number in range({PEOPLE}):
    User.objects.create(username=f"person{{number}}", password=stored)
"""


class Browser:
    """A connection from an address, with its cookies."""

    def __init__(self, port: int, address: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.address, self.cookies = address, {}

    def ask(self, method: str, path: str, form: dict[str, str] | None = None) -> tuple[int, str]:
        """Return the status and the text of the answer to a request."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"Host": "localhost", "X-Forwarded-For": self.address, "Cookie": cookies}
        if form:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self.connection.request(method, path, urlencode(form) if form else None, headers)
        answer = self.connection.getresponse()
        for header in answer.headers.get_all("Set-Cookie", []):
            name, _, value = header.partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer.status, answer.read().decode()

    def sign_in(self, name: str, password: str) -> int:
        """Open the form and send it; return the status of the answer."""
        return self.ask("POST", "/accounts/login/", self.form(name, password))[0]

    def form(self, name: str, password: str) -> dict[str, str]:
        """Open the form and return its fields."""
        _, page = self.ask("GET", "/accounts/login/")
        [token] = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[:1]
        return {"login": name, "password": password, "csrfmiddlewaretoken": token}


def main(bench: Benchmark) -> None:
    """Count the people who are signed in by the one form that they send."""
    connections, people = bench.sized(CONNECTIONS, 4), bench.sized(PEOPLE, 2)
    with tempfile.TemporaryDirectory() as folder:
        variables = environment(Path(folder)) | {"ARQLAB_PROXIES": "1"}
        manage = [sys.executable, "manage.py"]
        for words in (["migrate", "-v0"], ["shell", "-v0", "-c", MAKE_ACCOUNTS]):
            subprocess.run([*manage, *words], cwd=ROOT, env=variables, check=True)
        port = free_port()
        command = ["manage.py", "serve", "--bind", f"127.0.0.1:{port}"]
        with serving(command, port, variables), looping(port, connections) as statuses:
            waits, signed_in = [], 0
            for number in range(people):
                started = time.perf_counter()
                person = Browser(port, f"198.51.100.{number}")
                signed_in += person.sign_in(f"person{number}", PASSWORD) == 302
                waits.append(time.perf_counter() - started)
    print(f"answers to {connections} connections of one address: {dict(statuses)}")
    print(f"{signed_in} of {people} people signed in, within {max(waits):.1f} s")
    bench.ratio("people who signed in", signed_in / people, at_least=1)
    bench.limit("a sign-in (p95)", percentile(waits, 95), LONGEST, "s")


@contextmanager
def looping(port: int, connections: int) -> Iterator[Counter[int]]:
    """Send the form of one address over many connections; yield the statuses of the answers.

    The block begins when the address is refused.
    """
    statuses: Counter[int] = Counter()
    ends, refused = threading.Event(), threading.Event()

    def loop() -> None:
        browser = Browser(port, ATTACKER)
        form = browser.form("nobody", "wrong")
        while not ends.is_set():
            status, page = browser.ask("POST", "/accounts/login/", form)
            statuses[status] += 1
            if "Too many" in page:
                refused.set()

    threads = [threading.Thread(target=loop) for _ in range(connections)]
    for thread in threads:
        thread.start()
    refused.wait(120)
    yield statuses
    ends.set()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    start(main, rounds=1)

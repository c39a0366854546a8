"""Claim: the server answers with a thread page of 30 answers and 400 formulas in under 100 ms.

Django's test client asks for the page, middleware and templates included, on SQLite and on
PostgreSQL. The formulas are different ones of the sample in ../shared/data. Three states: cold, no
formula is typeset yet; warm, all are in the database; and the same page without its formulas. The
goal is absolute and about the warm page.
"""

import gzip
import re
import statistics
import tempfile
import time
from html import escape, unescape
from pathlib import Path
from typing import Any

from benchmarks.common import (
    Benchmark,
    environment,
    in_process,
    postgresql,
    set_up_django,
    shared_data,
    start,
)

ANSWERS, FORMULAS, MOST_MILLISECONDS = 30, 400, 100


def main(bench: Benchmark) -> None:
    """Measure on both databases."""
    sizes = {"answers": bench.sized(ANSWERS, 3), "formulas": bench.sized(FORMULAS, 20)}
    with tempfile.TemporaryDirectory() as folder, postgresql() as server:
        for database, address in (("SQLite", ""), ("PostgreSQL", server)):
            variables = environment(Path(folder, database), address)
            found = in_process(measure, variables, rounds=bench.rounds, **sizes)
            warm = statistics.median(found["warm"])
            bare = statistics.median(found["without formulas"])
            print(
                f"{database}: {found['formulas']} formulas, {found['kilobytes']:.0f} kB;"
                f" cold {found['cold']:.1f} ms, without formulas {bare:.1f} ms"
            )
            bench.limit(f"thread page, {database}", warm, MOST_MILLISECONDS, "ms")


def read_formulas(count: int) -> list[str]:
    """Return different formulas of the sample, short and long."""
    with gzip.open(shared_data("collection/Posts.xml.gz"), "rt", encoding="utf-8") as file:
        text = unescape(file.read(4_000_000))
    found = re.findall(r'<span class="math-container" id="\d+">\$([^$<]{8,300})\$</span>', text)
    return list(dict.fromkeys(found))[:count]


def measure(rounds: int, answers: int, formulas: int) -> dict[str, Any]:
    """Return the milliseconds of the page, by state."""
    set_up_django()
    path, bare_path = make_threads(read_formulas(formulas), answers)
    from django.test import Client

    client = Client()
    # The first page compiles templates, starts engines and prepares queries.
    milliseconds(client, bare_path)
    cold = milliseconds(client, path)
    html = client.get(path).text
    return {
        "formulas": html.count("data-formula-id="),
        "kilobytes": len(html) / 1000,
        "cold": cold,
        "warm": [milliseconds(client, path) for _ in range(rounds)],
        "without formulas": [milliseconds(client, bare_path) for _ in range(rounds)],
    }


def milliseconds(client: Any, path: str) -> float:
    """Return the milliseconds of a page, with no formula in the memory of the process."""
    from arqlab.texts.maths import typesetting

    typesetting._typeset.cache_clear()
    started = time.perf_counter()
    response = client.get(path)
    took = 1000 * (time.perf_counter() - started)
    if response.status_code != 200:
        raise SystemExit(f"{path} returns {response.status_code}.")
    return took


def make_threads(formulas: list[str], answers: int) -> tuple[str, str]:
    """Make a thread with the formulas, comments, owners and links, and the same without formulas.
    Return their paths.
    """
    from arqlab.core.models import Lab
    from arqlab.texts.html.sanitizer import RULES
    from tests.collection import threads

    lab = Lab.objects.create(slug="bench", name="Bench", protocol="arqmath-3", is_public=True)
    collection = threads.make_collection(lab)
    for question, share in (("1", formulas), ("1001", [])):
        number = int(question)
        threads.add_question(
            collection, question, accepted_id=str(number + 3), views=10, rules=RULES
        )
        for place in range(answers):
            body = (
                "<p>Some words about it, and a link:"
                ' <a href="https://math.stackexchange.com/q/1">there</a>.</p>'
            )
            for order, latex in enumerate(share[place::answers]):
                body += (
                    f'<p>We have <span class="math-container" id="{number + place}.{order}">'
                    f"${escape(latex, quote=False)}$</span>, which was to be shown.</p>"
                )
            post_id = str(number + 1 + place)
            threads.add_answer(
                collection, post_id, to=question, body=body, score=place, author_id="7", rules=RULES
            )
            threads.add_comment(collection, str(number * 100 + place), on=post_id, rules=RULES)
            threads.link(collection, question, str(9000 + place))
    return "/labs/bench/posts/1/", "/labs/bench/posts/1001/"


if __name__ == "__main__":
    start(main, rounds=15, sides=(measure,))

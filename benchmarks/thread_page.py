"""Claim: a thread page of 30 answers with 400 formulas takes under 100 ms at the server.

    python benchmarks/thread_page.py [--rounds 15] [--posts ../shared/data/collection/Posts.xml.gz]

Asks for the page through Django's test client, middleware and template included, on SQLite and,
where its server is installed, on PostgreSQL. The formulas are different real ones where the sample
is at hand, else made ones. Three states: cold, when no formula was ever typeset; warm, when all are
kept in the database; and, beside them, the page without its formulas. Prints milliseconds, the best
and the median of the warm ones, and the ratio to 100 ms.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from html import escape, unescape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

ANSWERS, FORMULAS, LIMIT = 30, 400, 100.0
SAMPLE = ROOT.parent / "shared" / "data" / "collection" / "Posts.xml.gz"


def main() -> None:
    """Measure on each database in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument(
        "--posts", type=Path, default=SAMPLE, help="where the real formulas are taken from"
    )
    parser.add_argument("--measure", metavar="DATABASE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.rounds, formulas_of(options.posts))
        return
    from tests.everywhere import postgresql_server

    with tempfile.TemporaryDirectory() as folder, postgresql_server() as postgresql:
        for name, url in (("SQLite", f"sqlite:///{folder}/db.sqlite3"), ("PostgreSQL", postgresql)):
            if url is None:
                print(f"{name}: its server is not installed, not measured")
                continue
            variables = {
                "DATABASE_URL": url,
                "ARQLAB_DATA": folder,
                "ARQLAB_SECRET_KEY": "only here",
            }
            command = [sys.executable, __file__, "--measure", name, "--rounds", str(options.rounds)]
            subprocess.run(
                [*command, "--posts", str(options.posts)], env=os.environ | variables, check=True
            )


def formulas_of(path: Path) -> list[str]:
    """Return different formulas, long and short as they come."""
    if not path.exists():
        return [
            rf"\sum_{{k={n}}}^\infty\frac{{x^k}}{{k!}}=e^x-\sqrt{{{n}}}" for n in range(FORMULAS)
        ]
    with gzip.open(path, "rt", encoding="utf-8") as file:
        text = unescape(file.read(4_000_000))
    found = re.findall(r'<span class="math-container" id="\d+">\$([^$<]{8,300})\$</span>', text)
    return list(dict.fromkeys(found))[:FORMULAS]


def measure(name: str, rounds: int, formulas: list[str]) -> None:
    """Print what the page takes on the database that the environment names."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "arqlab.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    settings.ALLOWED_HOSTS = ["*"]
    call_command("migrate", verbosity=0)
    path, bare_path = make_threads(formulas)
    from django.test import Client

    client = Client()
    timed(
        client, bare_path
    )  # templates are compiled, engines started and queries prepared by the first page
    cold, cold_cpu = timed(client, path)
    html = client.get(path).text
    print(
        f"{name}: {ANSWERS} answers, {html.count('data-formula-id=')} formulas, a page of {len(html) / 1000:.0f} kB"
    )
    print(f"  cold, nothing typeset yet   {cold:7.1f} ms, {cold_cpu:.1f} of it of the processor")
    for label, page in (("warm", path), ("without formulas", bare_path)):
        walls, processor = zip(*(timed(client, page) for _ in range(rounds)), strict=True)
        middle, cpu = statistics.median(walls), statistics.median(processor)
        print(
            f"  {label:21} best {min(walls):6.1f} ms   median {middle:6.1f} ms, {cpu:.1f} of it of the processor"
        )
        if page == path:
            print(f"  {'':21} ratio to {LIMIT:.0f} ms: {middle / LIMIT:.2f}   (below 1.00)")


def timed(client: object, path: str) -> tuple[float, float]:
    """Return the milliseconds until the whole answer is there, and those of the processor, which
    other work on the machine does not stretch. The process's own memory of formulas is emptied
    first."""
    from arqlab.texts.maths import typesetting

    typesetting._typeset.cache_clear()
    start, processor = time.perf_counter(), time.process_time()
    response = client.get(path)  # type: ignore[attr-defined]
    took = (time.perf_counter() - start) * 1000, (time.process_time() - processor) * 1000
    if response.status_code != 200:
        raise SystemExit(f"{path} answers {response.status_code}.")
    return took


def make_threads(formulas: list[str]) -> tuple[str, str]:
    """Make a lab with a thread of the formulas, with comments, owners and links, and the same
    without formulas.
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
        for place in range(ANSWERS):
            body = '<p>Some words about it, and a link: <a href="https://math.stackexchange.com/q/1">there</a>.</p>'
            for order, latex in enumerate(share[place::ANSWERS]):
                span = f'<span class="math-container" id="{number + place}.{order}">${escape(latex, quote=False)}$</span>'
                body += f"<p>We have {span}, which is what was asked for.</p>"
            post_id = str(number + 1 + place)
            threads.add_answer(
                collection, post_id, to=question, body=body, score=place, author_id="7", rules=RULES
            )
            threads.add_comment(collection, str(number * 100 + place), on=post_id, rules=RULES)
            threads.link(collection, question, str(9000 + place))
    return "/labs/bench/posts/1/", "/labs/bench/posts/1001/"


if __name__ == "__main__":
    main()

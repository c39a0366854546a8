"""`manage.py make_topics COLLECTION`: list topic candidates, or make topics of chosen questions."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from django.core.management.base import CommandError

from arqkit.formats.topics.chosen_questions import read_chosen
from arqkit.records import FileRefusedError
from arqkit.texts.posts.topic_making import (
    ALIKE,
    MEASURED,
    Bounds,
    Criteria,
    drawn_by_strata,
    sift,
    write_candidates,
)
from arqlab.labs.management.labcommand import LabCommand
from collection.models import Collection
from collection.selectors.candidates import candidates_of, existing_topics, highest_topic_number
from collection.selectors.collections import collection_named
from collection.services.topic_making import make_topic_files

V = TypeVar("V")


class Command(LabCommand):
    """List topic candidates from a collection as CSV with the criteria for selecting them.

    With --chosen, write the topics of tasks 1 and 2 with their formulas and topic information.
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the collection, the filters for candidates and the list of chosen questions."""
        parser.add_argument("collection", metavar="COLLECTION", help="slug of the collection")
        _add_listing(parser)
        making = parser.add_argument_group("topics")
        making.add_argument(
            "--chosen", metavar="FILE", type=Path, help="CSV of the chosen questions: post_id, …"
        )
        making.add_argument(
            "--first",
            type=_topic_number,
            help="the first topic number (default: one above the highest topic on this server)",
        )
        making.add_argument(
            "--crlf", action="store_true", help="use CRLF in the XML, as ARQMath-1 and -2 do"
        )
        parser.add_argument(
            "--out", metavar="PATH", type=Path, help="file for the list, or folder for the topics"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """List candidates or make topics."""
        collection = collection_named(options["collection"])
        if options["chosen"]:
            self._make(collection, options)
        else:
            self._list(collection, options)

    def _list(self, collection: Collection, options: dict[str, Any]) -> None:
        threads, titles = existing_topics()
        first, last = options["dates"] or (None, None)
        criteria = Criteria(
            bounds={name: Bounds(*options[name]) for name in MEASURED if options[name]},
            first_day=first,
            last_day=last,
            needs_link=not options["unlinked"],
            takes_related=options["related"],
            topics=threads,
            titles=titles,
            alike=options["alike"],
        )
        sifted = sift(candidates_of(collection, which=options["which"]), criteria)
        candidates = sifted.kept
        total = len(candidates) + sum(sifted.left_out.values())
        self._report(f"{total} questions of {collection}, {options['which']}")
        for line in (*sifted.report, f"{len(candidates)} candidates"):
            self._report(line)
        if options["draw"] is not None:
            candidates = drawn_by_strata(
                candidates, by=options["by"], number=options["draw"], seed=options["seed"]
            )
            self._report(f"{len(candidates)} drawn")
        data = write_candidates(candidates)
        if options["out"]:
            _write({options["out"]: data})
        else:
            self.stdout.write(data.decode(), ending="")

    def _make(self, collection: Collection, options: dict[str, Any]) -> None:
        path, folder = options["chosen"], options["out"]
        if folder is None:
            raise CommandError("Name the folder for the topics with --out.")
        first = highest_topic_number() + 1 if options["first"] is None else options["first"]
        newline = "\r\n" if options["crlf"] else "\n"
        try:
            questions = read_chosen(path.read_bytes(), path=str(path))
            topic_files = make_topic_files(
                collection=collection,
                sources=questions,
                first=first,
                newline=newline,
                path=str(path),
            )
        except OSError as error:
            raise CommandError(
                f"Cannot read {path}: {error.strerror}. Name the list of chosen questions."
            ) from error
        except FileRefusedError as error:
            problems = "\n".join(f"  {problem}" for problem in error.problems)
            raise CommandError(f"No topics were written.\n{problems}") from error
        _write({folder / name: data for name, data in topic_files.files.items()})
        self._report(
            f"Wrote {topic_files.questions} topics of task 1 and {topic_files.formulas} of task 2 "
            f"to {folder}."
        )
        for topic in topic_files.without_formula:
            self._report(f"{topic} has no formula, so it has no topic in task 2.")

    def _report(self, line: str) -> None:
        """Print a message on standard error, because standard output has the CSV."""
        self.stderr.write(line, style_func=str)


def _add_listing(parser: ArgumentParser) -> None:
    """Declare the filters for candidates and the draw."""
    listing = parser.add_argument_group(
        "candidates", "A RANGE is FROM..TO, inclusive; you can omit either end."
    )
    listing.add_argument(
        "--from",
        dest="which",
        choices=["later", "searched", "all"],
        default="later",
        help="questions after the date window (default), searched questions, or all",
    )
    for name in MEASURED:
        listing.add_argument(
            f"--{name}", metavar="RANGE", type=_range(float), help=f"bounds of {name}"
        )
    listing.add_argument(
        "--dates", metavar="RANGE", type=_range(date.fromisoformat), help="days such as 2019-01-01"
    )
    listing.add_argument(
        "--related", action="store_true", help="accept a related question as a duplicate"
    )
    listing.add_argument(
        "--unlinked", action="store_true", help="include questions without a known duplicate"
    )
    listing.add_argument(
        "--alike",
        type=float,
        default=ALIKE,
        help=f"minimum Jaccard coefficient of equal titles (default: {ALIKE})",
    )
    listing.add_argument(
        "--draw",
        metavar="N",
        type=int,
        help="only N candidates, drawn in turn from strata: the thirds of the values --by",
    )
    listing.add_argument(
        "--by",
        nargs="+",
        choices=MEASURED,
        default=["score", "reputation", "formulas", "flesch"],
        help="values that make the strata (default: score reputation formulas flesch)",
    )
    listing.add_argument("--seed", type=int, default=1, help="seed of the draw (default: 1)")


def _topic_number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,6}", text):
        raise ArgumentTypeError(
            f"{text!r} is not a topic number. Use a number of at most six digits, such as 401."
        )
    return int(text)


def _range(read: Callable[[str], V]) -> Callable[[str], tuple[V | None, V | None]]:
    """Return a parser of FROM..TO; a single value is both."""

    def bounds(text: str) -> tuple[V | None, V | None]:
        least, dots, most = text.partition("..")
        try:
            ends = (read(least) if least else None, read(most) if most else None)
        except ValueError as error:
            raise ArgumentTypeError(
                f"{text!r} is not a range. Use FROM..TO, FROM.. or ..TO."
            ) from error
        return ends if dots else (ends[0], ends[0])

    return bounds


def _write(files: dict[Path, bytes]) -> None:
    """Write new files. Raise `CommandError` for existing ones, so that nothing is overwritten."""
    if existing := [str(path) for path in files if path.exists()]:
        raise CommandError(
            f"{', '.join(existing)} already exists. Choose another path with --out, or move it."
        )
    try:
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        raise CommandError(
            f"Cannot write the files ({error}). Choose another path with --out."
        ) from error

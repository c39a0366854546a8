"""Topic candidates of a lab's collection, by the criteria of `manage.py make_topics`."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from arqkit.texts.posts.topic_candidates import MEASURED, Bounds, Criteria, sift, write_candidates
from arqlab.core.errors import UserError
from arqlab.core.models import Lab
from arqlab.core.oddities import counted
from collection.models import Collection
from collection.selectors.candidates import candidates_of, existing_topics
from collection.selectors.collections import collection_of
from desk.models import Load
from desk.services.load_files import load_folder
from desk.services.loading import Loading


def candidates_file(load: Load) -> Path:
    """Return the path of the list of candidates."""
    return load_folder(load) / "candidates.csv"


def list_candidates(one: Loading) -> list[str]:
    """Write the questions that meet the criteria to a CSV, as `manage.py make_topics` does."""
    options = one.load.options
    threads, titles = existing_topics()
    criteria = Criteria(
        bounds={name: Bounds(*options[name]) for name in MEASURED if options.get(name)},
        first_day=_day(options["first_day"]),
        last_day=_day(options["last_day"]),
        needs_link=not options["unlinked"],
        takes_related=options["related"],
        topics=threads,
        titles=titles,
        alike=options["alike"],
    )
    questions = candidates_of(collection_to_choose_from(one.lab), which=options["which"])
    kept, left_out = sift(questions, criteria)
    path = candidates_file(one.load)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(write_candidates(kept))
    return [
        f"{counted(len(kept) + sum(left_out.values()), 'question')}.",
        *(f"{count:,} left out: {reason}." for reason, count in left_out.items()),
        f"{counted(len(kept), 'candidate')}.",
    ]


def collection_to_choose_from(lab: Lab) -> Collection:
    """Return the lab's collection. Raise `UserError` (`no-collection`) if it has none."""
    collection = collection_of(lab)
    if collection is None:
        raise UserError(
            "The lab has no collection. Load the files of a data dump first.", code="no-collection"
        )
    return collection


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None

"""Topics from questions: candidates by the labs' criteria (000 §4.1, 004 §4.1), and topics made.

Two criteria were strict: a formula in title or body, and a duplicate among the searchable
questions, so that there is something relevant to find. Score, length, answers, comments, views and
Flesch's Reading Ease were soft criteria.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache, lru_cache
from hashlib import blake2b
from html import unescape
from itertools import islice, zip_longest
from typing import Any, Final, NamedTuple

import numpy as np
import pyphen

from arqkit.formats.tables import exact_table
from arqkit.formats.topics.files import TopicFormula
from arqkit.records import TopicRecord
from arqkit.texts.posts.text import TextFormula, plain_text, renumbered, text_formulas

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# A sentence ends with its paragraph, or at punctuation followed by white space.
_SENTENCE_END = re.compile(r"[.!?:;]+(?=[\"'”’)\]]*(?:\s|$))|\n\s*\n")
_VOWELS = re.compile(r"[aeiouyà-öø-ÿ]+")
_SILENT = re.compile(r"(?<=[^aeiouy])(?<![^aeiouy]l)(?:e|(?<![sczxg])(?<![cs]h)es|(?<![td])ed)$")

_hyphens = cache(lambda: pyphen.Pyphen(lang="en_US", left=2, right=2))
"""Return the hyphenation dictionary, loaded on first use because that takes long."""

ALIKE: Final = 0.8
"""Titles with at least this Jaccard coefficient are taken to be the same question."""

MEASURED: Final = (
    *("score", "answers", "comments", "views", "reputation", "words", "formulas", "flesch"),
)
"""The values of a candidate that may have bounds, and by which candidates may be stratified."""
_LACKING: Final = {
    "created": "dates",
    "score": "scores",
    "views": "numbers of views",
    "reputation": "reputations of askers",
    "duplicates": "links between questions",
}
"""What a data dump lacks if no question has a value."""

_TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^>]*>", re.DOTALL)

Size = tuple[int, ...]
"""The size of a formula; sizes are compared number by number."""


class TextCounts(NamedTuple):
    """The counts of a text that Reading Ease needs."""

    words: int
    sentences: int
    syllables: int


def reading_ease(counts: TextCounts) -> float | None:
    """Return the Reading Ease of a text with these counts, or None for a text without words."""
    if not counts.words or not counts.sentences:
        return None
    syllables_in_100_words = 100 * counts.syllables / counts.words
    return 206.835 - 0.846 * syllables_in_100_words - 1.015 * counts.words / counts.sentences


def count_text(text: str) -> TextCounts:
    """Count the words, sentences and syllables of a plain English text.

    Numbers and formulas are not words. As in Flesch's paper, colons and semicolons end a sentence;
    so do blank lines.
    """
    parts = [_WORD.findall(part) for part in _SENTENCE_END.split(text)]
    words = [word for part in parts for word in part]
    return TextCounts(len(words), sum(map(bool, parts)), sum(map(syllables, words)))


# Posts repeat their words, and hyphenation is slow.
@lru_cache(maxsize=50_000)
def syllables(word: str) -> int:
    """Return the number of syllables of an English word.

    This is the number of hyphenation points plus one, or the number of groups of vowels if that is
    larger. Hyphenation never separates a single letter at an edge (`i-dea`), and groups never
    separate two vowels (`be-ing`).
    """
    plain = word.lower()
    groups = len(_VOWELS.findall(_SILENT.sub("", plain)))
    parts = [part for part in re.split(r"[-'’]", plain) if len(part) > 2]
    return max(1, groups, sum(len(_hyphens().positions(part)) + 1 for part in parts))


class Candidate(NamedTuple):
    """A question with the values for the criteria; None if the data dump lacks a value."""

    post_id: str
    title: str
    created: datetime | None
    score: int | None
    answers: int
    comments: int
    views: int | None
    reputation: int | None
    words: int
    formulas: int
    title_formulas: int
    flesch: float | None
    duplicates: tuple[str, ...]
    related: tuple[str, ...]
    tags: tuple[str, ...]


class TextMeasures(NamedTuple):
    """Measures of a question's text: words without formulas, formulas and Reading Ease."""

    words: int
    formulas: int
    title_formulas: int
    flesch: float | None


class Bounds(NamedTuple):
    """The lowest and the highest allowed value; None is unbounded."""

    least: Any = None
    most: Any = None

    def hold(self, value: Any) -> bool:
        """Return whether a value is within the bounds; an unknown value only if both are open."""
        if value is None:
            return self.least is None and self.most is None
        return (self.least is None or value >= self.least) and (
            self.most is None or value <= self.most
        )


class Criteria(NamedTuple):
    """The criteria for candidates; `topics` and `titles` are those of existing topics."""

    bounds: Mapping[str, Bounds] = {}
    first_day: date | None = None
    last_day: date | None = None
    needs_link: bool = True
    takes_related: bool = False
    topics: frozenset[str] = frozenset()
    titles: tuple[str, ...] = ()
    alike: float = ALIKE


class Sifted(NamedTuple):
    """The candidates, best score first, and how many each filter removed, in filter order.

    `lacking` says what the data dump lacks, without which no question meets a criterion.
    """

    kept: list[Candidate]
    left_out: dict[str, int]
    lacking: tuple[str, ...] = ()

    @property
    def report(self) -> list[str]:
        """Return lines on what was left out, and why no candidate passes if the dump is why."""
        lines = [f"{count:,} left out: {name}" for name, count in self.left_out.items()]
        return [*lines, *(f"The data dump has no {what}." for what in self.lacking)]


def measure_text(title: str, body: str) -> TextMeasures:
    """Return the measures of a question's text."""
    counts = count_text(f"{plain_text(title)}\n\n{plain_text(body)}")
    in_title = len(text_formulas(title))
    return TextMeasures(
        counts.words, in_title + len(text_formulas(body)), in_title, reading_ease(counts)
    )


def sift(candidates: Iterable[Candidate], criteria: Criteria) -> Sifted:
    """Return the questions that meet all criteria; others are counted at the first they miss."""
    filters = _filters(criteria)
    missed: Counter[str] = Counter()
    fitting = []
    unmet_names = {
        name for name, (least, most) in criteria.bounds.items() if (least, most) != Bounds()
    }
    unmet_names |= {"created"} if criteria.first_day or criteria.last_day else set()
    unmet_names |= {"duplicates"} if criteria.needs_link else set()
    for candidate in candidates:
        unmet_names = {name for name in unmet_names if not _has(candidate, name)}
        reason = next((name for name, holds in filters.items() if not holds(candidate)), None)
        if reason is None:
            fitting.append(candidate)
        else:
            missed[reason] += 1
    fitting.sort(key=lambda it: (-(it.score or 0), -(it.views or 0), len(it.post_id), it.post_id))
    lacking = tuple(what for name, what in _LACKING.items() if name in unmet_names and missed)
    return Sifted(fitting, {name: missed[name] for name in filters}, lacking)


def _has(candidate: Candidate, name: str) -> bool:
    """Return whether a candidate has a value; a related question is a link too."""
    if name == "duplicates":
        return bool(candidate.duplicates or candidate.related)
    return getattr(candidate, name) is not None


def drawn_by_strata(
    candidates: Sequence[Candidate], *, by: Iterable[str], number: int, seed: int
) -> list[Candidate]:
    """Return candidates drawn from all strata in turn, in their order (000 §4.1).

    A stratum has the candidates that are in the same third of all values `by` which they are
    stratified, or lack one. The same seed draws the same candidates.
    """
    names, rng = list(by), np.random.default_rng(seed)
    cuts = {name: _thirds([getattr(one, name) for one in candidates]) for name in names}
    strata: dict[tuple[int, ...], list[Candidate]] = {}
    for one in candidates:
        place = tuple(_third(getattr(one, name), cuts[name]) for name in names)
        strata.setdefault(place, []).append(one)
    cells = [[cell[place] for place in rng.permutation(len(cell))] for cell in strata.values()]
    cells = [cells[place] for place in rng.permutation(len(cells))]
    turns = (one for turn in zip_longest(*cells) for one in turn if one is not None)
    drawn = {one.post_id for one in islice(turns, number)}
    return [one for one in candidates if one.post_id in drawn]


def _thirds(values: Iterable[float | None]) -> list[float]:
    ordered = sorted(value for value in values if value is not None)
    return [ordered[len(ordered) * part // 3] for part in (1, 2)] if ordered else []


def _third(value: float | None, cuts: Sequence[float]) -> int:
    return -1 if value is None else bisect_right(cuts, value)


def _filters(criteria: Criteria) -> dict[str, Callable[[Candidate], bool]]:
    titles = [_words(title) for title in criteria.titles]
    filters: dict[str, Callable[[Candidate], bool]] = {
        "no formula": lambda candidate: candidate.formulas > 0
    }
    if criteria.first_day or criteria.last_day:
        days = Bounds(criteria.first_day, criteria.last_day)
        filters["other dates"] = lambda candidate: days.hold(
            candidate.created and candidate.created.date()
        )
    if criteria.needs_link:
        linked = "duplicate or related question" if criteria.takes_related else "duplicate"
        filters[f"no {linked} that is searched"] = lambda candidate: bool(
            candidate.duplicates or (criteria.takes_related and candidate.related)
        )
    for name, bounds in criteria.bounds.items():
        filters[f"{name} out of bounds"] = lambda candidate, name=name, bounds=bounds: bounds.hold(
            getattr(candidate, name)
        )  # type: ignore[misc]
    filters["already a topic"] = lambda candidate: candidate.post_id not in criteria.topics

    def is_new(candidate: Candidate) -> bool:
        words = _words(candidate.title)
        return all(len(words & it) / len(words | it) < criteria.alike for it in titles if words)

    filters["same title as a topic"] = is_new
    return filters


def _words(title: str) -> frozenset[str]:
    return frozenset(re.findall(r"\\[a-z]+|\w+", title.casefold()))


def write_candidates(candidates: Iterable[Candidate]) -> bytes:
    """Return candidates as CSV with all columns, from which topics can be made."""
    rows = ([_cell(value) for value in candidate] for candidate in candidates)
    return exact_table([Candidate._fields, *rows])


def _cell(value: object) -> object:
    if isinstance(value, tuple):
        return " ".join(value)
    if isinstance(value, datetime):
        return value.date().isoformat()
    return round(value, 1) if isinstance(value, float) else value


def text_key(html: str) -> bytes:
    """Return a digest of the text of a post, equal for posts with the same text; b"" if empty.

    Formulas count with their LaTeX, whatever their ids, and case matters: x is not X. Posts with
    images and no text are empty: their images may differ.
    """
    text = "".join(unescape(_TAG.sub(" ", html)).split())
    return blake2b(text.encode(), digest_size=12).digest() if text else b""


def duplicate_groups(posts: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the groups of ids with the same text, from ids and texts, in the order given."""
    groups: dict[bytes, list[str]] = {}
    for name, html in posts:
        if key := text_key(html):
            groups.setdefault(key, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


class Question(NamedTuple):
    """A sanitized question to make topics from; `query_formula` is the id of a formula or ""."""

    number: int
    post_id: str
    title: str
    body: str
    tags: tuple[str, ...]
    query_formula: str = ""


@dataclass(frozen=True)
class MadeTopics:
    """Topics of Task 1 and Task 2 (for questions with a formula), and the index of all formulas."""

    questions: list[TopicRecord] = field(default_factory=list)
    formulas: list[TopicRecord] = field(default_factory=list)
    index: list[TopicFormula] = field(default_factory=list)


def make_topics(questions: Iterable[Question], *, size: Callable[[str], Size]) -> MadeTopics:
    """Return the topics A.n and B.n of questions, in order of their numbers.

    `size` returns the size of a formula. If a question names no query formula, its largest formula
    is used (see `query_formula`).
    """
    topics = MadeTopics()
    for question in sorted(questions, key=lambda question: question.number):
        place_and_formula = _chosen(question, size)
        ids: dict[int, str] = {}
        title, body = (
            _numbered(text, kind, question, topics.index, ids)
            for kind, text in (("title", question.title), ("body", question.body))
        )
        topic = TopicRecord(f"A.{question.number}", title, body, question.tags)
        topics.questions.append(topic)
        if place_and_formula is not None:
            place, formula = place_and_formula
            number = f"B.{question.number}"
            topics.formulas.append(
                topic._replace(query_id=number, formula_id=ids[place], latex=formula.latex)
            )
    return topics


def query_formula(title: str, body: str, *, size: Callable[[str], Size]) -> TextFormula | None:
    """Return the largest formula of the title, else of the body; the first of several."""
    formulas = text_formulas(title) or text_formulas(body)
    return max(formulas, key=lambda formula: size(formula.latex), default=None)


def layout_size(layout: str | None, latex: str) -> Size:
    """Return the size of a formula: the nodes of its layout tree (protocol §10), then its length.

    The length is that of the LaTeX without white space. A formula without a layout has no nodes, so
    it is only chosen if no formula has any.
    """
    nodes = sum(item[0].isupper() for item in (layout or "").split(" ") if item)
    return nodes, len(re.sub(r"\s", "", latex))


def _chosen(question: Question, size: Callable[[str], Size]) -> tuple[int, TextFormula] | None:
    """Return the query formula and its position among all formulas of the question."""
    formulas: Sequence[TextFormula] = text_formulas(question.title) + text_formulas(question.body)
    formula_id = question.query_formula
    if formula_id:
        return next(
            (pair for pair in enumerate(formulas) if pair[1].formula_id == formula_id), None
        )
    largest = query_formula(question.title, question.body, size=size)
    return None if largest is None else (formulas.index(largest), largest)


def _numbered(
    text: str, kind: str, question: Question, index: list[TopicFormula], ids: dict[int, str]
) -> str:
    def number(formula: TextFormula) -> str:
        ids[len(ids)] = f"q_{len(index) + 1}"
        place = (f"A.{question.number}", question.post_id, kind)
        index.append(TopicFormula(ids[len(ids) - 1], *place, formula.latex))
        return index[-1].formula_id

    return renumbered(text, number)

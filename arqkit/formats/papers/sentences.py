"""Sentences of overview papers with their numbers: runs, pools, assessment, agreement, results.

The wording follows 000 (§4) and 004 (§4.3, 4.4, 5.4). A sentence is LaTeX; without its numbers, it
is an empty string.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arqkit.data_files import data_beside
from arqkit.formats.latex import latex_text
from arqkit.formats.papers.floats import DECIMALS
from arqkit.leaderboard import Board, BoardRun
from arqkit.measures.names import Measure

_TEXTS: Mapping[str, str] = data_beside(__file__)
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """The official pools of a task: their items by topic, and how deep the runs were pooled.

    - depths: how many runs of each kind, such as "primary run", were pooled to a depth, by the
      depth; empty unless runs were pooled to a depth.
    - deep, shallow: the baselines pooled as primary and as alternate runs.
    - crowded: the number of items with more pooled instances than `most`, of which `most` are
      judged; None if it is unknown.
    """

    topics: int
    items: int
    labels: int
    depths: Mapping[int, Mapping[str, int]]
    deep: Sequence[str] = ()
    shallow: Sequence[str] = ()
    supplements: int = 0
    crowded: int | None = None
    most: int = 0


@dataclass(frozen=True, slots=True)
class AssessmentFacts:
    """The judged items of qrels.

    - judged: the judged items by topic, in topic order; positive: those above the lowest label.
    - dropped: the topics left out for want of relevant items.
    - seconds: the mean time of a label; hours and assessors: those of the official judging.
    - any_relevance: the binarization of `positive`, such as H+M+L binarization.
    """

    judged: Mapping[str, int]
    positive: Mapping[str, int]
    dropped: Sequence[str]
    binarization: str
    any_relevance: str
    seconds: float | None = None
    hours: float = 0.0
    assessors: int = 0


@dataclass(frozen=True, slots=True)
class KappaFacts:
    """The agreement in a round: Cohen's kappa by assessor, under a number, and of all.

    `fleiss` is Fleiss' kappa. All are pairs: of the labels as they are, and of binary ones.
    """

    title: str
    is_training: bool
    items: int
    assessors: Mapping[str, tuple[float | None, float | None]]
    total: tuple[float | None, float | None]
    fleiss: tuple[float | None, float | None]


class _Count(int):
    """A number of things, which a sentence writes with their word, as `sentences.toml` says."""

    def __format__(self, spec: str) -> str:
        """Return it in words, perhaps with a noun (`run`), or in digits with one (`#topic`)."""
        if spec == "were":
            return "was" if self == 1 else "were"
        noun = spec.removeprefix("#")
        if noun and not noun.replace(" ", "").isalpha():
            return super().__format__(spec)
        number = f"{int(self):,}"
        if spec == noun and self < len(NUMBERS):
            number = NUMBERS[self]
        return f"{number} {noun}{'s' * (self != 1)}" if noun else number


def _text(name: str, **facts: Any) -> str:
    """Return a sentence in LaTeX: texts and lists of texts are escaped, numbers are counts."""

    def shown(fact: Any) -> Any:
        match fact:
            case int():
                return _Count(fact)
            case str():
                return latex_text(fact)
            case [*texts]:
                return _and([latex_text(text) for text in texts])
        return fact

    return _TEXTS[name].format(**{key: shown(fact) for key, fact in facts.items()})


def runs_sentence(runs: Sequence[BoardRun]) -> str:
    """Return how many runs of how many teams there are, automatic and manual."""
    competing = [run for run in runs if not run.is_baseline and run.counts]
    if not competing:
        return ""
    manual = sum(run.is_manual for run in competing)
    parts = [_text("runs", runs=len(competing), teams=len({run.team for run in competing}))]
    if manual:
        parts.append(_text("manual", automatic=len(competing) - manual, manual=manual))
    else:
        parts.append(_text("all-automatic"))
    if baselines := sum(run.is_baseline and run.counts for run in runs):
        parts.append(_text("baselines", baselines=baselines))
    return " ".join(parts)


def pool_sentences(facts: PoolFacts, *, item: str) -> str:
    """Return how the pools were made, and their size per topic; `item` is the plural for items.

    The number of instances follows for items with several instances.
    """
    if not facts.items or not facts.topics:
        return ""
    parts = []
    tops = [
        _text(
            "next-top" if place else "top",
            depth=depth,
            item=item,
            runs=_and([f"{_Count(runs):{kind}}" for kind, runs in kinds.items()]),
        )
        for place, (depth, kinds) in enumerate(sorted(facts.depths.items(), reverse=True))
    ]
    if tops:
        parts.append(_text("depths", tops=_and(tops)))
    for names, article, kind in ((facts.deep, "a", "primary"), (facts.shallow, "an", "alternate")):
        if names:
            sentence = "several-pooled" if names[1:] else "pooled"
            parts.append(_text(sentence, names=list(names), article=article, kind=kind))
    parts.append(_text("pool-size", mean=facts.items / facts.topics, item=item))
    if facts.labels > facts.items:
        parts.append(_text("instances", labels=facts.labels))
    if facts.crowded:
        percent = 100 * facts.crowded / facts.items
        counts = {"items": facts.items, "crowded": facts.crowded, "most": facts.most}
        parts.append(_text("crowded", item=item, percent=percent, **counts))
    if facts.supplements:
        parts.append(_text("supplements", supplements=facts.supplements))
    return " ".join(parts)


def hosted_sentence(task: str, host: str) -> str:
    """Return in whose pools the answers of a task were judged (004 §5.4)."""
    return _text("hosted", task=task, host=host)


def assessment_sentences(facts: AssessmentFacts, *, item: str, labelled: str) -> str:
    """Return how many items were assessed, how long it took, and how many are relevant.

    `item` is the plural for judged items, `labelled` the singular for what gets a label.
    """
    topics, few = len(facts.judged), len(facts.dropped)
    if not topics:
        return ""
    parts = []
    if few:
        names, letters = list(facts.dropped), facts.binarization
        parts.append(
            _text("dropped", assessed=topics + few, few=few, names=names, binarization=letters)
        )
    timed = facts.seconds is not None
    time = _text("time", seconds=facts.seconds, labelled=labelled) if timed else ""
    mean, which = sum(facts.judged.values()) / topics, "remaining " if few else ""
    parts.append(_text("judged", which=which, kept=topics, mean=mean, item=item, time=time))
    if facts.assessors:
        people = f"{_Count(facts.assessors):assessor}".capitalize()
        parts.append(_text("work", people=people, hours=facts.hours))
    positive = facts.positive
    most, least = max(positive, key=positive.__getitem__), min(positive, key=positive.__getitem__)
    parts.append(
        _text(
            "positive",
            item=item,
            binarization=facts.any_relevance,
            mean=sum(positive.values()) / topics,
            highest=positive[most],
            most=most,
            lowest=positive[least],
            least=least,
        )
    )
    return " ".join(parts)


def agreement_sentence(facts: KappaFacts, *, ways: int, binarization: str) -> str:
    """Return the kappas of a round; `ways` is the number of labels that are judgments."""
    if None in facts.total:
        return ""
    graded, binary = facts.total
    fields = {
        "title": facts.title,
        "items": facts.items,
        "ways": ways,
        "binarization": binarization,
    }
    text = _text("agreement", graded=graded, binary=binary, **fields)
    if facts.is_training and None not in facts.fleiss:
        graded, binary = facts.fleiss
        text += f" {_text('fleiss', graded=graded, binary=binary, ways=ways)}"
    return text


def results_sentences(board: Board, measures: Sequence[Measure]) -> str:
    """Return sentences on the best run, the best automatic one, and ceilings below 1."""
    if not measures:
        return ""
    main = measures[0]
    competing = [
        row.run
        for row in board.rows
        if row.run.counts and not row.run.is_baseline and main.name in row.run.values
    ]
    if not competing:
        return ""
    best = _best(competing, main)
    parts = [_text("best", **_result(best, main))]
    automatic = [run for run in competing if not run.is_manual]
    if best.is_manual and automatic:
        parts.append(_text("best-automatic", **_result(_best(automatic, main), main)))
    for measure in measures:
        ceiling = board.ceilings.get(measure.name, 1.0)
        if measure.is_rating and round(ceiling, DECIMALS) != 1.0:
            parts.append(_text("ceiling", measure=measure.heading, ceiling=ceiling))
    return " ".join(parts)


def _best(runs: Sequence[BoardRun], measure: Measure) -> BoardRun:
    return max(runs, key=lambda run: run.values[measure.name])


def _result(run: BoardRun, measure: Measure) -> dict[str, str]:
    kind = ("manual " if run.is_manual else "") + ("primary " if run.is_primary else "")
    value = f"{run.values[measure.name]:.{DECIMALS}f}"
    named = {"kind": kind, "tag": run.tag, "team": run.team}
    return named | {"value": value, "measure": measure.heading}


def _and(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)

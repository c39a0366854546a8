"""Sentences of overview papers with their numbers: runs, pools, assessment, agreement, results.

The wording follows 000 (§4) and 004 (§4.3, 4.4, 5.4). A sentence is LaTeX; without its numbers, it
is an empty string.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arqkit.formats.latex import latex_text
from arqkit.formats.papers.tables import DECIMALS
from arqkit.leaderboard import Board, BoardRun
from arqkit.measures.names import Measure

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """The official pools of a task: their items by topic, and how deep the runs were pooled.

    - depths: the depth by kind of run; empty unless runs were pooled to a depth.
    - deep, shallow: the baselines pooled as primary and as alternate runs.
    """

    topics: int
    items: int
    labels: int
    depths: Mapping[str, int]
    deep: Sequence[str] = ()
    shallow: Sequence[str] = ()
    supplements: int = 0


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


def runs_sentence(runs: Sequence[BoardRun]) -> str:
    """Return how many runs of how many teams there are, automatic and manual."""
    own = [run for run in runs if not run.is_baseline and run.counts]
    if not own:
        return ""
    teams, manual = len({run.team for run in own}), sum(run.is_manual for run in own)
    text = f"A total of {_counted(len(own), 'run')} {_were(len(own))} received from "
    text += f"{_counted(teams, 'team')}. "
    if not manual:
        text += "All runs were declared to be automatic."
    else:
        automatic = len(own) - manual
        text += f"Of these, {_counted(automatic, 'run')} {_were(automatic)} declared to be "
        text += "automatic, with no human intervention at any stage of generating the ranked list "
        text += f"for each query. The remaining {_counted(manual, 'run')} {_were(manual)} declared "
        text += "to be manual."
    baselines = sum(run.is_baseline and run.counts for run in runs)
    if baselines:
        text += f" The organizers provided {_counted(baselines, 'baseline run')}."
    return text


def pool_sentences(facts: PoolFacts, *, item: str) -> str:
    """Return how the pools were made, and their size per topic; `item` is the plural for items.

    The number of instances follows for items with several instances.
    """
    if not facts.items or not facts.topics:
        return ""
    parts = []
    if facts.depths:
        (kind, top), *others = facts.depths.items()
        first = f"the top {top} {item} of each {kind} run"
        tops = [first, *(f"the top {depth} of each {kind} run" for kind, depth in others)]
        parts.append(f"Pools were created by taking {_and(tops)}.")
    for names, kind in ((facts.deep, "primary"), (facts.shallow, "alternate")):
        if names:
            article = "a" if kind == "primary" else "an"
            known = _and([latex_text(name) for name in names])
            many = f"{kind} runs" if names[1:] else f"{article} {kind} run"
            baselines = "baselines" if names[1:] else "baseline"
            parts.append(f"The {baselines} {known} {_were(len(names))} pooled as {many}.")
    mean = facts.items / facts.topics
    parts.append(f"On average, the judgment pools contain {mean:,.1f} {item} per topic.")
    if facts.labels > facts.items:
        parts.append(f"They have {facts.labels:,} instances in total.")
    if facts.supplements:
        parts.append(f"They include {_counted(facts.supplements, 'supplement')}.")
    return " ".join(parts)


def assessment_sentences(facts: AssessmentFacts, *, item: str, labelled: str) -> str:
    """Return how many items were assessed, how long it took, and how many are relevant.

    `item` is the plural for judged items, `labelled` the singular for what gets a label.
    """
    kept = len(facts.judged)
    if not kept:
        return ""
    parts = []
    for_topics = f"For the {_topics(kept)}"
    if facts.dropped:
        few = len(facts.dropped)
        names, count = _and([latex_text(name) for name in facts.dropped]), _number(few)
        parts.append(
            f"Among {_topics(kept + few)} assessed, {count} ({names}) {_were(few)}"
            " removed from the collection, for having too few items assessed as relevant "
            f"({latex_text(facts.binarization)})."
        )
        for_topics = f"For the remaining {_topics(kept)}"
    mean = sum(facts.judged.values()) / kept
    time = (
        ""
        if facts.seconds is None
        else (f", with an average assessment time of {facts.seconds:.1f} seconds per {labelled}")
    )
    parts.append(f"{for_topics}, an average of {mean:,.1f} {item} were assessed{time}.")
    if facts.assessors:
        people = _counted(facts.assessors, "assessor").capitalize()
        parts.append(f"{people} worked for a total of {facts.hours:,.1f} hours.")
    most = max(facts.positive, key=lambda topic: facts.positive[topic])
    least = min(facts.positive, key=lambda topic: facts.positive[topic])
    positive = sum(facts.positive.values()) / kept
    parts.append(
        f"The average number of {item} labeled with any degree of relevance "
        f"({latex_text(facts.any_relevance)}) was {positive:,.1f} per topic, with the highest "
        f"number being {facts.positive[most]:,} (for topic {latex_text(most)}) and the lowest "
        f"being {facts.positive[least]:,} (for topic {latex_text(least)})."
    )
    return " ".join(parts)


def agreement_sentence(facts: KappaFacts, *, ways: int, binarization: str) -> str:
    """Return the kappas of a round; `ways` is the number of labels that are judgments."""
    graded, binary = facts.total
    if graded is None or binary is None:
        return ""
    count = _number(ways)
    text = f"{latex_text(facts.title)}: over {_counted(facts.items, 'item')}, an average Cohen's "
    text += f"kappa of {graded:.2f} was achieved on the {count}-way assessment task, and of "
    text += f"{binary:.2f} with {latex_text(binarization)}."
    if facts.is_training and None not in facts.fleiss:
        first, second = (f"{value:.2f}" for value in facts.fleiss)
        text += f" Fleiss' kappa was {first} on the {count}-way task, and {second} when binarized."
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
    heading = latex_text(main.heading)
    parts = [f"The best result was achieved by {_run(best)}, with {_value(best, main)} {heading}."]
    automatic = [run for run in competing if not run.is_manual]
    if best.is_manual and automatic:
        first = _best(automatic, main)
        parts.append(
            f"Among automatic runs, {_run(first)} had the highest {heading}, {_value(first, main)}."
        )
    for measure in measures:
        ceiling = board.ceilings.get(measure.name, 1.0)
        if measure.is_rating and round(ceiling, DECIMALS) != 1.0:
            parts.append(f"The highest possible {latex_text(measure.heading)} is {ceiling:.2f}.")
    return " ".join(parts)


def _best(runs: Sequence[BoardRun], measure: Measure) -> BoardRun:
    return max(runs, key=lambda run: run.values[measure.name])


def _run(run: BoardRun) -> str:
    return rf"the {_kind(run)}run \emph{{{latex_text(run.tag)}}} from {latex_text(run.team)}"


def _kind(run: BoardRun) -> str:
    return ("manual " if run.is_manual else "") + ("primary " if run.is_primary else "")


def _value(run: BoardRun, measure: Measure) -> str:
    return f"{run.values[measure.name]:.{DECIMALS}f}"


def _number(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"


def _counted(count: int, word: str) -> str:
    return f"{_number(count)} {word}{'s' * (count != 1)}"


def _topics(count: int) -> str:
    return f"{count:,} topic{'s' * (count != 1)}"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _and(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)

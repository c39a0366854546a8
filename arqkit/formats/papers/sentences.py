"""Sentences of overview papers with their numbers: runs, pools, assessment, agreement, results.

The wording follows 000 (§4) and 004 (§4.3, 4.4, 5.4). A sentence is LaTeX; without its numbers, it
is an empty string.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arqkit.formats.latex import latex_text
from arqkit.formats.papers.floats import DECIMALS
from arqkit.leaderboard import Board, BoardRun
from arqkit.measures.names import Measure

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


def runs_sentence(runs: Sequence[BoardRun]) -> str:
    """Return how many runs of how many teams there are, automatic and manual."""
    competing = [run for run in runs if not run.is_baseline and run.counts]
    if not competing:
        return ""
    count, teams = len(competing), len({run.team for run in competing})
    parts = [
        f"A total of {_words(count, 'run')} {_were(count)} received from {_words(teams, 'team')}."
    ]
    if manual := sum(run.is_manual for run in competing):
        automatic = count - manual
        parts.append(
            f"Of these, {_words(automatic, 'run')} {_were(automatic)} declared to be automatic, "
            "with no human intervention at any stage of generating the ranked list for each query. "
            f"The remaining {_words(manual, 'run')} {_were(manual)} declared to be manual."
        )
    else:
        parts.append("All runs were declared to be automatic.")
    if baselines := sum(run.is_baseline and run.counts for run in runs):
        parts.append(f"The organizers provided {_words(baselines, 'baseline run')}.")
    return " ".join(parts)


def pool_sentences(facts: PoolFacts, *, item: str) -> str:
    """Return how the pools were made, and their size per topic; `item` is the plural for items.

    The number of instances follows for items with several instances.
    """
    if not facts.items or not facts.topics:
        return ""
    item = latex_text(item)
    parts = []
    if facts.depths:
        parts.append(f"Pools were created by taking {_and(_tops(facts, item))}.")
    parts += _baseline_sentences(facts.deep, "a", "primary run")
    parts += _baseline_sentences(facts.shallow, "an", "alternate run")
    mean = facts.items / facts.topics
    parts.append(f"On average, the judgment pools contain {mean:,.1f} {item} per topic.")
    if facts.labels > facts.items:
        parts.append(f"They have {facts.labels:,} instances in total.")
    if facts.crowded:
        percent, most = 100 * facts.crowded / facts.items, _words(facts.most)
        parts.append(
            f"Of the {facts.items:,} {item}, {facts.crowded:,} ({percent:.1f}%) had more than "
            f"{most} pooled instances, of which {most} were chosen."
        )
    if facts.supplements:
        parts.append(f"They include {_words(facts.supplements, 'supplement')}.")
    return " ".join(parts)


def _tops(facts: PoolFacts, item: str) -> list[str]:
    """Return how deep the runs were pooled, the deepest first."""
    tops: list[str] = []
    for depth, kinds in sorted(facts.depths.items(), reverse=True):
        runs = _and([_words(count, kind) for kind, count in kinds.items()])
        items = "" if tops else f" {item}"
        tops.append(f"the top {depth:,}{items} of {runs}")
    return tops


def _baseline_sentences(names: Sequence[str], article: str, kind: str) -> Iterator[str]:
    baselines = _and([latex_text(name) for name in names])
    if names[1:]:
        yield f"The baselines {baselines} were pooled as {kind}s."
    elif names:
        yield f"The baseline {baselines} was pooled as {article} {kind}."


def hosted_sentence(task: str, host: str) -> str:
    """Return in whose pools the answers of a task were judged (004 §5.4)."""
    return (
        f"Runs of {latex_text(task)} were assessed together with runs of {latex_text(host)}, in "
        "its pools and by its assessors, using the same relevance definitions."
    )


def assessment_sentences(facts: AssessmentFacts, *, item: str, labelled: str) -> str:
    """Return how many items were assessed, how long it took, and how many are relevant.

    `item` is the plural for judged items, `labelled` the singular for what gets a label.
    """
    topics, few = len(facts.judged), len(facts.dropped)
    if not topics:
        return ""
    item = latex_text(item)
    parts = []
    if few:
        names = _and([latex_text(name) for name in facts.dropped])
        parts.append(
            f"Among {_digits(topics + few, 'topic')} assessed, {_words(few)} ({names}) "
            f"{_were(few)} removed from the collection, for having too few items assessed as "
            f"relevant ({latex_text(facts.binarization)})."
        )
    time = ""
    if facts.seconds is not None:
        time = (
            f", with an average assessment time of {facts.seconds:.1f} seconds per "
            f"{latex_text(labelled)}"
        )
    mean, which = sum(facts.judged.values()) / topics, "remaining " if few else ""
    parts.append(
        f"For the {which}{_digits(topics, 'topic')}, an average of {mean:,.1f} {item} were "
        f"assessed{time}."
    )
    if facts.assessors:
        people = _words(facts.assessors, "assessor").capitalize()
        parts.append(f"{people} worked for a total of {facts.hours:,.1f} hours.")
    parts.append(_positive_sentence(facts, item))
    return " ".join(parts)


def _positive_sentence(facts: AssessmentFacts, item: str) -> str:
    positive = facts.positive
    most, least = max(positive, key=positive.__getitem__), min(positive, key=positive.__getitem__)
    return (
        f"The average number of {item} labeled with any degree of relevance "
        f"({latex_text(facts.any_relevance)}) was {sum(positive.values()) / len(facts.judged):,.1f}"
        f" per topic, with the highest number being {positive[most]:,} (for topic "
        f"{latex_text(most)}) and the lowest being {positive[least]:,} (for topic "
        f"{latex_text(least)})."
    )


def agreement_sentence(facts: KappaFacts, *, ways: int, binarization: str) -> str:
    """Return the kappas of a round; `ways` is the number of labels that are judgments."""
    graded, binary = facts.total
    if graded is None or binary is None:
        return ""
    text = (
        f"{latex_text(facts.title)}: over {_words(facts.items, 'item')}, an average Cohen's kappa "
        f"of {graded:.2f} was achieved on the {_words(ways)}-way assessment task, and of "
        f"{binary:.2f} with {latex_text(binarization)}."
    )
    graded, binary = facts.fleiss
    if facts.is_training and graded is not None and binary is not None:
        text += (
            f" Fleiss' kappa was {graded:.2f} on the {_words(ways)}-way task, and {binary:.2f} "
            "when binarized."
        )
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
    best, heading = _best(competing, main), latex_text(main.heading)
    parts = [
        f"The best result was achieved by the {_run(best)} from {latex_text(best.team)}, with "
        f"{_value(best, main)} {heading}."
    ]
    automatic = [run for run in competing if not run.is_manual]
    if best.is_manual and automatic:
        second = _best(automatic, main)
        parts.append(
            f"Among automatic runs, the {_run(second)} from {latex_text(second.team)} had the "
            f"highest {heading}, {_value(second, main)}."
        )
    for measure in measures:
        ceiling = board.ceilings.get(measure.name, 1.0)
        if measure.is_rating and round(ceiling, DECIMALS) != 1.0:
            parts.append(f"The highest possible {latex_text(measure.heading)} is {ceiling:.2f}.")
    return " ".join(parts)


def _best(runs: Sequence[BoardRun], measure: Measure) -> BoardRun:
    return max(runs, key=lambda run: run.values[measure.name])


def _run(run: BoardRun) -> str:
    kind = ("manual " if run.is_manual else "") + ("primary " if run.is_primary else "")
    return rf"{kind}run \emph{{{latex_text(run.tag)}}}"


def _value(run: BoardRun, measure: Measure) -> str:
    return latex_text(f"{run.values[measure.name]:.{DECIMALS}f}")


def _words(count: int, noun: str = "") -> str:
    """Return a number of things: up to ten in words, with the noun if it has one."""
    number = NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"
    return f"{number} {noun}{'s' * (count != 1)}" if noun else number


def _digits(count: int, noun: str) -> str:
    """Return a number of things in digits."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _and(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)

"""Measures: how they are written (as ir_measures writes them) and headed (as the papers print
them), protocol §8.

`nDCG(judged_only=True)@1000` is headed nDCG', `AP(rel=2,judged_only=True)` MAP',
`P(rel=2,judged_only=True)@10` P'@10. A measure that does not say from which label on an item is
relevant takes the task's `relevant_from`, and its full name says it then: a stored score never
depends on a default.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import ir_measures

LONGEST_RUN = 1000
"""The items a topic that the papers' measures look at; a measure cut there bears no cut-off in its
heading.
"""


class MeasureRefusedError(ValueError):
    """A measure that is not written as ir_measures writes it, or that ArqLab does not compute. Its
    text is for people.
    """


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of one task: `name` is its full ir_measures notation, `label` the heading of its
    column in a file.
    """

    name: str
    label: str
    kind: str
    cutoff: int | None = None
    rel: int | None = None
    judged_only: bool = False

    @property
    def heading(self) -> str:
        """Return the heading of its column on a page, with a typeset prime: nDCG′."""
        return self.label.replace("'", "′")


@dataclass(frozen=True, slots=True)
class _Kind:
    """What one kind of measure may say, and how the papers head it."""

    label: str
    example: str
    takes_rel: bool = False
    takes_judged_only: bool = False
    cutoff: str = "may"  # may, must, never


KINDS: dict[str, _Kind] = {
    "nDCG": _Kind("nDCG", "nDCG(judged_only=True)@1000", takes_judged_only=True),
    "AP": _Kind("MAP", "AP(rel=2,judged_only=True)", takes_rel=True, takes_judged_only=True),
    "P": _Kind(
        "P", "P(rel=2,judged_only=True)@10", takes_rel=True, takes_judged_only=True, cutoff="must"
    ),
    "Bpref": _Kind("bpref", "Bpref(rel=2)", takes_rel=True, cutoff="never"),
    "RR": _Kind("MRR", "RR(rel=2)", takes_rel=True, cutoff="never"),
    "Judged": _Kind("judged", "Judged@10", cutoff="must"),
    # Average relevance (ARQMath-3 §6): the label of the one answer. ir_measures has no name for it.
    "AR": _Kind("AR", "AR", cutoff="never"),
}


def parse_measure(text: str, *, relevant_from: int = 2) -> Measure:
    """Read one measure in ir_measures notation.

    `relevant_from` is the lowest relevant label where the text has no `rel`.
    Raises MeasureRefusedError with a sentence that says what to write instead.
    """
    kind, said = _kind_and_parameters(text)
    rules = KINDS[kind]
    try:
        rel = _count(said.pop("rel", relevant_from)) if rules.takes_rel else None
        judged_only = _truth(said.pop("judged_only", False)) if rules.takes_judged_only else False
        cutoff = _cutoff(said.pop("cutoff", None), rules) if rules.cutoff != "never" else None
        if said:
            raise ValueError(", ".join(said))
    except ValueError as error:
        sentence = (
            f"The measure {text!r} is not one that can be computed; write it like {rules.example}."
        )
        raise MeasureRefusedError(sentence) from error
    parts = [f"rel={rel}"] * rules.takes_rel + ["judged_only=True"] * judged_only
    name = (
        kind + (f"({','.join(parts)})" if parts else "") + ("" if cutoff is None else f"@{cutoff}")
    )
    is_whole_run = cutoff is None or (kind in ("nDCG", "AP") and cutoff == LONGEST_RUN)
    label = rules.label + "'" * judged_only + ("" if is_whole_run else f"@{cutoff}")
    return Measure(name, label, kind, cutoff, rel, judged_only)


def parse_measures(texts: Iterable[str], *, relevant_from: int = 2) -> tuple[Measure, ...]:
    """Read the measures of a task, the main one first.

    Raises MeasureRefusedError when one cannot be read or when two would have the same heading.
    """
    measures = tuple(parse_measure(text, relevant_from=relevant_from) for text in texts)
    headed: dict[str, Measure] = {}
    for measure in measures:
        other = headed.setdefault(measure.label, measure)
        if other is not measure:
            raise MeasureRefusedError(
                f"The measures {other.name} and {measure.name} would both be headed {measure.label}; keep one of them."
            )
    return measures


def _kind_and_parameters(text: str) -> tuple[str, dict[str, object]]:
    if text.strip() == "AR":
        return "AR", {}
    try:
        parsed = ir_measures.parse_measure(text)
    except (ValueError, NameError) as error:
        raise MeasureRefusedError(f"The measure {text!r} cannot be read; {_KNOWN}") from error
    if parsed.NAME not in KINDS:
        raise MeasureRefusedError(f"The measure {text!r} is not one that ArqLab computes; {_KNOWN}")
    return str(parsed.NAME), dict(parsed.params)


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(value)
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(value)
    return value


def _cutoff(value: object, rules: _Kind) -> int | None:
    return None if value is None and rules.cutoff == "may" else _count(value)


_KNOWN = "it is written like one of " + ", ".join(kind.example for kind in KINDS.values()) + "."

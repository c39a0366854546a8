"""Names of measures in ir_measures notation, and their headings as in papers (protocol §8).

`nDCG(judged_only=True)@1000` is headed nDCG', `AP(rel=2,judged_only=True)` MAP',
`P(rel=2,judged_only=True)@10` P'@10. A measure without `rel` takes the task's `relevant_from`, and
its full name includes it: a stored score never depends on a default.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import ir_measures
from ir_measures.measures import SumAgg
from ir_measures.providers.base import NOT_PROVIDED

from arqkit.measures.providers import MeasureRefusedError, require_provider

LONGEST_RUN = 1000
"""The depth of the papers' runs: a measure with this cutoff is headed without it."""
LONGEST_NAME = 60
"""Characters of a measure's full name, in the database."""
DECIMALS_READ = 2
"""Decimals of a parameter: trec_eval reads no more of a recall level."""

_PAPERS_NAMES = {"AP": "MAP", "RR": "MRR", "Bpref": "bpref", "Judged": "judged"}
_CUT_KINDS, _WHOLE_KINDS = ("nDCG", "AP", "P"), ("RR", "Bpref")
_EXAMPLES = "nDCG(judged_only=True)@1000, AP(rel=2,judged_only=True), P(rel=2)@10, RR@10 or ERR@20"


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of one task.

    `name` is its full ir_measures notation, `label` its column heading in files.

    `options` is true for parameters other than `rel`, `judged_only` and the cutoff. `is_count` is
    true for a number of items or topics (NumRet), which is summed over topics.
    """

    name: str
    label: str
    kind: str
    cutoff: int | None = None
    rel: int | None = None
    judged_only: bool = False
    options: bool = False
    is_count: bool = False

    @property
    def heading(self) -> str:
        """Return the column heading on pages, with a typeset prime: nDCG′."""
        return self.label.replace("'", "′")

    @property
    def is_columnar(self) -> bool:
        """Return whether `arqkit.measures.columns` computes the measure."""
        if self.kind in _WHOLE_KINDS:
            return not (self.judged_only or self.options or self.cutoff)
        return self.kind in _CUT_KINDS and not self.options

    @property
    def needs_texts(self) -> bool:
        """Return whether the measure compares texts of answers, and not only judged items."""
        return self.kind == "LO"

    @property
    def is_rating(self) -> bool:
        """Return whether the measure rates a run. Judged@k and counts do not."""
        return self.kind != "Judged" and not self.is_count


AVERAGE_RELEVANCE = Measure("AR", "AR", "AR")
"""The mean label of the first answers (ARQMath-3 §6). ir_measures has no name for it."""

LEXICAL_OVERLAP = Measure("LO", "LO", "LO")
"""The token F1 with the best known relevant answer (ARQMath-3 §6.3.2), from the texts."""
_OWN = {measure.name: measure for measure in (AVERAGE_RELEVANCE, LEXICAL_OVERLAP)}


@lru_cache(maxsize=1024)
def parse_measure(text: str, *, relevant_from: int = 2) -> Measure:
    """Read one measure in ir_measures notation.

    `relevant_from` is the lowest relevant label where the text has no `rel`.
    Raises MeasureRefusedError with a message that says what to write or install instead.
    """
    if own := _OWN.get(text.strip()):
        return own
    parsed = _read(text)
    known = parsed.SUPPORTED_PARAMS
    params = {key: value for key, value in parsed.params.items() if value != known[key].default}
    # RBP and NumRet without `rel` use all labels; the others would take ir_measures' own default.
    rel_has_default = "rel" in known and known["rel"].default is not NOT_PROVIDED
    if rel_has_default:
        params["rel"] = parsed.params.get("rel", relevant_from)
    measure = Measure(
        name=str(parsed.NAME) + _parameters(parsed, params),
        label=_label(parsed, params, rel_has_default=rel_has_default),
        kind=str(parsed.NAME),
        cutoff=params.get("cutoff"),
        rel=params.get("rel"),
        judged_only="judged_only" in params,
        options=bool(params.keys() - {"rel", "judged_only", parsed.AT_PARAM}),
        is_count=isinstance(parsed.aggregator(), SumAgg),
    )
    if len(measure.name) > LONGEST_NAME:
        raise MeasureRefusedError(
            f"The measure {measure.name} has {len(measure.name)} characters. "
            f"Use at most {LONGEST_NAME}."
        )
    require_provider(measure.name)
    return measure


def parse_measures(texts: Iterable[str], *, relevant_from: int = 2) -> tuple[Measure, ...]:
    """Read the measures of a task, main measure first.

    Of measures that differ only in `rel`, such as full and partial bpref, the first has its usual
    heading, and the others have `rel` in theirs. Raises MeasureRefusedError if a measure is invalid
    or two would have the same heading.
    """
    headed: dict[str, Measure] = {}
    for text in texts:
        measure = parse_measure(text, relevant_from=relevant_from)
        if (other := headed.get(measure.label)) and other.rel != measure.rel:
            measure = replace(measure, label=_label_with_rel(measure))
        if other := headed.get(measure.label):
            raise MeasureRefusedError(
                f"The measures {other.name} and {measure.name} would have the same heading, "
                f"{measure.label}. Keep one of them."
            )
        headed[measure.label] = measure
    return tuple(headed.values())


def _label_with_rel(measure: Measure) -> str:
    """Return the label with `rel`: P(rel=1)@10 instead of P@10."""
    name, at, cutoff = measure.label.partition("@")
    name = f"{name[:-1]},rel={measure.rel})" if name.endswith(")") else f"{name}(rel={measure.rel})"
    return name + at + cutoff


def _read(text: str) -> ir_measures.Measure:
    try:
        parsed = ir_measures.parse_measure(text)
        parsed.validate_params()  # type: ignore[no-untyped-call]
        for name, value in parsed.params.items():
            _check_value(name, value)
    except (ValueError, NameError, TypeError, AssertionError, RecursionError) as error:
        raise MeasureRefusedError(
            f"Unknown measure {text!r}. Use the notation of ir_measures, such as {_EXAMPLES}."
        ) from error
    return parsed


def _check_value(name: str, value: bool | str | float | dict[object, object]) -> None:
    """Raise ValueError for a value that ir_measures accepts but its providers misread."""
    match value:
        case bool() | str():
            fits = name not in ("cutoff", "rel")
        case int():
            fits = value >= 1
        case float():
            fits = 0 <= value <= (1 if name != "beta" else LONGEST_RUN)
            fits = fits and round(value, DECIMALS_READ) == value
        case _:
            fits = all(
                isinstance(grade, int) and grade >= 0 for pair in value.items() for grade in pair
            )
    if not fits:
        raise ValueError(value)


def _parameters(parsed: ir_measures.Measure, params: Mapping[str, object]) -> str:
    """Write parameters in ir_measures' order: (rel=2,judged_only=True)@10."""
    listed = ",".join(
        f"{key}={parsed._param_repr(params[key])}"  # type: ignore[no-untyped-call]
        for key in parsed.SUPPORTED_PARAMS
        if key in params and key != parsed.AT_PARAM
    )
    at = f"@{params[parsed.AT_PARAM]}" if parsed.AT_PARAM in params else ""
    return (f"({listed})" if listed else "") + at


def _label(
    parsed: ir_measures.Measure, params: Mapping[str, object], *, rel_has_default: bool
) -> str:
    """Return the heading: the name in papers, a prime for judged_only, and no `rel` of the task."""
    hidden = {"judged_only"} | ({"rel"} if rel_has_default else set())
    if parsed.NAME in ("nDCG", "AP") and params.get("cutoff") == LONGEST_RUN:
        hidden.add("cutoff")
    visible = {key: value for key, value in params.items() if key not in hidden}
    kind = str(parsed.NAME)
    name = _PAPERS_NAMES.get(kind, kind) + "'" * ("judged_only" in params)
    return name + _parameters(parsed, visible).replace("'", "")

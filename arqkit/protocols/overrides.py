"""The fields of a protocol that a lab may replace, as it writes them in a file or a form."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial

from arqkit.measures.names import parse_measures
from arqkit.protocols.presets import TaskProtocol
from arqkit.protocols.scales import SCALES, grades_of, read_scale
from arqkit.records import ItemKind

LONGEST_INSTRUCTION = 300
LONGEST_DEFINITION = 500

MOST = 1_000_000_000
"""The highest number of a rule, which every database and measure can hold."""


class OverrideRefusedError(ValueError):
    """Invalid overrides: {field: (what was found, what was expected, what to do)}."""

    def __init__(self, refused: Mapping[str, tuple[str, str, str]]) -> None:
        super().__init__(
            " ".join(
                f"Found {actual}; expected {expected}. {todo}"
                for actual, expected, todo in refused.values()
            )
        )
        self.refused = dict(refused)


def with_overrides(protocol: TaskProtocol, overrides: Mapping[str, object]) -> TaskProtocol:
    """Return the protocol with some fields replaced, as written in a lab file or form.

    A scale given by name sets its lowest relevant label too, unless that is replaced as well. Only
    a scale of sums, given by name, is judged by two assessors. Another scale has no definitions,
    unless they are given too.

    Raises OverrideRefusedError with every unknown field and every invalid value.
    """
    refused: dict[str, tuple[str, str, str]] = {}
    preset = overrides.get("labels")
    read: dict[str, object] = {}
    if isinstance(preset, str) and preset in SCALES:
        read["relevant_from"] = SCALES[preset].relevant_from
    if preset is not None:
        read["grades"] = grades_of(preset)
    for name, value in overrides.items():
        try:
            read[name] = _READERS[name](value)
        except KeyError:
            near = get_close_matches(name, _READERS, n=1)
            refused[name] = (
                f"the field {name}",
                f"one of {', '.join(_READERS)}",
                (f"Did you mean {near[0]}?" if near else "Remove it."),
            )
        except ValueError as error:
            refused[name] = (f"{name} = {value!r:.200}", str(error), "Correct the value.")
    if refused:
        raise OverrideRefusedError(refused)
    changed = replace(protocol, **read)  # type: ignore[arg-type]  # each reader returns its type
    changed = _with_definitions(changed, protocol)
    try:
        # AP(rel=3) and AP are the same measure if labels are relevant from 3.
        parse_measures(changed.measures, relevant_from=changed.relevant_from)
    except ValueError as error:
        actual = f"measures = {list(changed.measures)!r:.200}"
        refusal = {"measures": (actual, str(error), "Correct the value.")}
        raise OverrideRefusedError(refusal) from error
    return changed


def _with_definitions(changed: TaskProtocol, preset: TaskProtocol) -> TaskProtocol:
    """Return a changed protocol without the definitions of the preset's labels if it has others.

    Raises OverrideRefusedError if some judgments have a definition and others have none.
    """
    if changed.labels != preset.labels and changed.definitions == preset.definitions:
        return replace(changed, definitions=())
    judgments = changed.labels.judgments
    if len(changed.definitions) not in (0, len(judgments)):
        actual = f"a list of {len(changed.definitions)}"
        expected = f"a definition of each: {', '.join(label.word for label in judgments)}"
        raise OverrideRefusedError({"definitions": (actual, expected, "Correct the list.")})
    return changed


def whole_number(value: object, *, least: int = 1) -> int:
    """Read a whole number of at least `least`; raise ValueError with the expected value."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST:
        raise ValueError(f"a whole number of at least {least} and at most {MOST:,}")
    return value


def truth(value: object) -> bool:
    """Read true or false; raise ValueError with the expected value."""
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def item_kind(value: object) -> ItemKind:
    """Read the kind of items; raise ValueError with the expected value."""
    return ItemKind(one_of(*(kind.value for kind in ItemKind))(value))


def one_of(*choices: str) -> Callable[[object], str]:
    """Return a reader of one of these texts; it raises ValueError with the expected ones."""

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in choices:
            raise ValueError("one of " + ", ".join(choices))
        return value

    return read


def _measures(value: object) -> tuple[str, ...]:
    if (
        not isinstance(value, list | tuple)
        or not value
        or not all(isinstance(text, str) for text in value)
    ):
        raise ValueError(
            'a list of measures, main measure first, such as ["nDCG(judged_only=True)@1000"]'
        )
    parse_measures(value)
    return tuple(value)


def _instruction(value: object) -> str:
    """Read a line of text; raise ValueError with the expected value."""
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_INSTRUCTION:
        raise ValueError(f"a line of at most {LONGEST_INSTRUCTION} characters")
    return " ".join(value.split())


def _definitions(value: object) -> tuple[str, ...]:
    """Read a list of texts; raise ValueError with the expected value."""
    if not isinstance(value, list | tuple) or not all(
        isinstance(text, str) and 0 < len(text.strip()) <= LONGEST_DEFINITION for text in value
    ):
        raise ValueError(f"a list of texts of at most {LONGEST_DEFINITION} characters")
    return tuple(" ".join(text.split()) for text in value)


_READERS: Mapping[str, Callable[[object], object]] = {
    "limit": whole_number,
    "max_characters": whole_number,
    "quota": whole_number,
    "scored_submissions": whole_number,
    "labels": read_scale,
    "relevant_from": whole_number,
    "min_relevant": partial(whole_number, least=0),
    "order": one_of("score", "rank"),
    "pooling_order": one_of("score", "rank"),
    "measures": _measures,
    "printed": whole_number,
    "instruction": _instruction,
    "definitions": _definitions,
    "tokenizer": one_of("words", "model"),
    "items": item_kind,
    "trec_only": truth,
    "answered_only": truth,
}

OVERRIDABLE = tuple(_READERS)
"""The fields that may be overridden."""

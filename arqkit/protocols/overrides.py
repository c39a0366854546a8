"""Protocol overrides: the fields an organizer may change, and how their values are written.

The names are the fields of TaskProtocol; `arqkit.protocols.scales` reads the labels. Each
invalid value is refused with a message.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial

from arqkit.measures.names import parse_measures
from arqkit.protocols.presets import TaskProtocol
from arqkit.protocols.scales import SCALES, read_scale
from arqkit.records import ItemKind


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

    A scale given by name sets its lowest relevant label too, unless that is replaced as well.

    Raises OverrideRefusedError with every unknown field and every invalid value.
    """
    refused: dict[str, tuple[str, str, str]] = {}
    preset = overrides.get("labels")
    read: dict[str, object] = {}
    if isinstance(preset, str) and preset in SCALES:
        read["relevant_from"] = SCALES[preset].relevant_from
    for name, value in overrides.items():
        try:
            read[name] = _READERS[name](value)
        except KeyError:
            refused[name] = (
                f"the field {name}",
                f"one of {', '.join(_READERS)}",
                _did_you_mean(name),
            )
        except ValueError as error:
            refused[name] = (f"{name} = {value!r:.200}", str(error), "Correct the value.")
    if refused:
        raise OverrideRefusedError(refused)
    changed = replace(protocol, **read)  # type: ignore[arg-type]  # each reader returns its type
    try:
        # AP(rel=3) and AP are the same measure if labels are relevant from 3.
        parse_measures(changed.measures, relevant_from=changed.relevant_from)
    except ValueError as error:
        actual = f"measures = {list(changed.measures)!r:.200}"
        refusal = {"measures": (actual, str(error), "Correct the value.")}
        raise OverrideRefusedError(refusal) from error
    return changed


def whole_number(value: object, *, least: int = 1) -> int:
    """Read a whole number of at least `least`; raise ValueError with the expected value."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"a whole number of at least {least}")
    return value


def truth(value: object) -> bool:
    """Read true or false; raise ValueError with the expected value."""
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def item_kind(value: object) -> ItemKind:
    """Read the kind of items; raise ValueError with the expected value."""
    return ItemKind(_one_of(*(kind.value for kind in ItemKind))(value))


def _one_of(*choices: str) -> Callable[[object], str]:
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


def _did_you_mean(name: str) -> str:
    near = get_close_matches(name, _READERS, n=1)
    return f"Did you mean {near[0]}?" if near else "Remove it."


_READERS: Mapping[str, Callable[[object], object]] = {
    "limit": whole_number,
    "max_characters": whole_number,
    "quota": whole_number,
    "scored_submissions": whole_number,
    "labels": read_scale,
    "relevant_from": whole_number,
    "min_relevant": partial(whole_number, least=0),
    "order": _one_of("score", "rank"),
    "pooling_order": _one_of("score", "rank"),
    "measures": _measures,
    "items": item_kind,
    "trec_only": truth,
    "answered_only": truth,
}

OVERRIDABLE = tuple(_READERS)
"""The fields that may be overridden."""

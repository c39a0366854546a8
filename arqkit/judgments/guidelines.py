"""Default guidelines for assessors: the labels of protocol §6 with examples, by kind of task.

The definitions come from the labs (000 Table 4, 004 Table 2, and their sections on assessment); the
examples are our own. The texts (`guidelines.toml`) are HTML with LaTeX between dollar signs, like
posts.
"""

from collections.abc import Mapping
from html import escape
from types import MappingProxyType

from arqkit.data_files import data_beside
from arqkit.labels import LabelScale, ScaleLabel
from arqkit.protocols.scales import ARQMATH, DO_NOT_KNOW, SYSTEM_FAILURE
from arqkit.records import TaskKind

_TEXTS: Mapping[str, str] = MappingProxyType(data_beside(__file__, "guidelines.toml"))
_REPORTS: Mapping[ScaleLabel, str] = MappingProxyType(
    {SYSTEM_FAILURE: _TEXTS["system_failure"], DO_NOT_KNOW: _TEXTS["do_not_know"]}
)


def default_guideline(
    kind: TaskKind, protocol_slug: str, *, scale: LabelScale, relevant_from: int
) -> str:
    """Return the default guidelines for a kind of task under a protocol, as HTML with LaTeX.

    The labels of ARQMath have definitions and examples; those of another scale are only listed. In
    ARQMath-1 every exact match of the query formula was relevant; since ARQMath-2 the context
    decides (004 §5.6). ARQMath-3 mixes Task 3's generated answers into Task 1's pool, where labels
    that are not judgments count as 0 for them (004 §6.3.1).
    """
    if kind == TaskKind.DOCUMENTS:
        reports = _reports(
            scale, _TEXTS["unjudged"], {**_REPORTS, DO_NOT_KNOW: _TEXTS["no_threads"]}
        )
        return (
            _TEXTS["documents"] + _table(scale, relevant_from) + _TEXTS["document_rules"] + reports
        )
    is_known = scale.judgments == ARQMATH.judgments
    table = "" if is_known else _table(scale, relevant_from)
    if kind == TaskKind.FORMULAS:
        same = _TEXTS["always_high"] if protocol_slug == "arqmath-1" else _TEXTS["by_context"]
        labels = table or _TEXTS["formula_labels"] + same
        return (
            _TEXTS["formulas"] + labels + _TEXTS["instances"] + _reports(scale, _TEXTS["unjudged"])
        )
    answers = _TEXTS["answers"] + (table or _TEXTS["answer_labels"]) + _TEXTS["answer_rules"]
    if kind == TaskKind.GENERATED_ANSWERS:
        return answers + _TEXTS["written"] + _reports(scale, _TEXTS["as_zero"])
    if protocol_slug == "arqmath-3":
        return answers + _TEXTS["written_too"] + _reports(scale, _TEXTS["mixed"])
    return answers + _reports(scale, _TEXTS["unjudged"])


def _table(scale: LabelScale, relevant_from: int) -> str:
    rows = "".join(
        f"<tr><td>{label.value}</td><td><strong>{escape(label.word)}</strong></td>"
        f"<td>{'relevant' if label.value >= relevant_from else 'not relevant'}</td></tr>\n"
        for label in scale.judgments
    )
    head = "<thead><tr><th>Score</th><th>Label</th><th>Counts as</th></tr></thead>"
    return f"<table>\n{head}\n<tbody>\n{rows}</tbody>\n</table>\n"


def _reports(scale: LabelScale, counts: str, reasons: Mapping[ScaleLabel, str] = _REPORTS) -> str:
    """Return when to choose the labels that are not judgments, and how the item then counts."""
    if not scale.reports:
        return _TEXTS["alike"]
    unknown = _TEXTS["cannot_judge"]
    lines = "".join(
        f"<li><strong>{escape(label.word)}</strong>: {reasons.get(label, unknown)}</li>\n"
        for label in scale.reports
    )
    head = "<h3>When you cannot judge</h3>"
    return (
        f"{head}\n<ul>\n{lines}</ul>\n<p>{_TEXTS['to_organizers']} {counts}</p>\n{_TEXTS['alike']}"
    )

"""Read the keys of a task in a `lab.toml` that are for its assessors."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from arqkit.formats.labs.tables import LabTable
from arqkit.formats.source_text import source_text
from arqkit.labels import LabelScale

ACTIONS = ("wait", "expert", "another")
"""What can happen with a reported item, as policies of tickets name it."""
LONGEST_GUIDELINES = 50_000  # characters


@dataclass(frozen=True)
class JudgingRules:
    """The guidelines of a task (HTML, or None), and its policy of tickets.

    `actions` has an action for some labels that are not judgments, by their values as text;
    `expert` is the email address or user name of the one who gets tickets, or an empty text.
    """

    guidelines: str | None = None
    actions: Mapping[str, str] = field(default_factory=dict)
    expert: str = ""
    expert_closes: bool = False


NO_RULES = JudgingRules()


def take_judging_rules(table: LabTable, scale: LabelScale | None) -> JudgingRules:
    """Return the rules of a task; `scale` has its labels, or None if they are unknown."""
    file = table.file("guidelines", required=False)
    text = None
    if file is not None:
        text = table.content(file, lambda data, path: source_text(data, path=path))
    if text is not None and not 0 < len(text.strip()) <= LONGEST_GUIDELINES:
        expected = f"a text of at most {LONGEST_GUIDELINES:,} characters"
        table.mistake("guidelines", "a text that is empty or too long", expected, "Edit the file.")
    policy = table.table("ticket_policy", required=False)
    if policy is None:
        return JudgingRules(text)
    expert = policy.take("expert", _person, "") or ""
    closes = policy.take("expert_closes", _truth, default=False) or False
    reports = [] if scale is None else [str(label.value) for label in scale.reports]
    actions = {
        label: action
        for label in reports
        if (action := policy.take(label, _action, None)) is not None
    }
    if scale is not None:
        policy.close()
    if "expert" in actions.values() and not expert:
        found, todo = "no expert", "Name the user who gets these tickets."
        policy.mistake(None, found, "the key expert beside the action expert", todo)
    return JudgingRules(text, actions, expert, closes)


def _action(value: object) -> str:
    if not isinstance(value, str) or value not in ACTIONS:
        raise ValueError("one of " + ", ".join(ACTIONS))
    return value


def _person(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("an email address or a user name")
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value

"""Chips, table cells and marks of the judging pages."""

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from arqkit.judgments.assignment_plan import AssignmentPlan, PlanTopic, Preference
from arqlab.core.models import Lab
from arqlab.labs.forms.topics import topic_words
from arqlab.labs.selectors import corrections_of
from assessment.assignments.selectors.planning import TaskPlanning
from assessment.assignments.views.progress import topic_chip
from assessment.judging.services.judged_list import QuotedMark, quoted_marks
from assessment.models import Judgment, TopicBid

register = template.Library()
BID_LETTERS = {Preference.GLADLY: "G", Preference.IF_NEEDED: "I", Preference.NO: "N"}
BID_WORDS = {Preference(choice.value): choice.label.lower() for choice in TopicBid.Choice}


register.filter("topic_chip", topic_chip)
register.filter("topic_words", topic_words)


@register.filter("quoted_marks")
def marks_of(judgment: Judgment | None, lab: Lab | None = None) -> list[QuotedMark]:
    """Return the marks of a judgment as quotes, with the corrections of its lab.

    Takes two queries, or none if the judgment has no marks.
    """
    if judgment is None or not judgment.marks:
        return []
    corrected = corrections_of(lab).formulas if lab else None
    return quoted_marks([judgment], corrected)[judgment.pk]


@register.simple_tag
def plan_options(planning: TaskPlanning, topic: PlanTopic, assessors: dict[str, str]) -> SafeString:
    """Return the options of an assessor for a topic, each with their choice."""
    rows = ((str(row.person.pk), row) for row in planning.people)
    return format_html_join(
        "",
        '<option value="{}"{}>{}{}</option>',
        (
            (
                key,
                SafeString(" selected" if assessors.get(topic.name) == key else ""),
                row.person.name,
                f" ({BID_WORDS[bid]})" if (bid := row.bids.get(topic.name)) else "",
            )
            for key, row in rows
            if key not in topic.assessors
        ),
    )


@register.simple_tag
def bid_cells(planning: TaskPlanning, topic: PlanTopic, plan: AssignmentPlan) -> SafeString:
    """Return the cells of a topic's row: each assessor's choice, and their part in the plan.

    They do not use a template because a large lab has a thousand cells, which would take a second.
    """
    return format_html_join(
        "",
        '<td class="bid-cell bid-{}{}" data-person="{}" title="{}: {}">{}</td>',
        (
            (
                bid or "none",
                _part(key, topic, plan),
                key,
                row.person.name,
                BID_WORDS[bid] if bid else "no mark",
                BID_LETTERS[bid] if bid else "·",
            )
            for row in planning.people
            for key, bid in [(str(row.person.pk), row.bids.get(topic.name))]
        ),
    )


def _part(key: str, topic: PlanTopic, plan: AssignmentPlan) -> str:
    """Return the class of an assessor who judges a topic first or second."""
    if key in topic.assessors or plan.first.get(topic.name) == key:
        return " is-first"
    return " is-second" if plan.second.get(topic.name) == key else ""

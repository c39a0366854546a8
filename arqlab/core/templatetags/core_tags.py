"""Filters for the pages of all apps; those that tables need too are in `arqlab/web/cells.py`."""

from django import template
from django.conf import settings

from arqkit.formats.runs.formats import Layout, taken_formats
from arqkit.formats.runs.report import RunRules
from arqkit.records import TaskKind
from arqlab.core.models import Task
from arqlab.web import cells

register = template.Library()


@register.simple_tag
def sends_mail() -> bool:
    """Return whether this server sends email."""
    return bool(settings.SENDS_MAIL)


for name in (
    "chip",
    "day",
    "deadline",
    "duration",
    "erratum_mark",
    "label",
    "measure",
    "moment",
    "p_value",
    "run_name",
    "score",
    "signed",
    "standing_chip",
    "team_name",
):
    register.filter(name, getattr(cells, name))


@register.filter("words")
def words_of_field(slug: str) -> str:
    """Format a key as words: `multi_part` becomes Multi part."""
    return slug.replace("_", " ").replace("-", " ").strip().capitalize()


@register.filter
def value(facts: dict[str, object], name: str) -> object:
    """Return a value by its key, or an empty string."""
    return facts.get(name, "")


@register.filter
def run_formats(task: Task) -> list[Layout]:
    """Return the formats of run files that a task takes."""
    return taken_formats(RunRules(TaskKind(task.kind), trec_only=task.protocol.trec_only))

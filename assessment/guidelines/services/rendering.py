"""Guidelines as HTML: their text, examples and cases, and the changes between versions."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from lxml.html.diff import htmldiff

from arqkit.labels import LabelScale, ScaleLabel
from arqkit.texts.html.foreign import plain_html
from arqkit.texts.html.rendering import PostText, SafeHtml, compose, keys_of, read_text
from arqkit.texts.html.sanitizer import clean_post
from arqlab.core.models import Task
from arqlab.labs.services.formulas import typeset_formulas
from assessment.guidelines.selectors.versions import (
    entries_of,
    guideline_source,
    version_numbered,
    version_of,
)
from assessment.models import Guideline, GuidelineEntry
from assessment.qrels.selectors.drafts import task_scale

_FORMULA = re.compile(r'<span class="math-container" id="[^"]*">([^<]*)</span>')
# A formula is one word of the comparison: its number between private characters.
_WORD = "\ue000{}\ue001"
# Between cells, the sanitizer would make a cell of an empty mark.
_EMPTY = re.compile(r"<(ins|del)>\s*</\1>")
_ADDED, _REMOVED = (re.compile(f"<{tag}>.*?</{tag}>", re.DOTALL) for tag in ("ins", "del"))
_WORDS = re.compile("\ue000([0-9]+)\ue001")


class ShownEntry(NamedTuple):
    """An example or a case with its label and its typeset texts."""

    entry: GuidelineEntry
    label: ScaleLabel | None
    is_new: bool
    topic_html: SafeHtml
    question_html: SafeHtml
    decision_html: SafeHtml
    reason_html: SafeHtml
    item_html: SafeHtml


class ShownGuideline(NamedTuple):
    """A version of the guidelines for a page: its text, examples by label, and newest cases first.

    `is_text_new` is True if the text marks the changes since the version the reader followed.
    """

    html: SafeHtml
    is_text_new: bool
    examples: list[ShownEntry]
    cases: list[ShownEntry]


def show_guideline(
    task: Task, guideline: Guideline | None, *, followed: int | None = None
) -> ShownGuideline:
    """Return a version, or the default text, with what is new since the version `followed`."""
    version, scale = version_of(guideline), task_scale(task)
    text = guideline_source(task, guideline, scale)
    stored = entries_of(task, version) if version else ()
    entries = shown_entries(stored, scale=scale, followed=followed)
    examples = [row for row in entries if row.entry.kind == GuidelineEntry.Kind.EXAMPLE]
    places = {label: place for place, label in enumerate(scale)}
    examples.sort(key=lambda row: places.get(row.label, len(places)) if row.label else -1)
    cases = [row for row in entries if row.entry.kind == GuidelineEntry.Kind.CASE]
    html, is_text_new = guideline_html(text), False
    if followed is not None and followed < version:
        before = guideline_source(task, version_numbered(task, followed), scale)
        marked = changed_html(before, text) if before != text else None
        html, is_text_new = marked or html, marked is not None
    return ShownGuideline(html, is_text_new, examples, cases[::-1])


def clean_guideline(text: str) -> str:
    """Return guidelines as HTML that is safe to open, with their formulas in LaTeX."""
    return clean_post(text, prefix="guideline").html


def guideline_html(text: str) -> SafeHtml:
    """Return guidelines as HTML, sanitized and typeset like posts, with headings from h3."""
    read = read_text(clean_guideline(text))
    return compose(read, formulas=typeset_formulas(keys_of([read])), top=3)


def changed_html(before: str, after: str) -> SafeHtml | None:
    """Return a version with marks of what changed; None if they were wrong, as in rare tables."""
    formulas: dict[str, int] = {}

    def without_formulas(text: str) -> str:
        bare = re.sub("[\ue000\ue001]", "", text)
        return _FORMULA.sub(
            lambda match: _WORD.format(formulas.setdefault(match[1], len(formulas))),
            clean_guideline(bare),
        )

    old, new = without_formulas(before), without_formulas(after)
    changed = _EMPTY.sub("", str(htmldiff(old, new)))
    unmarked = [_words(marked.sub("", changed)) for marked in (_ADDED, _REMOVED)]
    if unmarked != [_words(old), _words(new)]:
        return None
    latex = list(formulas)
    return guideline_html(
        _WORDS.sub(
            lambda match: f'<span class="math-container">{latex[int(match[1])]}</span>', changed
        )
    )


def _words(html: str) -> str:
    return "".join(re.sub("<[^>]*>", "", html).split())


def shown_entries(
    entries: Iterable[GuidelineEntry], *, scale: LabelScale, followed: int | None = None
) -> list[ShownEntry]:
    """Return entries for a page, typeset in one query; those after `followed` are new."""
    read = [(entry, _texts(entry)) for entry in entries]
    formulas = typeset_formulas(keys_of(text for _, texts in read for text in texts))
    return [
        ShownEntry(
            entry,
            None if entry.label is None else scale.of(entry.label),
            followed is not None and entry.since > followed,
            *(
                # Only the judged formula has no id.
                compose(text, formulas=formulas, highlight=frozenset({""}), top=5)
                if entry.formula_id
                else compose(text, formulas=formulas, top=5)
                for text in texts
            ),
        )
        for entry, texts in read
    ]


def _texts(entry: GuidelineEntry) -> list[PostText]:
    """Return the texts of an entry in the order of `ShownEntry`."""
    written = [
        read_text(plain_html(text, prefix="entry") if text else "")
        for text in (entry.question, entry.decision, entry.reason)
    ]
    item = _without_id(read_text(entry.item_html), entry.formula_id)
    return [read_text(entry.topic_html), *written, item]


def _without_id(text: PostText, formula_id: str) -> PostText:
    """Return a text without the id of its judged formula, or, without one, without any ids."""
    formulas = (
        formula._replace(formula_id="") if formula_id in ("", formula.formula_id) else formula
        for formula in text.formulas
    )
    return text._replace(formulas=tuple(formulas))

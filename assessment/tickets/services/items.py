"""The item of a ticket: as the assessor saw it, as the lab shows it, and its repairs."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from django.db import models, transaction
from django.db.models import Q, QuerySet

from arqkit.texts.html.foreign import read_shown
from arqkit.texts.html.rendering import (
    Key,
    PostText,
    SafeHtml,
    compose,
    formula_html,
    keys_of,
    read_text,
)
from arqkit.texts.html.sanitizer import clean_post
from arqkit.texts.maths.macros import Definitions
from arqkit.texts.maths.typesetting import Typeset
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Correction, Corrections, Lab, User
from arqlab.labs.selectors import corrections_of
from arqlab.labs.services.corrections import require_shown, save_correction
from arqlab.labs.services.formulas import store_formulas, typeset_again, typeset_formulas
from arqlab.labs.services.topic_pages import renew_topics, topic_texts
from assessment.models import PoolInstance, PoolItem, Ticket
from assessment.pools.services.texts import body_of
from collection.models import NEVER_CLEANED, Collection, Post
from collection.selectors.collections import collection_of
from collection.selectors.threads import corrected_post, find_posts, find_thread, posts_of
from collection.services.cleaning import clean_post_again, cleaned_again
from collection.services.rendering import render_thread


class FormulaRow(NamedTuple):
    """A formula of an item in a list: its place, its source, and its HTML if it `is_typeset`."""

    number: int
    latex: str
    html: SafeHtml
    is_typeset: bool


class TicketItem(NamedTuple):
    """The instance of a ticket with its post, if the collection has it, and its texts.

    `shown_post` has the lab's text, if the lab corrected it. `question` has the texts of the topic,
    which the judging page shows beside the item. `formulas` are in the order of all texts.
    """

    instance: PoolInstance
    post: Post | None
    shown_post: Post | None
    title: PostText
    body: PostText
    question: tuple[PostText, ...]
    formulas: dict[Key, Typeset]

    @property
    def key(self) -> str:
        """Return the key of a correction of the text: the id of the post or generated answer."""
        return self.instance.post_id or self.instance.doc_id

    @property
    def has_formula(self) -> bool:
        """Return whether the formula to judge is in the text, or no formula is judged."""
        return not self.is_formula or any(
            formula.formula_id == self.instance.doc_id
            for text in (self.title, self.body)
            for formula in text.formulas
        )

    @property
    def is_formula(self) -> bool:
        """Return whether a formula is judged."""
        return bool(self.instance.item.kind == PoolItem.Kind.VISUAL_IDS)

    @property
    def formula_rows(self) -> list[FormulaRow]:
        """Return the formulas in their order, numbered from 0."""
        return [
            FormulaRow(
                number, formula.latex, formula_html(key, formula), formula.mathml is not None
            )
            for number, (key, formula) in enumerate(self.formulas.items())
        ]

    @property
    def html(self) -> SafeHtml:
        """Return title and text as the judging page shows them, without links."""
        marked = frozenset([self.instance.doc_id] if self.is_formula else [])
        return self._composed((self.title, self.body), marked)

    @property
    def question_html(self) -> SafeHtml:
        """Return title, question and query formula of the topic, without links."""
        return self._composed(self.question, frozenset())

    def is_of_topic(self, latex: str) -> bool:
        """Return whether only the topic has a formula, and the item does not."""
        return latex not in {key[0] for key in keys_of([self.title, self.body])}

    def _composed(self, texts: tuple[PostText, ...], marked: frozenset[str]) -> SafeHtml:
        title, *rest = (compose(text, formulas=self.formulas, highlight=marked) for text in texts)
        heading = f'<h3 class="post-title">{title}</h3>' if title else ""
        return SafeHtml(heading + "".join(rest))


def shown_html(ticket: Ticket) -> SafeHtml:
    """Return the item as the assessor saw it then, sanitized because a browser sent the HTML."""
    snapshot = read_shown(ticket.html)
    read = read_text(clean_post(snapshot.html, prefix=f"ticket{ticket.pk}").html)
    corrected = corrections_of(ticket.lab, until=ticket.raised_at).formulas
    return compose(
        read, formulas=typeset_formulas(keys_of([read]), corrected), highlight=snapshot.highlighted
    )


def read_ticket_item(
    ticket: Ticket, corrections: Corrections, *, is_cleaned: bool = False
) -> TicketItem:
    """Return the item with these corrections, and perhaps with its text sanitized again."""
    instance = ticket.judgment.instance
    post = posts_of(ticket.lab, [instance.post_id]).get(instance.post_id)
    if post and is_cleaned:
        post.rules = NEVER_CLEANED
    shown_post = corrected_post(post, instance.post_id or instance.doc_id, corrections)
    definitions = Definitions()
    title = read_text(shown_post.safe_title if shown_post and shown_post.title else "", definitions)
    body = read_text(body_of(instance.item, shown_post), definitions)
    question = topic_texts(instance.item.topic)
    keys = keys_of([title, body, *question])
    typeset = typeset_formulas(keys, corrections.formulas)
    formulas = {key: typeset[key] for key in keys}
    return TicketItem(instance, post, shown_post, title, body, question, formulas)


class RepairKind(models.TextChoices):
    """What can be repaired. The first three are corrections of the lab."""

    FORMULA = "formula", "Correct formula"
    TEXT = "text", "Correct text"
    THREAD = "thread", "Assign question"
    TYPESET = "typeset", "Typeset again"
    SANITIZE = "sanitize", "Sanitize again"

    @property
    def is_correction(self) -> bool:
        """Return whether the repair is a correction of the lab, which can be undone."""
        return self.value in Correction.Kind.values


class RepairDraft(NamedTuple):
    """A repair before it is saved: the key and value of a correction, blank for other repairs."""

    kind: RepairKind
    key: str = ""
    value: str = ""


class FoundDefect(NamedTuple):
    """A defect of an item, and the repair that it needs. `number` is the place of its formula."""

    kind: RepairKind
    reason: str
    number: int | None = None
    latex: str = ""


def defects_of(item: TicketItem, lab: Lab) -> Iterator[FoundDefect]:
    """Yield what is broken in an item, as far as a program can see it."""
    if item.shown_post is None and not item.instance.item.text:
        yield FoundDefect(RepairKind.TEXT, "The collection does not have the text of this item.")
    elif not item.has_formula:
        yield FoundDefect(RepairKind.TEXT, "The formula to judge is not in the text.")
    again = typeset_again(item.formulas)
    if again:
        yield FoundDefect(
            RepairKind.TYPESET, f"Formulas that failed before can be typeset now: {len(again)}."
        )
    for number, (key, formula) in enumerate(item.formulas.items()):
        if formula.mathml is None and key not in again:
            of = " of the topic" if item.is_of_topic(key[0]) else ""
            reason = f"This formula{of} cannot be typeset."
            yield FoundDefect(RepairKind.FORMULA, reason, number, formula.latex)
    if item.post and cleaned_again(item.post):
        yield FoundDefect(
            RepairKind.SANITIZE, "The stored text differs from what the sanitizer makes of it now."
        )
    yield from _lost_question(item.post, lab)


def _lost_question(post: Post | None, lab: Lab) -> Iterator[FoundDefect]:
    if post and post.kind == Post.Kind.ANSWER:
        question = corrections_of(lab).threads.get(post.post_id, post.thread_id)
        if not _has_question(post.collection_id, question):
            reason = "The collection does not have the question of this answer."
            yield FoundDefect(RepairKind.THREAD, reason)


def corrections_in(item: TicketItem, lab: Lab) -> QuerySet[Correction]:
    """Return the lab's corrections that the item shows."""
    kinds = Correction.Kind
    of_item = Q(kind__in=[kinds.TEXT, kinds.THREAD], key=item.key)
    formulas = Q(kind=kinds.FORMULA, key__in=[latex for latex, _ in item.formulas])
    return Correction.objects.filter(of_item | formulas, lab=lab).select_related("made_by")


def started_draft(item: TicketItem, kind: RepairKind, number: int | None, lab: Lab) -> RepairDraft:
    """Return the repair with what the lab shows now. Raise `UserError` if it does not apply."""
    corrections = corrections_of(lab)
    if kind == RepairKind.FORMULA:
        if number is None or not 0 <= number < len(item.formulas):
            raise UserError("Choose a formula of the item.", code="no-formula")
        key = list(item.formulas)[number][0]
        return RepairDraft(kind, key, corrections.formulas.get(key, key))
    if kind == RepairKind.TEXT:
        return RepairDraft(kind, item.key, corrections.texts.get(item.key, item.body.html))
    if kind == RepairKind.THREAD:
        _require_answer(item)
        return RepairDraft(kind, item.key, corrections.threads.get(item.key, ""))
    return RepairDraft(kind)


def previews(ticket: Ticket, draft: RepairDraft) -> tuple[SafeHtml | str, SafeHtml | str]:
    """Return what the lab shows before and after a repair; raise `UserError` if it cannot be."""
    lab, now = ticket.lab, corrections_of(ticket.lab)
    item = read_ticket_item(ticket, now)
    _require_repairable(item, draft, lab)
    after, field = now, f"{draft.kind.value}s"
    if draft.kind.is_correction:
        after = now._replace(**{field: {**getattr(now, field), draft.key: draft.value}})
    if draft.kind == RepairKind.THREAD:
        return _question_html(item, lab, now), _question_html(item, lab, after)
    if draft.kind == RepairKind.SANITIZE:
        return item.html, read_ticket_item(ticket, now, is_cleaned=True).html
    if draft.kind == RepairKind.TYPESET:
        again = typeset_again(item.formulas)
        is_of_topic = bool(again) and all(item.is_of_topic(latex) for latex, _ in again)
        repaired = item._replace(formulas=item.formulas | again)
    else:
        is_of_topic = draft.kind == RepairKind.FORMULA and item.is_of_topic(draft.key)
        repaired = read_ticket_item(ticket, after)
    if is_of_topic:
        return item.question_html, repaired.question_html
    return item.html, repaired.html


@transaction.atomic
def repair_item(*, ticket: Ticket, draft: RepairDraft, at: datetime, by: User) -> None:
    """Repair the item of a ticket. Raise `UserError` if it cannot be repaired like this."""
    lab = ticket.lab
    item = read_ticket_item(ticket, corrections_of(lab))
    _require_repairable(item, draft, lab)
    if draft.kind.is_correction:
        save_correction(
            lab=lab, kind=draft.kind.value, key=draft.key, value=draft.value, at=at, by=by
        )
        return
    if draft.kind == RepairKind.TYPESET:
        again = typeset_again(item.formulas)
        store_formulas(again)
        for latex, _ in again:
            renew_topics(lab, latex)
    elif item.post:
        clean_post_again(item.post)
    record_event("item.repair", f"{ticket}, {item.key}", by, lab=lab, kind=draft.kind.value)


def _require_repairable(item: TicketItem, draft: RepairDraft, lab: Lab) -> None:
    if draft.kind.is_correction:
        require_shown(draft.kind.value, draft.value)
    if draft.kind == RepairKind.THREAD:
        _require_answer(item)
        collection = collection_of(lab)
        if not collection or not _has_question(collection, draft.value):
            raise UserError(
                f"The collection has no question {draft.value}. Use the id of a question.",
                code="no-question",
            )
    if draft.kind == RepairKind.SANITIZE and item.post is None:
        raise UserError("The collection does not have this post.", code="no-post")


def _require_answer(item: TicketItem) -> None:
    if item.post is None or item.post.kind != Post.Kind.ANSWER:
        raise UserError(
            "Only an answer of the collection has a question. Correct the text instead.",
            code="no-answer",
        )


def _has_question(collection: Collection | int, post_id: str) -> bool:
    post = find_posts(collection, [post_id]).get(post_id)
    return post is not None and post.kind == Post.Kind.QUESTION


def _question_html(item: TicketItem, lab: Lab, corrections: Corrections) -> SafeHtml | str:
    collection = collection_of(lab)
    thread = find_thread(collection, item.key, corrections) if collection else None
    question = render_thread(thread, lab=lab).question if thread else None
    if question is None:
        return ""
    return SafeHtml(f'<h3 class="post-title">{question.title_html}</h3>{question.body_html}')

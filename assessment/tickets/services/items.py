"""The item of a ticket: as the assessor saw it, as the lab shows it, and with a repair."""

from __future__ import annotations

from typing import NamedTuple

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
from arqlab.core.models import Corrections
from arqlab.core.selectors import corrections_of
from arqlab.core.services.formulas import typeset_formulas
from arqlab.core.services.topic_pages import topic_texts
from assessment.models import PoolInstance, PoolItem, Ticket
from assessment.pools.services.texts import body_of
from collection.models import NEVER_CLEANED, Post
from collection.selectors.threads import corrected_post, posts_of


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
    def formula_rows(self) -> list[tuple[str, SafeHtml, bool]]:
        """Return the LaTeX of the formulas, their HTML, and whether they could be typeset."""
        return [
            (formula.latex, formula_html(key, formula), formula.mathml is not None)
            for key, formula in self.formulas.items()
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
    """Return the item as the assessor saw it, sanitized again because a browser sent the HTML.

    Its formulas are corrected as they were then.
    """
    snapshot = read_shown(ticket.html)
    read = read_text(clean_post(snapshot.html, prefix=f"ticket{ticket.pk}").html)
    corrected = corrections_of(ticket.lab, until=ticket.raised_at).formulas
    return compose(
        read, formulas=typeset_formulas(keys_of([read]), corrected), highlight=snapshot.highlighted
    )


def read_ticket_item(
    ticket: Ticket, corrections: Corrections, *, is_cleaned: bool = False
) -> TicketItem:
    """Return the item as the lab shows it with these corrections.

    With `is_cleaned`, the text of the collection is sanitized by the current rules first.
    """
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

"""Items as the judging page shows them, without runs, teams, ranks, scores or labels of others.

Answer posts and generated answers look the same, because both can be in one pool: nothing that an
assessor gets has the kind of an answer, its id, or the ids of its formulas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from arqkit.texts.html.rendering import (
    Key,
    PostText,
    addresses_of,
    compose,
    keys_of,
    one_formula,
    read_text,
)
from arqkit.texts.maths.macros import Definitions
from arqkit.texts.maths.typesetting import Typeset
from arqlab.core.models import Corrections
from arqlab.core.selectors import corrections_of
from arqlab.core.services.formulas import typeset_formulas
from assessment.judging.selectors.items import ShownInstance, ShownItem
from assessment.judging.selectors.places import NOTHING_ASKED, AskedQuestions
from assessment.judging.services.leases import Taken
from assessment.judging.services.stored_labels import SavedLabel
from assessment.models import Judgment, PoolItem
from assessment.pools.services.texts import body_of, thread_url
from collection.models import Post
from collection.selectors.threads import corrected_post
from collection.services.addresses import local_pages

NOT_HELD = (
    '<p class="notice">The text of this item is missing, so it cannot be judged. '
    "Report it to the organizers with a label that is not a judgment; the others are off.</p>"
)
NOT_FOUND = (
    '<p class="notice">The formula to judge was not found in this post, so none is highlighted. '
    "Report it to the organizers with a label that is not a judgment.</p>"
)


class _Read(NamedTuple):
    """The texts of an instance before their formulas are typeset."""

    instance: ShownInstance
    title: PostText
    body: PostText

    @property
    def formulas(self) -> dict[str, str]:
        """Return the LaTeX of the formulas by id."""
        return {
            formula.formula_id: formula.latex
            for text in (self.title, self.body)
            for formula in text.formulas
        }


class _Page(NamedTuple):
    """The data from which the texts of an item are composed."""

    item: PoolItem
    lab_slug: str
    formulas: Mapping[Key, Typeset]
    links: Mapping[str, str]
    has_threads: bool
    asked: AskedQuestions


def item_payload(
    found: Taken, *, lab_slug: str, opens_lab: bool = True, asked: AskedQuestions = NOTHING_ASKED
) -> dict[str, Any]:
    """Return an item with its instances as JSON values, without links if it opens no page of
    the lab.

    Takes one query for the formulas, and one more each if texts link to posts or comments, or if
    the lab has corrections.
    """
    item = found.shown.item
    corrections = corrections_of(lab_slug) if found.shown.is_corrected else Corrections()
    read = [_read(item, _corrected(each, corrections)) for each in found.shown.instances]
    candidate = one_formula(_judged_latex(item, read), Definitions())
    texts = [candidate, *(text for each in read for text in (each.title, each.body))]
    formulas = typeset_formulas(keys_of(texts), corrections.formulas)
    links = _links(read, lab_slug) if opens_lab else {}
    has_threads = opens_lab and not found.shown.hides_threads
    page = _Page(item, lab_slug, formulas, links, has_threads, asked)
    return {
        "item": item.pk,
        "kind": item.kind if _is_formula(item) else PoolItem.Kind.ANSWERS,
        "position": item.position,
        "state": _state(found.shown),
        "lease": found.lease.token,
        "until": found.lease.until,
        "formula_html": compose(candidate, formulas=page.formulas),
        "instances": [_instance(each, post, page) for post in _posts(read) for each in post],
    }


def saved_payload(saved: SavedLabel) -> dict[str, Any]:
    """Return a stored label as JSON values."""
    judgment = saved.judgment
    return {
        "instance": judgment.instance_id,
        "judgment": judgment.pk,
        "key": str(judgment.key),
        "label": judgment.label,
        "counts": saved.counts,
        "message": saved.message,
        "judged_at": judgment.judged_at,
    }


def listed_judgment(judgment: Judgment) -> dict[str, Any]:
    """Return a judgment of the assessor's own list as JSON values."""
    instance, item = judgment.instance, judgment.instance.item
    return {
        **judgment_payload(judgment),
        "item": item.pk,
        "instance": instance.pk,
        "position": item.position,
    }


def judgment_payload(judgment: Judgment) -> dict[str, Any]:
    """Return an assessor's own judgment as JSON values."""
    return {
        "judgment": judgment.pk,
        "label": judgment.label,
        "comment": judgment.comment,
        "marks": judgment.marks,
        "judged_at": judgment.judged_at,
    }


def _is_formula(item: PoolItem) -> bool:
    return item.kind == PoolItem.Kind.VISUAL_IDS


def _state(shown: ShownItem) -> str:
    if shown.is_done:
        return "done"
    return "skipped" if shown.is_skipped else "waiting"


def _corrected(instance: ShownInstance, corrections: Corrections) -> ShownInstance:
    post = corrected_post(instance.post, instance.post_id or instance.doc_id, corrections)
    return instance._replace(post=post)


def _read(item: PoolItem, instance: ShownInstance) -> _Read:
    definitions, post = Definitions(), instance.post
    title = post.safe_title if post and post.kind != Post.Kind.ANSWER else ""
    texts = (read_text(title, definitions), read_text(body_of(item, post), definitions))
    return _Read(instance, *(texts if _is_formula(item) else map(_without_ids, texts)))


def _without_ids(text: PostText) -> PostText:
    return text._replace(
        formulas=tuple(formula._replace(formula_id="") for formula in text.formulas)
    )


def _judged_latex(item: PoolItem, read: list[_Read]) -> str:
    """Return the LaTeX of the judged formula from the first post that has it, or an empty text."""
    if not _is_formula(item):
        return ""
    return next(
        (
            each.formulas[each.instance.doc_id]
            for each in read
            if each.instance.doc_id in each.formulas
        ),
        "",
    )


def _links(read: list[_Read], lab_slug: str) -> dict[str, str]:
    """Return the local pages of the links in texts; the posts of an item are of one collection."""
    addresses = addresses_of(text for each in read for text in (each.title, each.body))
    collection = next(
        (each.instance.post.collection_id for each in read if each.instance.post), None
    )
    return (
        local_pages(addresses, collection=collection, lab_slug=lab_slug)
        if addresses and collection
        else {}
    )


def _posts(read: list[_Read]) -> list[list[_Read]]:
    """Return the instances of each post, in the order of their formulas in it.

    An assessor reads a post once and labels all its instances.
    """
    posts: dict[str, list[_Read]] = {}
    for each in read:
        key = each.instance.post_id or f"instance {each.instance.pk}"
        posts.setdefault(key, []).append(each)
    for post in posts.values():
        places = {formula_id: place for place, formula_id in enumerate(post[0].formulas)}
        post.sort(key=lambda each: places.get(each.instance.doc_id, len(places)))
    return list(posts.values())


def _instance(each: _Read, post: list[_Read], page: _Page) -> dict[str, Any]:
    """Return an instance as JSON values; `post` holds all instances of its post.

    The first one has the text, with the formulas of all marked.
    """
    instance, item = each.instance, page.item
    first = post[0].instance
    marked = frozenset(other.instance.doc_id for other in post if _is_formula(item))

    def html(text: PostText) -> str:
        if instance is not first:
            return ""
        return compose(text, formulas=page.formulas, links=page.links.get, highlight=marked)

    return {
        "instance": instance.pk,
        "text_of": first.pk,
        "has_text": _has_text(each, item),
        "formula": instance.doc_id if _is_formula(item) else "",
        "heading": heading_of(item, instance.post, instance.post_id),
        "title_html": html(each.title),
        "html": _missing(each, item) + html(each.body),
        "thread_url": thread_url(item, instance.doc_id, instance.post_id, page.lab_slug)
        if instance.post
        and instance.post.pk
        and page.has_threads
        and item.kind != PoolItem.Kind.DOCUMENTS
        else "",
        "question": _question(instance, page.asked),
        "judgment": judgment_payload(instance.judgment) if instance.judgment else None,
    }


def _question(instance: ShownInstance, asked: AskedQuestions) -> dict[str, str] | None:
    """Return the special question that is asked instead of the relevance, if any."""
    question = asked.questions.get(instance.doc_id)
    if question is None:
        return None
    return {"text": question.text, "help": question.help, "label": asked.label}


def heading_of(item: PoolItem, post: Post | None, post_id: str) -> str:
    """Return the heading of an instance; all answers have the same.

    A document is named, because its text may be outside the collection.
    """
    if item.kind == PoolItem.Kind.DOCUMENTS:
        return f"Document {post_id}"
    if not _is_formula(item):
        return "Answer"
    if post and post.kind:
        return f"{post.get_kind_display()} post {post_id}"
    return f"Post {post_id}".rstrip()


def _has_text(each: _Read, item: PoolItem) -> bool:
    """Return whether an instance has a text, as the statement for submitted items asks too."""
    return each.instance.post is not None or bool(item.text)


def _missing(each: _Read, item: PoolItem) -> str:
    """Return a notice about a missing post or formula, or an empty text."""
    if each.instance.post is None:
        return "" if _has_text(each, item) else NOT_HELD
    is_there = not _is_formula(item) or each.instance.doc_id in each.formulas
    return "" if is_there else NOT_FOUND

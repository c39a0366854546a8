"""Items as the judging page shows them: never a run, a team, a rank, a score, or another's label."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

from django.urls import reverse

from arqlab.core.html.cleaning import clean_post
from arqlab.core.html.posthtml import Key, PostText, compose, keys_of, one_formula, read_text
from arqlab.core.maths.definitions import Definitions
from arqlab.core.maths.typesetting import Typeset
from arqlab.core.services import typeset_formulas
from assessment.models import Judgment, PoolInstance, PoolItem
from assessment.selectors import Shown
from assessment.services.judging import SavedLabel
from assessment.services.leases import Taken
from collection.models import Post

NOT_HELD = (
    '<p class="notice">The collection does not hold this post, so there is nothing to judge. '
    "Choose System failure and the organizers will look after it.</p>"
)


class _Read(NamedTuple):
    """The texts of an instance, their formulas not yet typeset."""

    shown: Shown
    title: PostText
    body: PostText


def item_payload(found: Taken, *, lab_slug: str) -> dict[str, Any]:
    """Give an item with its instances as JSON values; one query reads its formulas."""
    item = found.item
    read = [_read(item, shown) for shown in found.instances]
    candidate = one_formula(_latex(read), Definitions()) if item.kind == PoolItem.Kind.VISUAL_IDS else read_text("")
    texts = [candidate, *(text for each in read for text in (each.title, each.body))]
    formulas = typeset_formulas(keys_of(texts))
    return {
        "item": item.pk,
        "kind": item.kind,
        "name": name_of(item),
        "position": item.position,
        "state": state_of(item),
        "lease": found.lease.token,
        "until": found.lease.until,
        "formula_html": compose(candidate, formulas=formulas),
        "instances": [_instance(item, each, formulas, lab_slug) for each in read],
    }


def state_of(item: PoolItem) -> str:
    """Say whether an item is `done`, put off for `later`, or `waiting`."""
    if item.done_at is not None:
        return "done"
    return "waiting" if item.later_at is None else "later"


def heading_of(item: PoolItem, post: Post | None, post_id: str) -> str:
    """Name what is judged: an assessor must not learn which system wrote an answer."""
    if item.kind == PoolItem.Kind.ANSWERS:
        return "Written answer"
    return f"{post.get_kind_display()} post {post_id}" if post else f"Post {post_id}"


def judgment_payload(judgment: Judgment) -> dict[str, Any]:
    """Give an assessor's own judgment as JSON values."""
    return {
        "judgment": judgment.pk,
        "label": judgment.label,
        "comment": judgment.comment,
        "judged_at": judgment.judged_at,
    }


def saved_payload(saved: SavedLabel) -> dict[str, Any]:
    """Give a label that was stored as JSON values."""
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
    """Give a judgment of an assessor's own list as JSON values."""
    instance, item = judgment.instance, judgment.instance.item
    return {
        **judgment_payload(judgment),
        "item": item.pk,
        "instance": instance.pk,
        "kind": item.kind,
        "name": name_of(item),
        "doc_id": doc_id_of(item, instance),
        "position": item.position,
    }


def name_of(item: PoolItem) -> str:
    """Give the name of an item; that of a written answer would tell its run."""
    return "Written answer" if item.kind == PoolItem.Kind.ANSWERS else item.item


def doc_id_of(item: PoolItem, instance: PoolInstance) -> str:
    """Give the id of an instance in qrels; that of a written answer would tell its run."""
    return "" if item.kind == PoolItem.Kind.ANSWERS else instance.doc_id


def _read(item: PoolItem, shown: Shown) -> _Read:
    definitions, post = Definitions(), shown.instance.shown_post
    if item.kind == PoolItem.Kind.ANSWERS:
        return _Read(shown, read_text(""), read_text(_written(item), definitions))
    if post is None:
        return _Read(shown, read_text(""), read_text(""))
    title = post.safe_title if post.kind == Post.Kind.QUESTION else ""
    return _Read(shown, read_text(title, definitions), read_text(post.safe_body, definitions))


def _written(item: PoolItem) -> str:
    """Give a written answer, plain text with LaTeX, as clean HTML: blank lines part paragraphs."""
    blocks = [block.strip() for block in item.text.replace("\r\n", "\n").split("\n\n")]
    html = "".join(f"<p>{escape(block).replace(chr(10), '<br>')}</p>" for block in blocks if block)
    return clean_post(html, prefix=f"w{item.pk}").html


def _latex(read: list[_Read]) -> str:
    """Give the LaTeX of the formula that is judged, from the first post that has it."""
    for each in read:
        for formula in (*each.title.formulas, *each.body.formulas):
            if formula.formula_id == each.shown.instance.doc_id:
                return formula.latex
    return ""


def _instance(item: PoolItem, each: _Read, formulas: Mapping[Key, Typeset], lab_slug: str) -> dict[str, Any]:
    (instance, current), is_written = each.shown, item.kind == PoolItem.Kind.ANSWERS
    marked = frozenset({instance.doc_id} if item.kind == PoolItem.Kind.VISUAL_IDS else ())
    is_missing = instance.shown_post is None and not is_written
    return {
        "instance": instance.pk,
        "doc_id": doc_id_of(item, instance),
        "heading": heading_of(item, instance.shown_post, instance.post_id),
        "post_kind": instance.shown_post.kind if instance.shown_post else "",
        "title_html": compose(each.title, formulas=formulas, highlight=marked),
        "html": NOT_HELD if is_missing else compose(each.body, formulas=formulas, highlight=marked),
        "thread_url": _thread_url(item, instance, lab_slug),
        "judgment": judgment_payload(current) if current else None,
    }


def _thread_url(item: PoolItem, instance: PoolInstance, lab_slug: str) -> str:
    """Give the address of the thread with the instance marked; nothing where there is no thread."""
    if instance.shown_post is None:
        return ""
    address = reverse("collection:post-detail", args=[lab_slug, instance.post_id])
    if item.kind != PoolItem.Kind.VISUAL_IDS:
        return f"{address}#post-{instance.post_id}"
    return f"{address}?formula={instance.doc_id}#formula-{instance.doc_id}"

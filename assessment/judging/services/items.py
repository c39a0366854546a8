"""Items as the judging page shows them, without runs, teams, ranks, scores or labels of others.

Answer posts and generated answers look the same, because both can be in one pool: nothing that an
assessor gets has the kind of an answer, its id, or the ids of its formulas.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import NamedTuple, TypedDict

from arqkit.texts.html.rendering import (
    Key,
    PostText,
    addresses_of,
    compose,
    formula_alone,
    keys_of,
    one_formula,
    read_text,
)
from arqkit.texts.maths.macros import Definitions
from arqkit.texts.maths.typesetting import Typeset
from arqlab.core.models import Corrections
from arqlab.labs.selectors import corrections_of
from arqlab.labs.services.formulas import typeset_formulas
from assessment.judging.selectors.items import ShownInstance, ShownItem
from assessment.judging.selectors.places import NOTHING_ASKED, AskedQuestions
from assessment.judging.services.stored_labels import SavedLabel
from assessment.models import Judgment, PoolItem
from assessment.pools.services.texts import body_of, thread_url
from collection.models import Post
from collection.selectors.threads import corrected_post
from collection.services.addresses import local_pages

ALONE = "Formula without its document"
"""The heading of a formula that is shown alone."""
NOT_HELD = (
    '<p class="notice">The text of this item is missing, so it cannot be judged. '
    "Report it to the organizers with a label that is not a judgment; the others are off.</p>"
)
NOT_FOUND = (
    '<p class="notice">The formula to judge was not found in this post, so none is highlighted. '
    "Report it to the organizers with a label that is not a judgment.</p>"
)


class JudgmentValues(TypedDict):
    """An assessor's own judgment of an instance, as JSON values."""

    judgment: int
    label: int
    comment: str
    marks: list[Mapping[str, object]]
    judged_at: datetime


class QuestionValues(TypedDict):
    """A special question about an instance, and the word of the assessor's own official label."""

    text: str
    help: str
    label: str


class InstanceValues(TypedDict):
    """An instance as JSON values; of several in a post, only the first has the text."""

    instance: int
    text_of: int
    has_text: bool
    formula: str
    heading: str
    title_html: str
    html: str
    question: QuestionValues | None
    judgment: JudgmentValues | None
    thread_url: str


class ItemValues(TypedDict):
    """An item as JSON values."""

    item: int
    kind: str
    position: int
    state: str
    formula_html: str
    instances: list[InstanceValues]


class _Texts(NamedTuple):
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

    @property
    def alone(self) -> "_Texts":
        """Return the formula of the instance without the rest of its post."""
        body = formula_alone((self.title, self.body), self.instance.doc_id)
        return _Texts(self.instance, read_text(""), body)


def shown_payload(
    shown_item: ShownItem,
    *,
    lab_slug: str,
    opens_lab: bool,
    questions: AskedQuestions = NOTHING_ASKED,
) -> ItemValues:
    """Return an item with its instances as JSON values, perhaps without links into the lab."""
    item = shown_item.item
    corrections = corrections_of(lab_slug) if shown_item.is_corrected else Corrections()
    read = [_read(item, instance, corrections) for instance in shown_item.instances]
    if is_alone := shown_item.is_alone and _is_formula(item):
        read = [texts.alone for texts in read]
    candidate = one_formula(_judged_latex(item, read), Definitions())
    all_texts = [candidate, *(text for texts in read for text in (texts.title, texts.body))]
    formulas = typeset_formulas(keys_of(all_texts), corrections.formulas)
    links = _links(read, lab_slug) if opens_lab else {}
    show = partial(_instance, item=item, questions=questions, formulas=formulas, links=links)
    posts = [[texts] for texts in read] if is_alone else _posts(read)
    instances = [show(texts, post) for post in posts for texts in post]
    for values, texts in zip(instances, (texts for post in posts for texts in post), strict=True):
        if is_alone:
            values["heading"] = ALONE
        if opens_lab and not shown_item.hides_threads:
            values["thread_url"] = _thread_url(texts, item, lab_slug)
    state = "skipped" if shown_item.is_skipped else "waiting"
    return {
        "item": item.pk,
        "kind": item.kind if _is_formula(item) else PoolItem.Kind.ANSWERS,
        "position": item.position,
        "state": "done" if shown_item.is_done else state,
        "formula_html": compose(candidate, formulas=formulas),
        "instances": instances,
    }


def saved_payload(saved: SavedLabel) -> dict[str, object]:
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


def judgment_payload(judgment: Judgment) -> JudgmentValues:
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


def _read(item: PoolItem, instance: ShownInstance, corrections: Corrections) -> _Texts:
    """Return the texts of an instance; only those of a formula to judge have ids of formulas."""
    key = instance.post_id or instance.doc_id
    definitions, post = Definitions(), corrected_post(instance.post, key, corrections)
    title = post.safe_title if post and post.kind != Post.Kind.ANSWER else ""
    texts = [read_text(title, definitions), read_text(body_of(item, post), definitions)]
    if not _is_formula(item):
        for place, text in enumerate(texts):
            bare = tuple(formula._replace(formula_id="") for formula in text.formulas)
            texts[place] = text._replace(formulas=bare)
    return _Texts(instance._replace(post=post), *texts)


def _judged_latex(item: PoolItem, read: list[_Texts]) -> str:
    sources = (texts.formulas.get(texts.instance.doc_id) for texts in read if _is_formula(item))
    return next((latex for latex in sources if latex is not None), "")


def _links(read: list[_Texts], lab_slug: str) -> dict[str, str]:
    """Return the local pages of the links in texts; the posts of an item are of one collection."""
    addresses = addresses_of(text for texts in read for text in (texts.title, texts.body))
    collections = [texts.instance.post.collection_id for texts in read if texts.instance.post]
    if not addresses or not collections:
        return {}
    return local_pages(addresses, collection=collections[0], lab_slug=lab_slug)


def _posts(read: list[_Texts]) -> list[list[_Texts]]:
    """Return the instances of each post, to be read once, in the order of their formulas."""
    posts: dict[str, list[_Texts]] = {}
    for texts in read:
        key = texts.instance.post_id or f"instance {texts.instance.pk}"
        posts.setdefault(key, []).append(texts)
    for post in posts.values():
        places = {formula_id: place for place, formula_id in enumerate(post[0].formulas)}
        post.sort(key=lambda texts: places.get(texts.instance.doc_id, len(places)))
    return list(posts.values())


def _instance(
    texts: _Texts,
    post: list[_Texts],
    *,
    item: PoolItem,
    questions: AskedQuestions,
    formulas: Mapping[Key, Typeset],
    links: Mapping[str, str],
) -> InstanceValues:
    """Return an instance of a `post` as JSON values; the first has the text, with all marked."""
    instance, first = texts.instance, post[0].instance
    marked = frozenset(other.instance.doc_id for other in post if _is_formula(item))
    question, notice = questions.questions.get(instance.doc_id), ""
    has_text = instance.post is not None or bool(item.text)  # as for submitted items
    if not has_text:
        notice = NOT_HELD
    elif instance.post and _is_formula(item) and instance.doc_id not in texts.formulas:
        notice = NOT_FOUND

    def html(text: PostText) -> str:
        if instance is not first:
            return ""
        return compose(text, formulas=formulas, links=links.get, highlight=marked)

    return {
        "instance": instance.pk,
        "text_of": first.pk,
        "has_text": has_text,
        "formula": instance.doc_id if _is_formula(item) else "",
        "heading": heading_of(item, instance.post, instance.post_id),
        "title_html": html(texts.title),
        "html": notice + html(texts.body),
        "question": {"text": question.text, "help": question.help, "label": questions.label}
        if question
        else None,
        "judgment": judgment_payload(instance.judgment) if instance.judgment else None,
        "thread_url": "",
    }


def _thread_url(texts: _Texts, item: PoolItem, lab_slug: str) -> str:
    instance, post = texts.instance, texts.instance.post
    if not (post and post.pk) or post.kind == Post.Kind.DOCUMENT:
        return ""
    return thread_url(item, instance.doc_id, instance.post_id, lab_slug)


def heading_of(item: PoolItem, post: Post | None, post_id: str) -> str:
    """Return the heading of an instance; only a document is named, as its text may be elsewhere."""
    if item.kind == PoolItem.Kind.DOCUMENTS or (post and post.kind == Post.Kind.DOCUMENT):
        return f"Document {post_id}"
    if not _is_formula(item):
        return "Answer"
    if post and post.kind:
        return f"{post.get_kind_display()} post {post_id}"
    return f"Post {post_id}".rstrip()

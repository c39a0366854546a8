"""The topics and items of examples and cases, copied from the collection or from a pool."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from arqkit.records import TaskKind
from arqkit.texts.html.plain_text import answer_html
from arqkit.texts.html.sanitizer import clean_title_and_body
from arqkit.texts.posts.text import TextFormula, text_formulas
from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Task, Topic
from arqlab.core.selectors import corrections_of
from assessment.models import PoolInstance, PoolItem
from assessment.qrels.selectors.drafts import pooled_instances
from collection.models import Post
from collection.selectors.collections import collection_of
from collection.selectors.formulas import post_of_formula
from collection.selectors.threads import corrected_post, posts_of


class EntryItem(NamedTuple):
    """The topic and the item of an entry, as it stores them. Either may be empty."""

    topic: str = ""
    topic_html: str = ""
    item: str = ""
    item_html: str = ""
    post_id: str = ""
    formula_id: str = ""


def item_of_instance(instance: PoolInstance) -> EntryItem:
    """Return a judged instance with its topic."""
    item = instance.item
    post = _post(item.topic.task.lab, instance.post_id, instance.post_id or instance.doc_id)
    is_formula = item.kind == PoolItem.Kind.VISUAL_IDS
    return EntryItem(
        item=instance.doc_id,
        item_html=_post_html(post) if post else answer_html(item.text, prefix="item"),
        post_id=instance.post_id,
        formula_id=instance.doc_id if is_formula else "",
        **_topic_fields(item.topic),
    )


def find_entry_item(task: Task, *, topic: Topic | None, item: str) -> EntryItem:
    """Return an item of the task's pools or of the lab's collection by its id in qrels.

    Raise `UserError` (code `unknown-item`) if no item has the id.
    """
    fields = _topic_fields(topic) if topic else {}
    if not item:
        return EntryItem(**fields)
    pooled = pooled_instances(task).filter(doc_id=item).select_related("item__topic__task__lab")
    if instance := pooled.order_by("pk").first():
        return item_of_instance(instance)._replace(**{"topic": "", "topic_html": ""} | fields)
    is_formula = task.kind == TaskKind.FORMULAS
    collection = collection_of(task.lab)
    post_id = post_of_formula(collection, item) if is_formula and collection else item
    post = _post(task.lab, post_id)
    if post is None:
        what = "formula" if is_formula else "item"
        raise UserError(
            f"No {what} with the id {item} is in a pool or in the collection. Search for it, or "
            "correct the id.",
            code="unknown-item",
        )
    formula_id = item if is_formula else ""
    return EntryItem(
        item=item, item_html=_post_html(post), post_id=post_id, formula_id=formula_id, **fields
    )


def formulas_of_post(task: Task, post_id: str) -> list[TextFormula]:
    """Return the formulas of a post of the lab's collection, or an empty list."""
    post = _post(task.lab, post_id)
    return text_formulas(_post_html(post)) if post else []


def _post(lab: Lab, post_id: str, key: str = "") -> Post | None:
    """Return a post with the lab's text for it; `key` is what the lab corrects it by."""
    found = posts_of(lab, [post_id]).get(post_id)
    return corrected_post(found, key or post_id, corrections_of(lab))


def _post_html(post: Post) -> str:
    title = post.safe_title if post.kind != Post.Kind.ANSWER else ""
    return f"<h1>{title}</h1>{post.safe_body}" if title else post.safe_body


def _topic_fields(topic: Topic) -> dict[str, str]:
    """Return the id of a topic and its query formula, title and body as clean HTML."""
    title, body = clean_title_and_body(topic.title, topic.body, post_id=topic.query_id)
    query = f'<span class="math-container" id="query">${escape(topic.latex)}$</span>'
    formula = f"<p>{query}</p>" if topic.latex else ""
    head = f"<h1>{title.html}</h1>" if title.html else ""
    return {"topic": topic.query_id, "topic_html": formula + head + body.html}

"""A pool as a batch of Turkle: what the judging page shows of each instance, without a server."""

import re
from collections.abc import Iterable, Iterator
from html import escape

from django.conf import settings

from arqkit.formats.turkle import BatchRow, turkle_batch, turkle_template
from arqkit.protocols.presets import PoolProtocol
from arqlab.core.models import Correction, Topic
from arqlab.labs.selectors import corrections_of
from arqlab.labs.services.topic_pages import question_with_links
from assessment.judging.selectors.items import ShownInstance, ShownItem
from assessment.judging.services.items import shown_payload
from assessment.models import Pool, PoolItem
from collection.models import Post
from collection.selectors.collections import collection_of

_SHEETS = "css/tokens.css", "built/css/formulas.css"
_FONTS = re.compile(r"@import[^;]*;|@font-face\s*\{[^}]*\}|/\*.*?\*/", re.DOTALL)
_FORMULA = '<h2>{}</h2><p class="formula">{}</p>'


def turkle_files(pool: Pool) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield the template and the batch CSV of a pool, with a row for each instance, in chunks."""
    sheets = (settings.BASE_DIR / "static" / name for name in _SHEETS)
    style = "\n".join(_FONTS.sub("", sheet.read_text(encoding="utf-8")) for sheet in sheets)
    instruction = pool.task.protocol.instruction
    template = turkle_template(pool.label_scale, style=style, instruction=instruction)
    yield "template.html", [template.encode()]
    yield "batch.csv", turkle_batch(_rows(pool))


def _rows(pool: Pool) -> Iterator[BatchRow]:
    lab = pool.task.lab
    is_alone = PoolProtocol(**pool.settings).shows_formulas_alone
    is_corrected = Correction.objects.filter(lab=lab).exists()
    collection, topic_html = collection_of(lab), {}
    items = PoolItem.objects.filter(pool=pool).select_related("topic")
    for item in items.order_by("topic__position", "position").prefetch_related("instances"):
        topic, instances = item.topic, sorted(item.instances.all(), key=lambda one: one.position)
        if topic.pk not in topic_html:
            topic.task = pool.task
            topic_html = {topic.pk: _topic_html(topic)}
        named = [one.post_id for one in instances if one.post_id]
        rows = Post.objects.filter(collection=collection, post_id__in=named)
        posts = {post.post_id: post for post in rows}
        for one in instances:
            instance = (one.pk, one.doc_id, one.post_id, posts.get(one.post_id), None)
            shown_item = ShownItem(
                item,
                is_done=False,
                is_skipped=False,
                hides_threads=True,
                is_alone=is_alone,
                is_corrected=is_corrected,
                instances=(ShownInstance(*instance),),
            )
            html = _item_html(shown_item, lab.slug)
            yield BatchRow(topic.query_id, one.doc_id, topic_html[topic.pk], html)


def _topic_html(topic: Topic) -> str:
    formulas = corrections_of(topic.task.lab).formulas
    body = question_with_links(topic.record, lambda _: {}, formulas)
    title = f"<h3>{topic.title_html}</h3>" if topic.title_html else ""
    query = _FORMULA.format("Query formula", topic.formula_html) if topic.formula_html else ""
    return f'{query}{title}<div class="post">{body}</div>'


def _item_html(shown_item: ShownItem, lab_slug: str) -> str:
    payload = shown_payload(shown_item, lab_slug=lab_slug, opens_lab=False)
    (instance,) = payload["instances"]
    formula = payload["formula_html"]
    query = _FORMULA.format("Candidate formula", formula) if formula else ""
    title = f"<h3>{instance['title_html']}</h3>" if instance["title_html"] else ""
    body = f'<div class="post">{instance["html"]}</div>'
    return f"{query}<h2>{escape(instance['heading'])}</h2>{title}{body}"

"""The list of judgments: each item with its formula or the beginning of its post, and its marks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from arqkit.judgments.questions import SpecialQuestion
from arqkit.labels import LabelScale, ScaleLabel
from arqkit.texts.html.rendering import PostText, compose, keys_of, one_formula
from arqkit.texts.maths.macros import Definitions
from arqkit.texts.posts.text import pieces, text_formulas
from arqlab.core.models import Corrections, Lab
from arqlab.labs.selectors import corrections_of
from arqlab.labs.services.formulas import typeset_formulas
from assessment.judging.services.items import heading_of
from assessment.models import Judgment, PoolItem
from assessment.pools.services.texts import body_of
from collection.models import Post
from collection.selectors.threads import corrected_post, posts_of

FORMULA = "\N{OBJECT REPLACEMENT CHARACTER}"  # stands for a formula in the text of a mark

EXCERPT = 80  # characters, including LaTeX
_Part = str | PostText  # words, or one formula


class _Mark(TypedDict):
    exact: str
    formulas: list[str]


class QuotedMark(NamedTuple):
    """A marked passage with typeset formulas, and whether it is a single formula."""

    html: SafeString
    is_formula: bool


def quoted_marks(
    judgments: Iterable[Judgment], corrected: Mapping[str, str] | None = None
) -> dict[int, list[QuotedMark]]:
    """Return the marks of judgments by their keys, with LaTeX as `corrected`, in one query."""
    marked = {judgment.pk: judgment.marks for judgment in judgments}
    latex = {text for marks in marked.values() for mark in marks for text in mark["formulas"]}
    texts = {text: one_formula(text, Definitions()) for text in latex}
    keys = keys_of(texts.values())
    typeset = typeset_formulas(keys, corrected) if keys else {}

    def quoted(mark: _Mark) -> QuotedMark:
        parts = [compose(texts[latex], formulas=typeset) for latex in mark["formulas"]]
        pairs = zip(mark["exact"].split(FORMULA), [*parts, ""], strict=True)
        return QuotedMark(format_html_join("", "{}{}", pairs), mark["exact"] == FORMULA)

    return {pk: [quoted(mark) for mark in marks] for pk, marks in marked.items()}


class JudgedRow(NamedTuple):
    """A judgment with its label, item, instance name, formula or first words, and its marks."""

    judgment: Judgment
    label: ScaleLabel
    item: PoolItem
    heading: str
    html: SafeString
    marks: Sequence[QuotedMark]


def judged_list(
    judgments: Iterable[Judgment],
    *,
    lab: Lab,
    scale: LabelScale,
    questions: Mapping[str, SpecialQuestion] = {},
) -> list[JudgedRow]:
    """Return judgments of a lab, read with instance and item, as rows of a list.

    Answers to special questions have the question for the name of their instance.
    """
    judged, corrections = list(judgments), corrections_of(lab)
    read = [
        (judgment, post, _parts(judgment, post))
        for judgment, post in _with_posts(judged, lab, corrections)
    ]
    texts = (part for *_, parts in read for part in parts if isinstance(part, PostText))
    formulas = typeset_formulas(keys_of(texts), corrections.formulas)
    marks = quoted_marks(judged, corrections.formulas)

    def row(judgment: Judgment, post: Post | None, parts: list[_Part]) -> JudgedRow:
        instance = judgment.instance
        question = questions.get(instance.doc_id)
        heading = question.text if question else heading_of(instance.item, post, instance.post_id)
        composed = (
            (compose(part, formulas=formulas) if isinstance(part, PostText) else part,)
            for part in parts
        )
        html, label = format_html_join(" ", "{}", composed), scale.of(judgment.label)
        return JudgedRow(judgment, label, instance.item, heading, html, marks[judgment.pk])

    return [row(*pair) for pair in read]


def judgments_with(words: Iterable[str], judgments: Iterable[Judgment], *, lab: Lab) -> list[int]:
    """Return the keys of the judgments with all words in what the assessor sees of them."""
    lower_words, keys = [word.lower() for word in words], []
    for judgment, post in _with_posts(list(judgments), lab, corrections_of(lab)):
        item = judgment.instance.item
        if item.kind == PoolItem.Kind.VISUAL_IDS:
            parts = [_judged_latex(judgment, post)]
        else:
            read = pieces(body_of(item, post))
            parts = [part if isinstance(part, str) else part.latex for part in read]
        heading = heading_of(item, post, judgment.instance.post_id)
        text = " ".join((heading, *parts, judgment.comment, judgment.reason)).lower()
        if all(word in text for word in lower_words):
            keys.append(judgment.pk)
    return keys


def _with_posts(
    judgments: list[Judgment], lab: Lab, corrections: Corrections
) -> list[tuple[Judgment, Post | None]]:
    posts = posts_of(lab, (judgment.instance.post_id for judgment in judgments))
    keys = [(judgment, judgment.instance.post_id) for judgment in judgments]
    return [
        (judgment, corrected_post(posts.get(pk), pk or judgment.instance.doc_id, corrections))
        for judgment, pk in keys
    ]


def _judged_latex(judgment: Judgment, post: Post | None) -> str:
    formulas = (*text_formulas(post.safe_title), *text_formulas(post.safe_body)) if post else ()
    formula_id = judgment.instance.doc_id
    return next((formula.latex for formula in formulas if formula.formula_id == formula_id), "")


def _parts(judgment: Judgment, post: Post | None) -> list[_Part]:
    """Return the judged formula, or the first words and formulas of the post."""
    item = judgment.instance.item
    if item.kind == PoolItem.Kind.VISUAL_IDS:
        return [one_formula(_judged_latex(judgment, post), Definitions())]
    parts: list[_Part] = []
    room = EXCERPT
    for piece in pieces(body_of(item, post)):
        text = " ".join(piece.split()) if isinstance(piece, str) else piece.latex
        if not text:
            continue
        room -= len(text)
        if room < 0 and (parts or isinstance(piece, str)):  # a formula at the start is shown whole
            parts.append(f"{text[:room]}…" if isinstance(piece, str) else "…")
            break
        parts.append(text if isinstance(piece, str) else one_formula(text, Definitions()))
    return parts

"""The list of judgments: each item with its formula or the beginning of its post, and its marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from arqkit.judgments.questions import SpecialQuestion
from arqkit.labels import LabelScale, ScaleLabel
from arqkit.texts.html.rendering import Key, PostText, compose, keys_of, one_formula
from arqkit.texts.maths.macros import Definitions
from arqkit.texts.maths.typesetting import Typeset
from arqkit.texts.posts.text import pieces, text_formulas
from arqlab.core.models import Corrections, Lab
from arqlab.core.selectors import corrections_of
from arqlab.core.services.formulas import typeset_formulas
from assessment.judging.services.items import heading_of
from assessment.models import Judgment, PoolItem
from assessment.pools.services.texts import body_of
from collection.models import Post
from collection.selectors.threads import corrected_post, posts_of

FORMULA = "\N{OBJECT REPLACEMENT CHARACTER}"  # stands for a formula in the text of a mark


class QuotedMark(NamedTuple):
    """A marked passage with typeset formulas, and whether it is a single formula."""

    html: SafeString
    is_formula: bool


def quoted_marks(
    judgments: Iterable[Judgment], corrected: Mapping[str, str] | None = None
) -> dict[int, list[QuotedMark]]:
    """Return the marks of judgments by the keys of these, in one query for the formulas.

    Judgments without marks have an empty list. LaTeX in `corrected` is shown as its correction.
    """
    read = {
        judgment.pk: [(mark, _formulas(mark)) for mark in judgment.marks] for judgment in judgments
    }
    keys = keys_of(text for marks in read.values() for _, texts in marks for text in texts)
    typeset = typeset_formulas(keys, corrected) if keys else {}
    return {
        pk: [
            QuotedMark(_html(mark, texts, typeset), mark["exact"] == FORMULA)
            for mark, texts in marks
        ]
        for pk, marks in read.items()
    }


def _formulas(mark: Mapping[str, Any]) -> list[PostText]:
    return [one_formula(latex, Definitions()) for latex in mark["formulas"]]


def _html(
    mark: Mapping[str, Any], texts: list[PostText], typeset: Mapping[Key, Typeset]
) -> SafeString:
    """Return the text of a mark with its formulas in their places."""
    parts = [compose(text, formulas=typeset) for text in texts]
    words = mark["exact"].split(FORMULA)
    return format_html_join("", "{}{}", zip(words, [*parts, ""], strict=True))


EXCERPT = 80  # characters, including LaTeX
_Part = str | PostText  # words, or one formula


class JudgedRow(NamedTuple):
    """A judgment with its label, item, instance name, formula or first words, and its marks."""

    judgment: Judgment
    label: ScaleLabel
    item: PoolItem
    heading: str
    html: SafeString
    marks: Sequence[QuotedMark] = ()


def judged_list(
    judgments: Iterable[Judgment],
    *,
    lab: Lab,
    scale: LabelScale,
    questions: Mapping[str, SpecialQuestion] = {},
) -> list[JudgedRow]:
    """Return judgments of a lab, read with instance and item, as rows of a list.

    Answers to special questions have the question for the name of their instance. Takes one query
    for the posts, one for the corrections, one for the formulas, and one for the formulas in marks,
    if any.
    """
    judged, corrections = list(judgments), corrections_of(lab)
    read = _with_posts(judged, lab, corrections)
    parts = [_parts(judgment, post) for judgment, post in read]
    formulas = typeset_formulas(
        keys_of(part for some in parts for part in some if isinstance(part, PostText)),
        corrections.formulas,
    )
    marks = quoted_marks(judged, corrections.formulas)
    rows = [
        _row(judgment, scale.of(judgment.label), post, (some, formulas))._replace(
            marks=marks[judgment.pk]
        )
        for (judgment, post), some in zip(read, parts, strict=True)
    ]
    return [
        row._replace(heading=question.text)
        if (question := questions.get(row.judgment.instance.doc_id))
        else row
        for row in rows
    ]


def judgments_with(words: Iterable[str], judgments: Iterable[Judgment], *, lab: Lab) -> list[int]:
    """Return the keys of the judgments with all words in heading, text, comment or reason.

    Ids that the assessor does not see are not searched: they tell answers apart.
    """
    wanted = [word.lower() for word in words]
    read = _with_posts(list(judgments), lab, corrections_of(lab))
    texts = ((judgment.pk, _searched(judgment, post)) for judgment, post in read)
    return [pk for pk, text in texts if all(word in text for word in wanted)]


def _with_posts(
    judgments: list[Judgment], lab: Lab, corrections: Corrections
) -> list[tuple[Judgment, Post | None]]:
    """Return judgments with the posts that the lab shows."""
    posts = posts_of(lab, (judgment.instance.post_id for judgment in judgments))
    return [
        (
            judgment,
            corrected_post(
                posts.get(instance.post_id), instance.post_id or instance.doc_id, corrections
            ),
        )
        for judgment in judgments
        for instance in [judgment.instance]
    ]


def _searched(judgment: Judgment, post: Post | None) -> str:
    """Return all text of a row in lower case, with LaTeX for formulas."""
    instance, item = judgment.instance, judgment.instance.item
    if item.kind == PoolItem.Kind.VISUAL_IDS:
        text = [_judged_latex(judgment, post)]
    else:
        parts = pieces(body_of(item, post))
        text = [part if isinstance(part, str) else part.latex for part in parts]
    heading = heading_of(item, post, instance.post_id)
    return " ".join((heading, *text, judgment.comment, judgment.reason)).lower()


def _row(
    judgment: Judgment,
    label: ScaleLabel,
    post: Post | None,
    text: tuple[list[_Part], Mapping[Key, Typeset]],
) -> JudgedRow:
    instance, item = judgment.instance, judgment.instance.item
    parts, formulas = text
    composed = (
        (compose(part, formulas=formulas) if isinstance(part, PostText) else part,)
        for part in parts
    )
    heading = heading_of(item, post, instance.post_id)
    return JudgedRow(judgment, label, item, heading, format_html_join(" ", "{}", composed))


def _parts(judgment: Judgment, post: Post | None) -> list[_Part]:
    """Return the judged formula, or the beginning of the post."""
    item = judgment.instance.item
    if item.kind != PoolItem.Kind.VISUAL_IDS:
        return _beginning(body_of(item, post))
    return [one_formula(_judged_latex(judgment, post), Definitions())]


def _judged_latex(judgment: Judgment, post: Post | None) -> str:
    """Return the LaTeX of a judged formula, or an empty text if the post lacks it."""
    formulas = (*text_formulas(post.safe_title), *text_formulas(post.safe_body)) if post else ()
    wanted = judgment.instance.doc_id
    return next((formula.latex for formula in formulas if formula.formula_id == wanted), "")


def _beginning(clean_html: str) -> list[_Part]:
    """Return the first words and formulas of a clean text."""
    parts: list[_Part] = []
    room = EXCERPT
    for piece in pieces(clean_html):
        text = " ".join(piece.split()) if isinstance(piece, str) else piece.latex
        if not text:
            continue
        room -= len(text)
        if room < 0 and (parts or isinstance(piece, str)):  # a formula at the start is shown whole
            parts.append(f"{text[:room]}…" if isinstance(piece, str) else "…")
            break
        parts.append(text if isinstance(piece, str) else one_formula(text, Definitions()))
    return parts

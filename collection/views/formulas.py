"""The pages of a formula and of a version of the visual ids."""

from collections.abc import Callable
from typing import NamedTuple, TypedDict
from urllib.parse import quote

import polars as pl
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from arqkit.texts.html.rendering import render_formula
from arqkit.texts.posts.snippets import joined, marked
from arqlab.core.models import Lab
from arqlab.labs.permissions import looked_up_lab_or_404, organized_lab_or_404
from arqlab.web import (
    LAB,
    Column,
    Empty,
    Filter,
    Pages,
    Prepared,
    Table,
    answer,
    cells,
    frame_table,
    to,
)
from collection.models import Collection, Post, VisualMap
from collection.selectors.collections import collection_of
from collection.selectors.formulas import (
    Form,
    FormulaChange,
    FormulaMatches,
    Spelling,
    form_of,
    formulas_like,
    history_of,
    instances_of,
    latex_of,
    newest_forms,
    slt_of,
    thread_questions,
    visual_id_of,
)
from collection.selectors.threads import find_posts
from collection.selectors.visual_maps import changed_formulas, map_before, map_frame, opinion_rows
from collection.services.indexing import ready_for_formulas
from collection.services.lookup import snippet_html

pages = Pages(LAB, looked_up_lab_or_404, section="search")

LATEX = cells.CellKind(render_formula)
WORD = cells.CellKind(capfirst, file=str)
MISSING = SafeString('<span class="muted">(its question is not in the collection)</span>')


@pages.read(
    "collection/visual-ids/<number:version>/",
    "visual-map-detail",
    access=organized_lab_or_404,
    section="collection",
)
def visual_map_detail(request: HttpRequest, lab: Lab, version: int) -> HttpResponse:
    """Show the merges and splits of a visual id version, or the ids we would group differently."""
    versions = VisualMap.objects.select_related("collection").filter(collection=collection_of(lab))
    visual_map = get_object_or_404(versions, version=version)
    before = map_before(visual_map)
    list_name = request.GET.get("list") or ("changes" if before else "opinion")
    if list_name not in ("changes", "opinion"):
        raise Http404
    listed = _changes_table if list_name == "changes" else _opinion_table
    context = {
        "version": visual_map,
        "versions": versions.order_by("-version"),
        "before": before,
        "chosen": list_name,
        "table": (table := listed(request, lab, visual_map)),
    }
    exact = (
        _exact_changes(visual_map) if "format" in request.GET and list_name == "changes" else None
    )
    return answer(request, "collection/visual_map_detail.html", context, table, file=exact)


class ChangedFormula(TypedDict):
    """A row of `changed_formulas`."""

    change: str
    old_visual_id: str
    new_visual_id: str
    instances: int
    old_latex: str
    new_latex: str


class OtherGrouping(TypedDict):
    """A row of `opinion_rows`."""

    kind: str
    visual_ids: list[str]
    formula_ids: list[str]
    latex: list[str]
    instances: int


def _changes_table(request: HttpRequest, lab: Lab, version: VisualMap) -> Table[ChangedFormula]:
    page = "collection:formula-detail"

    return Table[ChangedFormula](
        "changes",
        [
            Column("Change", lambda row: row["change"], WORD, by="place"),
            Column("Instances", lambda row: row["instances"], cells.COUNT, by="instances"),
            Column(
                "Visual id before",
                lambda row: row["old_visual_id"],
                cells.ID,
                link=to(page, lab.slug, of=lambda row: row["old_visual_id"]),
                order="before",
                by="old_visual_id",
            ),
            Column("Formula before", lambda row: row["old_latex"], LATEX),
            Column(
                "Visual id now",
                lambda row: row["new_visual_id"],
                cells.ID,
                link=to(page, lab.slug, of=lambda row: row["new_visual_id"]),
                order="now",
                by="new_visual_id",
            ),
            Column("Formula now", lambda row: row["new_latex"], LATEX),
        ],
        changed_formulas(version),
        asked=request.GET,
        order="change",
        searched=("old_visual_id", "new_visual_id", "old_latex", "new_latex"),
        filters=[Filter("change", "Change", "change")],
        file=_file_name(version, "changes"),
        empty=Empty(
            "No merges or splits",
            "This version differs from the previous one only in added or removed formulas.",
        )
        if map_before(version)
        else Empty(
            "No earlier version",
            "When formulas or their layouts change, make new visual ids on the Collection page. "
            "The merges and splits of the new version appear here.",
        ),
    )


def _exact_changes(version: VisualMap) -> Table[dict[str, object]]:
    """Return the table whose file has all instances that were merged or split."""
    file = _file_name(version, "changes")
    return frame_table("changes", map_frame(version, "changes"), file=file)


def _opinion_table(request: HttpRequest, lab: Lab, version: VisualMap) -> Table[OtherGrouping]:
    def linked(visual_id: str) -> str:
        url = reverse("collection:formula-detail", args=[lab.slug, visual_id])
        return format_html('<a href="{}">{}</a> ', url, visual_id)

    return Table[OtherGrouping](
        "differences",
        [
            Column(
                "ArqLab would", lambda row: row["kind"], WORD, name="kind", order="kind", by="place"
            ),
            Column(
                "Given visual ids",
                lambda row: row["visual_ids"],
                _first(10, linked, "id"),
                name="visual_ids",
            ),
            Column(
                "Formula ids",
                lambda row: row["formula_ids"],
                _first(5, "{} ".format, "id"),
                name="formula_ids",
            ),
            Column(
                "Formulas",
                lambda row: row["latex"],
                _first(5, lambda latex: format_html("<div>{}</div>", render_formula(latex))),
                name="latex",
            ),
            Column(
                "Instances",
                lambda row: row["instances"],
                cells.COUNT,
                name="instances",
                by="instances",
            ),
        ],
        opinion_rows(version),
        asked=request.GET,
        order="kind",
        searched=("visual_ids", "formula_ids", "latex"),
        filters=[Filter("kind", "ArqLab would", "kind")],
        file=_file_name(version, "opinion"),
        empty=Empty(
            "No differences",
            "ArqLab groups the formulas in the same way as the visual ids in the formula index. "
            "All other visual ids were assigned by ArqLab.",
        ),
    )


def _first(most: int, written: Callable[[str], str], css: str = "") -> cells.CellKind:
    """Return the kind of lists of which the page has only the first texts, and files all."""

    def html(texts: list[str]) -> str:
        parts = format_html_join("", "{}", ((written(text),) for text in texts[:most]))
        return format_html("{}…", parts) if len(texts) > most else parts

    return cells.CellKind(html, css, " ".join)


def _file_name(version: VisualMap, field: str) -> str:
    return f"{version.collection.slug}-visual-ids-{version.version}-{field}"


class ShownFormula(NamedTuple):
    """What the page of a visual id shows; `form` is None if the id was replaced: see `history`."""

    form: Form | None
    instances: pl.DataFrame
    threads: int
    posts: int
    latex: list[Spelling]
    history: list[FormulaChange]
    same: list[Form]
    similar: list[Form]
    slt: str


def show_formula(
    *, collection: Collection, version: VisualMap, visual_id: str
) -> ShownFormula | None:
    """Return what the page of a visual id shows, or None if no version ever had the id."""
    form, history = form_of(version, visual_id), history_of(collection, visual_id)
    if form is None and not history:
        return None
    instances = instances_of(collection, version, [visual_id])
    looks, slt = FormulaMatches([], []), ""
    if form:
        latex, layout = form.latex, form.layout or None
        looks = formulas_like(ready_for_formulas(version), latex=latex, layout=layout, limit=12)
        slt = slt_of(collection, form.first_formula_id)
    return ShownFormula(
        form,
        instances,
        threads=instances["thread_id"].drop_nulls().n_unique(),
        posts=instances["post_id"].n_unique(),
        latex=latex_of(instances),
        history=history,
        same=[other for other in looks.same if other.visual_id != visual_id],
        similar=looks.similar,
        slt=slt,
    )


class TitledInstance(TypedDict):
    """A row of `instances_of`, on the page with the title of its thread or document."""

    formula_id: str
    post_id: str
    thread_id: str | None
    type: str
    comment_id: str | None
    title: str | None


def _with_titles(collection: Collection, instances: list[TitledInstance]) -> list[TitledInstance]:
    """Return instances with the titles of their threads or documents, None if one is missing."""
    threads = {row["thread_id"] for row in instances if row["thread_id"]}
    titles = {key: _title(post) for key, post in thread_questions(collection, threads).items()}
    alone = (row["post_id"] for row in instances if not row["thread_id"])
    documents = find_posts(collection, alone)
    titles = {key: _title(post) for key, post in documents.items()} | titles
    return [{**row, "title": titles.get(row["thread_id"] or row["post_id"])} for row in instances]


def _title(post: Post) -> SafeString:
    return snippet_html(joined(marked(post.safe_title, terms=())))


@pages.read("formulas/by-id/<path:formula_id>/", "formula-by-id")
def formula_by_id(request: HttpRequest, lab: Lab, formula_id: str) -> HttpResponse:
    """Redirect from a formula instance to its formula."""
    _, version = _forms_or_404(lab)
    visual_id = visual_id_of(version, formula_id)
    if visual_id is None:
        raise Http404
    return redirect("collection:formula-detail", lab=lab.slug, visual_id=visual_id)


@pages.read("formulas/<path:visual_id>/", "formula-detail")
def formula_detail(request: HttpRequest, lab: Lab, visual_id: str) -> HttpResponse:
    """Show a visually distinct formula, or the history of a visual id that is no longer used."""
    collection, version = _forms_or_404(lab)
    formula = show_formula(collection=collection, version=version, visual_id=visual_id)
    if formula is None:
        raise Http404
    context: dict[str, object] = {"collection": collection, "version": version}
    context |= {"visual_id": visual_id, "formula": formula}
    tables = (
        _written_table(formula),
        _instances_table(request, lab, collection, formula),
        _history_table(lab, visual_id, formula),
    )
    return answer(request, "collection/formula_detail.html", context, *tables)


def _written_table(formula: ShownFormula) -> Table[Spelling]:
    code = cells.CellKind(lambda latex: format_html("<code>{}</code>", latex), "wrap")
    columns: list[Column[Spelling]] = [
        Column("Instances", lambda row: row.instances, cells.COUNT),
        Column("Written as", lambda row: row.latex, code),
    ]
    return Table[Spelling]("written", columns, formula.latex, css="written-as")


def _instances_table(
    request: HttpRequest, lab: Lab, collection: Collection, formula: ShownFormula
) -> Table[TitledInstance]:
    def post(row: TitledInstance) -> str:
        if row["comment_id"]:
            words = 'Comment <span class="id">{}</span> on {}'
            return format_html(words, row["comment_id"], row["post_id"])
        return format_html('{} <span class="id">{}</span>', capfirst(row["type"]), row["post_id"])

    def address(row: TitledInstance) -> str:
        path = reverse("collection:post-detail", args=[lab.slug, row["post_id"]])
        comment, post_id = row["comment_id"], row["post_id"]
        place = f"comment-{comment}" if comment else f"post-{post_id}"
        return f"{path}?formula={quote(row['formula_id'])}#{place}"

    def thread(row: TitledInstance) -> str:
        missing = format_html('<span class="id">{}</span> {}', row["thread_id"] or "", MISSING)
        return row["title"] or missing

    return Table[TitledInstance](
        "instances",
        [
            Column("Instance", lambda row: row["formula_id"], cells.ID, is_head=True),
            Column("Post or comment", post, link=address),
            Column("Thread", thread, css="wrap"),
            Column("", order="place", name=None),
        ],
        Prepared(formula.instances, lambda rows: _with_titles(collection, rows)),
        asked=request.GET,
        order="place",
    )


def _history_table(lab: Lab, visual_id: str, formula: ShownFormula) -> Table[FormulaChange]:
    def other(row: FormulaChange) -> str:
        is_old = row.old_visual_id == visual_id
        key = row.new_visual_id if is_old else row.old_visual_id
        words = ("merged" if row.change == "merge" else "split", "into" if is_old else "from")
        url = reverse("collection:formula-detail", args=[lab.slug, key])
        return format_html('{} {} <a href="{}">formula {}</a>', *words, url, key)

    return Table[FormulaChange](
        "history",
        [
            Column("Version", lambda row: row.version, is_head=True),
            Column("Change", other),
            Column("Instances", lambda row: row.instances, cells.COUNT),
            Column("Created", lambda row: row.made_at, cells.TIME),
        ],
        formula.history,
    )


def _forms_or_404(lab: Lab) -> tuple[Collection, VisualMap]:
    collection = collection_of(lab)
    version = newest_forms(collection) if collection else None
    if collection is None or version is None:
        raise Http404
    return collection, version

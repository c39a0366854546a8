"""Tables: a page declares columns and rows, and gets the table, its files and its tools.

`templates/components/table.html` draws a `Table`; `answer` returns its file if the address asks for
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, Generic, NamedTuple, Never, TypeVar

import polars as pl
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet, Transform
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString
from django.utils.text import slugify
from rest_framework.exceptions import ValidationError

from arqkit.formats.tables import FILE_ENDINGS
from arqlab.web.cells import DASH, TEXT, CellKind, NamedRun, run_name, team_name
from arqlab.web.downloads import rows_response, table_file
from arqlab.web.lists import ROWS_A_PAGE, Filter, Listing, Search
from arqlab.web.places import address_of

Row = TypeVar("Row")
Source = TypeVar("Source")
RowOf = TypeVar("RowOf", contravariant=True)
Value = Callable[[Row], object]
"""What reads a value from a row; a column of any row, such as that of runs, serves each table."""
LONGEST_TABLE = 120
"""The most rows that a page shows of a table at once."""
FORMATS = {"tsv": "TSV", "csv": "CSV", "json": "JSON", "latex": "LaTeX"}
"""The names of the formats of files, by their words in addresses."""


def to(name: str, *address: object, of: Value[Row], query: str = "") -> Callable[[Row], str]:
    """Return what makes the address of a page: the last part is a value of the row.

    The page is named by its view, or, if it belongs to an app above, by its place.
    """
    end = f"?{query}" if query else ""
    return lambda row: address_of(name, *address, of(row)) + end


@dataclass(frozen=True)
class Column(Generic[RowOf]):
    """A column: its heading, what it shows of a row, and the kind of the values.

    A column without a heading is in files only, where `name` is its heading if it is another; a
    column with the name None is on the page only.

    - link: the address to which a value leads, or an empty one.
    - spoken: what a link is called where its text alone says too little.
    - note: text after a value, small.
    - best: whether a value is marked as the best one, and `cell_css` other classes of its cell.
    - is_head: whether it names the row.
    - over: the heading over this column and its neighbours with the same one.
    - by: the field or column of a list by which the heading sorts, and `order` the name of this
      order in addresses, if it is not that of the heading.
    - template: the template of a cell with buttons or forms. It gets `row`.
    - title: more words for the heading, which appear over it.
    - hides_heading: whether the heading is only read aloud.
    """

    heading: str
    value: Value[RowOf] | None = None
    kind: CellKind = TEXT
    _: KW_ONLY
    name: str | None = ""
    link: Value[RowOf] | None = None
    spoken: Value[RowOf] | None = None
    note: Value[RowOf] | None = None
    best: Callable[[RowOf], bool] | None = None
    cell_css: Value[RowOf] | None = None
    is_head: bool = False
    over: str = ""
    order: str = ""
    by: str | Transform = ""
    template: str = ""
    css: str = ""
    title: str = ""
    hides_heading: bool = False

    def __post_init__(self) -> None:
        """Name the order after the heading, if it has no other name."""
        if self.by and not self.order:
            object.__setattr__(self, "order", slugify(self.heading))

    @property
    def head_classes(self) -> str:
        """Return the classes of the heading, which is no code, even over ids."""
        return self.classes.removeprefix("id").strip()

    @property
    def classes(self) -> str:
        """Return the classes of the cells."""
        return f"{self.kind.css} {self.css}".strip()

    def cell(self, row: RowOf) -> Cell:
        """Return the cell of a row on the page."""
        if self.template:
            return Cell(self, "", self.classes, row)
        value = self.value(row) if self.value else None
        html = DASH if value is None or value == "" else self.kind.html(value)
        if url := self.link and self.link(row):
            spoken = self.spoken and self.spoken(row)
            named = format_html(' aria-label="{}"', spoken) if spoken else ""
            html = format_html('<a href="{}"{}>{}</a>', url, named, html)
        if note := self.note and self.note(row):
            html = format_html('{} <span class="muted small">{}</span>', html, note)
        css = [self.classes, str(self.cell_css(row) or "") if self.cell_css else ""]
        css += ["best"] * (self.best is not None and self.best(row))
        return Cell(self, html, " ".join(filter(None, css)), row)

    def foot(self, value: object) -> Cell:
        """Return a cell of the foot: a text as it is, other values formatted as in the column."""
        html = value if isinstance(value, str) else self.kind.html(value)
        return Cell(self, html, self.classes, None)

    def in_file(self, row: RowOf) -> object:
        """Return the value of a row for files, or None if it has none."""
        value = self.value(row) if self.value else None
        return None if value is None or value == "" else self.kind.file(value)


class Cell(NamedTuple):
    """A cell of a column on the page: its HTML, its classes, and its row for a template."""

    column: Column[Never]
    html: str
    css: str
    row: object

    @property
    def template(self) -> str:
        """Return the template of what it contains, if it has one."""
        return self.column.template if self.row else ""

    @property
    def start(self) -> str:
        """Return the tag that opens it."""
        tag = 'th scope="row"' if self.column.is_head else "td"
        return SafeString(f"<{tag}{_classes(self.css)}>")

    @property
    def end(self) -> str:
        """Return the tag that closes it, and what parts its text from the next one's."""
        return SafeString("</th>\n" if self.column.is_head else "</td>\n")


class Line(NamedTuple):
    """The cells of a row, and its classes."""

    cells: Sequence[Cell]
    css: str

    @property
    def attributes(self) -> str:
        """Return its classes as an attribute, if it has any."""
        return _classes(self.css)

    @property
    def parts(self) -> Iterator[Cell | str]:
        """Yield the cells that a template fills, and the HTML of those between them.

        A template takes longer for a cell, and its spaces would be a third of a long table.
        """
        for template, cells in groupby(self.cells, key=lambda cell: cell.template):
            if template:
                yield from cells
            else:
                html = (f"{cell.start}{conditional_escape(cell.html)}{cell.end}" for cell in cells)
                yield SafeString("".join(html))


def _classes(css: str) -> str:
    return format_html(' class="{}"', css) if css else ""


@dataclass(frozen=True)
class Chart:
    """The chart above a table: its kind and data as `static/js/charts.js` reads them.

    `label` says what it shows to those who cannot see it, `caption` what it leaves out or means.
    """

    kind: str
    data: object
    label: str
    css: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Empty:
    """What a page says instead of a table without rows, and the button that helps."""

    title: str
    text: str
    url: str = ""
    action: str = ""


@dataclass(frozen=True)
class Prepared(Generic[Source, Row]):
    """Rows that a page shows as what `prepare` makes of them, reading at once what it needs.

    Files have the columns that the rows themselves have.
    """

    rows: Iterable[Source] | pl.DataFrame
    prepare: Callable[[list[Source]], Iterable[Row]]


@dataclass(frozen=True)
class Table(Generic[Row]):
    """A table: its name (the id on the page), its columns, and its rows.

    - caption: what it shows, above it.
    - page: the rows on the page if it has only some. More than `LONGEST_TABLE` rows are divided
      into pages, which the address (`asked`) names by the table's own `page_name`.
    - asked, order, searched, filters: of a list that the server searches, the address
      (`request.GET`), the name of its usual order, and what `Listing` reads.
    - file: the name of its file without an ending; a table with a name offers all formats.
    - has_tools: whether rows can be filtered and copied on the page.
    - fold: the summary of the details that hide the table until they are opened.
    - empty: what the page says if there are no rows.
    - foot: rows below the others, a value for each column on the page.
    - row_css: the classes of a row.
    """

    name: str
    columns: Sequence[Column[Row]]
    rows: Iterable[Row] | Prepared[Any, Row] | pl.DataFrame
    _: KW_ONLY
    caption: str = ""
    page: Page[Any] | None = None
    asked: Mapping[str, str] | None = None
    order: str = ""
    searched: Search = ()
    filters: Sequence[Filter] = ()
    file: str = ""
    has_tools: bool = False
    fold: str = ""
    empty: Empty | None = None
    foot: Sequence[Sequence[object]] = ()
    row_css: Value[Row] | None = None
    css: str = ""
    chart: Chart | None = None

    @cached_property
    def on_page(self) -> list[Column[Row]]:
        """Return the columns with a heading; the others are in files only."""
        return [column for column in self.columns if column.heading]

    @property
    def overs(self) -> list[tuple[str, int]]:
        """Return the headings over columns with their widths, none if no column has one."""
        if not any(column.over for column in self.on_page):
            return []
        groups = groupby(self.on_page, key=lambda column: column.over)
        widths = [(over, len(list(columns))) for over, columns in groups]
        return [
            part
            for over, width in widths
            for part in ([(over, width)] if over else [("", 1)] * width)
        ]

    @property
    def formats(self) -> dict[str, str]:
        """Return the names of the formats of its file, by their words in addresses."""
        return FORMATS if self.file else {}

    @cached_property
    def listing(self) -> Listing | None:
        """Return the search, filters and order of a list."""
        if self.asked is None or not self.order:
            return None
        rows = self._stored
        if not isinstance(rows, QuerySet | pl.DataFrame):
            return None
        return Listing(
            self.asked,
            rows,
            searched=self.searched,
            filters=self.filters,
            orders={
                column.order: column.by or column.order for column in self.columns if column.order
            },
            default_order=self.order,
        )

    @cached_property
    def rows_here(self) -> Page[Any] | None:
        """Return the page of a list or of a long table, None of a table with all rows."""
        if self.listing or self.page is not None:
            return self.listing.page if self.listing else self.page
        stored = self._stored
        rows: Iterable[Any] = stored.to_dicts() if isinstance(stored, pl.DataFrame) else stored
        if not isinstance(rows, Sequence | QuerySet) or len(rows) <= LONGEST_TABLE:
            return None
        return Paginator(rows, ROWS_A_PAGE).get_page((self.asked or {}).get(self.page_name))

    @property
    def page_name(self) -> str:
        """Return the word for its page in addresses."""
        return "page" if self.listing or self.page is not None else f"{self.name}-page"

    @property
    def pages_beside(self) -> tuple[str, str]:
        """Return the addresses of the previous and the next page of a long table."""
        here = 1 if self.rows_here is None else self.rows_here.number
        query = QueryDict(mutable=True)
        query.update(self.asked or {})

        def url(number: int) -> str:
            query[self.page_name] = str(number)
            return f"?{query.urlencode()}#{self.name}"

        return url(here - 1), url(here + 1)

    @property
    def words(self) -> str:
        """Return what its rows are called: the name in words."""
        return self.name.replace("-", " ")

    @cached_property
    def lines(self) -> list[Line]:
        """Return the rows of the page."""
        css = self.row_css
        rows = self._all if self.rows_here is None else self.rows_here
        if isinstance(self.rows, Prepared):
            rows = self.rows.prepare(list(rows))
        return [
            Line([column.cell(row) for column in self.on_page], str(css(row) or "") if css else "")
            for row in rows
        ]

    @property
    def foot_lines(self) -> list[Line]:
        """Return the rows of the foot. A text stands for itself, also in a column of figures."""
        return [
            Line([column.foot(value) for column, value in zip(self.on_page, row, strict=True)], "")
            for row in self.foot
        ]

    @property
    def data_id(self) -> str:
        """Return the id of the chart's data."""
        return f"{self.name}-data"

    @property
    def is_listed(self) -> bool:
        """Return whether the list has anything to search."""
        listing = self.listing
        return bool(listing and listing.fields and (self.lines or listing.is_narrowed))

    @property
    def _stored(self) -> Iterable[Any] | pl.DataFrame:
        return self.rows.rows if isinstance(self.rows, Prepared) else self.rows

    @property
    def _all(self) -> Iterable[Any]:
        rows = self._stored
        return rows.iter_rows(named=True) if isinstance(rows, pl.DataFrame) else rows

    @property
    def written(self) -> dict[str, Callable[[Row], object]]:
        """Return what files have: the heading of each column, and the value of a row."""
        columns = [column for column in self.columns if column.name is not None]
        return {column.name or column.heading: column.in_file for column in columns}

    def response(self, format_: str) -> HttpResponse:
        """Return the file with all rows, in a format of `FORMATS`."""
        return table_file(self.written, self._all, f"{self.file}.{FILE_ENDINGS[format_]}")


def answer(
    request: HttpRequest,
    template: str,
    context: Mapping[str, object],
    *tables: Table[Any],
    file: Table[Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return a page with tables (each in the context by its name, with _ for -), or a file.

    The file is that of the first table, or of `file` if its rows are others than those of the page.
    Raises `Http404` if the page has no file of the format.
    """
    extension = request.GET.get("format", "")
    source = file or next(iter(tables), None)
    if getattr(request, "asks_rows", False) and not extension:
        return _rows_answer(request, [table for table in (source, *tables) if table])
    if not extension:
        named = {
            table.name.replace("-", "_"): replace(table, asked=request.GET) for table in tables
        }
        return render(request, template, {**context, **named}, status=status)
    if source is None or not source.file or extension not in FORMATS:
        raise Http404
    return source.response(extension)


def _rows_answer(request: HttpRequest, tables: Sequence[Table[Any]]) -> HttpResponse:
    """Return a page of the rows of a table for a program: the first one, or that it names.

    Raises `ValidationError` for a filter that is not offered.
    """
    table_name = request.GET.get("table")
    for table in tables:
        if table_name in (None, table.name):
            listed = replace(table, asked=request.GET)
            if listed.listing and (errors := listed.listing.errors):
                raise ValidationError({name: [*map(str, errors[name])] for name in errors})
            names = list(dict.fromkeys(table.name for table in tables))
            return rows_response(request, table.written, listed.listing or list(table._all), names)
    raise Http404


def frame_table(name: str, frame: pl.DataFrame, *, file: str) -> Table[dict[str, object]]:
    """Return a frame as a file with its columns; a page shows none of them."""
    columns = [Column("", itemgetter(column), name=column) for column in frame.columns]
    return Table[dict[str, object]](name, columns, frame, file=file)


def run_columns(
    run: Callable[[Row], NamedRun], *, url: Value[Row] | None = None
) -> tuple[Column[Row], ...]:
    """Return the columns that name a run: its tag and team, in files also its standing.

    `run` is the run of a row, and `url` the address of its page.
    """
    return (
        Column("", lambda row: run(row).team, name="team"),
        Column("", lambda row: run(row).tag, name="run"),
        Column("", lambda row: run(row).standing.key, name="standing"),
        Column(
            "Run",
            lambda row: run_name(run(row), str(url(row)) if url else ""),
            name=None,
            is_head=True,
            css="run-name",
        ),
        Column("Team", lambda row: team_name(run(row)), name=None),
    )


def choice_column(
    table: str,
    name: str,
    value: Value[Row],
    *,
    spoken: Value[Row],
    is_chosen: Callable[[Row], bool] = lambda row: False,
    form: str | None = None,
) -> Column[Row]:
    """Return the column of boxes that select rows, with a box for all (`static/js/choose-rows.js`).

    A row whose value is None has none. They are the field `name` of a form: by default the one with
    the id of the table and `-form`, with an empty `form` the one around the table.
    """
    owner = f"{table}-form" if form is None else form

    def box(row: Row) -> str:
        html = '<input type="checkbox"{} name="{}" value="{}" aria-label="{}"{}>'
        inside = format_html(' form="{}"', owner) if owner else ""
        checked = SafeString(" checked" if is_chosen(row) else "")
        key = value(row)
        return "" if key is None else format_html(html, inside, name, key, spoken(row), checked)

    every = '<label class="choose-all"><input type="checkbox" data-choose-all="{}"> All</label>'
    return Column(format_html(every, table), box, name=None)

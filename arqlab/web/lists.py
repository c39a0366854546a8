"""Long lists, which the server searches, filters, sorts and divides into pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any, NamedTuple, cast

import polars as pl
from django import forms
from django.core.paginator import Page, Paginator
from django.db.models import F, OrderBy, Q, QuerySet, Transform

from arqkit.texts.posts.queries import LONGEST
from arqkit.topics import topic_order

ROWS_A_PAGE = 100
Rows = QuerySet[Any] | pl.DataFrame
Search = tuple[str, ...] | Callable[[QuerySet[Any], list[str]], QuerySet[Any]]


class Filter(NamedTuple):
    """A filter: its name in addresses, its label, and the lookup or column that it compares.

    `choices` are values and texts, by default the values that the rows have.
    """

    name: str
    label: str
    lookup: str
    choices: Iterable[tuple[object, str]] | None = None


class SearchForm(forms.Form):
    """The search text of a page, which every page that searches asks here.

    No database searches for a text of any length: one that is too long is an error of the form,
    and the page shows what it shows without a search.
    """

    q = forms.CharField(
        label="Search",
        required=False,
        max_length=LONGEST,
        error_messages={"max_length": f"Shorten the search to {LONGEST:,} characters."},
        widget=forms.TextInput(
            attrs={"type": "search", "autocapitalize": "off", "spellcheck": "false"}
        ),
    )

    @property
    def text(self) -> str:
        """Return the text to search for, or "" if the field is empty or invalid."""
        self.is_valid()
        return str(self.cleaned_data.get("q", ""))


class Listing(SearchForm):
    """The search, filters, order and page of a list, read from the address of its page.

    - searched: the fields or columns to search, or a function that takes rows and words; without
      them, there is no search.
    - orders: the field or column of each order; `-` before the name of an order reverses it.

    Values that are not offered are ignored, and the form says so.
    """

    def __init__(
        self,
        query: Mapping[str, object],
        rows: Rows,
        *,
        searched: Search,
        filters: Iterable[Filter],
        orders: Mapping[str, str | Transform],
        default_order: str,
    ) -> None:
        """Read the address (`request.GET`) of a list of rows."""
        super().__init__(query, auto_id="list-%s")
        self.rows, self.searched, self.orders = rows, searched, orders
        self.filters = {choice.name: choice for choice in filters}
        for name, (_, label, lookup, choices) in self.filters.items():
            offered = _values(rows, lookup) if choices is None else list(choices)
            self.fields[name] = forms.ChoiceField(
                label=label, choices=[("", "any"), *offered], required=False
            )
        if not searched:
            del self.fields["q"]
        self.is_valid()
        sort = str(query.get("sort", ""))
        self.order = sort if orders.get(sort.removeprefix("-")) else default_order

    @property
    def is_narrowed(self) -> bool:
        """Return whether the search or a filter leaves rows out."""
        return any(self.cleaned_data.values())

    @property
    def kept(self) -> list[tuple[str, str]]:
        """Return the other parameters of the address, which a new search keeps."""
        others = [name for name in self.data if name not in self.fields and name != "page"]
        values = getattr(self.data, "getlist", lambda name: [self.data[name]])
        return [(name, value) for name in others for value in values(name)]

    @property
    def page(self) -> Page[Any]:
        """Return the page of the rows that the address asks for; the last one if it is too high."""
        rows = self.rows
        matching: Any = self._frame(rows) if isinstance(rows, pl.DataFrame) else self._query(rows)
        return Paginator(matching, ROWS_A_PAGE).get_page(self.data.get("page"))

    def _query(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        values = self.cleaned_data
        for name, choice in self.filters.items():
            if values.get(name):
                rows = rows.filter(**{choice.lookup: values[name]})
        words = self.text.split()
        if callable(self.searched):
            rows = self.searched(rows, words) if words else rows
        else:
            for word in words:
                anywhere = (Q(**{f"{field}__icontains": word}) for field in self.searched)
                rows = rows.filter(reduce(or_, anywhere))
        by, is_reversed = self._by
        first = OrderBy(F(by) if isinstance(by, str) else by, descending=is_reversed)
        return rows.order_by(first, "-pk" if is_reversed else "pk")

    def _frame(self, rows: pl.DataFrame) -> _FrameRows:
        """Return the matching rows in order. Texts are sorted as topics are: 9 before 10.

        The order by `place` is that of the frame.
        """
        values = self.cleaned_data
        conditions = [
            pl.col(choice.lookup).cast(pl.String) == values[name]
            for name, choice in self.filters.items()
            if values.get(name)
        ]
        if words := self.text.lower().split():
            texts = rows.select(cast("tuple[str, ...]", self.searched)).with_columns(
                pl.selectors.list().cast(pl.List(pl.String)).list.join(" ")
            )
            searched = pl.concat_str(pl.all(), separator=" ", ignore_nulls=True).str.to_lowercase()
            rows = rows.with_columns(texts.select(searched=searched))
            conditions += [pl.col("searched").str.contains(word, literal=True) for word in words]
        rows = rows.with_row_index("place").filter(pl.lit(value=True), *conditions)
        by, is_reversed = self._by
        key = pl.col(str(by))
        if rows.schema[str(by)] == pl.String:
            key = key.cast(topic_order(rows[str(by)].drop_nulls()))
        return _FrameRows(
            rows.sort(key, descending=is_reversed, nulls_last=True, maintain_order=True)
        )

    @property
    def _by(self) -> tuple[str | Transform, bool]:
        return self.orders[self.order.removeprefix("-")], self.order.startswith("-")


def _values(rows: Rows, lookup: str) -> list[tuple[object, str]]:
    if isinstance(rows, pl.DataFrame):
        values = topic_order(rows[lookup].cast(pl.String).drop_nulls()).categories.to_list()
    else:
        values = sorted(filter(None, rows.order_by().values_list(lookup, flat=True).distinct()))
    return [(value, value) for value in values]


class _FrameRows:
    """The rows of a frame as a list of mappings, of which pages are slices."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    def __len__(self) -> int:
        return self.frame.height

    def __getitem__(self, part: slice) -> list[dict[str, object]]:
        return self.frame[part].to_dicts()

"""Long lists, which the server searches, filters, sorts and divides into pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any, ClassVar, TypeVar

import polars as pl
from django import forms
from django.core.paginator import Page, Paginator
from django.db.models import F, Model, OrderBy, Q, QuerySet, Transform

from arqkit.topics import topic_order

LONGEST_REASON = 300


class ReasonsForm(forms.Form):
    """A field for each thing, such as a topic or a run. Things with a reason are left out."""

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        kind: str,
        names: Mapping[str, str],
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        """Add a field for each key of `names`, filled with its reason in `reasons`."""
        super().__init__(data, prefix=kind)
        self.kind = kind
        for key, name in names.items():
            self.fields[key] = forms.CharField(
                label=name,
                required=False,
                max_length=LONGEST_REASON,
                initial=(reasons or {}).get(key, ""),
                error_messages={
                    "max_length": f"Shorten the reason for {name} to {LONGEST_REASON} characters."
                },
            )

    @property
    def reasons(self) -> dict[str, str]:
        """Return the reasons that were entered, by key."""
        return {key: reason for key, reason in self.cleaned_data.items() if reason}

    @property
    def entered(self) -> dict[str, str]:
        """Return the reason of each field as shown, by the name of the field on the page."""
        return {field.html_name: field.value() or "" for field in self}

    @property
    def messages(self) -> list[str]:
        """Return all error messages."""
        return [str(message) for errors in self.errors.values() for message in errors]

    @property
    def count(self) -> int:
        """Return the number of fields with a reason, as shown."""
        return sum(bool(field.value()) for field in self)


ROWS_A_PAGE = 100

Row = TypeVar("Row", bound=Model)


class ListForm(forms.Form):
    """The search, filters, order and page of a list, read from the address of its page.

    A subclass names the fields to search (`searched`), the label of each filter and the lookup that
    it makes (`filters`), and the fields to sort by (`orders`); `-` before the name of an order
    reverses it. Values that are not offered are ignored.
    """

    searched: ClassVar[tuple[str, ...]]
    filters: ClassVar[Mapping[str, tuple[str, str]]]
    orders: ClassVar[Mapping[str, str | Transform]]
    default_order: ClassVar[str]

    q = forms.CharField(
        label="Search", required=False, widget=forms.TextInput(attrs={"type": "search"})
    )

    def __init__(self, data: Mapping[str, Any], **choices: Iterable[tuple[str, str]]) -> None:
        """Read the address (`request.GET`); `choices` has the values and texts of each filter."""
        super().__init__(data, auto_id="list-%s")
        for name, (label, _) in self.filters.items():
            values = [("", "any"), *choices[name]]
            self.fields[name] = forms.ChoiceField(label=label, choices=values, required=False)
        self.is_valid()

    @property
    def is_narrowed(self) -> bool:
        """Return whether the search or a filter leaves rows out."""
        return any(self.cleaned_data.values())

    @property
    def order(self) -> str:
        """Return the name of the order, with `-` before it if it is reversed."""
        chosen = str(self.data.get("sort", ""))
        return chosen if chosen.removeprefix("-") in self.orders else self.default_order

    @property
    def kept(self) -> list[tuple[str, str]]:
        """Return the other parameters of the address, which a new search keeps."""
        return [(k, v) for k, v in self.data.items() if k not in self.fields and k != "page"]

    def matching(self, rows: QuerySet[Any], words: Iterable[str]) -> QuerySet[Any]:
        """Return the rows that contain all words in the searched fields."""
        for word in words:
            anywhere = (Q(**{f"{field}__icontains": word}) for field in self.searched)
            rows = rows.filter(reduce(or_, anywhere))
        return rows

    def page_of(self, rows: QuerySet[Row]) -> Page[Row]:
        """Return the page of the rows that the address asks for; the last one if it is too high."""
        given = self.cleaned_data
        for name, (_, lookup) in self.filters.items():
            if given.get(name):
                rows = rows.filter(**{lookup: given[name]})
        if words := given.get("q", "").split():
            rows = self.matching(rows, words)
        by = self.orders[self.order.removeprefix("-")]
        is_reversed = self.order.startswith("-")
        first = OrderBy(F(by) if isinstance(by, str) else by, descending=is_reversed)
        ordered = rows.order_by(first, "-pk" if is_reversed else "pk")
        return Paginator(ordered, ROWS_A_PAGE).get_page(self.data.get("page"))


class FrameListForm(ListForm):
    """The same for the rows of a frame: searches, filters and orders name columns.

    The order by `place` is that of the frame. Texts are sorted as topics are: 9 before 10.
    """

    def __init__(
        self, data: Mapping[str, Any], rows: pl.DataFrame, **choices: Iterable[tuple[str, str]]
    ) -> None:
        """Offer the values of its column for each filter without `choices`."""
        for name in self.filters.keys() - choices:
            values = topic_order(rows[self.filters[name][1]].cast(pl.String).drop_nulls())
            choices[name] = [(value, value) for value in values.categories]
        super().__init__(data, **choices)

    def page_of_frame(self, rows: pl.DataFrame) -> tuple[Page[int], pl.DataFrame]:
        """Return the page that the address asks for, and its rows."""
        given, by = self.cleaned_data, self.orders[self.order.removeprefix("-")]
        wanted = [
            pl.col(column).cast(pl.String) == given[name]
            for name, (_, column) in self.filters.items()
            if given.get(name)
        ]
        words = given.get("q", "").lower().split()
        wanted += [pl.col("searched").str.contains(word, literal=True) for word in words]
        texts = rows.select(self.searched).with_columns(
            pl.selectors.list().cast(pl.List(pl.String)).list.join(" ")
        )
        searched = pl.concat_str(pl.all(), separator=" ", ignore_nulls=True).str.to_lowercase()
        rows = rows.with_row_index("place").with_columns(texts.select(searched=searched))
        rows = rows.filter(pl.lit(value=True), *wanted)
        key = pl.col(str(by))
        if rows.schema[str(by)] == pl.String:
            key = key.cast(topic_order(rows[str(by)].drop_nulls()))
        rows = rows.sort(
            key, descending=self.order.startswith("-"), nulls_last=True, maintain_order=True
        )
        page = Paginator(range(rows.height), ROWS_A_PAGE).get_page(self.data.get("page"))
        return page, rows.slice(max(page.start_index() - 1, 0), len(page.object_list))

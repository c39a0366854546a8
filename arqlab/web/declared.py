"""Tables that a module declares in the TOML file beside it: their columns and captions."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from arqkit.data_files import data_beside
from arqlab.web import cells
from arqlab.web.tables import Column, Empty, Table

GIVEN = "..."
"""Where the columns stand that only the caller knows."""
FLAGS: Mapping[str, dict[str, Any]] = {"HEAD": {"is_head": True}, "PAGE": {"name": None}}
"""What a word says about a column: it names the row, or it is on the page only."""
_NOTHING: Mapping[str, Any] = MappingProxyType({})


def tables_beside(module: str) -> Callable[..., Table]:
    """Return what makes a table of the TOML file beside a module (`__file__`).

    The file has the `columns`, the `caption` and the title and text of `Empty` of each table by its
    name. A column is a list: its heading and its value, then any of a kind of `cells`, words of
    `FLAGS`, and a table of other fields of `Column`.
    """
    declared = data_beside(module)

    def table(
        name: str,
        rows: Any,
        given: Iterable[Column] = (),
        *,
        reads: Mapping[str, Callable[[Any], Any]] = _NOTHING,
        facts: Mapping[str, object] = _NOTHING,
        **fields: Any,
    ) -> Table:
        """Return a table with rows; `fields` are those of `Table`.

        `reads` has functions for the names that the file has in place of paths, and `facts` what
        stands in braces in headings and the caption.
        """
        written = declared[name]
        columns = list(_columns(written["columns"], given, reads, facts))
        fields.setdefault("caption", written.get("caption", "").format(**facts))
        if "empty" in written:
            fields.setdefault("empty", Empty(*written["empty"]))
        return Table(name, columns, rows, **fields)

    return table


def _columns(
    declared: Iterable[Any],
    given: Iterable[Column],
    reads: Mapping[str, Callable[[Any], Any]],
    facts: Mapping[str, object],
) -> Iterator[Column]:
    for column in declared:
        if column == GIVEN:
            yield from given
            continue
        heading, value, *more = column
        fields: dict[str, Any] = {"value": value}
        for one in more:
            if isinstance(one, dict):
                fields |= one
            else:
                fields |= FLAGS[one] if one in FLAGS else {"kind": getattr(cells, one)}
        for name, field in fields.items():
            if isinstance(field, str):
                fields[name] = reads.get(field, field)
        yield Column(heading.format(**facts), **fields)

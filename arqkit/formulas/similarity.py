"""Visual similarity of formulas: the symbol pairs that their layout strings share.

A formula is a multiset of pairs (symbol, a symbol below it in the layout tree, the path between
them) for paths of one and two edges, plus its last symbols. This is Tangent's representation (000
§6, Zanibbi et al. 2016) with the window of two that its small variants use. Adjacent symbols are
also paired by kind, with one wildcard for all letters and one for all numbers, so that a query
`a^2+b^2=c^2` finds `x^2+y^2=z^2`, ranked below formulas with the same letters. Two multisets are
compared by Dice's coefficient, from 0 (nothing in common) to 1 (the same pairs).

The pairs of many formulas form an inverted index, a table sorted by pair. A query reads only the
row groups that contain its own pairs.
"""

from array import array
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

import polars as pl

WINDOW = 2
"""The edges of a path between two symbols, as in the small variants of Tangent."""
BATCH = 200_000  # formulas whose pairs are in memory at once while building an index
GROUP = 65_536  # rows in a row group of the index

SCHEMA = {"pair": pl.UInt64, "form": pl.UInt32, "count": pl.UInt32, "size": pl.UInt32}


def layout_symbols(layout: str) -> list[str]:
    """Return the symbols and structures of a layout string in order, without its edges."""
    return [item for item in layout.split(" ") if len(item) > 2 or item.isupper()]


def symbol_pairs(layout: str) -> list[str]:
    """Return the symbol pairs of a layout string, with repetitions."""
    pairs: list[str] = []
    # The path from the root to the last symbol: symbol, the edge that leads to it, its number.
    chain: list[tuple[str, str, int]] = []
    lengths: list[int] = []
    symbols: list[str] = []
    parents: set[int] = set()
    edge = ""
    for item in layout.split(" "):
        if item == "]":
            del chain[lengths.pop() if lengths else 0 :]
            edge = ""
        elif item == "n":
            edge = "n"
        elif len(item) == 2 and item[1] == "[":
            lengths.append(len(chain))
            edge += item[0]
        elif item:
            _add(pairs, chain, item, edge)
            if chain:
                parents.add(chain[-1][2])
            chain.append((item, edge, len(symbols)))
            symbols.append(item)
            edge = ""
    pairs.extend(f"{symbol} ." for number, symbol in enumerate(symbols) if number not in parents)
    return pairs


def _add(pairs: list[str], chain: list[tuple[str, str, int]], symbol: str, edge: str) -> None:
    path = edge
    for above, its_edge, _ in chain[: -WINDOW - 1 : -1]:
        pairs.append(f"{above} {symbol} {path}")
        path = its_edge + path
    if chain:
        pairs.append(f"~{_kind(chain[-1][0])} {_kind(symbol)} {edge}")


def _kind(symbol: str) -> str:
    return symbol[0] if symbol[:2] in ("V!", "N!") else symbol


def pair_index(layouts: Iterable[str | None]) -> pl.DataFrame:
    """Return the inverted index of layout strings, sorted by pair and form.

    The columns are pair, form (the position of the layout string, from 0), count (how often the
    pair occurs in the form) and size (the number of all pairs of the form). Formulas without a
    layout string are left out.
    """
    parts, pairs, forms = [pl.DataFrame(schema=SCHEMA)], array("Q"), array("I")
    for row, layout in enumerate(layouts):
        if layout:
            layout_pairs = symbol_pairs(layout)
            pairs.extend(map(_number, layout_pairs))
            forms.extend([row] * len(layout_pairs))
        if row % BATCH == BATCH - 1:
            parts.append(_counted(pairs, forms))
            pairs, forms = array("Q"), array("I")
    return pl.concat([*parts, _counted(pairs, forms)]).sort("pair", "form")


def similar_forms(index: pl.LazyFrame, layout: str, *, limit: int) -> pl.DataFrame:
    """Return the most similar forms and their similarity, best first, then by form.

    The similarity is Dice's coefficient, from 0 to 1.
    """
    pairs = Counter(map(_number, symbol_pairs(layout)))
    query_pairs = pl.DataFrame(
        {"pair": list(pairs), "wanted": list(pairs.values())},
        schema={"pair": pl.UInt64, "wanted": pl.UInt32},
    )
    hits = (
        index.filter(pl.col("pair").is_in(query_pairs["pair"].implode()))
        .collect()
        .join(query_pairs, on="pair")
    )
    shared = hits.group_by("form").agg(
        shared=pl.min_horizontal("count", "wanted").sum(), size=pl.col("size").first()
    )
    both = pl.col("size") + pairs.total()
    ranked = shared.select("form", similarity=2.0 * pl.col("shared") / both)
    return ranked.sort("similarity", "form", descending=[True, False]).head(limit)


# Formulas share their pairs, so that most are hashed once.
@lru_cache(maxsize=1_000_000)
def _number(pair: str) -> int:
    """Return a number for a pair that is the same in every process and version."""
    return int.from_bytes(blake2b(pair.encode(), digest_size=8).digest(), "little")


def _counted(pairs: "array[int]", forms: "array[int]") -> pl.DataFrame:
    rows = pl.DataFrame(
        {"pair": pl.Series(pairs, dtype=pl.UInt64), "form": pl.Series(forms, dtype=pl.UInt32)}
    )
    sizes = rows.group_by("form").agg(size=pl.len().cast(pl.UInt32))
    counted = rows.group_by("pair", "form").agg(count=pl.len().cast(pl.UInt32))
    return counted.join(sizes, on="form").select(list(SCHEMA))

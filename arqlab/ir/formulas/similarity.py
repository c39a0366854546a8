"""How alike two formulas look: the symbol pairs of their layout strings that they share.

A formula is the multiset of its pairs (symbol, symbol below it in the layout tree, the path between
them), for paths of one and two edges, and of its last symbols (Tangent's representation: 000 §6,
Zanibbi et al. 2016, with the window of two that its small variants use). Neighbouring symbols are
taken a second time by kind, a letter for any letter and a number for any number, so that
`a^2+b^2=c^2` finds `x^2+y^2=z^2`, behind those that share the letters. Two multisets are compared
by Dice's coefficient: 1 for the same pairs, 0 for none in common.

The pairs of many formulas are kept as an inverted index in columns, sorted by pair, so that a query
reads only the row groups of its own pairs.
"""

from array import array
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

import polars as pl

WINDOW = 2
BATCH = 200_000  # formulas whose pairs are held at once while an index is made
GROUP = 65_536  # rows of a row group of the index

SCHEMA = {"pair": pl.UInt64, "form": pl.UInt32, "count": pl.UInt32, "size": pl.UInt32}


def symbol_pairs(layout: str) -> list[str]:
    """Return the symbol pairs of a layout string (`arqlab.ir.formulas.layout`), repeated ones as
    often as they are there.
    """
    pairs: list[str] = []
    chain: list[
        tuple[str, str, int]
    ] = []  # from the root to the last symbol: symbol, edge that leads to it, number
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
    """Make the inverted index of many layout strings: pair, form (its row, from 0), count, and size
    (of the form).

    Rows are sorted by pair and form. Formulas without a layout string are in no row.
    """
    parts, pairs, forms = [pl.DataFrame(schema=SCHEMA)], array("Q"), array("I")
    for row, layout in enumerate(layouts):
        if layout:
            found = symbol_pairs(layout)
            pairs.extend(map(_number, found))
            forms.extend([row] * len(found))
        if row % BATCH == BATCH - 1:
            parts.append(_counted(pairs, forms))
            pairs, forms = array("Q"), array("I")
    return pl.concat([*parts, _counted(pairs, forms)]).sort("pair", "form")


def similar_forms(index: pl.LazyFrame, layout: str, *, limit: int) -> pl.DataFrame:
    """Return the forms most like a layout string: form and similarity (Dice, 0 to 1), best first,
    then by form.
    """
    pairs = Counter(map(_number, symbol_pairs(layout)))
    wanted = pl.DataFrame(
        {"pair": list(pairs), "wanted": list(pairs.values())},
        schema={"pair": pl.UInt64, "wanted": pl.UInt32},
    )
    hits = (
        index.filter(pl.col("pair").is_in(wanted["pair"].implode()))
        .collect()
        .join(wanted, on="pair")
    )
    shared = hits.group_by("form").agg(
        shared=pl.min_horizontal("count", "wanted").sum(), size=pl.col("size").first()
    )
    both = pl.col("size") + pairs.total()
    ranked = shared.select("form", similarity=2.0 * pl.col("shared") / both)
    return ranked.sort("similarity", "form", descending=[True, False]).head(limit)


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

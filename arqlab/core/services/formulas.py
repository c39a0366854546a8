"""Formulas typeset once, and kept."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Sequence

from django.db import OperationalError, connection, transaction

from arqlab.core.models import TypesetFormula
from arqlab.formats.batches import in_slices
from arqlab.texts.maths.typesetting import ENGINE, Typeset, can_be_set, typeset

BATCH = 5_000  # parameters of one query


def typeset_formulas(formulas: Iterable[tuple[str, bool]]) -> dict[tuple[str, bool], Typeset]:
    """Return formulas (LaTeX without dollars, whether it is a block) typeset; those that are new are
    set and kept.

    What could not be typeset is kept too, so that nobody waits for it twice. When the engine or its
    rules change, all are set again, each when it is next asked for. One query reads, at most one
    writes.
    """
    wanted = {_digest(latex, display): (latex, display) for latex, display in formulas}
    found: dict[tuple[str, bool], Typeset] = {}
    for digests in in_slices(wanted, size=BATCH):
        found |= {
            wanted[digest]: Typeset(mathml or None, latex)
            for digest, latex, mathml in _kept(digests)
        }
    missing = {digest: key for digest, key in wanted.items() if key not in found}
    for latex, display in missing.values():
        found[latex, display] = typeset(latex, display=display)
    if missing:
        _keep(missing, found)
    return found


def _kept(digests: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return digest, LaTeX and MathML of the formulas that are kept; in SQL, as each page and each
    judgment asks for it.
    """
    places = ", ".join(["%s"] * len(digests))
    with connection.cursor() as cursor:
        cursor.execute(
            # places
            f"SELECT digest, latex, mathml FROM core_typesetformula WHERE engine = %s AND digest IN ({places})",  # noqa: S608
            [ENGINE, *digests],
        )
        rows: list[tuple[str, str, str]] = cursor.fetchall()
        return rows


def _keep(missing: dict[str, tuple[str, bool]], found: dict[tuple[str, bool], Typeset]) -> None:
    rows = [
        # In the order of the key, so that two processes that keep the same formulas never wait for
        # each other.
        TypesetFormula(
            digest=digest,
            latex=found[key].latex,
            is_display=key[1],
            mathml=found[key].mathml or "",
            engine=ENGINE,
        )
        for digest, key in sorted(missing.items())
        if can_be_set(key[0])
    ]
    # A page does not fail because an import holds SQLite's lock: the formulas are set again by the
    # next one who asks.
    with contextlib.suppress(OperationalError), transaction.atomic():
        TypesetFormula.objects.bulk_create(
            rows,
            batch_size=500,
            update_conflicts=True,
            unique_fields=["digest"],
            update_fields=["latex", "mathml", "engine"],
        )


def _digest(latex: str, display: bool) -> str:
    kind = "display" if display else "inline"
    return hashlib.sha256(f"{kind}\n{latex}".encode(errors="surrogatepass")).hexdigest()

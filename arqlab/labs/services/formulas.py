"""Typeset formulas, stored so that each is typeset once."""

import contextlib
import hashlib
import time
from collections.abc import Iterable, Mapping

from django.db import OperationalError, connection, transaction
from django.db.models import Q

from arqkit.texts.maths.typesetting import ENGINE, Typeset, can_be_set, typeset, typeset_now
from arqlab.core.models import TypesetFormula
from arqlab.core.planned import Planned

# The version is not asked for: SQLite would read all formulas of it instead of these.
_BY_DIGEST = "SELECT digest, latex, mathml, engine FROM core_typesetformula WHERE digest"
_STORED = Planned(
    "stored_formulas",
    f"{_BY_DIGEST} = ANY (%(digests)s)",
    f"{_BY_DIGEST} IN (SELECT value FROM json_each(%(digests)s))",  # noqa: S608  # our words
    digests="varchar[]",
)
AT_ONCE = 200  # old formulas, about a tenth of a second


def typeset_formulas(
    formulas: Iterable[tuple[str, bool]], corrected: Mapping[str, str] | None = None
) -> dict[tuple[str, bool], Typeset]:
    """Return typeset formulas by LaTeX (without dollars) and display flag; store new ones.

    LaTeX in `corrected` is typeset as its correction, with the original as its key. Formulas that
    cannot be typeset are stored too, so that nobody waits for them twice. When the version of the
    typesetter changes, each formula is typeset again when it is next needed. This takes one query
    to read and at most one to write.
    """
    if corrected:
        corrections = {key: (corrected.get(key[0], key[0]), key[1]) for key in formulas}
        done = typeset_formulas(corrections.values())
        return {key: done[correction] for key, correction in corrections.items()}
    keys = {_digest(latex, display): (latex, display) for latex, display in formulas}
    results: dict[tuple[str, bool], Typeset] = {}
    if keys:
        with connection.cursor() as cursor:
            stored = _STORED.ask(cursor, digests=list(keys))
        results = {
            keys[digest]: Typeset(mathml or None, latex)
            for digest, latex, mathml, engine in stored
            if engine == ENGINE
        }
    missing = {digest: key for digest, key in keys.items() if key not in results}
    for latex, display in missing.values():
        results[latex, display] = typeset(latex, display=display)
    if missing:
        _store(missing, results)
    return results


def typeset_again(formulas: Iterable[tuple[str, bool]]) -> dict[tuple[str, bool], Typeset]:
    """Return the formulas without stored MathML that have some now, and store nothing."""
    unset = [key for key, formula in typeset_formulas(formulas).items() if formula.mathml is None]
    tried = {key: typeset_now(key[0], display=key[1]) for key in unset}
    return {key: formula for key, formula in tried.items() if formula.mathml is not None}


def store_formulas(typeset: Mapping[tuple[str, bool], Typeset]) -> None:
    """Store typeset formulas in place of earlier ones."""
    _store({_digest(*key): key for key in typeset}, dict(typeset))


def typeset_old_formulas(*, seconds: float) -> None:
    """Typeset stored formulas of other versions again, for about `seconds`."""
    end = time.monotonic() + seconds
    # An index finds these two ranges; it does not find what is unequal.
    others = TypesetFormula.objects.filter(Q(engine__lt=ENGINE) | Q(engine__gt=ENGINE))
    while time.monotonic() < end and (old := list(others[:AT_ONCE])):
        for formula in old:
            done = typeset(formula.latex, display=formula.is_display)
            formula.mathml, formula.engine = done.mathml or "", ENGINE
        with contextlib.suppress(OperationalError):  # SQLite is locked; the next call continues
            TypesetFormula.objects.bulk_update(old, ["mathml", "engine"])


def _store(missing: dict[str, tuple[str, bool]], formulas: dict[tuple[str, bool], Typeset]) -> None:
    rows = [
        # Sorted by key, so that two processes that store the same formulas never deadlock.
        TypesetFormula(
            digest=digest,
            latex=formulas[key].latex,
            is_display=key[1],
            mathml=formulas[key].mathml or "",
            engine=ENGINE,
        )
        for digest, key in sorted(missing.items())
        if can_be_set(key[0])
    ]
    # A page must not fail because an import holds SQLite's lock. The next request typesets the
    # formulas again.
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

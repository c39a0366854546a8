"""Definitions of measures in one sentence, with their sources, for people who read a leaderboard.

Only kinds that `arqkit.measures.names` can read are here. Another kind, of a provider installed
later, is described by ir_measures' documentation.
"""

from typing import NamedTuple

from arqkit.measures.names import Measure

_TREC_EVAL = "trec_eval"
_ARQMATH_3 = "Mansouri et al., Overview of ARQMath-3, 2022"


class MeasureDefinition(NamedTuple):
    """What a measure is, and where it was defined."""

    text: str
    source: str


_ANOTHER = MeasureDefinition(
    "See the documentation of ir_measures.", "https://ir-measur.es/en/latest/measures.html"
)
_KINDS = {
    "nDCG": (
        "Gains of the labels, divided by the logarithm of the rank, as a share of the best order",
        "Järvelin & Kekäläinen, TOIS 20(4), 2002",
    ),
    "AP": (
        "Mean precision at the ranks of the relevant items; a missing one counts 0",
        "Harman, IPM 28(4), 1992",
    ),
    "P": ("Share of relevant items among the first", _TREC_EVAL),
    "R": ("Share of the relevant items that are among the first", _TREC_EVAL),
    "RR": (
        "One divided by the rank of the first relevant item",
        "Kantor & Voorhees, Information Retrieval 2, 2000",
    ),
    "Rprec": ("Precision at the rank that is the number of relevant items", _TREC_EVAL),
    "Bpref": (
        "For each relevant item, one less the share of judged items above it that are not "
        "relevant; unjudged items are ignored",
        "Buckley & Voorhees, SIGIR 2004",
    ),
    "infAP": (
        "Average precision, estimated from the judged items",
        "Yilmaz & Aslam, CIKM 2006",
    ),
    "Success": ("1 if a relevant item is among the first, else 0", _TREC_EVAL),
    "SetP": ("Share of relevant items among all that were retrieved", _TREC_EVAL),
    "SetR": ("Share of the relevant items that were retrieved", _TREC_EVAL),
    "SetF": ("Weighted harmonic mean of SetP and SetR", _TREC_EVAL),
    "SetAP": ("SetP times SetR", _TREC_EVAL),
    "IPrec": ("Largest precision at this recall or a higher one", _TREC_EVAL),
    "ERR": (
        "Expected reciprocal rank at which a reader who goes down the list is satisfied",
        "Chapelle et al., CIKM 2009",
    ),
    "Compat": (
        "Rank-biased overlap with the most similar ideal ranking",
        "Clarke, Vtyurina & Smucker, TOIS 39(4), 2021",
    ),
    "Judged": ("Share of judged items among the first", "ir_measures"),
    "NumRet": ("Number of retrieved items, summed over topics", _TREC_EVAL),
    "NumRel": ("Number of relevant items, summed over topics", _TREC_EVAL),
    "NumQ": ("Number of topics", _TREC_EVAL),
    "LO": (
        "Token F1 of each answer with the most similar known relevant answer, leaving out those "
        "only from its own team; the mean over the topics that have one",
        f"{_ARQMATH_3}, §6.3",
    ),
    "AR": ("Mean label of the first answers; without a judgment, 0", f"{_ARQMATH_3}, §6.3"),
}
MEASURE_KINDS = tuple(kind for kind in _KINDS if kind != "LO")
"""The kinds of measures that one can ask for: all with a definition that need no texts."""


def definition_of(measure: Measure) -> MeasureDefinition:
    """Return what a measure is, with what its cutoff, `rel` and `judged_only` mean."""
    known = _KINDS.get(measure.kind)
    if known is None:
        return _ANOTHER
    text, source = known
    parts = [text if measure.cutoff is None else f"{text}, to rank {measure.cutoff}"]
    if measure.rel is not None:
        parts.append(f"Items are relevant from label {measure.rel}")
    if measure.judged_only:
        parts.append("Unjudged items are removed first")
    return MeasureDefinition(f"{'. '.join(parts)}.", source)

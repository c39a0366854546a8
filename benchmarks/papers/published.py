"""Figures as printed in the papers, and the data that they are computed from.

000 is the overview of ARQMath 2020, 003 Effects of context, complexity, and clustering on
evaluation for math formula retrieval, 004 the overview of ARQMath 2022. A reason in `differs`
explains a figure that the public data cannot reproduce; all others must agree to the printed
digits.
"""

from typing import NamedTuple

PRIMES = ("nDCG'", "MAP'", "P'@10")


class Scores(NamedTuple):
    """The printed scores of a run in PRIMES, an empty text for a measure that is not printed."""

    table: str
    lab: str
    task: str
    qrels: str
    run: str
    printed: tuple[str, str, str]
    differs: tuple[str, str, str] = ("", "", "")


class Judged(NamedTuple):
    """Printed counts: topics, and the judged and relevant items per topic (min, max, mean).

    `topics_of` names the qrels with the same topics, or those without them after a minus sign.
    Relevant is every label above 0.
    """

    table: str
    what: str
    lab: str
    task: str
    qrels: str
    topics: str
    judged: tuple[str, str, str]
    relevant: tuple[str, str, str]
    topics_of: str = ""
    differs: str = ""


class Ceiling(NamedTuple):
    """The printed best possible value of a measure."""

    table: str
    lab: str
    task: str
    qrels: str
    measure: str
    printed: str


class Groups(NamedTuple):
    """The printed numbers of judged topics by the value of an attribute."""

    table: str
    lab: str
    attribute: str
    printed: dict[str, str]


_JUDGED_ONLY = (
    "the paper keeps unjudged answers in P@10, and the public file of the run has none of them"
)
_OLD_QRELS = (
    "the paper's qrels had 125.0 formulas per topic; the released ones, which 003 and 004 use, "
    "have 134.9"
)
_A1 = ("000 A1", "arqmath-1", "task1", "official")
_TANGENT_S = ("arqmath-1", "task2", "visual-v2", "Baseline-task2-TangentS")

SCORES = (
    Scores(*_A1, "MathDowsers-task1-alpha05noReRank", ("0.345", "0.139", "0.161"),
           ("", "", _JUDGED_ONLY)),
    Scores(*_A1, "PSU-task1-PSU1", ("0.263", "0.082", "0.116")),
    Scores(*_A1, "PSU-task1-PSU2", ("0.228", "0.054", "0.055")),
    Scores(*_A1, "PSU-task1-PSU3", ("0.211", "0.046", "0.026")),
    Scores("000 A2", *_TANGENT_S, ("0.506", "0.288", "0.478"), (_OLD_QRELS,) * 3),
    Scores("003 Table 7", *_TANGENT_S, ("0.69", "", "")),
    Scores("003 Table 7", "ntcir-12-wfb", "concrete", "aggregate", "TangentCFT", ("0.86", "", "")),
    Scores("003 Table 8", *_TANGENT_S, ("0.69", "0.45", "0.45")),
    Scores("004 Table 4", *_TANGENT_S, ("0.691", "0.446", "0.453")),
)  # fmt: skip
JUDGED = (
    Judged("000 §4.4", "Task 1", "arqmath-1", "task1", "official", "77", ("", "", "508.5"),
           ("2", "188", "52.9"), differs="the released qrels have 39,124 judged answers"),
    Judged("003 Table 5", "NTCIR-12 WFB, concrete", "ntcir-12-wfb", "concrete", "aggregate", "20",
           ("30", "90", "59.5"), ("14", "89", "41.1"),
           differs="the released qrels have 1,202 judged formulas"),
    Judged("003 Table 5", "ARQMath-1 test, visually distinct", "arqmath-1", "task2", "visual-v2",
           "45", ("102", "159", "134.9"), ("6", "62", "27.4")),
    Judged("003 Table 5", "ARQMath-2 test, instances", "arqmath-2", "task2", "instances", "58",
           ("110", "300", "178.9"), ("7", "175", "74.0"), "visual-v2"),
    Judged("003 Table 5", "ARQMath-2 train, instances", "arqmath-2", "task2", "instances", "12",
           ("143", "214", "177.7"), ("10", "165", "87.6"), "-visual-v2"),
    Judged("003 Table 5", "ARQMath-2 test, visually distinct", "arqmath-2", "task2", "visual-v2",
           "58", ("98", "189", "139.8"), ("6", "115", "53.4")),
    Judged("004 Table 3", "ARQMath-2 Task 1", "arqmath-2", "task1", "official", "71",
           ("", "", ""), ("", "", "")),
    Judged("004 Table 3, §4.5", "ARQMath-3 Task 1", "arqmath-3", "task1", "official", "78",
           ("", "", "446.8"), ("11", "295", "100.8")),
    Judged("004 Table 4, §5.4", "ARQMath-3 Task 2", "arqmath-3", "task2", "visual-v3", "76",
           ("", "", "152.3"), ("2", "143", "63.2"),
           differs="the released qrels have 11,538 judged formulas"),
)  # fmt: skip
CEILINGS = (
    Ceiling("004 §4.7", "arqmath-3", "task1", "official", "P(rel=2,judged_only=True)@10", "0.95"),
    Ceiling("004 §5.6", "arqmath-3", "task2", "visual-v3", "P(rel=2,judged_only=True)@10", "0.93"),
)
GROUPS = (
    Groups("000 §4.1", "arqmath-1", "category", {"computation": "26", "concept": "10",
                                                 "proof": "41"}),
    Groups("000 §4.1", "arqmath-1", "difficulty", {"easy": "32", "medium": "21", "hard": "24"}),
)  # fmt: skip

MEASURES_OF_TASK_3 = ("AR", "P@1", "LO", "CS")
ANSWERS = {
    "GPT-3": (1.346, 0.500, 0.317, 0.851),
    "run1": (1.282, 0.436, 0.509, 0.886),
    "run4": (1.231, 0.397, 0.515, 0.886),
    "run3": (1.179, 0.372, 0.467, 0.879),
    "run2": (1.115, 0.321, 0.427, 0.868),
    "run5": (0.949, 0.282, 0.444, 0.873),
    "SBERT-SVMRank": (0.462, 0.154, 0.330, 0.846),
    "BERT-SVMRank": (0.449, 0.154, 0.329, 0.846),
    "SBERT-QQ-AMR": (0.423, 0.128, 0.325, 0.852),
    "BERT-QQ-AMR": (0.385, 0.103, 0.323, 0.851),
    "amps3_se1_hints": (0.325, 0.078, 0.263, 0.835),
    "se3_len_pen_10": (0.244, 0.064, 0.248, 0.806),
    "amps3_se1_len_pen_20_sample_hint": (0.231, 0.051, 0.254, 0.813),
    "shortest": (0.205, 0.026, 0.239, 0.820),
}
"""The printed scores of 004 Table 5, from which Table 6 follows as far as three decimals allow."""
CORRELATIONS = {
    ("AR", "P@1"): ("0.989", "0.994"),
    ("AR", "LO"): ("0.837", "0.736"),
    ("AR", "CS"): ("0.839", "0.670"),
    ("P@1", "LO"): ("0.787", "0.729"),
    ("P@1", "CS"): ("0.802", "0.674"),
    ("LO", "CS"): ("0.952", "0.805"),
}
"""Pearson's r (a) and Kendall's tau (b) of 004 Table 6."""

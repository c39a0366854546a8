"""Measures that ir_measures' installed providers compute, at least one of each that is accepted,
and those of equation search and RBP, which we compute.
"""

PROVIDED = (
    *("nDCG@10", "nDCG(gains={1:5},judged_only=True)@10", "nDCG(dcg='exp-log2')@10", "ERR@20"),
    *("AP(rel=2)@10", "P(rel=2)@5", "Bpref(rel=1)", "infAP(rel=2)", "Rprec(rel=2)"),
    *("Rprec(rel=2,judged_only=True)", "R(rel=2)@10", "R(rel=2,judged_only=True)@5"),
    *("RR(rel=2)", "RR(rel=2)@2", "RR(rel=2,judged_only=True)", "Success(rel=3)@5"),
    *("Success(rel=2,judged_only=True)@1", "SetP(rel=2)", "SetP(rel=2,relative=True)"),
    *("SetP(rel=3,judged_only=True)", "SetR(rel=2)", "SetAP(rel=2)", "SetF(rel=2)"),
    *("SetF(rel=2,beta=0.5)", "SetF(rel=2,beta=2.0,judged_only=True)", "IPrec(rel=2)@0.1"),
    *("IPrec(rel=2,judged_only=True)@0.25", "IPrec(rel=2)@1.0", "Compat", "NumRet"),
    *("Compat(p=0.9,normalize=False)", "NumRet(rel=2)"),
    *("alpha_nDCG(rel=2)@10", "ERR_IA(rel=2)@10"),
)
EQUATION_SEARCH = (
    "uMAP(rel=2)@1000",
    "uMAP(rel=2,judged_only=True)@3",
    "RankingScore(rel=2)",
    "OneNN(rel=2)",
    "RBP(rel=2)",
    "RBP(p=0.95,rel=3)",
)

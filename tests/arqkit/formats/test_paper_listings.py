"""Tables of submitted runs and of topics, against those of the papers."""

import csv

from arqkit.formats.papers.listings import ListTable, submitted_runs
from arqkit.formats.papers.tables import LONGEST, PaperRun, PaperTable, ScoreColumn
from arqkit.leaderboard import BoardRun
from arqkit.standings import BASELINE, MANUAL, PRIMARY, WITHDRAWN

# 004, Table 1: automatic primary and alternate, manual primary and alternate.
OF_004 = {
    "Task 1": {
        "Baselines": (2, 3, 0, 0),
        "Approach0": (0, 0, 1, 4),
        "DPRL": (1, 4, 0, 0),
        "MathDowers": (1, 2, 0, 0),
        "MIRMU": (1, 4, 0, 0),
        "MSM": (1, 4, 0, 0),
        "SCM": (1, 4, 0, 0),
        "TU_DBS": (1, 4, 0, 0),
    },
    "Task 3": {
        "Baselines": (1, 0, 0, 0),
        "Approach0": (0, 0, 1, 4),
        "DPRL": (1, 3, 0, 0),
        "TU_DBS": (1, 3, 0, 0),
    },
}
TOTALS = {
    "Task 1": ["Totals (38 runs)", "8", "25", "1", "4"],
    "Task 3": ["Totals (14 runs)", "3", "6", "1", "4"],
}
KINDS = [(), (), (MANUAL,), (MANUAL,)]


def runs_of(teams: dict[str, tuple[int, ...]]) -> list[PaperRun]:
    runs = []
    for team, counts in teams.items():
        for place, count in enumerate(counts):
            is_base, is_deep = team == "Baselines", place % 2 == 0
            flags = (*KINDS[place], *((PRIMARY,) if is_deep and not is_base else ()))
            run = BoardRun(0, team, "run", {}, flags, [BASELINE] * is_base)
            runs += [PaperRun(run, is_deep=is_deep)] * count
    return runs


def test_the_table_of_submitted_runs_is_that_of_the_paper():
    withdrawn = PaperRun(BoardRun(0, "DPRL", "old", {}, (), [WITHDRAWN]))
    tasks = {task: [*runs_of(teams), withdrawn] for task, teams in OF_004.items()}
    table = submitted_runs("ARQMath-3", {**tasks, "Task 4": []})

    rows = list(csv.reader(table.tsv().splitlines(), delimiter="\t"))
    assert rows[0][:3] == ["Part", "Team", "Automatic Primary"]
    for task, teams in OF_004.items():
        expected = [[team, *(str(n or "") for n in counts)] for team, counts in teams.items()]
        assert [row[1:] for row in rows if row[0] == task] == [*expected, TOTALS[task]]
    assert r"\multicolumn{2}{c}{Automatic}" in table.latex()
    assert r"TU\_DBS & 1 & 3 &  &  \\" in table.latex()
    assert "Task 4" not in table.latex()


def test_a_long_table_is_continued_on_the_next_page():
    latex = ListTable("t", "Topics.", [("", "Topic")], [[n, n] for n in range(LONGEST + 1)]).latex()

    assert latex.count(r"\begin{table}[p]") == 2
    assert latex.count(r"\caption{Topics.}") == latex.count(r"\textit{Continued.}") == 1


def test_a_value_significantly_below_the_best_has_a_mark_and_the_table_names_it():
    column = ScoreColumn("m", "m", "2 topics")
    runs = (
        PaperRun(BoardRun(1, "T", "best", {"m": 0.9})),
        PaperRun(BoardRun(2, "T", "low", {"m": 0.1}), trained=frozenset("m"), lower=frozenset("m")),
    )
    table = PaperTable("t", "", (column,), runs)

    assert r"0.100\rlap{$^{\ddagger\triangledown}$}" in table.latex()
    best, low = csv.DictReader(table.tsv().splitlines(), delimiter="\t")
    assert [row["significantly below the best run in"] for row in (best, low)] == ["", "m"]


def test_the_total_of_one_run_is_a_singular():
    table = submitted_runs("Lab", {"Task 1": runs_of({"DPRL": (1, 0, 0, 0)})})

    assert "Totals (1 run)" in table.tsv()

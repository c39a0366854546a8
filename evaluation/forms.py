"""The reason of a release."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms

from arqkit.leaderboard import Board, BoardRun, main_measures
from arqkit.measures.names import Measure


class ReleaseForm(forms.Form):
    """What everyone is told about a release."""

    reason = forms.CharField(
        label="Reason for this version",
        required=False,
        max_length=300,
        help_text="Such as: labels of A.12 corrected. Everyone who sees the leaderboard reads it "
        "in the list of its versions.",
    )


class BoardPartForm(forms.Form):
    """Which runs and measures of a leaderboard a page shows. Unknown values are ignored."""

    primary = forms.BooleanField(label="Primary runs", required=False)
    best = forms.BooleanField(label="Best run per team", required=False)
    manual = forms.ChoiceField(
        choices=[("", "any"), ("manual", "manual"), ("automatic", "automatic")],
        label="Type",
        required=False,
    )
    measures = forms.ChoiceField(
        choices=[("", "main"), ("all", "all")], label="Measures", required=False
    )

    def __init__(self, asked: Mapping[str, str], board: Board) -> None:
        """Read the address (`request.GET`), and offer the data of the runs of the board."""
        super().__init__(asked, auto_id="part-%s")
        data = sorted({row.run.data for row in board.rows} - {""})
        choices = [("", "any"), *((word, word) for word in data)]
        self.fields["data"] = forms.ChoiceField(choices=choices, label="Data", required=False)
        self.board = board
        self.is_valid()

    def shown_measures(self, further: int) -> list[Measure]:
        """Return the main or all measures, and the last ones (`further`), which were asked for."""
        stored = self.board.measures[: len(self.board.measures) - further]
        chosen = stored if self.cleaned_data.get("measures") else main_measures(stored)
        return [*chosen, *self.board.measures[len(stored) :]]

    def shown_runs(self) -> set[int]:
        """Return the keys of the runs; the best run of a team is the first one that is shown."""
        runs = [row.run for row in self.board.rows if self._shows(row.run)]
        if self.cleaned_data.get("best"):
            first: dict[object, BoardRun] = {}
            for run in runs:
                first.setdefault(run.team if run.counts and not run.is_baseline else run.key, run)
            runs = list(first.values())
        return {run.key for run in runs}

    def _shows(self, run: BoardRun) -> bool:
        asked = self.cleaned_data
        return (
            (not asked.get("primary") or run.is_primary)
            and asked.get("manual") in (None, "", "manual" if run.is_manual else "automatic")
            and asked.get("data") in (None, "", run.data)
        )

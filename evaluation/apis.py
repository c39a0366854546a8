"""Leaderboards and scores as JSON, under the same permissions as the pages."""

from collections.abc import Mapping

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arqkit.formats.leaderboards import board_as_dict
from arqkit.leaderboard import BoardRow, columns_in
from arqlab.labs.permissions import task_or_404
from evaluation.permissions import (
    board_with_run,
    may_see_scores,
    run_of_task_or_404,
    score_access_of,
    visible_board,
)
from evaluation.selectors.boards import scores_by_topic
from evaluation.services.own_means import own_means, own_row

QRELS = OpenApiParameter(
    "qrels", description="Name of a qrels version (default: the released or current version)."
)


class MeasureSerializer(serializers.Serializer[object]):
    """One column of a leaderboard."""

    label = serializers.CharField(help_text="As written in papers.")  # type: ignore[assignment]  # not the field's label
    name = serializers.CharField(help_text="In ir_measures notation.")
    ceiling = serializers.FloatField(allow_null=True, help_text="The best possible mean.")


class BoardRunSerializer(serializers.Serializer[object]):
    """One row of a leaderboard."""

    id = serializers.IntegerField(help_text="As in the addresses of the run.")
    scores = serializers.DictField(
        child=serializers.FloatField(allow_null=True), help_text="By measure label."
    )

    def get_fields(self) -> dict[str, serializers.Field]:
        """Return a field for each column of the board before the scores."""
        columns = {
            column.key: serializers.BooleanField() if column.mark else serializers.CharField()
            for column in columns_in("json")
        }
        return {**columns, **super().get_fields()}


class BoardSerializer(serializers.Serializer[object]):
    """A leaderboard: baselines first, then teams by their best run."""

    task = serializers.CharField()
    state = serializers.ChoiceField(choices=["released", "live", "own"])
    version = serializers.IntegerField(
        allow_null=True, help_text="Version of the released leaderboard."
    )
    qrels = serializers.CharField()
    topics = serializers.IntegerField(help_text="0 for own means, which are no board.")
    measures = MeasureSerializer(many=True)
    runs = BoardRunSerializer(many=True)


class RunScoresSerializer(serializers.Serializer[object]):
    """The scores of one run."""

    team = serializers.CharField()
    run = serializers.CharField()
    standing = serializers.CharField()
    qrels = serializers.CharField()
    means = serializers.DictField(
        child=serializers.FloatField(allow_null=True), help_text="By measure label."
    )
    topics = serializers.DictField(
        child=serializers.DictField(child=serializers.FloatField()),
        help_text="By topic, then by measure label.",
    )


class LeaderboardApi(APIView):
    """The leaderboard of a task, as the user can see it."""

    @extend_schema(parameters=[QRELS], responses=BoardSerializer)
    def get(self, request: Request, lab: str, task: str) -> Response:
        """Return the leaderboard, or 404 if the user cannot see one.

        Before the release, a team may see rounded means of its own runs.
        """
        sight = score_access_of(request.user, task_or_404(request.user, lab, task))
        visible = visible_board(sight, qrels=request.query_params.get("qrels", ""))
        if visible is None:
            if (team_means := own_means(sight)) is None:
                raise Http404
            return Response({**board_as_dict(team_means.board), "state": "own", "version": None})
        version = (
            sight.leaderboard.version if sight.leaderboard and visible.state == "released" else None
        )
        return Response(
            {**board_as_dict(visible.board), "state": visible.state, "version": version}
        )


class RunScoresApi(APIView):
    """The per-topic scores of a run."""

    @extend_schema(parameters=[QRELS], responses=RunScoresSerializer)
    def get(self, request: Request, lab: str, task: str, run: int) -> Response:
        """Return the scores, or 404 if the user sees none. Own means have no scores by topic."""
        scored = run_of_task_or_404(request.user, lab, task, run)
        access = score_access_of(request.user, scored.task)
        qrels = request.query_params.get("qrels", "")
        if not qrels and not may_see_scores(access, scored) and (row := own_row(access, scored)):
            return Response(_run_scores(row, "", {}))
        visible = board_with_run(access, scored, qrels=qrels)
        line = visible.board.row_of(scored.pk)
        scores = scores_by_topic(visible.board, runs=[scored.pk], qrel_set=visible.qrel_set)
        return Response(_run_scores(line, visible.qrel_set.name, scores[scored.pk]))


def _run_scores(line: BoardRow, qrels: str, topics: Mapping[str, object]) -> dict[str, object]:
    return {
        "team": line.run.team,
        "run": line.run.tag,
        "standing": line.run.standing.key,
        "qrels": qrels,
        "means": {cell.measure.label: cell.value for cell in line.cells},
        "topics": topics,
    }

"""Leaderboards and scores as JSON, under the same permissions as the pages."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arqlab.core.permissions import task_or_404
from arqlab.formats.leaderboards import board_as_dict
from arqlab.ir.leaderboard import columns_in
from evaluation.permissions import board_shown, board_with_run, sight_of
from evaluation.selectors.topics import scores_by_topic
from submissions.models import Run

QRELS = OpenApiParameter(
    "qrels", description="The name of a version of the qrels; else the released or current one."
)


class MeasureSerializer(serializers.Serializer[Any]):
    """One column of a board."""

    label = serializers.CharField(help_text="As the papers write it.")  # type: ignore[assignment]  # not the field's label
    name = serializers.CharField(help_text="As ir_measures writes it.")
    ceiling = serializers.FloatField(
        allow_null=True, help_text="The best mean that any run could have."
    )


class BoardRunSerializer(serializers.Serializer[Any]):
    """One line of a board."""

    scores = serializers.DictField(
        child=serializers.FloatField(allow_null=True), help_text="By the measure's label."
    )

    def get_fields(self) -> dict[str, Any]:
        """Return a field for each column of the board before the scores."""
        columns = {
            column.key: serializers.BooleanField() if column.mark else serializers.CharField()
            for column in columns_in("json")
        }
        return {**columns, **super().get_fields()}


class BoardSerializer(serializers.Serializer[Any]):
    """A leaderboard in the order of the papers' tables."""

    task = serializers.CharField()
    state = serializers.ChoiceField(choices=["released", "live", "own"])
    version = serializers.IntegerField(allow_null=True, help_text="Of the released board.")
    qrels = serializers.CharField()
    topics = serializers.IntegerField()
    measures = MeasureSerializer(many=True)
    runs = BoardRunSerializer(many=True)


class RunScoresSerializer(serializers.Serializer[Any]):
    """The scores of one run."""

    team = serializers.CharField()
    run = serializers.CharField()
    qrels = serializers.CharField()
    means = serializers.DictField(
        child=serializers.FloatField(allow_null=True), help_text="By the measure's label."
    )
    topics = serializers.DictField(
        child=serializers.DictField(child=serializers.FloatField()),
        help_text="By topic, then by the measure's label.",
    )


class LeaderboardApi(APIView):
    """The leaderboard of a task as one may see it."""

    @extend_schema(parameters=[QRELS], responses=BoardSerializer)
    def get(self, request: Request, lab: str, task: str) -> Response:
        """Return the board; 404 where none is released and one may see no other."""
        sight = sight_of(request.user, task_or_404(request.user, lab, task))
        shown = board_shown(sight, qrels=request.query_params.get("qrels", ""))
        if shown is None:
            raise Http404
        version = (
            sight.leaderboard.version if sight.leaderboard and shown.state == "released" else None
        )
        return Response({**board_as_dict(shown.board), "state": shown.state, "version": version})


class RunScoresApi(APIView):
    """The scores of a run, for every topic of the qrels."""

    @extend_schema(parameters=[QRELS], responses=RunScoresSerializer)
    def get(self, request: Request, lab: str, task: str, run: int) -> Response:
        """Return the scores; 404 where the run is on no board that one may see."""
        found = task_or_404(request.user, lab, task)
        one = get_object_or_404(Run.objects.select_related("team"), task=found, pk=run)
        shown = board_with_run(
            sight_of(request.user, found), one, qrels=request.query_params.get("qrels", "")
        )
        line = next(row for row in shown.board.rows if row.run.key == one.pk)
        return Response(
            {
                "team": line.run.team,
                "run": line.run.tag,
                "qrels": shown.qrel_set.name,
                "means": {cell.measure.label: cell.value for cell in line.cells},
                "topics": scores_by_topic(
                    run=one, qrel_set=shown.qrel_set, measures=shown.board.measures
                ),
            }
        )

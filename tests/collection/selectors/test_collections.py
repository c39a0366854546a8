"""Queries on collections."""

from pathlib import Path

import pytest
from pytest_django import DjangoAssertNumQueries

from arqlab.core.models import Lab
from collection.models import VisualMap
from collection.selectors.collections import collection_of, posts_frame, visual_ids
from tests.collection.factories import FORMULAS, load_small

pytestmark = pytest.mark.django_db


def test_a_lab_may_have_no_collection(lab: Lab) -> None:
    assert (collection_of(lab), posts_frame(lab), visual_ids(lab)) == (None, None, None)


def test_every_formula_has_a_given_or_computed_visual_id(lab: Lab, tmp_path: Path) -> None:
    load_small(lab, tmp_path)
    assert visual_ids(lab).rows() == [("7", "70"), ("8", "71"), ("9", "70")]


def test_the_given_visual_ids_are_used_before_the_first_version(lab: Lab, tmp_path: Path) -> None:
    load_small(lab, tmp_path)
    VisualMap.objects.all().delete()
    assert visual_ids(lab).rows() == [("7", "70"), ("9", "70")]


def test_the_visual_ids_are_those_of_the_newest_version(lab: Lab, tmp_path: Path) -> None:
    load_small(lab, tmp_path)
    assert visual_ids(lab)["visual_id"].to_list() == ["70", "71", "70"]
    load_small(lab, tmp_path, formulas=FORMULAS.replace("\t70\t", "\t99\t"))
    assert visual_ids(lab)["visual_id"].to_list() == ["99", "71", "99"]


def test_parquet_files_are_read_only_once(
    lab: Lab, tmp_path: Path, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    load_small(lab, tmp_path)
    first = posts_frame(lab)
    with django_assert_num_queries(1):
        assert posts_frame(lab) is first

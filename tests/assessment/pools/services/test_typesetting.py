"""The formulas of a frozen pool are typeset by the beat, and a stop loses nothing."""

import pytest
from django.utils import timezone

from arqkit.loads import LoadChoice
from arqlab.core.models import TypesetFormula
from assessment.models import Pool
from assessment.pools.tasks import typeset_pools
from collection.services.loading import load_collection
from tests.assessment.factories import make_pool
from tests.collection.factories import POSTS, collection_file, load_small

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool(task, tmp_path):
    load_small(task.lab, tmp_path)
    return make_pool(task, {"A.1": ["10", "99", "11"], "A.2": ["12"]})


def test_the_formulas_of_a_pool_are_typeset_and_the_pool_knows(pool):
    TypesetFormula.objects.all().delete()

    typeset_pools()

    assert TypesetFormula.objects.filter(latex="a=2b").exists()
    assert Pool.objects.get().typeset_through is None


def test_posts_that_were_loaded_again_are_typeset_again(pool, task, tmp_path):
    typeset_pools()
    file = collection_file(tmp_path, posts=POSTS.replace("$a=2b$", "$a=2c$"))
    confirmed = LoadChoice(confirmed=True)
    load_collection(lab=task.lab, file=file, at=timezone.now(), choice=confirmed)

    typeset_pools()

    assert TypesetFormula.objects.filter(latex="a=2c").exists()
    since = Pool.objects.get().typeset_since
    typeset_pools()
    assert (Pool.objects.get().typeset_through, Pool.objects.get().typeset_since) == (None, since)


def test_without_time_nothing_is_done_and_the_next_one_goes_on(pool):
    Pool.objects.update(typeset_through=1)
    typeset_pools(seconds=-1.0)
    assert Pool.objects.get().typeset_through == 1

    typeset_pools()
    assert Pool.objects.get().typeset_through is None

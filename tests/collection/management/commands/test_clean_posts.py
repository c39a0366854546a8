"""`manage.py clean_posts`."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from arqkit.texts.html.sanitizer import RULES
from arqlab.core.models import Lab
from collection.models import Post
from tests.collection.factories import load_small

pytestmark = pytest.mark.django_db


def test_it_prints_the_number_of_sanitized_texts(lab: Lab, tmp_path: Path) -> None:
    slug = load_small(lab, tmp_path).slug
    Post.objects.filter(post_id__in=["1", "2"]).update(rules=0)
    Post.objects.exclude(post_id__in=["1", "2"]).update(rules=RULES)
    out = StringIO()
    call_command("clean_posts", slug, stdout=out)
    assert out.getvalue() == "Sanitized 2 posts and comments.\n"


def test_an_unknown_collection_is_refused_with_a_list_of_collections(
    lab: Lab, tmp_path: Path
) -> None:
    load_small(lab, tmp_path)
    with pytest.raises(CommandError, match=r"Collection not found: smal\. Collections: small\."):
        call_command("clean_posts", "smal")

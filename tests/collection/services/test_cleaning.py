"""Sanitizing the texts of a collection again."""

from pathlib import Path

import pytest

from arqkit.texts.html.sanitizer import RULES
from arqlab.core.models import Lab
from collection.models import Collection, Comment, Post
from collection.services.cleaning import clean_posts
from tests.collection.factories import load_small

pytestmark = pytest.mark.django_db

HOSTILE = "<p onclick=x()>$a<b$</p><script>x()</script>"
SAFE = '<p><span class="math-container" id="{}">$a&lt;b$</span></p>'


@pytest.fixture
def collection(lab: Lab, tmp_path: Path) -> Collection:
    loaded = load_small(lab, tmp_path)
    Post.objects.update(rules=0, clean_title=None, clean_body=None)
    return loaded


def test_a_text_that_was_never_sanitized_is_sanitized_on_read(collection: Collection) -> None:
    post = Post(
        collection=collection, post_id="5", title="<b>On</b> $a<b$<svg onload=x()>", body=HOSTILE
    )
    assert post.safe_title == '<b>On</b> <span class="math-container" id="5.1">$a&lt;b$</span>'
    assert post.safe_body == SAFE.format("5.2")
    assert Comment(comment_id="9", text="<i>$a$</i><hr>").safe_text == (
        '<i><span class="math-container" id="c9.1">$a$</span></i>'
    )


def test_the_sanitized_text_is_null_if_it_equals_the_source(collection: Collection) -> None:
    Post.objects.filter(post_id="11").update(body=HOSTILE)
    assert clean_posts() == 5
    post = Post.objects.get(post_id="11")
    assert (post.body, post.clean_body, post.rules) == (HOSTILE, SAFE.format("11.1"), RULES)
    assert Post.objects.get(post_id="10").clean_body is None


def test_formula_ids_are_added_on_read_if_there_is_no_sanitized_copy(
    collection: Collection,
) -> None:
    element = '<span class="math-container"{}>{}</span>'
    source = element.format(' id="7"', r"\(a\)") + element.format("", "$b$")
    Post.objects.filter(post_id="11").update(body=source)
    Post.objects.filter(post_id="10").update(body=element.format(' id="7"', r"\(a\)"))
    clean_posts()
    mixed, given = Post.objects.get(post_id="11"), Post.objects.get(post_id="10")
    assert (mixed.clean_body, given.clean_body) == (None, None)
    assert given.safe_body == element.format(' id="7"', "$a$")
    assert mixed.safe_body == element.format(' id="7"', "$a$") + element.format(' id="11.1"', "$b$")


def test_comments_are_sanitized(collection: Collection) -> None:
    Comment.objects.create(
        collection=collection, comment_id="3", post_id="1", text="<p>see <b>this</b></p>"
    )
    clean_posts()
    assert Comment.objects.get().clean_text == "see <b>this</b>"


def test_texts_with_current_rules_are_skipped_unless_all_are_requested(
    collection: Collection,
) -> None:
    clean_posts()
    Post.objects.filter(post_id="10").update(clean_body="of other rules")
    assert clean_posts() == 0
    assert Post.objects.get(post_id="10").clean_body == "of other rules"
    assert clean_posts(of_all=True) == 5
    assert Post.objects.get(post_id="10").clean_body is None


def test_an_interrupted_call_is_continued(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collection.services.cleaning.BATCH", 2)

    def break_off(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clean_posts(progress=break_off)
    assert Post.objects.filter(rules=RULES).count() == 2
    assert clean_posts() == 3


def test_other_collections_do_not_change(collection: Collection) -> None:
    other = Collection.objects.create(slug="other", loaded_at=collection.loaded_at)
    assert clean_posts(collection=other) == 0
    assert not Post.objects.filter(rules=RULES).exists()

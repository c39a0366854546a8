"""The text search follows changed posts after a migration has rebuilt their table."""

import pytest
from django.core.management.sql import emit_post_migrate_signal, emit_pre_migrate_signal
from django.db import connection, models
from django.db.migrations import AlterField, Migration
from django.db.migrations.executor import MigrationExecutor

from arqkit.texts.posts.queries import parse_query
from collection.models import Collection, Post, PostWords
from collection.selectors.search import search_posts
from collection.services.indexing import index_posts, unindexed_collections
from tests.collection.lookup import add_post, make_collection

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def collection(lab) -> Collection:
    made = make_collection(lab)
    add_post(made, "1", "<p>alpha</p>", title="Limits")
    add_post(made, "10", "<p>gamma</p>", thread_id="1")
    index_posts(collection=made)
    return made


def rebuild(model: type[models.Model], name: str) -> None:
    """Migrate a field and migrate it back; on SQLite, Django rebuilds the table each time."""
    field = model._meta.get_field(name).clone()
    field.null = not field.null
    migration = Migration("9999_rebuild", "collection")
    migration.operations = [AlterField(model._meta.model_name, name, field)]
    executor = MigrationExecutor(connection)
    emit_pre_migrate_signal(0, False, connection.alias, plan=[(migration, False)])
    executor.apply_migration(executor.loader.project_state(), migration)
    executor.unapply_migration(executor.loader.project_state(), migration)
    emit_post_migrate_signal(0, False, connection.alias)


@pytest.mark.parametrize(("model", "name"), [(Post, "title"), (PostWords, "title")])
def test_the_search_follows_changes_after_a_rebuild_of_its_table(collection, model, name):
    rebuild(model, name)
    Post.objects.filter(post_id="10").update(score=3, body="<p>beta</p>", clean_body="<p>beta</p>")
    index_posts(collection=collection)
    Post.objects.filter(post_id="1").update(body="<p>delta</p>", clean_body="<p>delta</p>")
    assert list(unindexed_collections()) == [collection]
    index_posts(collection=collection)

    found = {
        word: search_posts(collection, parse_query(word)).total
        for word in ("alpha", "beta", "gamma", "delta")
    }
    assert found == {"alpha": 0, "beta": 1, "gamma": 0, "delta": 1}


def test_a_deleted_post_is_not_found_after_a_rebuild(collection):
    rebuild(Post, "title")
    index_posts(collection=collection)
    Post.objects.filter(post_id="10").delete()

    assert search_posts(collection, parse_query("gamma")).total == 0
    assert not PostWords.objects.filter(post__post_id="10").exists()

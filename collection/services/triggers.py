"""SQLite's triggers of the text search: a changed post loses its words, a changed word its entry.

Django rebuilds a table for some migrations. SQLite then drops the table's triggers, and refuses to
rename the new table if a trigger of another table names it. So the triggers are dropped before the
collection is migrated, and created afterwards. PostgreSQL keeps its triggers, which a migration
created.
"""

from collections.abc import Sequence

from django.db import connections, transaction
from django.db.migrations import Migration

CHANGED = ("title", "body", "clean_title", "clean_body", "tags", "kind", "thread_id", "is_searched")
# FTS5 needs the old words to delete an entry; without them the index decays.
ADD = """
    INSERT INTO collection_postwords_index(rowid, title, body, facets)
    VALUES (NEW.post_id, NEW.title, NEW.body, NEW.facets);
"""
REMOVE = """
    INSERT INTO collection_postwords_index(collection_postwords_index, rowid, title, body, facets)
    VALUES ('delete', OLD.post_id, OLD.title, OLD.body, OLD.facets);
"""
FORGET = """
    DELETE FROM collection_postwords WHERE post_id = OLD.id;
    DELETE FROM collection_postwords WHERE OLD.tags IS NOT NEW.tags AND post_id IN (
        SELECT id FROM collection_post
        WHERE collection_id = OLD.collection_id AND thread_id = OLD.thread_id
    );
"""
COUNT = """
    UPDATE collection_textindex SET changes = changes + 1 WHERE collection_id = NEW.collection_id;
"""
TRIGGERS = {
    "collection_postwords_added": f"AFTER INSERT ON collection_postwords BEGIN {ADD} END",
    "collection_postwords_removed": f"AFTER DELETE ON collection_postwords BEGIN {REMOVE} END",
    "collection_postwords_changed": f"""
        AFTER UPDATE ON collection_postwords BEGIN {REMOVE} {ADD} END
    """,
    "collection_post_words_of_new": f"AFTER INSERT ON collection_post BEGIN {COUNT} END",
    "collection_post_words_of_deleted": """
        AFTER DELETE ON collection_post BEGIN
            DELETE FROM collection_postwords WHERE post_id = OLD.id;
        END
    """,
    "collection_post_words_of_changed": f"""
        AFTER UPDATE OF {", ".join(CHANGED)} ON collection_post
        WHEN {" OR ".join(f"OLD.{name} IS NOT NEW.{name}" for name in CHANGED)} BEGIN
            {FORGET}
            {COUNT}
        END
    """,
}


def drop_triggers(*, using: str, plan: Sequence[tuple[Migration, bool]], **options: object) -> None:
    """Drop the triggers if the plan migrates the collection; receives Django's `pre_migrate`."""
    connection = connections[using]
    if connection.vendor == "sqlite" and any(
        migration.app_label == "collection" for migration, _ in plan
    ):
        with connection.cursor() as cursor:
            for name in TRIGGERS:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")


def restore_triggers(*, using: str, **options: object) -> None:
    """Create the missing triggers; receives Django's `post_migrate`.

    If one was missing, posts may have changed without it: all words are deleted then, and the posts
    are indexed again.
    """
    connection = connections[using]
    if connection.vendor != "sqlite":
        return
    with transaction.atomic(using), connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master")
        names = {name for (name,) in cursor.fetchall()}
        missing = TRIGGERS.keys() - names
        if "collection_postwords_index" not in names or not missing:
            return
        cursor.execute("DELETE FROM collection_postwords")
        for name in missing:
            cursor.execute(f"CREATE TRIGGER {name} {TRIGGERS[name]}")
        cursor.execute(
            "INSERT INTO collection_postwords_index(collection_postwords_index) VALUES ('rebuild')"
        )
        cursor.execute("UPDATE collection_textindex SET changes = changes + 1")

from typing import Any

from django.db import migrations, models
from django.db.models import Max
from django.utils import timezone


def note_trips(apps: Any, schema_editor: Any) -> None:
    """Note the end of the trips that go on."""
    assignments = apps.get_model("assessment", "Assignment").objects.filter(ended_at=None)
    items = apps.get_model("assessment", "PoolItem").objects.filter(assessor=None, done_at=None)
    held = items.filter(leased_until__gt=timezone.now()).order_by().values_list("topic", "leased_to")
    for topic, person, until in held.annotate(Max("leased_until")):
        assignments.filter(topic=topic, assessor=person).update(trip_until=until)


class Migration(migrations.Migration):
    """Store when a trip ends where trips are looked for."""

    dependencies = [("assessment", "0002_judgment_judgment_retired")]

    operations = [
        migrations.AddField(
            model_name="assignment",
            name="trip_until",
            field=models.DateTimeField(
                blank=True,
                help_text="When the last offline trip ends, if not earlier by hand.",
                null=True,
            ),
        ),
        migrations.RunPython(note_trips, migrations.RunPython.noop),
    ]

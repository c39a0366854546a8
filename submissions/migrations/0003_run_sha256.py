from django.conf import settings
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def fill_sha256(apps, schema_editor):
    """Copy the hash of an uploaded file to its run, unless the file is an archive or compressed.

    Other runs keep an empty value, because their files would have to be unpacked.
    """
    Run, Upload = apps.get_model("submissions", "Run"), apps.get_model("submissions", "Upload")
    uploads = Upload.objects.exclude(name__iendswith=".gz").exclude(name__iendswith=".zip")
    Run.objects.filter(member="", upload__in=uploads).update(
        sha256=Subquery(Upload.objects.filter(pk=OuterRef("upload")).values("sha256")[:1])
    )


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0002_help_texts'),
        ('submissions', '0002_help_texts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='sha256',
            field=models.CharField(blank=True, help_text='Of the unpacked run file; empty until the run is validated.', max_length=64),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['task', 'sha256'], name='run_identical'),
        ),
        migrations.RunPython(fill_sha256, migrations.RunPython.noop),
    ]

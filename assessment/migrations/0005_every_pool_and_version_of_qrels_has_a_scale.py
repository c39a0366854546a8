from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("assessment", "0004_pools_and_qrels_take_the_scale_of_their_task")]

    operations = [
        migrations.AlterField(
            "pool",
            "scale",
            models.JSONField(
                help_text="The labels that its items are judged by (arqlab.ir.labels.LabelScale.rows)."
            ),
        ),
        migrations.AlterField(
            "qrelset",
            "scale",
            models.JSONField(
                help_text="Its labels (arqlab.ir.labels.LabelScale.rows), whatever the task's are now."
            ),
        ),
        migrations.AlterField(
            "qrelset",
            "is_complete",
            models.BooleanField(
                default=False,
                help_text="Labels that are not judgments are in it: what was shown and not judged.",
            ),
        ),
        migrations.AlterField(
            "judgment", "label", models.SmallIntegerField(help_text="A value of the pool's scale.")
        ),
        migrations.RemoveConstraint("judgment", "judgment_label_known"),
        migrations.AddConstraint(
            "judgment",
            models.CheckConstraint(
                condition=Q(label__gte=0, label__lte=99), name="judgment_label_known"
            ),
        ),
        migrations.RemoveConstraint("qrel", "qrel_label_known"),
        migrations.AddConstraint(
            "qrel",
            models.CheckConstraint(
                condition=Q(relevance__gte=0, relevance__lte=99), name="qrel_label_known"
            ),
        ),
    ]

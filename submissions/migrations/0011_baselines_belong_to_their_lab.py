"""Baselines belong to the lab itself. A team of organizers with nothing but baselines becomes it."""

from django.db import migrations


def give_baselines_to_labs(apps, schema_editor):
    """Make or choose the lab's own team, and move the baselines of other teams to it.

    A baseline stays with its team if the lab's own already has a run with its tag in the task.
    """
    Run, Team = apps.get_model("submissions", "Run"), apps.get_model("core", "Team")
    baselines = Run.objects.filter(is_baseline=True)
    for lab in apps.get_model("core", "Lab").objects.filter(tasks__runs__in=baselines).distinct():
        own = next((team for team in lab.teams.order_by("pk") if is_of_organizers(team)), None)
        names = {name.casefold() for name in lab.teams.values_list("name", flat=True)}
        known = ("Baselines", "Baselines of the lab", f"Baselines of {lab.slug}")
        name = next(one for one in known if one.casefold() not in names)
        own = own or Team.objects.create(lab=lab, name=name)
        own.memberships.all().delete()
        Team.objects.filter(pk=own.pk).update(is_lab=True)
        for run in baselines.filter(task__lab=lab).exclude(team=own).order_by("pk"):
            if not Run.objects.filter(task=run.task, team=own, tag=run.tag).exists():
                Run.objects.filter(pk=run.pk).update(team=own)


def is_of_organizers(team):
    """Return whether a team has baselines only, and no member who does not organize the lab."""
    organizers = team.lab.memberships.filter(role="organizer").values("user")
    others = team.memberships.exclude(user__in=organizers).exclude(user__is_superuser=True)
    runs = team.runs.all()
    return runs.exists() and not (runs.filter(is_baseline=False).exists() or others.exists())


class Migration(migrations.Migration):
    dependencies = [
        ("submissions", "0010_runs_are_out_of_competition"),
        ("core", "0018_labs_have_their_own_baselines"),
    ]
    operations = [migrations.RunPython(give_baselines_to_labs, migrations.RunPython.noop)]

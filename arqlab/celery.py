"""The Celery application. Tasks import it from here; `arqlab/__init__.py` stays empty for the
kernel's sake.
"""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arqlab.settings")

app = Celery("arqlab")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["assessment.pools"])  # a package inside an app

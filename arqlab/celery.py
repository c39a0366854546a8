"""The Celery application, from which tasks import it.

`arqlab/__init__.py` stays empty, so that the kernel does not import Celery.
"""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arqlab.settings")

app = Celery("arqlab")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
SUBJECTS = ["assessment.judging", "assessment.pools", "assessment.radar"]
"""The packages inside an app that have tasks; a worker knows no tasks of others."""
app.autodiscover_tasks(SUBJECTS)

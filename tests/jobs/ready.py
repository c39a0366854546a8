"""Django, set up once in the process from which those of workers that die are forked."""

import os

import django

from arqlab.celery import app

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()
app.loader.import_default_modules()

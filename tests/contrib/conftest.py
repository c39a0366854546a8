"""The tests of an optional app run with it."""

from django.conf import settings

collect_ignore = list(settings.WITHOUT)

"""Test settings: those of ArqLab in a temporary folder, with files and mail in memory."""

import os
import tempfile

os.environ.setdefault("ARQLAB_DATA", tempfile.mkdtemp(prefix="arqlab-tests-"))
os.environ.setdefault("ARQLAB_SECRET_KEY", "only for tests")

from arqlab.settings import *  # noqa: F403

ALLOWED_HOSTS = ["*"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
ACCOUNT_RATE_LIMITS = False
# A file, as labs have it: in memory all threads of the live server would share one connection, and
# break into each other's transactions as soon as a page asks for two things at once.
DATABASE = DATABASES["default"]  # noqa: F405
if DATABASE["ENGINE"].endswith("sqlite3"):
    DATABASE["TEST"] = {"NAME": os.path.join(os.environ["ARQLAB_DATA"], "tests.sqlite3")}

"""Test settings: those of ArqLab in a temporary folder, with files and mail in memory."""

import atexit
import os
import shutil
import tempfile

if "ARQLAB_DATA" not in os.environ:
    os.environ["ARQLAB_DATA"] = tempfile.mkdtemp(prefix="arqlab-tests-")
    atexit.register(shutil.rmtree, os.environ["ARQLAB_DATA"], ignore_errors=True)
os.environ.setdefault("ARQLAB_SECRET_KEY", "only for tests, " + "0123456789" * 4)

from arqlab.settings import *  # noqa: F403

ALLOWED_HOSTS = ["*"]
MIDDLEWARE = [*MIDDLEWARE, "tests.reading.RefuseWrites"]  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES = {
    "default": {"BACKEND": "tests.memory.MemoryFiles"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# The guides are built by their own tests.
GUIDES = DATA_DIR / "guides"  # noqa: F405
GUIDES.mkdir(exist_ok=True)
(GUIDES / "index.html").write_text("<h1>Guides</h1>")
# Ids of rows are the same in many tests, so what one computed is no other's.
CACHES["computed"] = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}  # noqa: F405
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
ACCOUNT_RATE_LIMITS = False
REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"] = {"anon": None, "user": None}  # noqa: F405
# Each client of a test makes the middleware anew. It looks for a file when one is asked for,
# instead of reading all of them, among the sources.
WHITENOISE_AUTOREFRESH = WHITENOISE_USE_FINDERS = True
STATICFILES_DIRS = [BASE_DIR / "static"]  # noqa: F405
# A file, as labs have it, which a server reads too.
DATABASE = DATABASES["default"]  # noqa: F405
if DATABASE["ENGINE"].endswith("sqlite3"):
    DATABASE["TEST"] = {"NAME": os.path.join(os.environ["ARQLAB_DATA"], "tests.sqlite3")}
elif template := os.environ.get("ARQLAB_TEST_TEMPLATE"):
    DATABASE["TEST"] = {"TEMPLATE": template}

"""Settings of ArqLab, read from environment variables; described in docs/settings.md.

Without any variables ArqLab runs in embedded mode: SQLite, and tasks in a process of the server,
with all data below `ARQLAB_DATA`. `DATABASE_URL` and `REDIS_URL` switch to PostgreSQL and to Celery
workers on Redis.
"""

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import dj_database_url
from csp.constants import NONE, SELF
from kombu import Queue

from arqkit import __version__
from arqlab.environment import (
    caches,
    embedded_secret_key,
    env,
    env_bool,
    env_int,
    env_list,
    env_some_of,
    file_storage,
    log_formatter,
    make_private,
    report_errors,
)

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = __version__

DATA_DIR = Path(env("ARQLAB_DATA", str(BASE_DIR / "var"))).resolve()
make_private(DATA_DIR)
# numba keeps what it compiles beside the code, where an installed server must not write.
if not os.access(BASE_DIR / "arqkit" / "retrieval", os.W_OK):
    os.environ.setdefault("NUMBA_CACHE_DIR", str(DATA_DIR / "numba"))
DEBUG = env_bool("ARQLAB_DEBUG", default=False)
DATABASE_URL = env("DATABASE_URL")
REDIS_URL = env("REDIS_URL")
EMBEDDED = not REDIS_URL
# Servers of one database share their key. Without it, nothing starts (arqlab/core/checks.py).
SECRET_KEY = env("ARQLAB_SECRET_KEY") or ("" if DATABASE_URL else embedded_secret_key(DATA_DIR))

ALLOWED_HOSTS = env_list("ARQLAB_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env_list("ARQLAB_ORIGINS")
# Tasks write links into mail without a request that would know the address.
SITE_URL = env("ARQLAB_URL", [*CSRF_TRUSTED_ORIGINS, "http://127.0.0.1:8000"][0]).rstrip("/")
CSRF_FAILURE_VIEW = "arqlab.core.views.error_pages.csrf_failure"

# The apps of contrib/, and those that this server leaves out, with their pages, jobs and commands.
OPTIONAL_APPS = ["exchange", "operations", "papers", "radar", "retrieval", "timesheets"]
WITHOUT = env_some_of("ARQLAB_WITHOUT", OPTIONAL_APPS)
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.admin",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "csp",
    "drf_spectacular",
    "rest_framework",
    "arqlab.core",
    "arqlab.labs",
    "arqlab.jobs",
    "arqlab.teams",
    "arqlab.accounts",
    "arqlab.server",
    "arqlab.notices",
    "desk",
    "collection",
    "submissions",
    "assessment",
    "evaluation",
    "analyses",
    *(f"contrib.{name}" for name in OPTIONAL_APPS if name not in WITHOUT),
]
MIDDLEWARE = [
    "arqlab.server.middleware.RequestId",
    "arqlab.server.middleware.HealthCheck",
    "arqlab.server.middleware.Measured",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "arqlab.server.middleware.Compressed",
    "csp.middleware.CSPMiddleware",
    "arqlab.server.middleware.NotStored",
    "arqlab.server.middleware.ApiVersion",
    "arqlab.server.middleware.ApiETags",
    "arqlab.server.middleware.PasswordsWait",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "arqlab.server.middleware.UserCookie",
    "arqlab.server.middleware.SignInMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "arqlab.server.middleware.NotAllowedMiddleware",
    "arqlab.server.middleware.SecondFactor",
    "arqlab.server.middleware.Observers",
    "arqlab.server.middleware.ReadOnlyArchives",
    "arqlab.server.middleware.VisitMiddleware",
    "arqlab.server.middleware.UsedSessions",
    "arqlab.server.middleware.ComputedLater",
    "arqlab.server.middleware.NoNul",  # last: it reads the form
]
ROOT_URLCONF = "arqlab.urls"
WSGI_APPLICATION = "arqlab.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["arqlab.core.templatetags.places"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "arqlab.web.pages.lab_and_task",
            ],
        },
    }
]

SQLITE_OPTIONS = {
    # Measured in docs/adr/0007: with these, six writing processes see no "database is locked".
    "timeout": 20,
    "transaction_mode": "IMMEDIATE",
    # FULL: what is acknowledged survives a power loss.
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA mmap_size=134217728;"
    ),
}
DATABASES: dict[str, Any] = {
    "default": dj_database_url.parse(DATABASE_URL or f"sqlite:///{DATA_DIR / 'arqlab.sqlite3'}")
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # The last connection that closes writes the log into the database, which takes three fsyncs.
    DATABASES["default"] |= {
        "ENGINE": "arqlab.core.sqlite3",
        "OPTIONS": SQLITE_OPTIONS,
        "CONN_MAX_AGE": None,
    }
else:
    DATABASES["default"] |= {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    # A host that does not answer must not hold a thread for minutes.
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault("connect_timeout", 5)
CACHES = caches(REDIS_URL, DATA_DIR)

AUTH_USER_MODEL = "core.User"
AUTHENTICATION_BACKENDS = ["arqlab.accounts.signedin.Backend"]
SESSION_ENGINE = "arqlab.accounts.signedin"
# Since the last use, which is recorded once an hour (arqlab/accounts/services/sessions.py).
SESSION_COOKIE_AGE = env_int("ARQLAB_SESSION_DAYS", 3, least=1) * 86_400
PASSWORD_HASHERS = ["arqlab.accounts.hashing.PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "arqlab.accounts.services.tokens.PasswordEndsTokens"},
]
# The number of proxies in front of the server, which each append to X-Forwarded-For: sign-in
# attempts and API requests are limited by the address of the client.
PROXIES = ALLAUTH_TRUSTED_PROXY_COUNT = env_int("ARQLAB_PROXIES", 0)
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "/"
ACCOUNT_LOGIN_METHODS = {"email", "username"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "username*", "password1*"]
ACCOUNT_UNIQUE_EMAIL = True
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_ADAPTER = "arqlab.accounts.adapter.AccountAdapter"
# Wrong passwords: by address, and by account and address ("key"). The longer somebody guesses, the
# longer the wait; somebody else at another address signs in as ever.
ACCOUNT_RATE_LIMITS = {"login_failed": "10/m/ip,100/h/ip,5/m/key,10/10m/key,20/h/key,40/d/key"}
# The list of what asks for the password again is in arqlab/audit/services/identity.py.
ACCOUNT_REAUTHENTICATION_REQUIRED = MFA_REAUTHENTICATION_REQUIRED = True
ACCOUNT_FORMS = {
    "login": "arqlab.accounts.forms.SignInForm",
    "signup": "arqlab.accounts.forms.SignUpForm",
}
ACCOUNT_EMAIL_SUBJECT_PREFIX = "ArqLab: "
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "ArqLab"
# Organizers and administrators have confirmed their address, or another administrator did so.
MFA_ALLOW_UNVERIFIED_EMAIL = True

# Mail: EMAIL_URL is smtp://user:password@host:port. Without it, notices are not sent, and account
# messages such as password resets are files in the data folder.
EMAIL_URL = env("EMAIL_URL")
SENDS_MAIL = bool(EMAIL_URL)
EMAIL_TIMEOUT = 20
# Where email arrives, whoever signs up reads the address's email first, so that the page says the
# same for addresses with and without an account.
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if SENDS_MAIL else "optional"
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
ACCOUNT_EMAIL_NOTIFICATIONS = SENDS_MAIL
DEFAULT_FROM_EMAIL = env("ARQLAB_FROM_EMAIL", "arqlab@localhost")
if EMAIL_URL:
    _mail = urlsplit(EMAIL_URL)
    EMAIL_HOST, EMAIL_PORT = _mail.hostname or "localhost", _mail.port or 25
    EMAIL_HOST_USER = unquote(_mail.username or "")
    EMAIL_HOST_PASSWORD = unquote(_mail.password or "")
    EMAIL_USE_TLS, EMAIL_USE_SSL = EMAIL_PORT == 587, EMAIL_PORT == 465
else:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    EMAIL_FILE_PATH = str(DATA_DIR / "mail")

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
# bin/vendor bundles the sources (docs/adr/0036).
STATICFILES_DIRS = [BASE_DIR / "static" if DEBUG else BASE_DIR / "static" / "built"]
STATIC_ROOT = DATA_DIR / "static"
# bin/guides builds them from docs/.
GUIDES = BASE_DIR / "site"
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
MEDIA_ROOT = DATA_DIR / "files"
# boto3 reads the address and the credentials itself.
S3_BUCKET = env("ARQLAB_S3_BUCKET")
STORAGES = {
    "default": file_storage(S3_BUCKET),
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "arqlab.web.static_files.HashedFiles"
    },
}
# As `make_private` does; Django sets the permissions of uploads itself.
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "arqlab.server.upload_handlers.IncomingFileUploadHandler",
]
# Topic information has four fields per topic; forms that leave out runs and topics, one for each.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
# The public key of age for which backups are encrypted.
BACKUP_KEY = env("ARQLAB_BACKUP_KEY")
RUN_MAX_BYTES = env_int("ARQLAB_RUN_MAX_BYTES", 64 * 1024 * 1024, least=1)
# Bytes of stored uploads: of a lab, of a team and of a person, and of a person's checks.
LAB_MAX_BYTES = env_int("ARQLAB_LAB_MAX_BYTES", 20 * 1024**3, least=1)
TEAM_MAX_BYTES = env_int("ARQLAB_TEAM_MAX_BYTES", 2 * 1024**3, least=1)
CHECKS_MAX_BYTES = env_int("ARQLAB_CHECKS_MAX_BYTES", 256 * 1024**2, least=1)
RUN_MAX_LINES = env_int("ARQLAB_RUN_MAX_LINES", 500_000, least=1)
# After this many seconds, a claimed run that is not finished is free for another worker.
CLAIM_SECONDS = env_int("ARQLAB_CLAIM_SECONDS", 300, least=60)
# Convert LaTeX without MathML by LaTeXML, which must be installed, instead of Temml.
LATEXML = env_bool("ARQLAB_LATEXML", False)
# The scheduler of a Dask cluster that reads formulas; without one, this process does.
DASK = env("ARQLAB_DASK")
# The folder of the language model that compares generated answers, as transformers saves it.
ANSWER_MODEL = env("ARQLAB_ANSWER_MODEL")
# The language model of the baseline of generated answers.
GENERATION_URL = env("ARQLAB_GENERATION_URL")
GENERATION_MODEL = env("ARQLAB_GENERATION_MODEL")
GENERATION_KEY = env("ARQLAB_GENERATION_KEY")

# The queues of tasks, and in embedded mode the threads: a job waits for none of a longer lane, the
# release of dead jobs for no job at all, and one team's uploads keep nothing but uploads waiting.
CELERY_TASK_DEFAULT_QUEUE = "others"
QUEUES = ["runs", "quick-jobs", "short-jobs", "jobs", CELERY_TASK_DEFAULT_QUEUE]
CELERY_TASK_ROUTES = ["arqlab.celery.lane_of"]
CELERY_TASK_QUEUES = [Queue(name) for name in QUEUES]
# Whether the scheduled tasks run, which their modules declare.
HAS_SCHEDULE = True
CELERY_BROKER_URL = REDIS_URL or "memory://localhost/"
CELERY_TASK_ALWAYS_EAGER = EMBEDDED
# A task whose worker was killed runs again: each is written so that this is harmless.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
# A worker takes one task at a time: those behind a long one wait for any free worker.
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
# A task ends before another worker may take over what it has claimed.
CELERY_TASK_TIME_LIMIT = CLAIM_SECONDS - 30
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 5, "socket_keepalive": True}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "arqlab.accounts.authentication.TokenAuthentication",  # the first one says how to sign in
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "arqlab.core.apis.ApiSchema",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "LIST_SERIALIZER_ERRORS_AS_DICT": True,
    "EXCEPTION_HANDLER": "arqlab.core.views.error_pages.api_exception_handler",
    "PAGE_SIZE": 100,
    "DEFAULT_THROTTLE_CLASSES": [
        "arqlab.accounts.authentication.VisitorThrottle",
        "arqlab.accounts.authentication.UserThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {"anon": "60/min", "user": "600/min"},
    "NUM_PROXIES": PROXIES,
    # The schema names its file after the version that a request asks for.
    "ALLOWED_VERSIONS": ["1"],
}
SPECTACULAR_SETTINGS = {
    "TITLE": "ArqLab",
    "DESCRIPTION": "Labs, tasks, runs with their reports, and leaderboards. The header"
    f" `ArqLab-Version` of each answer names the version that wrote it, here {VERSION}.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "PATH_CONVERTER_OVERRIDES": {"number": {"type": "integer"}},
    "ENUM_NAME_OVERRIDES": {
        "OrderEnum": "arqlab.labs.apis.ORDERS",
        "ItemsEnum": "arqlab.core.models.Task.Items",
        "PoolItemKindEnum": "assessment.models.PoolItem.Kind",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "arqlab.server.views.api_docs.with_examples",
    ],
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "manifest-src": [SELF],
    }
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
HTTPS = env_bool("ARQLAB_HTTPS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
# Whether organizers and administrators must sign in with a second factor.
SECOND_FACTOR = env_bool("ARQLAB_SECOND_FACTOR", default=HTTPS)
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_SSL_REDIRECT = True
# HSTS for all subdomains, and in the lists of browsers, is for the owner of the domain to decide.
# Ours of the key says how to make one.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W009", "security.W021"]
X_FRAME_OPTIONS = "DENY"

# Who sends it gets the metrics.
METRICS_TOKEN = env("ARQLAB_METRICS_TOKEN")
LOG_LEVEL = env("ARQLAB_LOG_LEVEL", "INFO")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": log_formatter(as_json=env_bool("ARQLAB_LOG_JSON", default=False))},
    "filters": {"one_line": {"()": "arqlab.core.apps.OneLineForBadRequests"}},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["one_line"],
            "level": LOG_LEVEL,  # packages such as bm25s set the level of their own loggers
        }
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # A line for each scheduled task would hide all other lines.
    "loggers": {
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "botocore": {"level": "WARNING"},
    },
}
if SENTRY_DSN := env("ARQLAB_SENTRY_DSN"):
    report_errors(SENTRY_DSN)

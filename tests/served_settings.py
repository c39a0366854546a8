"""Settings of the server that browser tests ask: ArqLab's own, but passwords are hashed as in
tests, and nothing runs by itself. Requests that are under way hold a lock (`tests.served`)."""

from arqlab.settings import *  # noqa: F403
from tests.settings import PASSWORD_HASHERS  # noqa: F401

ACCOUNT_RATE_LIMITS = False
HAS_SCHEDULE = False
MIDDLEWARE = ["tests.served.HoldsLock", *MIDDLEWARE]  # noqa: F405

"""The settings of a site whose workers are killed in the middle of each job."""

from arqlab.settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults.mortal.MortalConfig"]  # noqa: F405

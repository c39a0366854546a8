"""ArqLab's settings, with workers that die in the middle of a request when they are asked to."""

from arqlab.settings import *  # noqa: F403

MIDDLEWARE = ["tests.assessment.judging.dying.DiesAtStep", *MIDDLEWARE]  # noqa: F405

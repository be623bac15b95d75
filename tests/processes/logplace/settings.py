"""The product's settings, with the random run's own consumer installed."""

from config.settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "tests.processes.logplace"]  # noqa: F405

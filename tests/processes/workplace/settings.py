"""The product's settings, with the test's own kind of work installed."""

from config.settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "tests.processes.workplace"]  # noqa: F405

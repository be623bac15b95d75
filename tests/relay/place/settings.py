"""The product's settings, with effects of the tests' own installed."""

from config.settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "tests.relay.place"]  # noqa: F405

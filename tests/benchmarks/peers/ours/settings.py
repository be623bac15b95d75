"""The product's settings, with the benchmark's kind of work installed."""

from config.settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "tests.benchmarks.peers.ours"]  # noqa: F405

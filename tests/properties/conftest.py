"""Hypothesis as this house runs it: no time limit for an example, because two cores are shared and seconds prove nothing."""

from hypothesis import HealthCheck, settings

settings.register_profile("house", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

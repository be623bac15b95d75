"""Hypothesis as this house runs it: no time limit for an example, because two cores are shared and seconds prove nothing.

`HYPOTHESIS_PROFILE=deep pytest tests/properties` looks twenty times as long, after a change in what these tests are about.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "house", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("deep", settings.get_profile("house"), max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))

"""Hypothesis as this house runs it: how many examples, and no time limit for one, because two cores are shared and seconds prove nothing.

Every day a test looks at some new examples; over the days that is many. `HYPOTHESIS_PROFILE=long` (`make soak`) looks five times as
long, and `HYPOTHESIS_PROFILE=deep pytest tests/properties` fifty times, after a change in what these tests are about.
"""

import os

from hypothesis import HealthCheck, settings

TIMES = {"everyday": 1, "long": 5, "deep": 50}
_EVERYDAY = 40
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "everyday")

for name, times in TIMES.items():
    settings.register_profile(
        name,
        deadline=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
        max_examples=_EVERYDAY * times,
    )
settings.load_profile(_PROFILE)


def examples(everyday: int) -> settings:
    """Settings of a test whose examples cost more than most: so many a day. It shares its fixtures among them, and clears up itself."""
    return settings(
        max_examples=everyday * TIMES[_PROFILE],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )

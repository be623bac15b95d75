"""Numbers as a person at a console reads them."""

from datetime import timedelta

_STEPS = ((60.0, 1.0, "s"), (3600.0, 60.0, "min"), (172_800.0, 3600.0, "h"))


def say_age(age: float | timedelta) -> str:
    """Return an age in the unit that suits it: 0.4 s, 12 s, 3 min, 5 h, 4 days."""
    seconds = age.total_seconds() if isinstance(age, timedelta) else age
    if seconds < 10:  # noqa: PLR2004 - below ten the tenth matters
        return f"{seconds:.1f} s" if seconds >= 0.05 else "0 s"  # noqa: PLR2004 - what would be written 0.0
    for limit, unit, name in _STEPS:
        if seconds < limit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 86_400:.0f} days"

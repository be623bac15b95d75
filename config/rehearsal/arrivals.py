"""When students press Submit: ever more of them, and most at the very end.

The number who have handed in by time t of a window W is N (e^(kt/W) - 1) / (e^k - 1): the rate grows by the same factor in
each second, up to its peak at the deadline. With k = 4, a third hands in within the last tenth of the window, and the peak is four
times the mean. Real deadlines rush like that: conference registrations were found to grow with the inverse of the time that is
left (Alfi, Parisi and Pietronero, *Conference registration: how people react to a deadline*, Nature Physics 3, 2007).
"""

import math
import random

STEEPNESS = 4.0


def arrival_time(share: float, window: float) -> float:
    """Return when this share of the students (0 to 1) has handed in, in seconds from the begin of the window."""
    return window / STEEPNESS * math.log1p(share * math.expm1(STEEPNESS))


def peak_rate(students: int, window: float) -> float:
    """Return the arrivals a second at the deadline."""
    return students / window * STEEPNESS / -math.expm1(-STEEPNESS)


def draw_arrivals(students: int, window: float, dice: random.Random) -> list[float]:
    """Return one moment for each student, in order: independent draws from the curve, so with the clumps that chance makes."""
    return sorted(arrival_time(dice.random(), window) for _ in range(students))


def backlog_at_deadline(students: int, window: float, capacity: float) -> float:
    """Return how many wait at the deadline behind servers that do `capacity` a second: what came since they fell behind."""
    behind = capacity / peak_rate(students, window)
    if behind >= 1:
        return 0.0
    begin = max(0.0, window * (1 + math.log(behind) / STEEPNESS))
    arrived = math.expm1(STEEPNESS * begin / window) / math.expm1(STEEPNESS)
    return students * (1 - arrived) - capacity * (window - begin)

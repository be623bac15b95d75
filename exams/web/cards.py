"""What the page of a student's exams says about each of them. Pure."""

import dataclasses
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from exams.models import Attempt, AttemptState
from exams.queries.exams import ExamView

STATES = {
    AttemptState.OPEN: ("Under way", "accent"),
    AttemptState.SUBMITTED: ("Submitted", "good"),
    AttemptState.GRADED: ("Graded", "good"),
    AttemptState.NEEDS_MARKING: ("Submitted, a teacher marks it", "good"),
    AttemptState.FAILED: ("Submitted, grading needs help", "warn"),
    AttemptState.NOT_TAKEN: ("Not taken", "warn"),
}


@dataclasses.dataclass(frozen=True, slots=True)
class AttemptLine:
    """One attempt in a card."""

    attempt: Attempt

    @property
    def state(self) -> str:
        """Return the state in a student's words."""
        return STATES[AttemptState(self.attempt.state)][0]

    @property
    def tone(self) -> str:
        """Return the badge's tone."""
        return STATES[AttemptState(self.attempt.state)][1]


@dataclasses.dataclass(frozen=True, slots=True)
class Card:
    """One exam, with what can be done about it now."""

    view: ExamView

    @property
    def attempts(self) -> Sequence[AttemptLine]:
        """Return the attempts that are over, the first one first."""
        return [AttemptLine(attempt) for attempt in self.view.attempts if attempt.state != AttemptState.OPEN]

    @property
    def attempts_left(self) -> int:
        """Return how many more attempts may be started."""
        return max(0, self.view.exam.attempts_allowed - len(self.view.attempts))

    @property
    def late(self) -> timedelta:
        """Return how long after the personal deadline a submission is still accepted, as late."""
        return timedelta(seconds=self.view.exam.late_seconds)

    @property
    def last_start(self) -> datetime:
        """Return the last moment at which an attempt may be started."""
        return self.view.times.last_start


@dataclasses.dataclass(frozen=True, slots=True)
class Board:
    """A student's exams: what can be worked on now, what comes, what is over."""

    now: Sequence[Card]
    later: Sequence[Card]
    over: Sequence[Card]


def sort_exams(views: Iterable[ExamView]) -> Board:
    """Put each exam where the student looks for it; the next deadline and the next opening first."""
    now, later, over = [], [], []
    for view in views:
        if view.open_attempt or view.may_start:
            now.append(Card(view))
        elif view.read_at < view.exam.opens_at:
            later.append(Card(view))
        else:
            over.append(Card(view))
    return Board(
        now=sorted(now, key=lambda card: card.view.closes_at),
        later=sorted(later, key=lambda card: card.view.exam.opens_at),
        over=over,
    )

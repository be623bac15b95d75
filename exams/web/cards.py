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
    def is_under_way(self) -> bool:
        """Return whether there is an attempt to go on with."""
        attempt = self.view.open_attempt
        return attempt is not None and self.view.read_at <= attempt.accepts_until

    @property
    def is_being_closed(self) -> bool:
        """Return whether an attempt's time is over and the server is about to hand it in."""
        return self.view.open_attempt is not None and not self.is_under_way

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
    for card in map(Card, views):
        if card.is_under_way or card.view.may_start:
            now.append(card)
        elif card.view.read_at < card.view.exam.opens_at:
            later.append(card)
        else:
            over.append(card)
    return Board(
        now=sorted(now, key=lambda card: card.view.closes_at),
        later=sorted(later, key=lambda card: card.view.exam.opens_at),
        over=over,
    )

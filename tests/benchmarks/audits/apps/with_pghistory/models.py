"""The mark, tracked: events of inserts and of updates."""

import pghistory
from school.models import AnyMark


@pghistory.track()
class Mark(AnyMark):
    pass

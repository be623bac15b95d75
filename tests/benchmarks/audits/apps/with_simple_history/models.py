"""The mark with its history."""

from school.models import AnyMark
from simple_history.models import HistoricalRecords


class Mark(AnyMark):
    history = HistoricalRecords()

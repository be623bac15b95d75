"""The mark, registered."""

from auditlog.registry import auditlog
from school.models import AnyMark


class Mark(AnyMark):
    pass


auditlog.register(Mark)

"""The mark, registered."""

import reversion
from school.models import AnyMark


@reversion.register()
class Mark(AnyMark):
    pass

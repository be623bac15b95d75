"""What `manage.py check --deploy` says about acknowledgements: can this installation keep the promise it makes?"""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured

from exams.gate.durability import durability_problem, get_durability


@register(deploy=True)
def check_durability(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return an error when no submission could be acknowledged. Asks the database only where standbys are to count."""
    try:
        get_durability(settings.DURABILITY)
    except ImproperlyConfigured as error:
        return [Error(str(error), hint="docs/operations.md, Quorum.", id="exams.E001")]
    problem = durability_problem() if settings.DURABILITY == "quorum" else None
    if problem is None:
        return []
    return [
        Error(
            f"No submission could be acknowledged: {problem}",
            hint="docs/operations.md, Quorum.",
            id="exams.E002",
        )
    ]

"""An exam that asks for a photo. Nothing here may import a model: pytest reads this file before Django is set up."""

from typing import Any

import pytest


@pytest.fixture
def exam(world: Any) -> Any:
    """A question for the machine, and two that ask for a photo."""
    from tests.attachments.senders import photo_exam  # noqa: PLC0415 - see above

    return photo_exam(world)


@pytest.fixture
def sender(attempt: Any) -> Any:
    """The student, who sends files for the first of them."""
    from tests.attachments.senders import Sender  # noqa: PLC0415 - see above

    return Sender(attempt)

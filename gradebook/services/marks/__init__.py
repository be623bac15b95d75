"""How marks change: by a teacher's hand (`save_marks`) or by a machine's result (`post_automatic_marks`). No other way exists."""

from gradebook.services.marks.posting import PostOutcome, post_automatic_marks
from gradebook.services.marks.saving import Conflict, Refusal, SaveOutcome, save_marks

__all__ = [
    "Conflict",
    "PostOutcome",
    "Refusal",
    "SaveOutcome",
    "post_automatic_marks",
    "save_marks",
]

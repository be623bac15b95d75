"""Question files in Moodle's GIFT format: read whole, or refused whole with every fault named by line and title.

What is read becomes `exams.paper` drafts, held to the same rules as questions written in the admin. Never is a question taken over that
everybody would get 0 for.
"""

from exams.gift.reader import Fault, GiftPaper, GiftRefused, read_gift

__all__ = ["Fault", "GiftPaper", "GiftRefused", "read_gift"]

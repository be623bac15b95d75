"""Grading: a pure, total function of a revision's key and the answers. Same input, same result, whatever the order or the day.

A question that cannot read its answer gives 0 with a note; nothing an exam contains can stop the rest of it from being graded.
"""

from exams.grading.by_hand import MarkVerdict, give_points, judge_mark, read_grade, read_hand_marks
from exams.grading.grade import MISSING_FILE, Grade, HandMark, QuestionGrade, grade, note_missing_files
from exams.grading.key import BrokenKey, Key, read_key

__all__ = [
    "MISSING_FILE",
    "BrokenKey",
    "Grade",
    "HandMark",
    "Key",
    "MarkVerdict",
    "QuestionGrade",
    "give_points",
    "grade",
    "judge_mark",
    "note_missing_files",
    "read_grade",
    "read_hand_marks",
    "read_key",
]

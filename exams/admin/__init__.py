"""The admin of the exams app: where papers are written and published, and times are set; what students did is for reading."""

from exams.admin import attachments, exams, questions, records, revisions, times

__all__ = ["attachments", "exams", "questions", "records", "revisions", "times"]

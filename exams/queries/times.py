"""What personal deadlines are made of, read for many students and exams at once and handed to the pure rule (`exams.deadlines`)."""

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from exams.deadlines import PersonalDeadline, Window, last_start, latest_deadline, personal_deadline
from exams.models import Accommodation, Exam, Extension
from exams.policies import enrolments_today

_NOBODY: Final = UUID(int=0)


@dataclasses.dataclass(frozen=True, slots=True)
class PersonalTimes:
    """One exam for one student: its window, the school's zone, the student's factor, and the extensions that are for them."""

    window: Window
    zone: ZoneInfo
    factor: Decimal
    grants: Sequence[Extension]

    def deadline(self, *, started_at: datetime) -> PersonalDeadline:
        """Return the deadline of an attempt started then."""
        return personal_deadline(
            self.window, started_at=started_at, zone=self.zone, factor=self.factor, grants=self.grants
        )

    def latest_deadline(self, *, now: datetime) -> PersonalDeadline:
        """Return the latest deadline an attempt that is not started yet can have."""
        return latest_deadline(self.window, now=now, zone=self.zone, factor=self.factor, grants=self.grants)

    @property
    def last_start(self) -> datetime:
        """Return the last moment at which an attempt may be started."""
        return last_start(self.window, zone=self.zone, grants=self.grants)


class Times:
    """Personal times of these students in these exams. Three reads, however many there are.

    A class's extension is for those who are in the class today. `exams` must have their school at hand.
    """

    def __init__(self, exams: Collection[Exam], student_ids: Collection[UUID]) -> None:
        self._exams = {exam.pk: exam for exam in exams}
        self._factors = dict(
            Accommodation.objects.filter(student__in=student_ids).values_list("student", "extra_time_factor")
        )
        self._extensions = defaultdict(list)
        for extension in Extension.objects.filter(exam__in=self._exams).order_by("id"):
            self._extensions[extension.exam_id].append(extension)
        self._classes = _list_classes(student_ids)

    def of_anybody(self, exam_id: UUID) -> PersonalTimes:
        """Return the times in one exam of whoever was granted nothing beyond what everybody was."""
        return self.of(exam_id, _NOBODY)

    def of(self, exam_id: UUID, student_id: UUID) -> PersonalTimes:
        """Return one student's times in one exam."""
        exam = self._exams[exam_id]
        classes = self._classes[student_id]
        return PersonalTimes(
            window=_window(exam),
            zone=ZoneInfo(exam.school.time_zone),
            factor=self._factors.get(student_id, Decimal(1)),
            grants=[each for each in self._extensions[exam_id] if _is_for(each, student_id, classes)],
        )


def _list_classes(student_ids: Collection[UUID]) -> Mapping[UUID, set[UUID]]:
    classes: defaultdict[UUID, set[UUID]] = defaultdict(set)
    enrolled = enrolments_today().filter(student__in=student_ids)
    for student_id, class_id in enrolled.values_list("student", "school_class"):
        classes[student_id].add(class_id)
    return classes


def _is_for(extension: Extension, student_id: UUID, classes: Collection[UUID]) -> bool:
    if extension.school_class_id is not None:
        return extension.school_class_id in classes
    return extension.student_id in {None, student_id}


def _window(exam: Exam) -> Window:
    return Window(
        opens_at=exam.opens_at,
        closes_at=exam.closes_at,
        time_limit=exam.time_limit,
        grace=timedelta(seconds=exam.grace_seconds),
        late=timedelta(seconds=exam.late_seconds),
    )

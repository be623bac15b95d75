"""Where an exam's results go: a column in the mark sheet of each class that sits it."""

from django.db import transaction

from exams.errors import NotPublishable
from exams.models import Exam, ExamTarget
from exams.services.posting import post_exam_results
from gradebook.models import MarkSheet, User
from gradebook.services.columns import open_exam_column


@transaction.atomic
def open_columns(*, exam: Exam, by: User) -> list[ExamTarget]:
    """Give each class without one a column for this exam, and post the results there are; return the classes' targets.

    The columns' maximum is that of the newest published revision: raises `NotPublishable` while there is none. Locks the targets.
    """
    published = exam.revisions.filter(published_at__isnull=False).order_by("-number").first()
    if published is None or published.max_points is None:
        raise NotPublishable("Publish the exam first: a column needs to know its maximum.")
    targets = list(
        exam.targets.filter(column__isnull=True).order_by("id").select_for_update(of=("self",), no_key=True)
    )
    for target in targets:
        sheet, _ = MarkSheet.objects.get_or_create(
            school=exam.school, period=exam.period, course=exam.course, school_class=target.school_class
        )
        target.column = open_exam_column(
            sheet=sheet, exam_id=exam.pk, title=exam.title[:120], max_points=published.max_points, by=by
        )
        target.save(update_fields=["column"])
    post_exam_results(exam_id=exam.pk)
    return targets

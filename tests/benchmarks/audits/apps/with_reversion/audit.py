"""An edit and the newest changes, the way the manual writes them."""

import reversion
from reversion.models import Version
from school.models import Column, Student

from with_reversion.models import Mark


def save(mark, teacher):
    """Save a mark in a revision, which is a transaction too."""
    with reversion.create_revision():
        mark.save()
        reversion.set_user(teacher)


def list_changes(sheet, size):
    """Return (who, when, column, student, old, new) of the newest changes. A version does not know the one before it."""
    marks = {str(pk): pk for pk in Mark.objects.filter(sheet=sheet).values_list("pk", flat=True)}
    versions = Version.objects.get_for_model(Mark).filter(object_id__in=marks)
    found = list(versions.select_related("revision__user")[:size])
    columns = Column.objects.in_bulk([version.field_dict["column_id"] for version in found])
    students = Student.objects.in_bulk([version.field_dict["student_id"] for version in found])
    return [
        (
            version.revision.user.get_full_name(),
            version.revision.date_created,
            columns[version.field_dict["column_id"]].title,
            students[version.field_dict["student_id"]].name,
            _find_old(version),
            version.field_dict["value"],
        )
        for version in found
    ]


def _find_old(version):
    versions = Version.objects.get_for_object_reference(Mark, version.object_id)
    earlier = versions.filter(pk__lt=version.pk).first()
    return earlier.field_dict["value"] if earlier else None

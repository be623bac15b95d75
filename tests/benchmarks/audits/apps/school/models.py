"""The cell of a mark sheet, with the keys and the columns that ours has (gradebook/models/marks.py): what a library would have to keep."""

import uuid

from django.conf import settings
from django.db import models


class Keyed(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)

    class Meta:
        abstract = True


class Sheet(Keyed):
    title = models.CharField(max_length=120)


class Column(Keyed):
    sheet = models.ForeignKey(Sheet, on_delete=models.CASCADE)
    title = models.CharField(max_length=120)


class Student(Keyed):
    name = models.CharField(max_length=301)


class AnyMark(Keyed):
    school_id = models.UUIDField()
    sheet = models.ForeignKey(Sheet, on_delete=models.CASCADE)
    column = models.ForeignKey(Column, on_delete=models.CASCADE)
    student = models.ForeignKey(Student, on_delete=models.CASCADE)
    value = models.DecimalField(max_digits=9, decimal_places=3, null=True)
    code = models.CharField(max_length=10, blank=True, default="")
    source = models.CharField(max_length=10)
    automatic_value = models.DecimalField(max_digits=9, decimal_places=3, null=True)
    automatic_at = models.DateTimeField(null=True)
    version = models.PositiveIntegerField()
    shown_version = models.PositiveIntegerField()
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    class Meta:
        abstract = True
        constraints = [
            models.UniqueConstraint(fields=["sheet", "column", "student"], name="one_mark_per_cell")
        ]

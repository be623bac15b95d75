"""The cell of a mark sheet: the key that ours has, and a value."""

from django.db import models


class Sheet(models.Model):
    title = models.CharField(max_length=120)


class Column(models.Model):
    sheet = models.ForeignKey(Sheet, on_delete=models.CASCADE)
    title = models.CharField(max_length=120)


class Student(models.Model):
    name = models.CharField(max_length=301)


class AnyMark(models.Model):
    sheet = models.ForeignKey(Sheet, on_delete=models.CASCADE)
    column = models.ForeignKey(Column, on_delete=models.CASCADE)
    student = models.ForeignKey(Student, on_delete=models.CASCADE)
    value = models.DecimalField(max_digits=9, decimal_places=3)

    class Meta:
        abstract = True
        constraints = [models.UniqueConstraint(fields=["column", "student"], name="one_mark_per_cell")]

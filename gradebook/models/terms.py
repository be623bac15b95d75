"""Amendments: the only way a mark of a locked term changes. Proposed with a reason, signed by a second person."""

from typing import Final

from django.db import models
from django.db.models import F, Q
from uuid_utils.compat import uuid7

from gradebook.models.marks import MarkCode, MarkSource


class AmendmentState(models.TextChoices):
    """How far it has come. Only what is proposed can still be decided."""

    PROPOSED = "proposed"
    SIGNED = "signed"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"


DECIDED: Final = (AmendmentState.SIGNED, AmendmentState.REFUSED)


class Amendment(models.Model):
    """One cell of a locked term, what it shows and what it should show, and why.

    `old_version` is the cell's version the proposal is based on: if the cell has moved on by the time somebody signs, it is proposed
    anew. A result that arrives late is proposed by the machine (`source` automatic, `automatic_at` its age): no result is lost.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    period = models.ForeignKey("gradebook.Period", on_delete=models.PROTECT, related_name="amendments")
    sheet = models.ForeignKey("gradebook.MarkSheet", on_delete=models.PROTECT, related_name="amendments")
    column = models.ForeignKey("gradebook.Column", on_delete=models.PROTECT, related_name="+")
    student = models.ForeignKey("gradebook.User", on_delete=models.PROTECT, related_name="+")
    old_value = models.DecimalField(max_digits=9, decimal_places=3, null=True)
    old_code = models.CharField(max_length=10, choices=MarkCode, blank=True, default="")
    old_version = models.PositiveIntegerField()
    value = models.DecimalField(max_digits=9, decimal_places=3, null=True)
    code = models.CharField(max_length=10, choices=MarkCode, blank=True, default="")
    reason = models.CharField(max_length=500)
    source = models.CharField(max_length=10, choices=MarkSource)
    automatic_at = models.DateTimeField(null=True)
    cause_id = models.UUIDField(null=True)
    state = models.CharField(max_length=10, choices=AmendmentState, default=AmendmentState.PROPOSED)
    proposed_by = models.ForeignKey("gradebook.User", on_delete=models.PROTECT, null=True, related_name="+")
    proposed_at = models.DateTimeField()
    decided_by = models.ForeignKey("gradebook.User", on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    note = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["column", "student", "source"],
                condition=Q(state="proposed"),
                name="one_open_amendment_per_cell_and_source",
            ),
            models.CheckConstraint(
                condition=Q(value__isnull=True) | Q(code=""), name="an_amendment_is_a_value_or_a_code"
            ),
            models.CheckConstraint(
                condition=Q(source="automatic", proposed_by__isnull=True, automatic_at__isnull=False)
                | Q(source="teacher", proposed_by__isnull=False, automatic_at__isnull=True),
                name="amendments_name_who_proposed_them",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="amendments_have_a_reason"),
            models.CheckConstraint(
                condition=Q(state="proposed", decided_at__isnull=True, decided_by__isnull=True)
                | Q(
                    state__in=["signed", "refused", "withdrawn"],
                    decided_at__isnull=False,
                    decided_by__isnull=False,
                ),
                name="decided_amendments_name_who_decided",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=DECIDED)
                | Q(proposed_by__isnull=True)
                | ~Q(decided_by=F("proposed_by")),
                name="a_second_person_decides",
            ),
        ]
        indexes = [models.Index(fields=["sheet", "-proposed_at"], name="amendments_of_a_sheet_idx")]

    def __str__(self) -> str:
        return (
            f"{self.column} / {self.student}: {self.old_code or self.old_value} → {self.code or self.value}"
        )

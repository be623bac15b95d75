"""Report cards: what was printed, word for word, and when students may see it.

The one thing to know: a card is never changed. A new one replaces it, and the old one's code keeps resolving.
"""

from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7


class ReportCard(models.Model):
    """One student's card for one term.

    `token` says at which state of the term it was made: `<term>/<generation>` today; compared for equality only, so tokens of older
    formats stay valid strings. `epoch`, `shard` and `pos` are the place in the log it was made at. `code` is on the paper.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    school = models.ForeignKey("gradebook.School", on_delete=models.PROTECT, related_name="+")
    period = models.ForeignKey("gradebook.Period", on_delete=models.PROTECT, related_name="cards")
    school_class = models.ForeignKey("gradebook.SchoolClass", on_delete=models.PROTECT, related_name="cards")
    student = models.ForeignKey("gradebook.User", on_delete=models.PROTECT, related_name="cards")
    number = models.PositiveIntegerField()  # 1, 2, 3 … for this student and term
    content = models.JSONField()
    checksum = models.CharField(max_length=64)
    token = models.CharField(max_length=200)
    epoch = models.IntegerField()
    shard = models.IntegerField()
    pos = models.BigIntegerField()
    code = models.CharField(max_length=40, unique=True)
    issued_by = models.ForeignKey("gradebook.User", on_delete=models.PROTECT, related_name="+")
    issued_at = models.DateTimeField()
    difference = models.JSONField(default=list)  # to the card it replaces
    replaced_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["period", "student", "number"], name="cards_of_a_term_are_numbered"
            ),
            models.UniqueConstraint(
                fields=["period", "student"],
                condition=Q(replaced_at__isnull=True),
                name="one_card_of_a_term_counts",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.student}, {self.period}, no. {self.number}"


class CardRelease(models.Model):
    """When a class's students may see their cards: from `release_at` on; held while it is empty."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    period = models.ForeignKey("gradebook.Period", on_delete=models.PROTECT, related_name="card_releases")
    school_class = models.ForeignKey("gradebook.SchoolClass", on_delete=models.PROTECT, related_name="+")
    release_at = models.DateTimeField(null=True)
    set_by = models.ForeignKey("gradebook.User", on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["period", "school_class"], name="one_release_per_class_and_term")
        ]

    def __str__(self) -> str:
        return f"{self.school_class}, {self.period}: {self.release_at or 'held'}"

"""The queue's tables as the admin can show them: it knows no composite keys, so here the job's id stands for one.

Unmanaged and only ever read. The key columns make no difference to a list, and one row is found by a scan, which a person can wait for.
"""

from django.db import models

from outbox.models.jobs import JobState, Lane


class JobListing(models.Model):
    """A waiting or running job."""

    job_id = models.UUIDField(primary_key=True)
    kind = models.CharField(max_length=40)
    state = models.SmallIntegerField(choices=JobState)
    lane = models.SmallIntegerField(choices=Lane)
    group_id = models.UUIDField()
    subject_id = models.UUIDField()
    run_at = models.DateTimeField()
    tries = models.PositiveSmallIntegerField()
    snoozes = models.PositiveIntegerField()
    lost_leases = models.PositiveSmallIntegerField()
    leased_until = models.DateTimeField(null=True)
    leased_by = models.UUIDField(null=True)
    history = models.JSONField()

    class Meta:
        managed = False
        db_table = "outbox_job"
        verbose_name = "job"

    def __str__(self) -> str:
        return f"{self.kind} {self.job_id}"


class FinishedJobListing(models.Model):
    """A job that is done."""

    job_id = models.UUIDField(primary_key=True)
    kind = models.CharField(max_length=40)
    lane = models.SmallIntegerField(choices=Lane)
    group_id = models.UUIDField()
    subject_id = models.UUIDField()
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField()
    tries = models.PositiveSmallIntegerField()

    class Meta:
        managed = False
        db_table = "outbox_finishedjob"
        verbose_name = "finished job"

    def __str__(self) -> str:
        return f"{self.kind} {self.job_id}"

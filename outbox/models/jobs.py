"""The job queue: a narrow hot table of waiting and running work, and where finished and dead jobs go.

The payload stays with the subject (the submission); a job only says what to do, for whom, and who holds it.
"""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import Q

from outbox.models.fields import ClockTimestamp


class JobState(models.IntegerChoices):
    """Only these two live in the hot table."""

    READY = 0
    RUNNING = 1


class Lane(models.IntegerChoices):
    """Fresh work first; regrades and old backlog must not starve it."""

    FRESH = 0
    BACKLOG = 1


class JobIdentity(models.Model):
    """What every job row says, alive, finished or dead. `group_id` is the unit of fairness (an exam)."""

    tenant_id = models.UUIDField()
    group_id = models.UUIDField()
    job_id = models.UUIDField()
    kind = models.CharField(max_length=40)
    subject_id = models.UUIDField()
    lane = models.SmallIntegerField(choices=Lane, default=Lane.FRESH, db_default=Lane.FRESH)
    priority = models.SmallIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        abstract = True


class Job(JobIdentity):
    """A waiting or running job. Held by whoever knows `lease_id`, until `leased_until`.

    `tries` counts claims, except those given back unstarted. `lost_leases` counts holders that vanished: from the
    first on, the job is claimed with few others, then alone, so that one that kills its worker takes no neighbours with it (ADR 0013).
    `history` has one entry per failed try.

    The key is what the job is for, not `job_id`, which follows from it: subjects are numbered in order of time (UUIDv7), so the
    rows of a batch share a few index pages, where ids that are hashes touch a page each (ADR 0002: a tenth of the WAL).
    """

    pk = models.CompositePrimaryKey("group_id", "subject_id", "kind")
    state = models.SmallIntegerField(choices=JobState, default=JobState.READY, db_default=JobState.READY)
    run_at = models.DateTimeField(db_default=ClockTimestamp())
    tries = models.PositiveSmallIntegerField(default=0, db_default=0)
    snoozes = models.PositiveIntegerField(default=0, db_default=0)
    lost_leases = models.PositiveSmallIntegerField(default=0, db_default=0)
    lease_id = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    leased_by = models.UUIDField(null=True)
    history = models.JSONField(default=list, db_default=[])

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="jobs_state_known"),
            models.CheckConstraint(
                condition=Q(
                    state=JobState.READY,
                    lease_id__isnull=True,
                    leased_until__isnull=True,
                    leased_by__isnull=True,
                )
                | Q(state=JobState.RUNNING, lease_id__isnull=False, leased_until__isnull=False),
                name="a_running_job_has_a_lease",
            ),
        ]
        indexes = [
            # Streams of (kind, lane, group, priority), each in order of arrival: a claim reads the head of some.
            models.Index(
                fields=["kind", "lane", "group_id", "priority", "run_at", "job_id"],
                condition=Q(state=JobState.READY, lost_leases=0),
                name="jobs_ready_idx",
            ),
            # The least suspect first, so that the neighbours of a job that kills its worker are done before it tries again.
            models.Index(
                fields=["kind", "lost_leases", "run_at", "job_id"],
                condition=Q(state=JobState.READY, lost_leases__gt=0),
                name="jobs_suspect_idx",
            ),
            models.Index(
                fields=["leased_until"],
                condition=Q(state=JobState.RUNNING),
                name="jobs_running_idx",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.job_id}"


class FinishedJob(JobIdentity):
    """A job that ended well, moved out of the hot table in the settling transaction. A job done again replaces it.

    Forgotten after JOB_RETENTION_DAYS (`outbox.queue.retention`): nothing but people's questions depends on it.
    """

    pk = models.CompositePrimaryKey("group_id", "subject_id", "kind")
    tries = models.PositiveSmallIntegerField()
    finished_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        indexes = [models.Index(fields=["finished_at"], name="finished_jobs_age_idx")]

    def __str__(self) -> str:
        return f"{self.kind} {self.job_id}"


class Cause(models.TextChoices):
    """Why a job was given up."""

    EXHAUSTED = "exhausted", "failed on every try"
    LOST_LEASES = "lost_leases", "its workers died or froze"
    DEFECT = "defect", "an error that no repetition will cure"


class DeadLetter(JobIdentity):
    """A job given up: cause, every failed try, and whether somebody replayed it."""

    id = models.UUIDField(primary_key=True, db_default=RandomUUID())
    cause = models.CharField(max_length=40, choices=Cause)
    error_class = models.CharField(max_length=80, blank=True, default="")
    error_detail = models.TextField(blank=True, default="")
    tries = models.PositiveSmallIntegerField()
    lost_leases = models.PositiveSmallIntegerField(default=0)
    history = models.JSONField(default=list)
    died_at = models.DateTimeField(db_default=ClockTimestamp())
    replayed_at = models.DateTimeField(null=True)
    replayed_by = models.UUIDField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["group_id", "subject_id", "kind"],
                condition=Q(replayed_at__isnull=True),
                name="one_open_dead_letter_per_job",
            ),
            models.CheckConstraint(condition=Q(cause__in=Cause.values), name="dead_letters_cause_known"),
        ]
        indexes = [
            models.Index(
                fields=["died_at"],
                condition=Q(replayed_at__isnull=True),
                name="dead_letters_open_idx",
            ),
            models.Index(fields=["subject_id"], name="dead_letters_subject_idx"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.job_id}: {self.cause}"


class QueueTally(models.Model):
    """What one process counted in one minute (`outbox.queue.tallies`). Each writes only rows of its own, so nobody waits; readers add up."""

    pk = models.CompositePrimaryKey("minute", "teller")
    minute = models.DateTimeField()
    teller = models.UUIDField()
    first_tries = models.PositiveIntegerField(default=0)
    retries = models.PositiveIntegerField(default=0)
    finished = models.PositiveIntegerField(default=0)
    retried = models.PositiveIntegerField(default=0)
    snoozed = models.PositiveIntegerField(default=0)
    released = models.PositiveIntegerField(default=0)
    buried = models.PositiveIntegerField(default=0)
    lost = models.PositiveIntegerField(default=0)  # results refused by the fence
    lost_leases = models.PositiveIntegerField(default=0)  # jobs taken back from holders that died or froze
    claims = ArrayField(models.PositiveIntegerField())  # how many claims took how long: `tallies.BOUNDS`

    def __str__(self) -> str:
        return f"{self.minute:%H:%M} {self.teller}: {self.finished} finished"


class RetryBudget(models.Model):
    """Tokens for retries of one kind: each first try adds some, each retry takes one (`outbox.queue.retry`)."""

    kind = models.CharField(max_length=40, primary_key=True)
    tokens = models.FloatField()
    updated_at = models.DateTimeField(db_default=ClockTimestamp())

    def __str__(self) -> str:
        return f"{self.kind}: {self.tokens:.1f}"

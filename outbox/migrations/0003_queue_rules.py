"""The queue's rules: streams for a fair claim, suspects claimed alone, a history per job, a table tuned for churn."""

import django.contrib.postgres.functions
from django.db import migrations, models

# The hot table turns over completely all the time: leave room on its pages, and clean by count, not by share.
TUNE_JOBS = """
ALTER TABLE outbox_job SET (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
)
"""
UNTUNE_JOBS = """
ALTER TABLE outbox_job RESET (
    fillfactor,
    autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold,
    autovacuum_analyze_scale_factor, autovacuum_analyze_threshold,
    autovacuum_vacuum_cost_delay
)
"""


class Migration(migrations.Migration):
    dependencies = [
        ("outbox", "0002_log_rules"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="job",
            name="a_running_job_has_a_lease",
        ),
        migrations.RemoveIndex(
            model_name="job",
            name="jobs_ready_idx",
        ),
        migrations.RemoveField(
            model_name="job",
            name="error_class",
        ),
        migrations.RemoveField(
            model_name="job",
            name="error_detail",
        ),
        migrations.AddField(
            model_name="deadletter",
            name="history",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="job",
            name="history",
            field=models.JSONField(db_default=[], default=list),
        ),
        migrations.AlterField(
            model_name="deadletter",
            name="cause",
            field=models.CharField(
                choices=[
                    ("exhausted", "failed on every try"),
                    ("lost_leases", "its workers died or froze"),
                    ("defect", "an error that no repetition will cure"),
                ],
                max_length=40,
            ),
        ),
        migrations.AlterField(
            model_name="deadletter",
            name="id",
            field=models.UUIDField(
                db_default=django.contrib.postgres.functions.RandomUUID(), primary_key=True, serialize=False
            ),
        ),
        migrations.AlterField(
            model_name="deadletter",
            name="lane",
            field=models.SmallIntegerField(choices=[(0, "Fresh"), (1, "Backlog")], db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name="deadletter",
            name="priority",
            field=models.SmallIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name="finishedjob",
            name="lane",
            field=models.SmallIntegerField(choices=[(0, "Fresh"), (1, "Backlog")], db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name="finishedjob",
            name="priority",
            field=models.SmallIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name="job",
            name="lane",
            field=models.SmallIntegerField(choices=[(0, "Fresh"), (1, "Backlog")], db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name="job",
            name="priority",
            field=models.SmallIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name="retrybudget",
            name="tokens",
            field=models.FloatField(),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("lost_leases", 0), ("state", 0)),
                fields=["kind", "lane", "group_id", "priority", "run_at", "job_id"],
                name="jobs_ready_idx",
            ),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("lost_leases__gt", 0), ("state", 0)),
                fields=["kind", "lost_leases", "run_at", "job_id"],
                name="jobs_suspect_idx",
            ),
        ),
        migrations.AddConstraint(
            model_name="deadletter",
            constraint=models.UniqueConstraint(
                condition=models.Q(("replayed_at__isnull", True)),
                fields=("group_id", "job_id"),
                name="one_open_dead_letter_per_job",
            ),
        ),
        migrations.AddConstraint(
            model_name="deadletter",
            constraint=models.CheckConstraint(
                condition=models.Q(("cause__in", ["exhausted", "lost_leases", "defect"])),
                name="dead_letters_cause_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("lease_id__isnull", True),
                        ("leased_by__isnull", True),
                        ("leased_until__isnull", True),
                        ("state", 0),
                    ),
                    models.Q(("lease_id__isnull", False), ("leased_until__isnull", False), ("state", 1)),
                    _connector="OR",
                ),
                name="a_running_job_has_a_lease",
            ),
        ),
        migrations.RunSQL(TUNE_JOBS, UNTUNE_JOBS),
    ]

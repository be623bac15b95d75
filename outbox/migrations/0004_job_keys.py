"""Key the queue by what a job is for, not by a hash of it: the rows of a batch then share a few index pages (ADR 0002)."""

from django.db import migrations, models

KEYS = {
    "outbox_job": "ALTER TABLE outbox_job DROP CONSTRAINT outbox_job_pkey, DROP CONSTRAINT one_job_per_subject_and_kind,"
    " ADD PRIMARY KEY (group_id, subject_id, kind)",
    "outbox_finishedjob": "ALTER TABLE outbox_finishedjob DROP CONSTRAINT outbox_finishedjob_pkey,"
    " ADD PRIMARY KEY (group_id, subject_id, kind)",
}
OLD_KEYS = {
    "outbox_job": "ALTER TABLE outbox_job DROP CONSTRAINT outbox_job_pkey, ADD PRIMARY KEY (group_id, job_id),"
    " ADD CONSTRAINT one_job_per_subject_and_kind UNIQUE (group_id, subject_id, kind)",
    "outbox_finishedjob": "ALTER TABLE outbox_finishedjob DROP CONSTRAINT outbox_finishedjob_pkey,"
    " ADD PRIMARY KEY (group_id, job_id)",
}


class Migration(migrations.Migration):
    dependencies = [
        ("outbox", "0003_queue_rules"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(KEYS[table], OLD_KEYS[table]) for table in KEYS],
            state_operations=[
                migrations.RemoveConstraint(
                    model_name="job",
                    name="one_job_per_subject_and_kind",
                ),
                migrations.AlterField(
                    model_name="finishedjob",
                    name="pk",
                    field=models.CompositePrimaryKey(
                        "group_id",
                        "subject_id",
                        "kind",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                migrations.AlterField(
                    model_name="job",
                    name="pk",
                    field=models.CompositePrimaryKey(
                        "group_id",
                        "subject_id",
                        "kind",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FinishedJobListing",
            fields=[
                ("job_id", models.UUIDField(primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=40)),
                ("lane", models.SmallIntegerField(choices=[(0, "Fresh"), (1, "Backlog")])),
                ("group_id", models.UUIDField()),
                ("subject_id", models.UUIDField()),
                ("created_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField()),
                ("tries", models.PositiveSmallIntegerField()),
            ],
            options={
                "verbose_name": "finished job",
                "db_table": "outbox_finishedjob",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="JobListing",
            fields=[
                ("job_id", models.UUIDField(primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=40)),
                ("state", models.SmallIntegerField(choices=[(0, "Ready"), (1, "Running")])),
                ("lane", models.SmallIntegerField(choices=[(0, "Fresh"), (1, "Backlog")])),
                ("group_id", models.UUIDField()),
                ("subject_id", models.UUIDField()),
                ("run_at", models.DateTimeField()),
                ("tries", models.PositiveSmallIntegerField()),
                ("snoozes", models.PositiveIntegerField()),
                ("lost_leases", models.PositiveSmallIntegerField()),
                ("leased_until", models.DateTimeField(null=True)),
                ("leased_by", models.UUIDField(null=True)),
                ("history", models.JSONField()),
            ],
            options={
                "verbose_name": "job",
                "db_table": "outbox_job",
                "managed": False,
            },
        ),
        migrations.RemoveConstraint(
            model_name="deadletter",
            name="one_open_dead_letter_per_job",
        ),
        migrations.AddConstraint(
            model_name="deadletter",
            constraint=models.UniqueConstraint(
                condition=models.Q(("replayed_at__isnull", True)),
                fields=("group_id", "subject_id", "kind"),
                name="one_open_dead_letter_per_job",
            ),
        ),
    ]

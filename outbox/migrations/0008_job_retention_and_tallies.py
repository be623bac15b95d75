"""Finished jobs are found by their age, what workers count is kept by the minute, and an event tried alone is announced (ADR 0013)."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("outbox", "0007_consumer_is_filling"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="finishedjob",
            index=models.Index(fields=["finished_at"], name="finished_jobs_age_idx"),
        ),
        migrations.CreateModel(
            name="AnnouncedEvent",
            fields=[
                ("consumer", models.CharField(max_length=60, primary_key=True, serialize=False)),
                ("pos", models.BigIntegerField()),
                ("tries", models.PositiveSmallIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="QueueTally",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "minute", "teller", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("minute", models.DateTimeField()),
                ("teller", models.UUIDField()),
                ("first_tries", models.PositiveIntegerField(default=0)),
                ("retries", models.PositiveIntegerField(default=0)),
                ("finished", models.PositiveIntegerField(default=0)),
                ("retried", models.PositiveIntegerField(default=0)),
                ("snoozed", models.PositiveIntegerField(default=0)),
                ("released", models.PositiveIntegerField(default=0)),
                ("buried", models.PositiveIntegerField(default=0)),
                ("lost", models.PositiveIntegerField(default=0)),
                ("lost_leases", models.PositiveIntegerField(default=0)),
                (
                    "claims",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveIntegerField(), size=None
                    ),
                ),
            ],
        ),
    ]

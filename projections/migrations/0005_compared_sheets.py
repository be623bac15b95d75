"""The gates of the cut-over remember which sheets they have found right."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projections", "0004_origin_of_a_mark"),
    ]

    operations = [
        migrations.CreateModel(
            name="ComparedSheet",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("gate", models.PositiveSmallIntegerField()),
                ("sheet_id", models.UUIDField()),
                ("digest", models.CharField(max_length=32)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("gate", "sheet_id"), name="one_comparison_per_gate_and_sheet"
                    )
                ]
            },
        ),
    ]

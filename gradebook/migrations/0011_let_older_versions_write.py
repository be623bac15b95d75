"""Processes of the version before, which do not know these columns, may go on adding rows while machines are upgraded one by one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("gradebook", "0010_open_sheets_for_saving"),
    ]

    operations = [
        migrations.AlterField(
            model_name="column",
            name="is_bonus",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name="period",
            name="generation",
            field=models.PositiveIntegerField(db_default=1, default=1, editable=False),
        ),
    ]

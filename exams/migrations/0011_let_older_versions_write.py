"""Processes of the version before, which do not know these columns, may go on adding rows while machines are upgraded one by one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("exams", "0010_general_feedback"),
    ]

    operations = [
        migrations.AlterField(
            model_name="question",
            name="feedback",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
    ]

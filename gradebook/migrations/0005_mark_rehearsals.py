"""A school that a rehearsal made says so; those that were made before are known by their name and their one course."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def mark_those_there_are(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Mark them."""
    schools = apps.get_model("gradebook", "School").objects.using(editor.connection.alias)
    schools.filter(name__regex=r"^Rehearsal \d{4}-\d\d-\d\d \d\d:", course__code="REHEARSAL").update(
        is_rehearsal=True
    )


class Migration(migrations.Migration):
    """The mark."""

    dependencies = [("gradebook", "0004_notifications")]

    operations = [
        migrations.AddField(
            model_name="school",
            name="is_rehearsal",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.RunPython(mark_those_there_are, migrations.RunPython.noop),
    ]

"""A consumer whose emptied tables are not full yet stays known as such, also while it is paused."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Rebuilds that are running during the upgrade are marked too."""

    dependencies = [("outbox", "0006_effects_and_webhooks")]

    operations = [
        migrations.AddField(
            model_name="consumer",
            name="is_filling",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunSQL(
            "UPDATE outbox_consumer SET is_filling = true WHERE state = 'rebuilding'", migrations.RunSQL.noop
        ),
    ]

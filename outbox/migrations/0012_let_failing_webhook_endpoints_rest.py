"""Until when an endpoint that fails is left alone: outbox/webhooks/resting.py."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("outbox", "0011_append_events_by_function")]

    operations = [
        migrations.AddField(
            model_name="webhookendpoint",
            name="rests_until",
            field=models.DateTimeField(editable=False, null=True),
        )
    ]

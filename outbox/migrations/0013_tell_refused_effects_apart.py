"""What was refused is told apart from what failed: outbox/models/effects.py."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('outbox', '0012_let_failing_webhook_endpoints_rest'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='effectreceipt',
            name='effects_state_known',
        ),
        migrations.RemoveConstraint(
            model_name='effectreceipt',
            name='effects_end_when_they_end',
        ),
        migrations.AlterField(
            model_name='effectreceipt',
            name='state',
            field=models.CharField(choices=[('pending', 'Pending'), ('trying', 'Trying'), ('done', 'Done'), ('failed', 'Failed'), ('refused', 'Refused')], db_default='pending', default='pending', max_length=7),
        ),
        migrations.AddIndex(
            model_name='effectreceipt',
            index=models.Index(condition=models.Q(('state', 'refused')), fields=['ended_at'], name='effects_refused_idx'),
        ),
        migrations.AddConstraint(
            model_name='effectreceipt',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'trying', 'done', 'failed', 'refused'])), name='effects_state_known'),
        ),
        migrations.AddConstraint(
            model_name='effectreceipt',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', False), ('state__in', ['done', 'failed', 'refused'])), models.Q(('ended_at__isnull', True), ('state__in', ['pending', 'trying'])), _connector='OR'), name='effects_end_when_they_end'),
        ),
    ]

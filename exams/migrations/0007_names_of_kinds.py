"""The kinds of questions under the names people read."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('exams', '0006_words_for_rules'),
    ]

    operations = [
        migrations.AlterField(
            model_name='question',
            name='kind',
            field=models.CharField(choices=[('single_choice', 'Single choice'), ('multiple_choice', 'Multiple choice'), ('true_false', 'True or false'), ('numeric', 'Number'), ('short_text', 'Short answer'), ('matching', 'Matching'), ('essay', 'Essay')], max_length=16),
        ),
    ]

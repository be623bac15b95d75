"""Rules whose refusals people read get words of their own (the constraints themselves stay as they are)."""

import datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('exams', '0005_lean_attempt_indexes'),
        ('gradebook', '0002_cells_that_teachers_edit'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterConstraint(
            model_name='accommodation',
            name='extra_time_factor_is_sane',
            constraint=models.CheckConstraint(condition=models.Q(('extra_time_factor__gte', 1), ('extra_time_factor__lte', 10)), name='extra_time_factor_is_sane', violation_error_message='A factor is between 1 and 10: 1.5 means half as long again.'),
        ),
        migrations.AlterConstraint(
            model_name='exam',
            name='exams_close_after_they_open',
            constraint=models.CheckConstraint(condition=models.Q(('closes_at__gt', models.F('opens_at'))), name='exams_close_after_they_open', violation_error_message='An exam closes after it opens.'),
        ),
        migrations.AlterConstraint(
            model_name='exam',
            name='exams_allow_an_attempt',
            constraint=models.CheckConstraint(condition=models.Q(('attempts_allowed__gte', 1)), name='exams_allow_an_attempt', violation_error_message='At least one attempt must be allowed.'),
        ),
        migrations.AlterConstraint(
            model_name='exam',
            name='exams_time_limit_positive',
            constraint=models.CheckConstraint(condition=models.Q(('time_limit__isnull', True), ('time_limit__gt', datetime.timedelta(0)), _connector='OR'), name='exams_time_limit_positive', violation_error_message='A time limit is longer than nothing; leave it empty for none.'),
        ),
        migrations.AlterConstraint(
            model_name='examtarget',
            name='a_class_is_targeted_once',
            constraint=models.UniqueConstraint(fields=('exam', 'school_class'), name='a_class_is_targeted_once', violation_error_message='This class sits the exam already.'),
        ),
        migrations.AlterConstraint(
            model_name='extension',
            name='an_extension_is_for_one_or_all',
            constraint=models.CheckConstraint(condition=models.Q(('student__isnull', True), ('school_class__isnull', True), _connector='OR'), name='an_extension_is_for_one_or_all', violation_error_message='An extension is for one student, for one class, or (neither named) for everybody.'),
        ),
        migrations.AlterConstraint(
            model_name='extension',
            name='extensions_add_time',
            constraint=models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='extensions_add_time', violation_error_message='An extension adds time.'),
        ),
        migrations.AlterConstraint(
            model_name='extension',
            name='extensions_stay_in_the_calendar',
            constraint=models.CheckConstraint(condition=models.Q(('amount__lte', 100000)), name='extensions_stay_in_the_calendar', violation_error_message='An extension is at most 100,000 minutes or days.'),
        ),
    ]

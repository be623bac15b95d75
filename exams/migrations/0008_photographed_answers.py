"""Photographed answers: a kind of question whose answer is a file, its versions, and what they put into the storage."""

import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('exams', '0007_names_of_kinds'),
    ]

    operations = [
        migrations.CreateModel(
            name='Attachment',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('school_id', models.UUIDField()),
                ('exam_id', models.UUIDField()),
                ('question_id', models.UUIDField()),
                ('latest_number', models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='AttachmentVersion',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField()),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('processing', 'Processing'), ('ready', 'Ready'), ('failed', 'Failed'), ('abandoned', 'Abandoned')], default='pending', max_length=10)),
                ('sha256', models.CharField(max_length=64)),
                ('size', models.PositiveBigIntegerField()),
                ('received', models.PositiveBigIntegerField(default=0)),
                ('file_name', models.CharField(max_length=200)),
                ('file_type', models.CharField(blank=True, choices=[('image/jpeg', 'Jpeg'), ('image/png', 'Png'), ('image/webp', 'Webp'), ('application/pdf', 'Pdf')], default='', max_length=20)),
                ('width', models.PositiveIntegerField(null=True)),
                ('height', models.PositiveIntegerField(null=True)),
                ('pages', models.PositiveIntegerField(null=True)),
                ('problem', models.CharField(blank=True, default='', max_length=200)),
                ('diagnosis', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField()),
                ('touched_at', models.DateTimeField()),
                ('completed_at', models.DateTimeField(null=True)),
                ('review_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='StoredObject',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('role', models.CharField(choices=[('part', 'Part'), ('original', 'Original'), ('preview', 'Preview'), ('thumbnail', 'Thumbnail')], max_length=9)),
                ('state', models.CharField(choices=[('writing', 'Writing'), ('kept', 'Kept'), ('doomed', 'Doomed')], default='writing', max_length=7)),
                ('name', models.CharField(max_length=200, unique=True)),
                ('offset', models.PositiveBigIntegerField(default=0)),
                ('created_at', models.DateTimeField()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='question',
            name='questions_kind_known',
        ),
        migrations.AlterField(
            model_name='question',
            name='kind',
            field=models.CharField(choices=[('single_choice', 'Single choice'), ('multiple_choice', 'Multiple choice'), ('true_false', 'True or false'), ('numeric', 'Number'), ('short_text', 'Short answer'), ('matching', 'Matching'), ('essay', 'Essay'), ('upload', 'Photo or PDF')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['single_choice', 'multiple_choice', 'true_false', 'numeric', 'short_text', 'matching', 'essay', 'upload'])), name='questions_kind_known'),
        ),
        migrations.AddField(
            model_name='attachment',
            name='attempt',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='attachments', to='exams.attempt'),
        ),
        migrations.AddField(
            model_name='attachmentversion',
            name='attachment',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='exams.attachment'),
        ),
        migrations.AddField(
            model_name='attachment',
            name='published',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='exams.attachmentversion'),
        ),
        migrations.AddField(
            model_name='storedobject',
            name='version',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='stored_objects', to='exams.attachmentversion'),
        ),
        migrations.AddIndex(
            model_name='attachmentversion',
            index=models.Index(condition=models.Q(('review_at__isnull', False)), fields=['review_at'], name='attachments_review_idx'),
        ),
        migrations.AddConstraint(
            model_name='attachmentversion',
            constraint=models.UniqueConstraint(fields=('attachment', 'number'), name='attachment_versions_are_numbered'),
        ),
        migrations.AddConstraint(
            model_name='attachmentversion',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'pending')), fields=('attachment',), name='one_upload_at_a_time_per_question'),
        ),
        migrations.AddConstraint(
            model_name='attachmentversion',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'processing', 'ready', 'failed', 'abandoned'])), name='attachment_versions_state_known'),
        ),
        migrations.AddConstraint(
            model_name='attachmentversion',
            constraint=models.CheckConstraint(condition=models.Q(('received__lte', models.F('size')), ('size__gt', 0)), name='uploads_stay_within_their_size'),
        ),
        migrations.AddConstraint(
            model_name='attachmentversion',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['processing', 'ready']), _negated=True), ('completed_at__isnull', False), _connector='OR'), name='what_is_processed_has_arrived'),
        ),
        migrations.AddConstraint(
            model_name='attachment',
            constraint=models.UniqueConstraint(fields=('attempt', 'question_id'), name='one_attachment_per_question'),
        ),
        migrations.AddIndex(
            model_name='storedobject',
            index=models.Index(fields=['version'], name='stored_objects_version_idx'),
        ),
        migrations.AddIndex(
            model_name='storedobject',
            index=models.Index(condition=models.Q(('state', 'kept'), _negated=True), fields=['created_at'], name='stored_objects_leaving_idx'),
        ),
        migrations.AddConstraint(
            model_name='storedobject',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'kept')), fields=('version', 'role', 'offset'), name='a_version_keeps_one_object_of_each'),
        ),
        migrations.AddConstraint(
            model_name='storedobject',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['part', 'original', 'preview', 'thumbnail'])), name='stored_objects_role_known'),
        ),
        migrations.AddConstraint(
            model_name='storedobject',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['writing', 'kept', 'doomed'])), name='stored_objects_state_known'),
        ),
    ]

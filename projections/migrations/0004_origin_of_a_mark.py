"""History says which file and line an imported mark came from. The view gains a column, so it is made anew."""

from django.db import migrations, models

EMPTY = {"blank": True, "db_default": "", "default": "", "max_length": 160}
DROP = "DROP VIEW projections_wholehistory"
CREATE = """
    CREATE VIEW projections_wholehistory AS
    SELECT event_id, pos, school_id, sheet_id, column_id, student_id, cell_version, column_title, student_name,
           old_value, old_code, old_source, new_value, new_code, new_source, automatic_value,
           reason, origin, actor_type, actor_id, actor_name, batch_id, occurred_at
    FROM projections_markhistory
    UNION ALL
    SELECT event_id, pos, school_id, sheet_id, column_id, student_id, cell_version, column_title, student_name,
           old_value, old_code, old_source, new_value, new_code, new_source, automatic_value,
           reason, origin, actor_type, actor_id, actor_name, batch_id, occurred_at
    FROM projections_backfilledmark
"""
CREATE_WITHOUT = CREATE.replace(" origin,", "")


class Migration(migrations.Migration):
    dependencies = [
        ("projections", "0003_analytics"),
    ]

    operations = [
        migrations.RunSQL(DROP, CREATE_WITHOUT),
        migrations.AddField("markhistory", "origin", models.CharField(**EMPTY)),
        migrations.AddField("backfilledmark", "origin", models.CharField(**EMPTY)),
        migrations.RunSQL(CREATE, DROP),
    ]

"""The functions a save is made of: see sql/open_sheet.sql, lock_columns.sql, lock_cells.sql and write_cells.sql.

Without the joins that read a whole table: a planner that expects a hundred cells of every array would read a table of some thousand marks for one.
Functions, because a save is all that most sessions do: PostgreSQL parses and plans what is in them once a session, not once a save.
"""

from django.db import migrations

OPEN_SHEETS = """
    CREATE FUNCTION gradebook_open_sheet(namespace integer, in_term uuid, asked_sheet uuid, by_person uuid, asked_students uuid[])
    RETURNS TABLE (is_locked boolean, generation integer, may_edit boolean,
                   student_id uuid, first_name varchar, last_name varchar, username varchar)
    LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
    #variable_conflict use_column
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(namespace, hashtext(in_term::text));
        RETURN QUERY
            SELECT term.locked_at IS NOT NULL, term.generation,
                   COALESCE(editor.is_active AND editor.role = 'teacher' AND editor.school_id = sheet.school_id, false)
                   AND EXISTS (SELECT FROM gradebook_teachingassignment AS assignment
                               WHERE assignment.teacher_id = editor.id
                                 AND assignment.school_class_id = sheet.school_class_id
                                 AND assignment.course_id = sheet.course_id
                                 AND assignment.period_id = sheet.period_id),
                   student.id, student.first_name, student.last_name, student.username
            FROM gradebook_marksheet AS sheet
            JOIN gradebook_period AS term ON term.id = sheet.period_id
            JOIN gradebook_user AS editor ON editor.id = by_person
            LEFT JOIN gradebook_user AS student
                ON student.id = ANY (asked_students)
               AND (EXISTS (SELECT FROM gradebook_enrolment AS enrolment
                            WHERE enrolment.student_id = student.id
                              AND enrolment.school_class_id = sheet.school_class_id
                              AND enrolment.starts_on <= term.ends_on
                              AND (enrolment.ends_on IS NULL OR enrolment.ends_on >= term.starts_on))
                    OR EXISTS (SELECT FROM gradebook_mark AS mark
                               WHERE mark.sheet_id = sheet.id AND mark.student_id = student.id))
            WHERE sheet.id = asked_sheet AND sheet.period_id = in_term;
    END
    $$;
"""
SHEETS_ARE_NOT_OPENED = "DROP FUNCTION gradebook_open_sheet(integer, uuid, uuid, uuid, uuid[])"

LOCK_AND_WRITE = """
    CREATE FUNCTION gradebook_lock_columns(asked_sheet uuid, asked uuid[]) RETURNS SETOF gradebook_column
    LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
    BEGIN
        RETURN QUERY
            SELECT "column".*
            FROM gradebook_column AS "column"
            WHERE "column".id = ANY (asked)
              AND "column".sheet_id = asked_sheet
            ORDER BY "column".id
            FOR SHARE;
    END
    $$;
    CREATE FUNCTION gradebook_lock_cells(cells json) RETURNS SETOF gradebook_mark
    LANGUAGE plpgsql VOLATILE ROWS 1
    SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    BEGIN
        RETURN QUERY
            SELECT mark.*
            FROM json_to_recordset(cells) AS cell (sheet_id uuid, column_id uuid, student_id uuid)
            JOIN gradebook_mark AS mark
              ON mark.sheet_id = cell.sheet_id
             AND mark.column_id = cell.column_id
             AND mark.student_id = cell.student_id
            ORDER BY mark.column_id, mark.student_id
            FOR NO KEY UPDATE OF mark;
    END
    $$;
    CREATE FUNCTION gradebook_write_cells(cells json) RETURNS TABLE (id uuid, updated_at timestamptz)
    LANGUAGE plpgsql VOLATILE ROWS 1
    SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    #variable_conflict use_column
    BEGIN
        RETURN QUERY
            UPDATE gradebook_mark AS mark
            SET value = cell.value,
                code = cell.code,
                source = cell.source,
                automatic_value = cell.automatic_value,
                automatic_at = cell.automatic_at,
                version = cell.version,
                shown_version = cell.shown_version,
                updated_at = CASE WHEN cell.shown_version = cell.version THEN statement_timestamp() ELSE mark.updated_at END,
                updated_by_id = cell.updated_by_id,
                changed_xid = pg_current_xact_id()
            FROM json_to_recordset(cells)
                AS cell (id uuid, value numeric, code text, source text, automatic_value numeric, automatic_at timestamptz,
                         version integer, shown_version integer, updated_by_id uuid)
            WHERE mark.id = cell.id
            RETURNING mark.id, mark.updated_at;
    END
    $$;
"""
NOT_BY_FUNCTION = """
    DROP FUNCTION gradebook_write_cells(json);
    DROP FUNCTION gradebook_lock_cells(json);
    DROP FUNCTION gradebook_lock_columns(uuid, uuid[]);
"""


class Migration(migrations.Migration):

    dependencies = [("gradebook", "0009_report_cards")]

    operations = [
        migrations.RunSQL(OPEN_SHEETS, SHEETS_ARE_NOT_OPENED),
        migrations.RunSQL(LOCK_AND_WRITE, NOT_BY_FUNCTION),
    ]

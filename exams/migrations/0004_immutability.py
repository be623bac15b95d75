"""What was handed in and what was published never changes, through whichever door somebody comes.

The SQL stands here and not in `exams/sql/`: what a migration once did must never change. All refusals are `restrict_violation`
(Django's `IntegrityError`). TRUNCATE is not covered: it is a right the application's role does not have.
"""

import datetime

from django.db import migrations, models

# A submission never changes and never goes. One exception: the server's own may be withdrawn, once, when an attempt is reopened.
SUBMISSIONS_STAY = """
    CREATE FUNCTION exams_keep_submission() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        unwithdrawn exams_submission := NEW;
    BEGIN
        IF TG_OP = 'UPDATE' AND OLD.withdrawn_at IS NULL AND NEW.withdrawn_at IS NOT NULL THEN
            unwithdrawn.withdrawn_at := NULL;
            IF unwithdrawn IS NOT DISTINCT FROM OLD THEN
                RETURN NEW;
            END IF;
        END IF;
        RAISE EXCEPTION 'submission % is immutable', OLD.id USING ERRCODE = 'restrict_violation';
    END
    $$;
    CREATE TRIGGER a_submission_never_changes BEFORE UPDATE OR DELETE ON exams_submission
        FOR EACH ROW EXECUTE FUNCTION exams_keep_submission();
"""
SUBMISSIONS_MAY_CHANGE = """
    DROP TRIGGER a_submission_never_changes ON exams_submission;
    DROP FUNCTION exams_keep_submission();
"""

# A published revision never changes and never goes.
REVISIONS_STAY = """
    CREATE FUNCTION exams_keep_revision() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'revision % is published and never changes', OLD.id USING ERRCODE = 'restrict_violation';
    END
    $$;
    CREATE TRIGGER a_published_revision_never_changes BEFORE UPDATE OR DELETE ON exams_examrevision
        FOR EACH ROW WHEN (OLD.published_at IS NOT NULL) EXECUTE FUNCTION exams_keep_revision();
"""
REVISIONS_MAY_CHANGE = """
    DROP TRIGGER a_published_revision_never_changes ON exams_examrevision;
    DROP FUNCTION exams_keep_revision();
"""

# Nor do its questions and options, and none is added. The row lock (FOR SHARE) waits for a publication under
# way, and a publication waits for it; so the condition must not stand in the WHERE, where it would be judged before the wait.
QUESTIONS_STAY = """
    CREATE FUNCTION exams_refuse_if_published(revision uuid) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        published timestamptz;
    BEGIN
        SELECT published_at INTO published FROM exams_examrevision WHERE id = revision FOR SHARE;
        IF published IS NOT NULL THEN
            RAISE EXCEPTION 'revision % is published and its questions never change', revision
                USING ERRCODE = 'restrict_violation';
        END IF;
    END
    $$;

    CREATE FUNCTION exams_keep_question() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP <> 'INSERT' THEN
            PERFORM exams_refuse_if_published(OLD.revision_id);
        END IF;
        IF TG_OP = 'DELETE' THEN
            RETURN OLD;
        END IF;
        PERFORM exams_refuse_if_published(NEW.revision_id);
        RETURN NEW;
    END
    $$;
    CREATE TRIGGER a_published_question_never_changes BEFORE INSERT OR UPDATE OR DELETE ON exams_question
        FOR EACH ROW EXECUTE FUNCTION exams_keep_question();

    CREATE FUNCTION exams_keep_option() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP <> 'INSERT' THEN
            PERFORM exams_refuse_if_published(revision_id) FROM exams_question WHERE id = OLD.question_id;
        END IF;
        IF TG_OP = 'DELETE' THEN
            RETURN OLD;
        END IF;
        PERFORM exams_refuse_if_published(revision_id) FROM exams_question WHERE id = NEW.question_id;
        RETURN NEW;
    END
    $$;
    CREATE TRIGGER a_published_option_never_changes BEFORE INSERT OR UPDATE OR DELETE ON exams_answeroption
        FOR EACH ROW EXECUTE FUNCTION exams_keep_option();
"""
QUESTIONS_MAY_CHANGE = """
    DROP TRIGGER a_published_option_never_changes ON exams_answeroption;
    DROP TRIGGER a_published_question_never_changes ON exams_question;
    DROP FUNCTION exams_keep_option();
    DROP FUNCTION exams_keep_question();
    DROP FUNCTION exams_refuse_if_published(uuid);
"""


class Migration(migrations.Migration):
    dependencies = [("exams", "0003_revoke_tokens")]

    operations = [
        migrations.AddConstraint(
            model_name="exam",
            constraint=models.CheckConstraint(
                condition=models.Q(("time_limit__isnull", True), ("time_limit__gt", datetime.timedelta(0)), _connector="OR"),
                name="exams_time_limit_positive",
            ),
        ),
        migrations.AddConstraint(
            model_name="extension",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount__lte", 100000)), name="extensions_stay_in_the_calendar"
            ),
        ),
        migrations.RunSQL(SUBMISSIONS_STAY, SUBMISSIONS_MAY_CHANGE),
        migrations.RunSQL(REVISIONS_STAY, REVISIONS_MAY_CHANGE),
        migrations.RunSQL(QUESTIONS_STAY, QUESTIONS_MAY_CHANGE),
    ]

"""Who changed in a way that matters has no valid token any more, through whichever door the change came.

The SQL stands here and not in `exams/sql/`: what a migration once did must never change.
"""

from django.db import migrations

# Moves `tokens_valid_after` when an account is switched off or on, or gets a new password, role or school, and never lets it
# move back: a page that saves a person it read before the revocation would undo it.
TOKENS_ARE_REVOKED = """
    CREATE FUNCTION exams_revoke_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF (NEW.is_active, NEW.password, NEW.role, NEW.school_id)
           IS DISTINCT FROM (OLD.is_active, OLD.password, OLD.role, OLD.school_id) THEN
            NEW.tokens_valid_after := clock_timestamp();
        END IF;
        NEW.tokens_valid_after := greatest(NEW.tokens_valid_after, OLD.tokens_valid_after);
        RETURN NEW;
    END
    $$;
    CREATE TRIGGER a_changed_person_loses_their_tokens BEFORE UPDATE ON gradebook_user
        FOR EACH ROW WHEN (
            (NEW.is_active, NEW.password, NEW.role, NEW.school_id, NEW.tokens_valid_after)
            IS DISTINCT FROM (OLD.is_active, OLD.password, OLD.role, OLD.school_id, OLD.tokens_valid_after))
        EXECUTE FUNCTION exams_revoke_tokens();
"""
TOKENS_OUTLIVE_CHANGES = """
    DROP TRIGGER a_changed_person_loses_their_tokens ON gradebook_user;
    DROP FUNCTION exams_revoke_tokens();
"""


class Migration(migrations.Migration):
    dependencies = [("exams", "0002_initial"), ("gradebook", "0001_initial")]

    operations = [migrations.RunSQL(TOKENS_ARE_REVOKED, TOKENS_OUTLIVE_CHANGES)]

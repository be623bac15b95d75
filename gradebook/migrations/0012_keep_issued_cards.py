"""What an issued report card says never changes, through whichever door somebody comes.

The SQL stands here and not in `gradebook/sql/`: what a migration once did must never change. The refusal is `restrict_violation`
(Django's `IntegrityError`). TRUNCATE is not covered: it is a right the application's role does not have.
"""

from django.db import migrations

# An issued card never changes and never goes. One exception: it is replaced, once.
CARDS_STAY = """
    CREATE FUNCTION gradebook_keep_card() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        unreplaced gradebook_reportcard := NEW;
    BEGIN
        IF TG_OP = 'UPDATE' AND OLD.replaced_at IS NULL AND NEW.replaced_at IS NOT NULL THEN
            unreplaced.replaced_at := NULL;
            IF unreplaced IS NOT DISTINCT FROM OLD THEN
                RETURN NEW;
            END IF;
        END IF;
        RAISE EXCEPTION 'report card % is issued and never changes', OLD.id USING ERRCODE = 'restrict_violation';
    END
    $$;
    CREATE TRIGGER an_issued_card_never_changes BEFORE UPDATE OR DELETE ON gradebook_reportcard
        FOR EACH ROW EXECUTE FUNCTION gradebook_keep_card();
"""
CARDS_MAY_CHANGE = """
    DROP TRIGGER an_issued_card_never_changes ON gradebook_reportcard;
    DROP FUNCTION gradebook_keep_card();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("gradebook", "0011_let_older_versions_write"),
    ]

    operations = [migrations.RunSQL(CARDS_STAY, CARDS_MAY_CHANGE)]

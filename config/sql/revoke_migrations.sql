-- Which migrations ran is the owner's business.
-- Locks: none worth naming. Index: none. Parameters: {role}, the role's name.
REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON django_migrations FROM {role};

-- Let the application's role take numbers. Without UPDATE: nobody sets a sequence back (ADR 0001).
-- Locks: none worth naming. Index: none. Parameters: {role}, the role's name.
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {role};
